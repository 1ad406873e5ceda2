#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/foreign_file.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/weights/pt.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/torch_file.h"

namespace torch_ir {
namespace {

bool has_header(std::string_view content) {
  return content.size() > kSafetensorsLengthSize && content[kSafetensorsLengthSize] == '{';
}

// A plausible header length ends in zero bytes, which no text has.
bool has_length(std::string_view content) {
  return content.size() >= kSafetensorsLengthSize &&
         content.substr(5, 3) == std::string_view("\0\0\0", 3);
}

bool is_json_object(std::string_view content) {
  const size_t begin = content.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && content[begin] == '{';
}

void check_no_key(const std::string& path, const LoadWeightsOptions& options) {
  if (options.weights_key.empty()) return;
  throw WeightError(
      fmt::format("'{}' has tensors by name only; --weights-key '{}' is for checkpoints of "
                  "torch.save that hold more than a state dict",
                  printable(path), printable(options.weights_key)));
}

StateDict load_plain_safetensors(const std::string& path, const LoadWeightsOptions& options) {
  check_no_key(path, options);
  return load_weights_safetensors(path);
}

// The index of a checkpoint in several files, as Hugging Face's libraries write it:
//   {"metadata": {...}, "weight_map": {"wte.weight": "model-00001-of-00002.safetensors", ...}}
// Files are named relative to the folder of the index and must lie in it; each is loaded once.
constexpr std::string_view kMap = "weight_map";

bool is_inside(const std::string& file) {
  const std::filesystem::path path(file);
  return !file.empty() && file.find('\0') == std::string::npos && path.is_relative() &&
         std::ranges::count(path, "..") == 0;
}

StateDict load_file(const std::string& path, const LoadWeightsOptions& options, bool is_shard);

StateDict load_shard(const std::filesystem::path& folder, const std::string& file,
                     const std::string& name) {
  if (!is_inside(file)) {
    throw WeightError(
        fmt::format("says that tensor '{}' is in '{}'; only files in its own folder are read",
                    printable(name), printable(file)));
  }
  const std::filesystem::path path = folder / file;
  if (!std::filesystem::exists(path)) {
    throw WeightError(fmt::format("names the missing file '{}'", printable(file)));
  }
  return load_file(path.string(), {}, /*is_shard=*/true);
}

StateDict read_shards(const std::string& path) {
  const JsonValue index = parse_json(read_file(path), kMaxDocumentValues);
  const Place root;
  const Place place = root.key(kMap);
  const JsonValue* map = ObjectReader(index, root).find(kMap);
  if (map == nullptr) {
    throw WeightError(fmt::format("is JSON, but not an index of weights: missing key '{}'", kMap));
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::map<std::string, StateDict> shards;
  StateDict tensors;
  for (const auto& [name, value] : as_object(*map, place)) {
    const std::string& file = as_string(value, place.key(name));
    auto shard = shards.find(file);
    if (shard == shards.end()) shard = shards.emplace(file, load_shard(folder, file, name)).first;
    const at::Tensor* tensor = shard->second.find(name);
    if (tensor == nullptr) {
      throw WeightError(
          fmt::format("says that tensor '{}' is in '{}', but that file has no such tensor",
                      printable(name), printable(file)));
    }
    tensors.insert(name, *tensor);
  }
  return tensors;
}

StateDict load_shards(const std::string& path, const LoadWeightsOptions& options) {
  check_no_key(path, options);
  try {
    return read_shards(path);
  } catch (const SerializationError& error) {
    throw WeightError(fmt::format("'{}': {}", printable(path), error.what()));
  } catch (const WeightError& error) {
    throw WeightError(error, fmt::format("'{}' {}", printable(path), error.what()));
  } catch (const std::filesystem::filesystem_error& error) {
    throw WeightError(fmt::format("'{}': {}", printable(path), printable(error.what())));
  }
}

// A shard must not be an index itself.
StateDict load_file(const std::string& path, const LoadWeightsOptions& options, bool is_shard) {
  const ByteRange file = map_file(path);
  const std::string_view content = file.text();
  if (has_header(content) && has_length(content)) return load_plain_safetensors(path, options);
  if (looks_like_torch_file(content)) return load_weights_pt(path, options);
  if (is_json_object(content)) {
    if (!is_shard) return load_shards(path, options);
    throw WeightError(fmt::format("names '{}', which is itself an index", printable(path)));
  }
  // Where it looks like a broken safetensors file, its reader reports the problem.
  if (has_header(content)) return load_plain_safetensors(path, options);
  if (const std::string what = describe_foreign_file(content, kWeightsAdvice); !what.empty()) {
    throw WeightError(kNotSupported, fmt::format("'{}' {}", printable(path), what));
  }
  if (has_length(content)) return load_plain_safetensors(path, options);
  throw WeightError(fmt::format(
      "Unknown weight file format: '{}'. Supported formats: .safetensors, .pt as torch.save and "
      "torch::save write it, and the index of a sharded checkpoint (.index.json)",
      printable(path)));
}

std::vector<std::string> find_names(const std::string& folder,
                                    const std::vector<std::string_view>& endings) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const auto fits = [&](std::string_view ending) { return name.ends_with(ending); };
    if (std::ranges::any_of(endings, fits)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string find_file(const std::string& folder) {
  std::vector<std::string> names = find_names(folder, {".index.json"});
  if (names.empty()) names = find_names(folder, {".safetensors", ".pt", ".pth", ".bin"});
  if (names.size() == 1) return (std::filesystem::path(folder) / names.front()).string();
  throw WeightError(fmt::format("'{}' is a folder with {}; name one file", printable(folder),
                                names.empty() ? "no weight files" : quoted_list(names)));
}

}  // namespace

StateDict load_weights(const std::string& path, const LoadWeightsOptions& options) {
  try {
    return load_file(std::filesystem::is_directory(path) ? find_file(path) : path, options,
                     /*is_shard=*/false);
  } catch (const WeightError&) {
    throw;
  } catch (const Error& error) {
    throw WeightError(error, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    throw WeightError(printable(error.what()));
  }
}

}  // namespace torch_ir

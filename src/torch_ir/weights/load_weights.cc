#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
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

// A reasonable length has zeros at its end, which no text has.
bool has_length(std::string_view content) {
  return content.size() >= kSafetensorsLengthSize &&
         content.substr(5, 3) == std::string_view("\0\0\0", 3);
}

bool is_safetensors(std::string_view content) { return has_header(content) && has_length(content); }

bool is_broken_safetensors(std::string_view content) {
  return has_header(content) || has_length(content);
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

// --- Checkpoints in several files ---
//
// Their index says which tensor is in which file. Hugging Face's libraries write it:
// {"metadata": {...}, "weight_map": {"wte.weight": "model-00001-of-00002.safetensors", ...}}
// Files are named relative to the folder of the index and must lie in it; each is loaded once.

constexpr std::string_view kMap = "weight_map";

// A file below the folder of the index, and nothing else that a name can reach.
bool is_inside(const std::string& file) {
  const std::filesystem::path path(file);
  return !file.empty() && file.find('\0') == std::string::npos && path.is_relative() &&
         std::ranges::count(path, "..") == 0;
}

const JsonValue::object_t& find_map(const JsonValue& index) {
  const Place root;
  const JsonValue* map = ObjectReader(index, root).find(kMap);
  if (map == nullptr) {
    throw WeightError(fmt::format("is JSON, but no index of weights: it has no '{}'", kMap));
  }
  return as_object(*map, root.key(kMap));
}

StateDict load_shard(const std::string& path);

class ShardReader {
 public:
  explicit ShardReader(const std::string& index_path)
      : folder_(std::filesystem::path(index_path).parent_path()) {}

  const at::Tensor& find(const std::string& name, const std::string& file) {
    auto shard = shards_.find(file);
    if (shard == shards_.end()) shard = shards_.emplace(file, load(name, file)).first;
    const at::Tensor* tensor = shard->second.find(name);
    if (tensor == nullptr) {
      throw WeightError(fmt::format("says that tensor '{}' is in '{}', but it is not there",
                                    printable(name), printable(file)));
    }
    return *tensor;
  }

 private:
  StateDict load(const std::string& name, const std::string& file) const {
    if (!is_inside(file)) {
      throw WeightError(
          fmt::format("says that tensor '{}' is in '{}'; only files in its own folder are read",
                      printable(name), printable(file)));
    }
    const std::filesystem::path path = folder_ / file;
    if (!std::filesystem::exists(path)) {
      throw WeightError(fmt::format("names the file '{}', which is missing", printable(file)));
    }
    return load_shard(path.string());
  }

  std::filesystem::path folder_;
  std::map<std::string, StateDict> shards_;
};

StateDict read_shards(const std::string& path) {
  JsonValue index = parse_json(read_file(path), kMaxDocumentValues);
  ShardReader shards(path);
  StateDict tensors;
  for (const auto& [name, value] : find_map(index)) {
    const std::string& file = as_string(value, Place().key(kMap).key(name));
    tensors.insert(name, shards.find(name, file));
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
    throw WeightError(fmt::format("'{}' {}", printable(path), error.what()));
  } catch (const std::filesystem::filesystem_error& error) {
    throw WeightError(fmt::format("'{}': {}", printable(path), printable(error.what())));
  }
}

// --- Formats ---

// A way to tell a format by the content of a file, and its loader. The first that matches counts.
struct Format {
  bool (*matches)(std::string_view content);
  StateDict (*load)(const std::string& path, const LoadWeightsOptions& options);
};

constexpr Format kFormats[] = {
    {is_safetensors, load_plain_safetensors},
    {looks_like_torch_file, load_weights_pt},
    {is_json_object, load_shards},
    {is_broken_safetensors, load_plain_safetensors},
};

const Format* find_format(const std::string& path) {
  const ByteRange file = map_file(path);
  const auto* format = std::ranges::find_if(
      kFormats, [&](const Format& candidate) { return candidate.matches(file.text()); });
  if (format != std::end(kFormats)) return format;
  throw WeightError(fmt::format(
      "Unknown weight file format: '{}'{}. Supported formats: .safetensors, .pt as torch.save and "
      "torch::save write it, and the index of a sharded checkpoint (.index.json)",
      printable(path), file.size == 0 ? ", which is empty" : ""));
}

StateDict load_file(const std::string& path, const LoadWeightsOptions& options) {
  return find_format(path)->load(path, options);
}

StateDict load_shard(const std::string& path) {
  const Format* format = find_format(path);
  if (format->load != load_shards) return format->load(path, {});
  throw WeightError(fmt::format("names '{}', which is an index itself", printable(path)));
}

// The names in `folder` that end with one of `endings`.
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

// The one file in `folder` that weights can be loaded from.
std::string find_file(const std::string& folder) {
  std::vector<std::string> names = find_names(folder, {".index.json"});
  if (names.empty()) names = find_names(folder, {".safetensors", ".pt", ".pth", ".bin"});
  if (names.size() == 1) return (std::filesystem::path(folder) / names.front()).string();
  for (std::string& name : names) name = printable(name);
  throw WeightError(fmt::format(
      "'{}' is a folder with {}; name one file", printable(folder),
      names.empty() ? "no file of weights" : fmt::format("'{}'", fmt::join(names, "', '"))));
}

}  // namespace

StateDict load_weights(const std::string& path, const LoadWeightsOptions& options) {
  try {
    return load_file(std::filesystem::is_directory(path) ? find_file(path) : path, options);
  } catch (const WeightError&) {
    throw;
  } catch (const Error& error) {
    throw WeightError(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    throw WeightError(printable(error.what()));
  }
}

}  // namespace torch_ir

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/weights/pt.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/sharded_weights.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/torch_file.h"

namespace torch_ir {
namespace {

// A header, JSON, behind its length in eight bytes.
constexpr size_t kLengthSize = 8;

bool has_header(std::string_view content) {
  return content.size() > kLengthSize && content[kLengthSize] == '{';
}

// A reasonable length has zeros at its end, which no text has.
bool has_length(std::string_view content) {
  return content.size() >= kLengthSize && content.substr(5, 3) == std::string_view("\0\0\0", 3);
}

bool is_safetensors(std::string_view content) { return has_header(content) && has_length(content); }

bool is_broken_safetensors(std::string_view content) {
  return has_header(content) || has_length(content);
}

bool is_json_object(std::string_view content) {
  const size_t begin = content.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && content[begin] == '{';
}

bool looks_like_tar(std::string_view content) {
  constexpr size_t kMagicPosition = 257;
  return content.size() > kMagicPosition && content.substr(kMagicPosition).starts_with("ustar");
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

StateDict load_shards(const std::string& path, const LoadWeightsOptions& options);

// A way to tell a format by the content of a file, and its loader. The first that matches counts.
struct Format {
  bool (*matches)(std::string_view content);
  StateDict (*load)(const std::string& path, const LoadWeightsOptions& options);
};

constexpr Format kFormats[] = {
    {is_safetensors, load_plain_safetensors},
    {looks_like_torch_file, load_weights_pt},
    {looks_like_tar, load_weights_pt},
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

StateDict load_shards(const std::string& path, const LoadWeightsOptions& options) {
  check_no_key(path, options);
  return load_sharded_weights(path, [](const std::string& shard) {
    const Format* format = find_format(shard);
    if (format->load != load_shards) return format->load(shard, {});
    throw WeightError(fmt::format("names '{}', which is an index itself", printable(shard)));
  });
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

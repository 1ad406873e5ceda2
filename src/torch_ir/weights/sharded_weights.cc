#include "torch_ir/weights/sharded_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {
namespace {

constexpr std::string_view kMap = "weight_map";

// A file below the folder of the index, and nothing else that a name can reach.
bool is_inside(const std::string& file) {
  const std::filesystem::path path(file);
  return !file.empty() && file.find('\0') == std::string::npos && path.is_relative() &&
         std::ranges::count(path, "..") == 0;
}

const JsonValue::Object& find_map(const JsonValue& index) {
  const Place root;
  const JsonValue::Object& members = as_object(index, root);
  const auto map = std::ranges::find(members, kMap, &JsonValue::Object::value_type::first);
  if (map == members.end()) {
    throw WeightError(fmt::format("is JSON, but no index of weights: it has no '{}'", kMap));
  }
  return as_object(map->second, root.key(kMap));
}

class ShardReader {
 public:
  ShardReader(const std::string& index_path, const LoadShard& load)
      : folder_(std::filesystem::path(index_path).parent_path()), load_(load) {}

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
    return load_(path.string());
  }

  std::filesystem::path folder_;
  const LoadShard& load_;
  std::map<std::string, StateDict> shards_;
};

StateDict read_shards(const std::string& path, const LoadShard& load_shard) {
  const JsonValue index = parse_json(read_file(path));
  ShardReader shards(path, load_shard);
  StateDict tensors;
  for (const auto& [name, value] : find_map(index)) {
    const std::string& file = as_string(value, Place().key(kMap).key(name));
    tensors.insert(name, shards.find(name, file));
  }
  return tensors;
}

}  // namespace

StateDict load_sharded_weights(const std::string& path, const LoadShard& load_shard) {
  try {
    return read_shards(path, load_shard);
  } catch (const SerializationError& error) {
    throw WeightError(fmt::format("'{}': {}", printable(path), error.what()));
  } catch (const WeightError& error) {
    throw WeightError(fmt::format("'{}' {}", printable(path), error.what()));
  } catch (const std::filesystem::filesystem_error& error) {
    throw WeightError(fmt::format("'{}': {}", printable(path), printable(error.what())));
  }
}

}  // namespace torch_ir

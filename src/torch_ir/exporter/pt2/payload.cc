#include "torch_ir/exporter/pt2/payload.h"

#include <c10/core/Storage.h>
#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/json_fields.h"
#include "torch_ir/exporter/pt2/schema_numbers.h"
#include "torch_ir/exporter/pt2/value_meta.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/weights/storage_tensor.h"
#include "torch_ir/weights/torch_file.h"

namespace torch_ir {
namespace {

[[noreturn]] void fail(const std::string& archive, const std::string& name,
                       const std::string& what) {
  throw ExportError(fmt::format("{}: tensor '{}': {}", archive, printable(name), what));
}

// For a pickled object that is no tensor.
[[noreturn]] void refuse(const std::string& archive, const std::string& name,
                         const std::string& what) {
  throw ExportError(kNotSupported,
                    fmt::format("{}: tensor '{}': {}", archive, printable(name), what));
}

// A pickled dict of tensors.
class PickledPayload final : public Payload {
 public:
  PickledPayload(std::string archive, PickleDocument document)
      : archive_(std::move(archive)), document_(std::move(document)) {
    if (document_ == nullptr) return;
    const auto* dict = document_->get_if<PickleValue::Dict>();
    if (dict == nullptr) {
      throw ExportError(fmt::format("{} holds {} instead of a dict", archive_, document_->kind()));
    }
    for (const auto& [key, value] : dict->items) {
      const auto* name = key->get_if<std::string>();
      if (name == nullptr) {
        throw ExportError(fmt::format("{} has {} as a name", archive_, key->kind()));
      }
      names_.push_back(*name);
      values_.emplace(*name, value);
    }
  }

  std::vector<std::string> names() const override { return names_; }

  at::Tensor find(const std::string& name) override {
    const auto value = values_.find(name);
    if (value == values_.end()) return {};
    if (const auto* tensor = value->second->get_if<at::Tensor>()) return *tensor;
    refuse(archive_, name, fmt::format("is {}, not a plain tensor", value->second->kind()));
  }

 private:
  std::string archive_;
  PickleDocument document_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, PickleValue::Pointer> values_;
};

// One name of a configuration.
struct PayloadItem {
  std::string entry;
  bool is_pickled = false;
  // Whether it is a tensor: objects have no shape.
  bool has_meta = false;
  TensorView view;
};

PayloadItem read_item(const JsonValue& value, const Place& place, const std::string& folder) {
  const Fields fields(value, place);
  PayloadItem item;
  item.entry = folder + read_string(fields.get("path_name"), place.key("path_name"));
  const JsonValue* use_pickle = fields.find("use_pickle");
  item.is_pickled = use_pickle != nullptr && read_bool(*use_pickle, place.key("use_pickle"));
  const JsonValue* meta_value = fields.find("tensor_meta");
  if (meta_value == nullptr) return item;
  item.has_meta = true;
  const Place meta_place = place.key("tensor_meta");
  const Fields meta(*meta_value, meta_place);
  item.view.dtype = read_dtype(meta.get("dtype"), meta_place.key("dtype"));
  check_layout(meta);
  item.view.sizes = read_fixed_sizes(meta.get("sizes"), meta_place.key("sizes"));
  item.view.strides = read_fixed_sizes(meta.get("strides"), meta_place.key("strides"));
  if (const JsonValue* offset = meta.find("storage_offset")) {
    item.view.storage_offset = read_fixed_size(*offset, meta_place.key("storage_offset"));
  }
  return item;
}

// Raw storages, and what the configuration says about them.
class ConfiguredPayload final : public Payload {
 public:
  ConfiguredPayload(const Pt2Archive& archive, const PayloadEntries& entries) : archive_(archive) {
    const JsonValue root = parse_json(archive.zip.read(entries.config).text());
    const Place place;
    const Fields fields(root, place);
    const Place config_place = place.key("config");
    for (const auto& [name, value] : read_object(fields.get("config"), config_place)) {
      const std::string shown = printable(name);
      items_.emplace(name, read_item(value, config_place.key(shown), entries.folder));
      names_.push_back(name);
    }
  }

  std::vector<std::string> names() const override { return names_; }

  at::Tensor find(const std::string& name) override {
    const auto found = items_.find(name);
    if (found == items_.end()) return {};
    const PayloadItem& item = found->second;
    if (!archive_.zip.has(item.entry)) {
      fail(archive_.zip.name(), name,
           fmt::format("the entry '{}' is missing", printable(item.entry)));
    }
    if (item.is_pickled) return read_pickled(name, item);
    if (!item.has_meta) fail(archive_.zip.name(), name, "has no shape and dtype");
    try {
      return make_tensor(storage_of(item), item.view);
    } catch (const Error& error) {
      fail(archive_.zip.name(), name,
           fmt::format("in the entry '{}': {}", printable(item.entry), error.what()));
    }
  }

 private:
  at::Tensor read_pickled(const std::string& name, const PayloadItem& item) {
    const std::string entry_name = archive_.zip.name() + ": " + printable(item.entry);
    const PickleDocument document = load_torch_file(archive_.zip.read(item.entry), entry_name);
    if (const auto* tensor = document->get_if<at::Tensor>()) return *tensor;
    refuse(archive_.zip.name(), name,
           fmt::format("the entry '{}' holds {}, not a plain tensor", printable(item.entry),
                       document->kind()));
  }

  // Elements of several dtypes in one storage of the other byte order can not be swapped as one.
  c10::Storage storage_of(const PayloadItem& item) {
    const bool is_swapped = archive_.is_big_endian;
    const std::string key =
        is_swapped ? fmt::format("{}:{}", static_cast<int>(item.view.dtype), item.entry)
                   : item.entry;
    const auto known = storages_.find(key);
    if (known != storages_.end()) return known->second;
    const ByteRange bytes = archive_.zip.read(item.entry);
    c10::Storage storage =
        make_storage(is_swapped ? swap_byte_order(bytes, item.view.dtype) : bytes);
    return storages_.emplace(key, std::move(storage)).first->second;
  }

  const Pt2Archive& archive_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, PayloadItem> items_;
  std::unordered_map<std::string, c10::Storage> storages_;
};

PickleDocument load_pickle(const Pt2Archive& archive, const std::string& entry) {
  const ByteRange bytes = archive.zip.read(entry);
  // What PyTorch writes for nothing.
  if (bytes.size == 0) return nullptr;
  return load_torch_file(bytes, archive.zip.name() + ": " + printable(entry));
}

}  // namespace

std::unique_ptr<Payload> open_payload(const Pt2Archive& archive, const PayloadEntries& entries) {
  const bool is_pickled = !entries.pickle.empty();
  const std::string& entry = is_pickled ? entries.pickle : entries.config;
  try {
    if (!is_pickled) return std::make_unique<ConfiguredPayload>(archive, entries);
    return std::make_unique<PickledPayload>(archive.zip.name() + ": " + printable(entry),
                                            load_pickle(archive, entry));
  } catch (const SerializationError& error) {
    throw ExportError(
        error, fmt::format("{}: {}: {}", archive.zip.name(), printable(entry), error.what()));
  }
}

}  // namespace torch_ir

#include <ATen/ops/empty.h>
#include <c10/core/Storage.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/archive.h"
#include "torch_ir/exporter/pt2/archive_values.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/weights/graph_names.h"
#include "torch_ir/weights/storage_tensor.h"
#include "torch_ir/weights/torch_file.h"

namespace torch_ir {
namespace {

[[noreturn]] void fail(const Pt2Archive& archive, const std::string& name,
                       const std::string& what) {
  throw ExportError(fmt::format("{}: tensor '{}': {}", archive.zip.name(), printable(name), what));
}

// Undefined for a tensor without values.
at::Tensor plain_tensor(const PickleValue& value, const std::string& place) {
  if (const auto* tensor = value.get_if<at::Tensor>()) return *tensor;
  const auto* other = value.get_if<PickleValue::Unsupported>();
  const bool has_no_values = other != nullptr && (other->what == PickleValue::kMetaTensor ||
                                                  other->what == PickleValue::kFakeTensor);
  if (has_no_values) return {};
  throw ExportError(kNotSupported, fmt::format("{} {}, not a plain tensor", place, value.kind()));
}

Payload read_pickled_dict(const Pt2Archive& archive, const std::string& entry) {
  Payload payload;
  const ByteRange bytes = archive.read_weights(entry);
  // PyTorch writes this for an empty payload.
  if (bytes.size == 0) return payload;
  const std::string source = archive.zip.name() + ": " + printable(entry);
  const PickleDocument document = load_torch_file(bytes, source);
  const auto* dict = document->get_if<PickleValue::Dict>();
  if (dict == nullptr) {
    throw ExportError(fmt::format("{} holds {} instead of a dict", source, document->kind()));
  }
  for (const auto& [key, value] : dict->items) {
    const auto* name = key->get_if<std::string>();
    if (name == nullptr) {
      throw ExportError(fmt::format("{} has {} as a name", source, key->kind()));
    }
    const std::string place = fmt::format("{}: tensor '{}': is", source, printable(*name));
    if (payload.contains(*name)) continue;
    payload.insert(*name, [document, value = value, place] { return plain_tensor(*value, place); });
  }
  return payload;
}

struct PayloadItem {
  std::string entry;
  bool is_pickled = false;
  // Nothing for objects that are not tensors.
  std::optional<TensorView> view = std::nullopt;
  bool is_meta = false;

  bool has_elements() const {
    return !is_pickled && view && std::ranges::find(view->sizes, 0) == view->sizes.end();
  }
};
using PayloadItems = std::vector<std::pair<std::string, PayloadItem>>;

TensorView read_view(const JsonValue& value, const Place& place) {
  const ObjectReader meta(value, place);
  TensorView view;
  view.dtype = meta.get("dtype", read_dtype);
  check_layout(meta);
  view.sizes = meta.get_list("sizes", read_fixed_size);
  view.strides = meta.get_list("strides", read_fixed_size);
  view.storage_offset = meta.get_or("storage_offset", int64_t{0}, read_fixed_size);
  return view;
}

PayloadItems read_items(const Pt2Archive& archive, const PayloadEntries& entries) {
  const JsonValue root = parse_json(archive.zip.read(entries.config).text());
  const Place place;
  const Place config_place = place.key("config");
  PayloadItems items;
  for (const auto& [name, value] :
       as_object(ObjectReader(root, place).get("config"), config_place)) {
    const ObjectReader fields(value, config_place.key(name));
    PayloadItem item{entries.folder + fields.get("path_name", as_string)};
    item.is_pickled = fields.get_or("use_pickle", false, as_boolean);
    if (const JsonValue* meta = fields.find("tensor_meta")) {
      const Place meta_place = fields.place().key("tensor_meta");
      item.view = read_view(*meta, meta_place);
      item.is_meta = read_device_type(ObjectReader(*meta, meta_place)) == "meta";
    }
    items.emplace_back(name, std::move(item));
  }
  return items;
}

// Whether the archive was saved under FakeTensorMode, whose tensors of a dtype share one storage,
// without bytes. Tensors of the meta device say so themselves.
bool has_fake_tensors(const Pt2Archive& archive) {
  std::set<std::string> storages;
  const PayloadItems items = read_items(archive, archive.weights);
  for (const auto& [name, item] : items) {
    if (!item.has_elements()) continue;
    if (archive.zip.map(item.entry).size > 0) return false;
    storages.insert(item.entry);
  }
  return storages.size() < items.size();
}

// Makes each storage and pickled tensor once, as several names may share an entry.
class Storages {
 public:
  explicit Storages(const Pt2Archive& archive) : archive_(archive) {}

  at::Tensor make(const std::string& name, const PayloadItem& item) {
    const std::string entry = printable(item.entry);
    if (!archive_.zip.has(item.entry)) {
      fail(archive_, name, fmt::format("missing entry '{}'", entry));
    }
    if (item.is_pickled) {
      at::Tensor& known = pickled_[item.entry];
      if (!known.defined()) known = unpickle(name, item.entry);
      return known;
    }
    if (!item.view) fail(archive_, name, "has no shape and dtype");
    // Read once, as this may check the checksum.
    c10::Storage& storage = storages_[item.entry];
    if (!storage) storage = make_storage(archive_.read_weights(item.entry));
    if (item.has_elements() && storage.nbytes() == 0) {
      if (item.is_meta) return {};
      if (!has_fake_tensors_) has_fake_tensors_ = has_fake_tensors(archive_);
      if (*has_fake_tensors_) return {};
      fail(archive_, name, fmt::format("the entry '{}' is empty: the archive is damaged", entry));
    }
    try {
      return make_tensor(storage, *item.view);
    } catch (const Error& error) {
      fail(archive_, name, fmt::format("in the entry '{}': {}", entry, error.what()));
    }
  }

 private:
  at::Tensor unpickle(const std::string& name, const std::string& entry) const {
    const std::string shown = printable(entry);
    const PickleDocument document =
        load_torch_file(archive_.read_weights(entry), archive_.zip.name() + ": " + shown);
    return plain_tensor(*document, fmt::format("{}: tensor '{}': the entry '{}' holds",
                                               archive_.zip.name(), printable(name), shown));
  }

  const Pt2Archive& archive_;
  std::unordered_map<std::string, c10::Storage> storages_;
  std::unordered_map<std::string, at::Tensor> pickled_;
  std::optional<bool> has_fake_tensors_;
};

Payload read_configuration(const Pt2Archive& archive, const PayloadEntries& entries) {
  const auto storages = std::make_shared<Storages>(archive);
  Payload payload;
  for (const auto& [name, item] : read_items(archive, entries)) {
    payload.insert(name,
                   [storages, name = name, item = item] { return storages->make(name, item); });
  }
  return payload;
}

std::string text(c10::IntArrayRef shape, c10::ScalarType dtype) {
  return fmt::format("shape {} and dtype {}", shape_list_text(shape), dtype_name(dtype));
}

// Non-persistent buffers are among the constants of an archive, parameters never are.
at::Tensor find_value(const std::string& archive, const GraphInput& input, const Payload& weights,
                      const Payload& constants) {
  const bool is_constant = input.kind == InputKind::kConstant;
  const auto* make = (is_constant ? constants : weights).find(input.target);
  if (make == nullptr && input.kind == InputKind::kBuffer) make = constants.find(input.target);
  if (make != nullptr) return (*make)();
  throw ExportError(fmt::format("{}: the graph uses the weight '{}', which is not among the {}",
                                archive, printable(input.target),
                                is_constant ? "constants" : "weights"));
}

void check_agreement(const std::string& archive, const std::string& name, const at::Tensor& value,
                     const Value& meta) {
  if (value.sizes() == meta.shape && value.scalar_type() == meta.dtype) return;
  throw ExportError(fmt::format("{}: weight '{}' has {}, but {} in the graph", archive,
                                printable(name), text(value.sizes(), value.scalar_type()),
                                text(meta.shape, meta.dtype)));
}

at::Tensor without_values(const std::string& archive, const std::string& name, const Value& meta) {
  if (is_dynamic(meta)) {
    throw ExportError(fmt::format("{}: weight '{}' has a dynamic shape", archive, printable(name)));
  }
  return at::empty(meta.shape, at::TensorOptions(meta.dtype).device(c10::kMeta));
}

}  // namespace

Payload open_payload(const Pt2Archive& archive, const PayloadEntries& entries) {
  if (!entries.pickle.empty()) return read_pickled_dict(archive, entries.pickle);
  try {
    return read_configuration(archive, entries);
  } catch (const SerializationError& error) {
    throw ExportError(error, fmt::format("{}: {}: {}", archive.zip.name(),
                                         printable(entries.config), error.what()));
  }
}

StateDict take_weights(const std::string& archive, const Payload& weights, const Payload& constants,
                       Program& program) {
  StateDict taken("Weight");
  for (const GraphInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput) continue;
    at::Tensor value = find_value(archive, input, weights, constants);
    // A checkpoint lacks buffers that are not persistent.
    const bool is_constant = value.defined() && !weights.contains(input.target);
    if (!value.defined()) value = without_values(archive, input.target, program[input.value]);
    check_agreement(archive, input.target, value, program[input.value]);
    program[input.value].strides = special_strides(value);
    const bool stays = is_constant || input.kind == InputKind::kConstant;
    StateDict& tensors = stays ? program.constants : taken;
    // Two placeholders may stand for one weight.
    if (!tensors.contains(input.target)) tensors.insert(input.target, value);
  }
  for (const auto& weight : weights) {
    if (taken.contains(weight.key())) continue;
    const at::Tensor value = weight.value()();
    if (value.defined()) taken.insert(weight.key(), value);
  }
  program.tied_weights = tied_names(taken);
  return taken;
}

}  // namespace torch_ir

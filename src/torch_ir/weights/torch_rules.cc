#include "torch_ir/weights/torch_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

using Dict = PickleValue::Dict;
using List = PickleValue::List;
using Name = PickleValue::Name;
using Object = PickleValue::Object;
using Pointer = PickleValue::Pointer;
using Tuple = PickleValue::Tuple;
using Unsupported = PickleValue::Unsupported;

constexpr std::string_view kTorch = "torch.";
constexpr size_t kStorageCost = 256;
// The rough cost of a tensor, which takes only a few bytes of a pickle.
constexpr size_t kTensorCost = 512;

struct Call {
  std::string_view name;
  const PickleItems& arguments;
  PickleArena& arena;
  PendingTensors& tensors;
};

// The reader of a pickle owns all its values.
PickleValue* own(Pointer value) { return const_cast<PickleValue*>(value); }

[[noreturn]] void fail_call(const Call& call, const std::string& what) {
  throw WeightError(
      fmt::format("is damaged: its pickle calls {} with {}", printable(call.name), what));
}

void check_count(const Call& call, size_t least, size_t most) {
  if (call.arguments.size() >= least && call.arguments.size() <= most) return;
  fail_call(call, fmt::format("{} arguments", call.arguments.size()));
}

[[noreturn]] void fail_argument(const Call& call, size_t index) {
  fail_call(call, fmt::format("{} as argument {}", call.arguments[index]->kind(), index + 1));
}

template <class T>
const T& get_argument(const Call& call, size_t index) {
  const T* value = call.arguments[index]->get_if<T>();
  if (value == nullptr) fail_argument(call, index);
  return *value;
}

const PickleItems* items_of(const PickleValue& value) {
  if (const auto* list = value.get_if<List>()) return &list->items;
  if (const auto* tuple = value.get_if<Tuple>()) return &tuple->items;
  return nullptr;
}

PickleValue* call_dict(const Call& call) {
  check_count(call, 0, 1);
  if (call.arguments.empty()) return call.arena.make({Dict()});
  if (const auto* other = call.arguments[0]->get_if<Dict>()) {
    call.arena.charge(other->items.size() * sizeof(other->items[0]));
    return call.arena.make({*other});
  }
  const PickleItems* items = items_of(*call.arguments[0]);
  if (items == nullptr) fail_argument(call, 0);
  Dict dict;
  call.arena.charge(items->size() * sizeof(dict.items[0]));
  for (const Pointer item : *items) {
    const PickleItems* pair = items_of(*item);
    if (pair == nullptr || pair->size() != 2) fail_call(call, item->kind() + " as an item");
    dict.items.emplace_back((*pair)[0], (*pair)[1]);
  }
  return call.arena.make({std::move(dict)});
}

PickleValue* call_default_dict(const Call& call) {
  check_count(call, 0, 1);
  return call.arena.make({Dict()});
}

std::vector<int64_t> get_integers(const Call& call, size_t index) {
  const PickleItems& items = get_argument<Tuple>(call, index).items;
  call.arena.charge(items.size() * sizeof(int64_t));
  std::vector<int64_t> integers;
  for (const PickleValue* item : items) {
    const auto* integer = item->get_if<int64_t>();
    if (integer == nullptr) fail_argument(call, index);
    integers.push_back(*integer);
  }
  return integers;
}

// The conjugate and negative bits of a tensor: {"conj": True}.
void read_bits(const Call& call, size_t index, PendingTensor& tensor) {
  if (index >= call.arguments.size() || call.arguments[index]->is_none()) return;
  const auto& bits = get_argument<Dict>(call, index).items;
  if (bits.size() > 2) fail_argument(call, index);
  for (const auto& [key, value] : bits) {
    const auto* name = key->get_if<std::string>();
    const auto* bit = value->get_if<bool>();
    if (name == nullptr || bit == nullptr || (*name != "conj" && *name != "neg")) {
      fail_argument(call, index);
    }
    (*name == "conj" ? tensor.is_conjugate : tensor.is_negative) = *bit;
  }
}

// The first four arguments: storage, offset, sizes, strides.
PendingTensor read_view(const Call& call) {
  PendingTensor tensor;
  call.arena.charge(kTensorCost);
  tensor.storage = get_argument<PickleValue::Storage>(call, 0).number;
  tensor.view.storage_offset = get_argument<int64_t>(call, 1);
  tensor.view.sizes = get_integers(call, 2);
  tensor.view.strides = get_integers(call, 3);
  return tensor;
}

PickleValue* note_tensor(const Call& call, PendingTensor tensor) {
  if (call.tensors.storages[tensor.storage].location == "meta") {
    return call.arena.make({Unsupported{PickleValue::kMetaTensor, true}});
  }
  const c10::ScalarType dtype = tensor.view.dtype;
  if ((tensor.is_conjugate && !c10::isComplexType(dtype)) ||
      (tensor.is_negative && !c10::isFloatingType(dtype))) {
    fail_call(call, "bits that a tensor of " + dtype_name(dtype) + " does not have");
  }
  tensor.value = call.arena.make({at::Tensor()});
  call.tensors.tensors.push_back(std::move(tensor));
  return call.tensors.tensors.back().value;
}

PickleValue* note_typed_tensor(const Call& call, PendingTensor tensor) {
  const auto dtype = call.tensors.storages[tensor.storage].dtype;
  if (!dtype) fail_call(call, "a storage without a dtype");
  if (c10::isQIntType(*dtype)) {
    return call.arena.make({Unsupported{"a quantized tensor", true}});
  }
  tensor.view.dtype = *dtype;
  return note_tensor(call, std::move(tensor));
}

PickleValue* call_size(const Call& call) {
  check_count(call, 0, 1);
  if (call.arguments.empty()) return call.arena.make({Tuple()});
  get_integers(call, 0);
  return own(call.arguments[0]);
}

PickleValue* call_layout(const Call& call) {
  check_count(call, 1, 1);
  const auto& name = get_argument<std::string>(call, 0);
  if (!name.starts_with(kTorch) || !find_layout(std::string_view(name).substr(kTorch.size()))) {
    fail_call(call, fmt::format("the unknown layout '{}'", printable(name)));
  }
  return call.arena.make({Name{name}});
}

PickleValue* call_parameter(const Call& call) {
  check_count(call, 1, 4);
  if (!call.arguments[0]->is_tensor()) fail_argument(call, 0);
  return own(call.arguments[0]);
}

PickleValue* call_first_argument(const Call& call) {
  check_count(call, 1, 2);
  return own(call.arguments[0]);
}

PickleValue* call_rebuild_tensor(const Call& call) {
  check_count(call, 4, 4);
  return note_typed_tensor(call, read_view(call));
}

// After the view: requires_grad, hooks, bits.
PickleValue* call_rebuild_tensor_v2(const Call& call) {
  check_count(call, 6, 7);
  PendingTensor tensor = read_view(call);
  read_bits(call, 6, tensor);
  return note_typed_tensor(call, std::move(tensor));
}

// After the view: requires_grad, hooks, dtype, bits. The storage is untyped.
PickleValue* call_rebuild_tensor_v3(const Call& call) {
  check_count(call, 7, 8);
  PendingTensor tensor = read_view(call);
  const std::string& name = get_argument<Name>(call, 6).text;
  if (!name.starts_with(kTorch)) fail_argument(call, 6);
  const auto dtype = find_dtype(std::string_view(name).substr(kTorch.size()));
  if (!dtype) {
    return call.arena.make({Unsupported{"a tensor of dtype " + name, true}});
  }
  tensor.view.dtype = *dtype;
  read_bits(call, 7, tensor);
  return note_tensor(call, std::move(tensor));
}

PickleValue* call_rebuild_from_type(const Call& call);

struct Global {
  std::string_view name;
  // Null if the name cannot be called, or its result is not read.
  PickleValue* (*call)(const Call&);
  // Describes a result that is not read.
  const char* unsupported = nullptr;
  bool is_tensor = false;
};

// With the module names of Python 3, see current_module.
constexpr Global kGlobals[] = {
    {"collections.OrderedDict", call_dict},
    {"collections.Counter", call_dict},
    {"collections.defaultdict", call_default_dict},
    {"builtins.set", nullptr, "a set"},
    {"builtins.frozenset", nullptr, "a set"},
    {"builtins.bytes", nullptr, "bytes"},
    {"builtins.bytearray", nullptr, "bytes"},
    {"builtins.complex", nullptr, "a complex number"},
    {"builtins.dict", call_dict},
    // Factories of defaultdicts.
    {"builtins.float", nullptr},
    {"builtins.int", nullptr},
    {"builtins.list", nullptr},
    {"_codecs.encode", nullptr, "bytes"},

    {"torch.Size", call_size},
    {"torch.device", nullptr, "a device"},
    {"torch.serialization._get_layout", call_layout},
    {"torch.Tensor", nullptr},
    {"torch.nn.parameter.Parameter", call_parameter},
    {"torch._utils._rebuild_parameter", call_parameter},
    {"torch._utils._rebuild_parameter_with_state", call_parameter},
    {"torch._utils._rebuild_tensor", call_rebuild_tensor},
    {"torch._utils._rebuild_tensor_v2", call_rebuild_tensor_v2},
    {"torch._utils._rebuild_tensor_v3", call_rebuild_tensor_v3},
    {"torch._utils._rebuild_device_tensor_from_cpu_tensor", call_parameter},
    {"torch._tensor._rebuild_from_type", call_rebuild_from_type},
    {"torch._tensor._rebuild_from_type_v2", call_rebuild_from_type},

    {"torch._utils._rebuild_sparse_tensor", nullptr, "a sparse tensor", true},
    {"torch._utils._rebuild_sparse_csr_tensor", nullptr, "a sparse tensor", true},
    {"torch._utils._rebuild_qtensor", nullptr, "a quantized tensor", true},
    {"torch._utils._rebuild_nested_tensor", nullptr, "a nested tensor", true},
    {"torch._utils._rebuild_wrapper_subclass", nullptr, "a tensor of a Python subclass", true},
    {"torch._utils._rebuild_meta_tensor_no_storage", nullptr, PickleValue::kMetaTensor, true},
    {"torch._export.serde.serialize._reconstruct_fake_tensor", nullptr, PickleValue::kFakeTensor,
     true},
    {"torch._utils._rebuild_device_tensor_from_numpy", nullptr, "a tensor in a NumPy array", true},

    // Wrappers of torch::pickle_save and TorchScript around their lists and dicts.
    {"torch.jit._pickle.build_boollist", call_first_argument},
    {"torch.jit._pickle.build_doublelist", call_first_argument},
    {"torch.jit._pickle.build_intlist", call_first_argument},
    {"torch.jit._pickle.build_tensorlist", call_first_argument},
    {"torch.jit._pickle.restore_type_tag", call_first_argument},

    {"numpy.dtype", nullptr, "a NumPy dtype"},
    {"numpy.ndarray", nullptr},
    {"numpy.core.multiarray._reconstruct", nullptr, "a NumPy array"},
    {"numpy.core.multiarray.scalar", nullptr, "a NumPy scalar"},
    {"numpy.core.numeric._frombuffer", nullptr, "a NumPy array"},
    {"numpy._core.multiarray._reconstruct", nullptr, "a NumPy array"},
    {"numpy._core.multiarray.scalar", nullptr, "a NumPy scalar"},
    {"numpy._core.numeric._frombuffer", nullptr, "a NumPy array"},
};

// A class of storages. Its module is ignored, since everything is loaded to the CPU.
struct StorageClass {
  std::optional<c10::ScalarType> dtype;
};

constexpr std::string_view kStorageModules[] = {"torch", "torch.cuda", "torch.storage"};

std::optional<StorageClass> find_storage_class(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  if (std::ranges::count(kStorageModules, name.substr(0, dot)) == 0) return std::nullopt;
  name.remove_prefix(dot + 1);
  if (name == "UntypedStorage" || name == "_UntypedStorage") return StorageClass{};
  // Later dtypes have no such class.
  for (int i = 0; i <= static_cast<int>(c10::ScalarType::QUInt2x4); ++i) {
    const auto dtype = static_cast<c10::ScalarType>(i);
    if (name == std::string(c10::toString(dtype)) + "Storage") return StorageClass{dtype};
  }
  return std::nullopt;
}

[[noreturn]] void fail_storage(const PickleValue& id) {
  throw WeightError("is damaged: its pickle has " + id.kind() + " that is not the id of a storage");
}

// The items of an id are "storage", class, key, location and number of elements. Throws WeightError
// for an invalid id or impossible sizes.
PendingStorage read_storage(const PickleValue& id) {
  const auto* tuple = id.get_if<Tuple>();
  if (tuple == nullptr || tuple->items.size() != 5) fail_storage(id);
  const PickleItems& items = tuple->items;
  const auto* kind = items[0]->get_if<std::string>();
  const auto* name = items[1]->get_if<Name>();
  const auto storage_class = name == nullptr ? std::nullopt : find_storage_class(name->text);
  const auto* key = items[2]->get_if<std::string>();
  const auto* location = items[3]->get_if<std::string>();
  const auto* num_elements = items[4]->get_if<int64_t>();
  if (kind == nullptr || *kind != "storage" || !storage_class || key == nullptr ||
      location == nullptr || num_elements == nullptr) {
    fail_storage(id);
  }
  const auto dtype = storage_class->dtype;
  PendingStorage storage = {*key, dtype, 0, *location};
  const auto element_size = dtype ? static_cast<int64_t>(c10::elementSize(*dtype)) : 1;
  if (*num_elements < 0 ||
      __builtin_mul_overflow(*num_elements, element_size, &storage.num_bytes)) {
    throw WeightError(fmt::format("is damaged: its storage '{}' has {} elements", printable(*key),
                                  *num_elements));
  }
  return storage;
}

// Prefixes of names of `torch` that are values, besides LibTorch's dtypes. Dtypes continue with a
// digit.
constexpr std::string_view kDtypeBegins[] = {"bits", "float", "int", "quint", "uint"};
constexpr std::string_view kConstantBegins[] = {"channels_last", "contiguous_format",
                                                "per_channel_", "per_tensor_", "preserve_format"};

// Null for names that are not allowed.
const Global* find_listed(std::string_view name) {
  const auto* found = std::ranges::find(kGlobals, name, &Global::name);
  return found == std::end(kGlobals) ? nullptr : found;
}

bool is_torch_constant(std::string_view name) {
  if (!name.starts_with(kTorch)) return false;
  name.remove_prefix(kTorch.size());
  if (!std::ranges::all_of(name, is_name_part)) return false;
  const auto begins_name = [&](std::string_view begin) { return name.starts_with(begin); };
  const auto begins_dtype = [&](std::string_view begin) {
    return name.starts_with(begin) && name.size() > begin.size() && is_digit(name[begin.size()]);
  };
  return find_dtype(name).has_value() || std::ranges::any_of(kDtypeBegins, begins_dtype) ||
         std::ranges::any_of(kConstantBegins, begins_name);
}

bool is_callable(const Global& global) {
  return global.call != nullptr || global.unsupported != nullptr;
}

PickleValue* call_global(const Global& global, const Call& call) {
  if (global.unsupported == nullptr) return global.call(call);
  return call.arena.make({Unsupported{global.unsupported, global.is_tensor}});
}

// A tensor with attributes of its own: function, class, arguments of the function, attributes.
PickleValue* call_rebuild_from_type(const Call& call) {
  check_count(call, 4, 4);
  const Global* function = find_listed(get_argument<Name>(call, 0).text);
  const bool is_nested = function != nullptr && function->call == call_rebuild_from_type;
  if (function == nullptr || !is_callable(*function) || is_nested) fail_argument(call, 0);
  const PickleItems& arguments = get_argument<Tuple>(call, 2).items;
  PickleValue* result =
      call_global(*function, {function->name, arguments, call.arena, call.tensors});
  if (!result->is_tensor()) fail_argument(call, 0);
  return result;
}

// Protocol 2 uses the names of Python 2, and PyTorch once moved its tensors.
std::string_view current_module(std::string_view module) {
  if (module == "__builtin__") return "builtins";
  if (module == "copy_reg") return "copyreg";
  return module == "torch.tensor" ? "torch._tensor" : module;
}

bool is_script_class(std::string_view name) { return name.starts_with("__torch__."); }

void set_attributes(Object& object, const PickleValue& state, PickleArena& arena) {
  const auto set = [&](const std::string& name, const PickleValue* value) {
    arena.charge(sizeof(object.attributes[0]) + name.size());
    object.attributes.emplace_back(name, value);
  };
  const auto* dict = state.get_if<Dict>();
  // The state of a class with its own __getstate__.
  if (dict == nullptr) return set("__state__", &state);
  for (const auto& [key, value] : dict->items) {
    const auto* name = key->get_if<std::string>();
    if (name == nullptr) {
      throw WeightError("is damaged: its pickle has an attribute without a name");
    }
    set(*name, value);
  }
}

}  // namespace

std::string foreign_problem(const std::string& name) {
  const char* remedy = name.starts_with("torchao.")
                           ? "Export torchao.utils.unwrap_tensor_subclass(model) instead; if this "
                             "is that model, torchao cannot unwrap the class: quantize otherwise"
                           : "Save model.state_dict() instead";
  return fmt::format(
      "holds a pickled object of class '{}'; only tensors and plain values are read, since "
      "anything else could run code. {}",
      printable(name), remedy);
}

PickleValue* TorchRules::find_global(std::string_view module, std::string_view name) {
  std::string full_name = fmt::format("{}.{}", current_module(module), name);
  if (find_listed(full_name) == nullptr && !is_torch_constant(full_name) &&
      !find_storage_class(full_name) && !(reads_objects_ && is_script_class(full_name))) {
    if (foreign_ == ForeignNames::kRefused) {
      throw WeightError(kNotSupported, foreign_problem(full_name));
    }
    std::string what = fmt::format("an object of class '{}'", printable(full_name));
    arena_.charge(what.size() + full_name.size());
    return arena_.make({Unsupported{std::move(what), false, std::move(full_name)}});
  }
  arena_.charge(full_name.size());
  return arena_.make({Name{std::move(full_name)}});
}

PickleValue* TorchRules::call_foreign(const PickleValue& callable, const PickleItems& arguments) {
  if (foreign_ != ForeignNames::kOpened) return own(&callable);
  Unsupported object = *callable.get_if<Unsupported>();
  object.parts = arguments;
  arena_.charge(object.what.size() + object.foreign.size() + arguments.size() * sizeof(Pointer));
  return arena_.make({std::move(object)});
}

PickleValue* TorchRules::call(const PickleValue& callable, const PickleItems& arguments) {
  if (callable.is_foreign()) return call_foreign(callable, arguments);
  const auto* name = callable.get_if<Name>();
  if (name == nullptr) {
    throw WeightError("is damaged: its pickle calls " + callable.kind());
  }
  if (is_script_class(name->text)) {
    arena_.charge(name->text.size());
    return arena_.make({Object{name->text, {}}});
  }
  const Global* global = find_listed(name->text);
  if (global == nullptr || !is_callable(*global)) {
    throw WeightError(
        fmt::format("is damaged: its pickle calls {}, which is not callable", name->text));
  }
  // A defaultdict ignores its factory; the results of all others depend on their arguments.
  const auto foreign =
      std::ranges::find_if(arguments, [](Pointer argument) { return argument->is_foreign(); });
  if (foreign != arguments.end() && global->call != call_default_dict) {
    return call_foreign(**foreign, arguments);
  }
  return call_global(*global, {global->name, arguments, arena_, tensors_});
}

void TorchRules::set_state(PickleValue& object, const PickleValue& state) {
  if (auto* script_object = std::get_if<Object>(&object.value)) {
    return set_attributes(*script_object, state, arena_);
  }
  if (foreign_ == ForeignNames::kOpened && object.is_foreign()) {
    arena_.charge(sizeof(Pointer));
    std::get<Unsupported>(object.value).parts.push_back(&state);
    return;
  }
  // Attributes of Python's objects (`_metadata` of an OrderedDict) are accepted and ignored.
  const bool has_state = object.get_if<Dict>() != nullptr ||
                         object.get_if<at::Tensor>() != nullptr ||
                         object.get_if<Unsupported>() != nullptr;
  if (!has_state) throw WeightError("is damaged: its pickle gives attributes to " + object.kind());
}

PickleValue* TorchRules::load_persistent(const PickleValue& id) {
  PendingStorage storage = read_storage(id);
  arena_.charge(kStorageCost + storage.key.size() + storage.location.size());
  tensors_.storages.push_back(std::move(storage));
  return arena_.make({PickleValue::Storage{tensors_.storages.size() - 1}});
}

}  // namespace torch_ir

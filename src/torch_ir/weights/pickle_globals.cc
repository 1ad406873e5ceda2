#include "torch_ir/weights/pickle_globals.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/weights/pickle_call.h"

namespace torch_ir {
namespace {

template <const char* kWhat>
PickleValue* other_tensor(const PickleCall& call) {
  return call.arena.make({PickleValue::Unsupported{kWhat, true}});
}

template <const char* kWhat>
PickleValue* other_value(const PickleCall& call) {
  return call.arena.make({PickleValue::Unsupported{kWhat, false}});
}

constexpr char kSparse[] = "a sparse tensor";
constexpr char kQuantized[] = "a quantized tensor";
constexpr char kNested[] = "a nested tensor";
constexpr char kWrapper[] = "a tensor of a Python subclass";
constexpr char kMeta[] = "a tensor on the meta device";
constexpr char kFromNumpy[] = "a tensor in a NumPy array";
constexpr char kNumpyArray[] = "a NumPy array";
constexpr char kNumpyScalar[] = "a NumPy scalar";
constexpr char kNumpyDtype[] = "a NumPy dtype";

// Modules have their names of Python 3, see torch_rules.cc.
constexpr PickleGlobal kGlobals[] = {
    {"collections.OrderedDict", call_dict},
    {"collections.Counter", call_dict},
    {"collections.defaultdict", call_default_dict},
    {"builtins.set", call_set},
    {"builtins.frozenset", call_set},
    {"builtins.bytes", call_bytes},
    {"builtins.bytearray", call_bytes},
    {"builtins.complex", call_complex},
    {"builtins.dict", call_dict},
    // What defaultdicts make their items with.
    {"builtins.float", nullptr},
    {"builtins.int", nullptr},
    {"builtins.list", nullptr},
    {"_codecs.encode", call_encode},

    {"torch.Size", call_size},
    {"torch.device", call_device},
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

    {"torch._utils._rebuild_sparse_tensor", other_tensor<kSparse>},
    {"torch._utils._rebuild_sparse_csr_tensor", other_tensor<kSparse>},
    {"torch._utils._rebuild_qtensor", other_tensor<kQuantized>},
    {"torch._utils._rebuild_nested_tensor", other_tensor<kNested>},
    {"torch._utils._rebuild_wrapper_subclass", other_tensor<kWrapper>},
    {"torch._utils._rebuild_meta_tensor_no_storage", other_tensor<kMeta>},
    {"torch._utils._rebuild_device_tensor_from_numpy", other_tensor<kFromNumpy>},

    // What torch::pickle_save and TorchScript write around their lists and dicts.
    {"torch.jit._pickle.build_boollist", call_first_argument},
    {"torch.jit._pickle.build_doublelist", call_first_argument},
    {"torch.jit._pickle.build_intlist", call_first_argument},
    {"torch.jit._pickle.build_tensorlist", call_first_argument},
    {"torch.jit._pickle.restore_type_tag", call_first_argument},

    {"numpy.dtype", other_value<kNumpyDtype>},
    {"numpy.ndarray", nullptr},
    {"numpy.core.multiarray._reconstruct", other_value<kNumpyArray>},
    {"numpy.core.multiarray.scalar", other_value<kNumpyScalar>},
    {"numpy.core.numeric._frombuffer", other_value<kNumpyArray>},
    {"numpy._core.multiarray._reconstruct", other_value<kNumpyArray>},
    {"numpy._core.multiarray.scalar", other_value<kNumpyScalar>},
    {"numpy._core.numeric._frombuffer", other_value<kNumpyArray>},
};

// Names of `torch` that are values, besides the dtypes that LibTorch has. Without `torch.`.
constexpr std::string_view kConstants[] = {
    "bits1x8",
    "bits2x4",
    "bits4x2",
    "bits8",
    "bits16",
    "quint4x2",
    "quint2x4",
    "float4_e2m1fn_x2",
    "float8_e8m0fnu",
    "int1",
    "int2",
    "int3",
    "int4",
    "int5",
    "int6",
    "int7",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "uint5",
    "uint6",
    "uint7",
    "per_tensor_affine",
    "per_tensor_symmetric",
    "per_channel_affine",
    "per_channel_symmetric",
    "per_channel_affine_float_qparams",
    "contiguous_format",
    "preserve_format",
    "channels_last",
    "channels_last_3d",
};

constexpr StorageClass kStorageClasses[] = {
    {"UntypedStorage", std::nullopt},
    {"_UntypedStorage", std::nullopt},
    {"DoubleStorage", c10::ScalarType::Double},
    {"FloatStorage", c10::ScalarType::Float},
    {"HalfStorage", c10::ScalarType::Half},
    {"BFloat16Storage", c10::ScalarType::BFloat16},
    {"LongStorage", c10::ScalarType::Long},
    {"IntStorage", c10::ScalarType::Int},
    {"ShortStorage", c10::ScalarType::Short},
    {"CharStorage", c10::ScalarType::Char},
    {"ByteStorage", c10::ScalarType::Byte},
    {"BoolStorage", c10::ScalarType::Bool},
    {"ComplexDoubleStorage", c10::ScalarType::ComplexDouble},
    {"ComplexFloatStorage", c10::ScalarType::ComplexFloat},
    {"ComplexHalfStorage", c10::ScalarType::ComplexHalf},
    {"QInt8Storage", c10::ScalarType::QInt8},
    {"QInt32Storage", c10::ScalarType::QInt32},
    {"QUInt8Storage", c10::ScalarType::QUInt8},
    {"QUInt4x2Storage", c10::ScalarType::QUInt4x2},
    {"QUInt2x4Storage", c10::ScalarType::QUInt2x4},
};

constexpr std::string_view kStorageModules[] = {"torch", "torch.cuda", "torch.storage"};

}  // namespace

const PickleGlobal* find_pickle_global(std::string_view name) {
  static const auto& globals = *[] {
    auto* map = new std::unordered_map<std::string_view, const PickleGlobal*>();
    for (const PickleGlobal& global : kGlobals) map->emplace(global.name, &global);
    return map;
  }();
  const auto found = globals.find(name);
  return found == globals.end() ? nullptr : found->second;
}

bool is_torch_constant(std::string_view name) {
  constexpr std::string_view kTorch = "torch.";
  if (!name.starts_with(kTorch)) return false;
  name.remove_prefix(kTorch.size());
  return find_dtype(name).has_value() || std::ranges::count(kConstants, name) > 0;
}

const StorageClass* find_storage_class(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return nullptr;
  if (std::ranges::count(kStorageModules, name.substr(0, dot)) == 0) return nullptr;
  const auto* found = std::ranges::find(kStorageClasses, name.substr(dot + 1), &StorageClass::name);
  return found == std::end(kStorageClasses) ? nullptr : found;
}

}  // namespace torch_ir

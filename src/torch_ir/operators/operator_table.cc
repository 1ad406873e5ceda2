#include "torch_ir/operators/operator_table.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/enum_tag.h>
#include <torch/version.h>

#include <algorithm>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/operators/executor_registry.h"
#include "torch_ir/operators/number_functions.h"

namespace torch_ir {
namespace {

enum OperatorFlag : unsigned {
  // A composite operator may return its argument as it is (`dropout` in eval mode, `type_as`,
  // `einsum` of one operand), and no schema tells. These never do; without their rows an in-place
  // operator behind one of them would cost a copy of its weights.
  kNewResult = 1 << 0,
  // It has a kernel of its own, and its results share memory without an annotation.
  kView = 1 << 1,
  // Its kernel for the CPU only calls others.
  kComposite = 1 << 2,
  // The rest is what the functions of the header ask for.
  kEmpty = 1 << 3,
  kMemory = 1 << 4,
  kQuestion = 1 << 5,
  // Its result depends on data, and no tag of LibTorch says so.
  kData = 1 << 6,
  // A tag of LibTorch says so, and its Meta kernel knows the shape of most calls.
  kShape = 1 << 7,
};

struct OperatorRow {
  // Without "aten::", for all overloads.
  std::string_view name;
  unsigned flags;
  std::optional<std::string_view> statistics_condition = {};
};

constexpr OperatorRow kOperators[] = {
    {"__and__", kNewResult},
    {"__or__", kNewResult},
    {"__xor__", kNewResult},
    {"_batch_norm_impl_index", 0, "training"},
    {"_has_compatible_shallow_copy_type", kQuestion},
    {"_is_zerotensor", kData},
    {"_nested_from_padded", kData},
    {"_nested_tensor_from_mask", kData},
    {"_nested_tensor_from_mask_left_aligned", kData},
    {"_nested_tensor_size", kQuestion},
    {"_pad_packed_sequence", kData},
    {"_padded_dense_to_jagged_forward", kData},
    {"_resize_output_", kMemory},
    {"_unsafe_view", kView},
    {"_use_cudnn_ctc_loss", kQuestion},
    {"_version", kQuestion},
    {"absolute", kNewResult},
    {"adaptive_avg_pool1d", kNewResult},
    {"adaptive_avg_pool2d", kNewResult},
    {"adaptive_avg_pool3d", kNewResult},
    {"adaptive_max_pool1d", kNewResult},
    {"argsort", kNewResult},
    {"avg_pool1d", kNewResult},
    {"batch_norm", kNewResult, "training"},
    {"batch_norm_gather_stats", 0, ""},
    {"batch_norm_gather_stats_with_counts", 0, ""},
    {"batch_norm_update_stats", 0, ""},
    {"bilinear", kNewResult},
    {"can_cast", kQuestion},
    {"cdist", kNewResult},
    {"clip", kNewResult},
    {"combinations", kData},
    {"concat", kNewResult},
    {"concatenate", kNewResult},
    {"conv1d", kNewResult},
    {"conv2d", kNewResult},
    {"conv3d", kNewResult},
    {"conv_transpose1d", kNewResult},
    {"conv_transpose2d", kNewResult},
    {"conv_transpose3d", kNewResult},
    {"cosine_similarity", kNewResult},
    {"cudnn_batch_norm", 0, "training"},
    {"dequantize", kView},
    {"divide", kNewResult},
    {"embedding_bag", kNewResult},
    {"empty", kEmpty},
    {"empty_like", kEmpty},
    {"empty_permuted", kEmpty},
    {"empty_strided", kEmpty},
    {"greater", kNewResult},
    {"greater_equal", kNewResult},
    {"grid_sampler", kNewResult},
    {"group_norm", kNewResult},
    {"gru_cell", kNewResult},
    {"hstack", kNewResult},
    {"index", kShape},
    {"instance_norm", kNewResult, "use_input_stats"},
    {"is_complex", kQuestion},
    {"is_conj", kQuestion},
    {"is_contiguous", kQuestion},
    {"is_floating_point", kQuestion},
    {"is_inference", kQuestion},
    {"is_neg", kQuestion},
    {"is_nonzero", kData},
    {"is_pinned", kQuestion},
    {"is_same_size", kQuestion},
    {"is_signed", kQuestion},
    {"isclose", kNewResult},
    {"isfinite", kNewResult},
    {"layer_norm", kNewResult},
    {"less", kNewResult},
    {"less_equal", kNewResult},
    {"lift", kView},
    {"linalg_lstsq", kShape},
    {"linear", kNewResult},
    {"log_sigmoid", kNewResult},
    {"log_softmax", kNewResult},
    {"lstm_cell", kNewResult},
    {"matmul", kNewResult},
    {"max", kNewResult},
    {"max_pool1d", kNewResult},
    {"max_pool2d", kNewResult},
    {"max_pool3d", kNewResult},
    {"min", kNewResult},
    {"miopen_batch_norm", 0, "training"},
    {"multiply", kNewResult},
    {"native_batch_norm", 0, "training"},
    {"negative", kNewResult},
    {"new_empty", kEmpty},
    {"new_empty_strided", kEmpty},
    {"nonzero_numpy", kData},
    {"not_equal", kNewResult},
    {"one_hot", kNewResult},
    {"outer", kNewResult},
    {"prelu", kNewResult},
    {"promote_types", kQuestion},
    {"relu", kComposite},
    {"relu6", kNewResult},
    {"relu_", kComposite},
    {"repeat_interleave", kData},
    {"resize_", kMemory},
    {"resize_as_", kMemory},
    {"result_type", kQuestion},
    {"rms_norm", kNewResult},
    {"scaled_dot_product_attention", kNewResult},
    {"selu", kNewResult},
    {"set_", kView | kMemory},
    {"set_data", kMemory},
    {"size", kQuestion},
    {"softmax", kNewResult},
    {"square", kNewResult},
    {"std", kNewResult},
    {"stride", kQuestion},
    {"subtract", kNewResult},
    {"sym_numel", kQuestion},
    {"sym_size", kQuestion},
    {"sym_storage_offset", kQuestion},
    {"sym_stride", kQuestion},
    {"tensor_split", kData},
    {"true_divide", kNewResult},
    {"unsafe_split", kView},
    {"unsafe_split_with_sizes", kView},
    {"upsample_bicubic2d", kNewResult},
    {"upsample_bilinear2d", kNewResult},
    {"upsample_linear1d", kNewResult},
    {"upsample_nearest1d", kNewResult},
    {"upsample_nearest2d", kNewResult},
    {"upsample_nearest3d", kNewResult},
    {"upsample_trilinear3d", kNewResult},
    {"var", kNewResult},
    {"vstack", kNewResult},
    {"where", kNewResult},
};
static_assert(std::ranges::is_sorted(kOperators, {}, &OperatorRow::name));

const OperatorRow* find_row(const c10::OperatorHandle& op) {
  constexpr std::string_view kNamespace = "aten::";
  std::string_view name = op.schema().name();
  if (!name.starts_with(kNamespace)) return nullptr;
  name.remove_prefix(kNamespace.size());
  const auto* const row = std::ranges::lower_bound(kOperators, name, {}, &OperatorRow::name);
  return row != std::end(kOperators) && row->name == name ? row : nullptr;
}

bool is(OperatorFlag flag, const c10::OperatorHandle& op) {
  const OperatorRow* row = find_row(op);
  return row != nullptr && (row->flags & flag) != 0;
}

// `aten::index` has a result of unknown size only with a mask.
bool indexes_by_numbers(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments) {
  const std::string& name = op.schema().name();
  if (name != "aten::index" && name != "aten::_unsafe_index") return false;
  if (!arguments[1].isList()) return false;
  return std::ranges::none_of(arguments[1].toListRef(), [](const c10::IValue& index) {
    if (!index.isTensor() || !index.toTensor().defined()) return false;
    const c10::ScalarType dtype = index.toTensor().scalar_type();
    return dtype == c10::kBool || dtype == c10::kByte;
  });
}

struct Refusal {
  // An operator with all its overloads, or a namespace.
  std::string_view prefix;
  const char* reason;
};

constexpr const char* kTrusts = "it trusts indices that nothing has checked";
constexpr const char* kTrustsShapes = "it trusts shapes that nothing has checked";

constexpr Refusal kRefusals[] = {
    {"aten.from_file.", "it maps a file, and may create one"},
    {"aten._from_file.", "it maps a file, and may create one"},
    {"aten.set_data.", "it changes an input behind its declaration"},
    {"aten._sparse_coo_tensor_unsafe.", kTrusts},
    {"aten._sparse_compressed_tensor_unsafe.", kTrusts},
    {"aten._sparse_csr_tensor_unsafe.", kTrusts},
    {"aten._sparse_csc_tensor_unsafe.", kTrusts},
    {"aten._sparse_bsr_tensor_unsafe.", kTrusts},
    {"aten._sparse_bsc_tensor_unsafe.", kTrusts},
    {"aten._convert_indices_from_coo_to_csr.", kTrusts},
    {"aten._convert_indices_from_csr_to_coo.", kTrusts},
    {"aten._ctc_loss_backward.", kTrusts},
    {"aten._embedding_bag_backward.", kTrusts},
    {"aten._embedding_bag_dense_backward.", kTrusts},
    {"aten._embedding_bag_per_sample_weights_backward.", kTrusts},
    {"aten._embedding_bag_sparse_backward.", kTrusts},
    {"aten._segment_reduce_backward.", kTrusts},
    {"aten.sparse_bsc_tensor.", kTrusts},
    {"aten.sparse_bsr_tensor.", kTrusts},
    {"aten.sparse_compressed_tensor.", kTrusts},
    {"aten.sparse_csc_tensor.", kTrusts},
    {"aten.sparse_csr_tensor.", kTrusts},
    {"aten._dyn_quant_pack_4bit_weight.", kTrustsShapes},
    {"aten._fused_adagrad", kTrustsShapes},
    {"aten._fused_adam", kTrustsShapes},
    {"aten._fused_moving_avg_obs_fq_helper", kTrustsShapes},
    {"aten._fused_sgd", kTrustsShapes},
    {"aten._slow_conv2d_backward.", kTrustsShapes},
    {"mkldnn._convolution_transpose_pointwise.", kTrustsShapes},
    {"mkldnn._reorder_convolution_weight.", kTrustsShapes},
    {"aten.linalg_ldl_solve.", kTrusts},
    {"aten.save.", "it writes a file"},
    {"aten.load.", "it reads a file"},
    {"c10d.", "it talks to other processes"},
    {"_c10d_functional.", "it talks to other processes"},
    {"_c10d_functional_autograd.", "it talks to other processes"},
    {"c10d_functional.", "it talks to other processes"},
    {"symm_mem.", "it talks to other processes"},
    {"rpc.", "it talks to other processes"},
    {"_test.", "it is there to test LibTorch itself"},
    {"profiler.", "it changes what the process records"},
    {"inductor.", "it works on the memory of compiled code"},
};

struct KernelKind {
  c10::DispatchKey key;
  const char* description;
};

// In the order in which the dispatcher prefers them.
constexpr KernelKind kKernelKinds[] = {
    {c10::DispatchKey::CPU, "kernel for CPU"},
    {c10::DispatchKey::CompositeExplicitAutograd, "composite of other operators"},
    {c10::DispatchKey::CompositeImplicitAutograd, "composite of other operators"},
    {c10::DispatchKey::CompositeExplicitAutogradNonFunctional, "composite of other operators"},
    {c10::DispatchKey::BackendSelect, "kernel for the device that it is given"},
};

std::string how_replayed(const c10::OperatorHandle& op) {
  if (changes_memory(op)) return "no: it gives a tensor other memory";
  if (is(kShape, op)) return "unless what it returns depends on data";
  if (may_depend_on_data(op)) return "no: what it returns depends on data";
  return op.hasTag(at::Tag::nondeterministic_seeded) ? "unless it draws random numbers" : "yes";
}

}  // namespace

bool may_be_composite(const c10::OperatorHandle& op) {
  return is(kComposite, op) || !op.hasKernelForDispatchKey(c10::DispatchKey::CPU);
}

bool makes_empty(const c10::OperatorHandle& op) { return is(kEmpty, op); }

bool changes_memory(const c10::OperatorHandle& op) { return is(kMemory, op); }

bool may_share_silently(const c10::OperatorHandle& op) {
  return is(kView, op) ||
         (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
          !is(kNewResult, op));
}

std::optional<std::string_view> statistics_condition(const c10::OperatorHandle& op) {
  const OperatorRow* row = find_row(op);
  return row == nullptr ? std::nullopt : row->statistics_condition;
}

bool asks_about_metadata(const c10::OperatorHandle& op) { return is(kQuestion, op); }

bool may_depend_on_data(const c10::OperatorHandle& op) {
  return is(kData, op) || (!is(kShape, op) && depends_on_data(op, {}));
}

bool depends_on_data(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments) {
  return op.hasTag(at::Tag::data_dependent_output) ||
         (op.hasTag(at::Tag::dynamic_output_shape) && !indexes_by_numbers(op, arguments));
}

std::string refusal(std::string_view op_type) {
  const auto* const found = std::ranges::find_if(
      kRefusals, [&](const Refusal& entry) { return op_type.starts_with(entry.prefix); });
  return found == std::end(kRefusals) ? std::string() : found->reason;
}

OperatorSupport operator_support(const std::string& op_type) {
  if (const OpExecutor executor = find_executor(op_type)) {
    return {true, "registered executor",
            hands_on_input(executor) ? "yes" : "no: a registered executor"};
  }
  if (find_number_function(op_type) != nullptr) return {true, "function on numbers", "yes"};
  if (num_graphs_of(op_type) > 0)
    return {true, "control flow", "no: its graphs are, by themselves"};
  if (const std::string reason = refusal(op_type); !reason.empty()) {
    return {false, "refused: " + reason, ""};
  }
  const auto op = find_operator(op_type);
  if (!op) return {false, "unknown to LibTorch " TORCH_VERSION, ""};
  for (const KernelKind& kind : kKernelKinds) {
    if (op->hasKernelForDispatchKey(kind.key)) return {true, kind.description, how_replayed(*op)};
  }
  return {false, "no kernel for CPU", ""};
}

}  // namespace torch_ir

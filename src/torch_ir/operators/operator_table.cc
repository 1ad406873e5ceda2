#include "torch_ir/operators/operator_table.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/enum_tag.h>
#include <torch/version.h>

#include <algorithm>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/operators/number_functions.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/operators/operator_effects.h"
#include "torch_ir/operators/operator_names.h"

namespace torch_ir {
namespace {

enum OperatorFlag : unsigned {
  // Never returns an argument. Composite operators may (`dropout` in eval mode, `type_as`, `einsum`
  // of one operand), and no schema says so; without this flag an in-place operator after one of
  // these would copy its weights.
  kNewResult = 1 << 0,
  // It has a kernel of its own, and its results share memory without an annotation.
  kView = 1 << 1,
  // Its kernel for the CPU only calls others.
  kComposite = 1 << 2,
  kEmpty = 1 << 3,
  kMemory = 1 << 4,
  kQuestion = 1 << 5,
  // Its result depends on data, and no tag of LibTorch says so.
  kData = 1 << 6,
  // A tag of LibTorch says so, but its Meta kernel knows the shape of most calls.
  kShape = 1 << 7,
};

const OperatorNames<unsigned>& facts() {
  static const OperatorNames<unsigned> table = {
      {kNewResult,
       "__and__ __or__ __xor__ absolute adaptive_avg_pool1d adaptive_avg_pool2d "
       "adaptive_avg_pool3d adaptive_max_pool1d argsort avg_pool1d batch_norm bilinear cdist "
       "clip concat concatenate conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
       "conv_transpose3d cosine_similarity divide embedding_bag greater greater_equal "
       "grid_sampler group_norm gru_cell hstack instance_norm isclose isfinite layer_norm less "
       "less_equal linear log_sigmoid log_softmax lstm_cell matmul max max_pool1d max_pool2d "
       "max_pool3d min multiply negative not_equal one_hot outer prelu relu6 rms_norm "
       "scaled_dot_product_attention selu softmax square std subtract true_divide "
       "upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d "
       "upsample_nearest2d upsample_nearest3d upsample_trilinear3d var vstack where"},
      {kView, "_unsafe_view dequantize lift set_ unsafe_split unsafe_split_with_sizes"},
      {kComposite, "relu relu_"},
      {kEmpty,
       "empty empty_like empty_permuted empty_strided new_empty new_empty_strided prims::empty "
       "prims::empty_permuted prims::empty_strided"},
      {kMemory, "_resize_output_ resize_ resize_as_ set_ set_data"},
      {kQuestion,
       "_has_compatible_shallow_copy_type _nested_tensor_size _use_cudnn_ctc_loss _version "
       "can_cast is_complex is_conj is_contiguous is_floating_point is_inference is_neg "
       "is_pinned is_same_size is_signed promote_types result_type size stride sym_numel "
       "sym_size sym_storage_offset sym_stride"},
      {kData,
       "_is_zerotensor _nested_from_padded _nested_tensor_from_mask "
       "_nested_tensor_from_mask_left_aligned _pad_packed_sequence "
       "_padded_dense_to_jagged_forward combinations is_nonzero nonzero_numpy repeat_interleave "
       "tensor_split"},
      {kShape, "index linalg_lstsq"},
  };
  return table;
}

bool is(OperatorFlag flag, const c10::OperatorHandle& op) {
  const unsigned* flags = facts().find(op);
  return flags != nullptr && (*flags & flag) != 0;
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
  const char* reason;
  // Operators with all their overloads, and namespaces.
  std::string_view prefixes;
};

constexpr Refusal kRefusals[] = {
    {"it maps a file, and may create one", "aten.from_file. aten._from_file."},
    {"it changes an input without declaring it", "aten.set_data."},
    {"it trusts unchecked indices",
     "aten._sparse_coo_tensor_unsafe. aten._sparse_compressed_tensor_unsafe. "
     "aten._sparse_csr_tensor_unsafe. aten._sparse_csc_tensor_unsafe. "
     "aten._sparse_bsr_tensor_unsafe. aten._sparse_bsc_tensor_unsafe. "
     "aten._convert_indices_from_coo_to_csr. aten._convert_indices_from_csr_to_coo. "
     "aten._ctc_loss_backward. aten._embedding_bag_backward. "
     "aten._embedding_bag_dense_backward. aten._embedding_bag_per_sample_weights_backward. "
     "aten._embedding_bag_sparse_backward. aten._segment_reduce_backward. "
     "aten.sparse_bsc_tensor. aten.sparse_bsr_tensor. aten.sparse_compressed_tensor. "
     "aten.sparse_csc_tensor. aten.sparse_csr_tensor."},
    {"it trusts unchecked shapes",
     "aten._cdist_backward. aten._dyn_quant_pack_4bit_weight. aten._fused_adagrad "
     "aten._fused_adam aten._fused_moving_avg_obs_fq_helper aten._fused_sgd aten._pdist_backward. "
     "aten._scaled_dot_product_flash_attention_for_cpu_backward. aten._slow_conv2d_backward. "
     "aten._weight_norm_interface_backward. aten.grid_sampler_2d_backward. "
     "aten.grid_sampler_3d_backward. aten.multi_margin_loss_backward. "
     "aten.multilabel_margin_loss_backward. aten.unfold_backward. "
     "mkldnn._convolution_transpose_pointwise. mkldnn._reorder_convolution_weight."},
    {"it writes a file", "aten.save."},
    {"it reads a file", "aten.load."},
    {"it talks to other processes",
     "c10d. _c10d_functional. _c10d_functional_autograd. c10d_functional. symm_mem. rpc."},
    {"it exists to test LibTorch itself", "_test."},
    {"it changes what the process records", "profiler."},
    {"it works on the memory of compiled code", "inductor."},
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
    {c10::DispatchKey::BackendSelect, "kernel for the given device"},
};

std::string how_replayed(const c10::OperatorHandle& op) {
  if (changes_memory(op)) return "no: it replaces the memory of a tensor";
  if (is(kShape, op)) return "unless its result depends on data";
  if (may_depend_on_data(op)) return "no: its result depends on data";
  return op.hasTag(at::Tag::nondeterministic_seeded) ? "unless it draws random numbers" : "yes";
}

bool is_annotated(const c10::Argument& argument) { return argument.alias_info() != nullptr; }

// The annotation of a list may be on the list or on its items.
bool is_write(const c10::AliasInfo& info) {
  return info.isWrite() || std::any_of(info.containedTypes().begin(), info.containedTypes().end(),
                                       [](const c10::AliasInfo& inner) { return is_write(inner); });
}

OperatorEffects effects_of_schema(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  const bool returns_are_annotated =
      std::any_of(schema.returns().begin(), schema.returns().end(), is_annotated);
  const bool shares_silently = may_share_silently(op);
  OperatorEffects effects;
  for (const c10::Argument& argument : schema.arguments()) {
    const c10::AliasInfo* info = argument.alias_info();
    effects.writes.push_back(info != nullptr && is_write(*info));
    effects.shares.push_back((returns_are_annotated && info != nullptr) ||
                             (shares_silently && !returns_are_annotated));
  }
  return effects;
}

OperatorEffects writing_statistics(OperatorEffects effects, const c10::FunctionSchema& schema) {
  for (const char* const name : {"running_mean", "running_var"}) {
    if (const auto index = schema.argumentIndexWithName(name)) {
      effects.writes[static_cast<size_t>(*index)] = true;
    }
  }
  return effects;
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
  static const OperatorNames<std::string_view> conditions = {
      {"training",
       "_batch_norm_impl_index batch_norm cudnn_batch_norm miopen_batch_norm native_batch_norm"},
      {"", "batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_update_stats"},
      {"use_input_stats", "instance_norm"},
  };
  const std::string_view* condition = conditions.find(op);
  return condition == nullptr ? std::nullopt : std::optional(*condition);
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
  for (const Refusal& it : kRefusals) {
    const auto begins = [&](std::string_view prefix) { return op_type.starts_with(prefix); };
    if (std::ranges::any_of(words_of(it.prefixes), begins)) return it.reason;
  }
  return "";
}

OperatorSupport operator_support(const std::string& op_type) {
  if (const OpHandler handler = find_op_handler(op_type)) {
    return {true, "registered op handler",
            hands_on_input(handler) ? "yes" : "no: it has a registered op handler"};
  }
  if (find_number_function(op_type) != nullptr) return {true, "function on numbers", "yes"};
  if (num_graphs_of(op_type) > 0) return {true, "control flow", "no: only its graphs are"};
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

bool writes_by_name(std::string_view op_type) {
  const auto name = parse_op_type(op_type);
  return name && name->name.ends_with('_');
}

const OperatorEffects& EffectsTable::of(const c10::OperatorHandle& op,
                                        c10::function_ref<bool(size_t)> may_be_true) {
  const c10::FunctionSchema& schema = op.schema();
  const auto [found, is_new] = by_schema_.try_emplace(&schema);
  if (is_new) found->second = effects_of_schema(op);
  const auto condition = statistics_condition(op);
  if (!condition) return found->second;
  const auto flag = schema.argumentIndexWithName(*condition);
  if (flag && !may_be_true(static_cast<size_t>(*flag))) return found->second;
  return of_call_ = writing_statistics(found->second, schema);
}

}  // namespace torch_ir

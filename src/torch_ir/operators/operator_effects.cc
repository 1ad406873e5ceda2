#include "torch_ir/operators/operator_effects.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace torch_ir {
namespace {

// Operators that update running statistics without an annotation, when the named argument is true;
// always when it is empty.
const std::unordered_map<std::string_view, std::string_view>& running_statistics_updates() {
  static const std::unordered_map<std::string_view, std::string_view> table = {
      {"aten::batch_norm", "training"},
      {"aten::native_batch_norm", "training"},
      {"aten::_batch_norm_impl_index", "training"},
      {"aten::cudnn_batch_norm", "training"},
      {"aten::miopen_batch_norm", "training"},
      {"aten::instance_norm", "use_input_stats"},
      {"aten::batch_norm_update_stats", ""},
      {"aten::batch_norm_gather_stats", ""},
      {"aten::batch_norm_gather_stats_with_counts", ""},
  };
  return table;
}

// Operators with a kernel of their own whose results share memory without an annotation.
const std::unordered_set<std::string_view>& unannotated_views() {
  static const std::unordered_set<std::string_view> table = {
      "aten::_unsafe_view", "aten::unsafe_split", "aten::unsafe_split_with_sizes",
      "aten::lift",         "aten::dequantize",   "aten::set_",
  };
  return table;
}

// A composite operator may return its argument as it is (`dropout` in eval mode, `type_as`,
// `einsum` of one operand), and no schema tells. These never do; without this list an in-place
// operator behind one of them would cost a copy of its weights.
const std::unordered_set<std::string_view>& composites_with_new_results() {
  static const std::unordered_set<std::string_view> table = {
      "aten::__and__",
      "aten::__or__",
      "aten::__xor__",
      "aten::absolute",
      "aten::adaptive_avg_pool1d",
      "aten::adaptive_avg_pool2d",
      "aten::adaptive_avg_pool3d",
      "aten::adaptive_max_pool1d",
      "aten::argsort",
      "aten::avg_pool1d",
      "aten::batch_norm",
      "aten::bilinear",
      "aten::cdist",
      "aten::clip",
      "aten::concat",
      "aten::concatenate",
      "aten::conv1d",
      "aten::conv2d",
      "aten::conv3d",
      "aten::conv_transpose1d",
      "aten::conv_transpose2d",
      "aten::conv_transpose3d",
      "aten::cosine_similarity",
      "aten::divide",
      "aten::embedding_bag",
      "aten::greater",
      "aten::greater_equal",
      "aten::grid_sampler",
      "aten::group_norm",
      "aten::gru_cell",
      "aten::hstack",
      "aten::instance_norm",
      "aten::isclose",
      "aten::isfinite",
      "aten::layer_norm",
      "aten::less",
      "aten::less_equal",
      "aten::linear",
      "aten::log_sigmoid",
      "aten::log_softmax",
      "aten::lstm_cell",
      "aten::matmul",
      "aten::max",
      "aten::max_pool1d",
      "aten::max_pool2d",
      "aten::max_pool3d",
      "aten::min",
      "aten::multiply",
      "aten::negative",
      "aten::not_equal",
      "aten::one_hot",
      "aten::outer",
      "aten::prelu",
      "aten::relu6",
      "aten::rms_norm",
      "aten::scaled_dot_product_attention",
      "aten::selu",
      "aten::softmax",
      "aten::square",
      "aten::std",
      "aten::subtract",
      "aten::true_divide",
      "aten::upsample_bicubic2d",
      "aten::upsample_bilinear2d",
      "aten::upsample_linear1d",
      "aten::upsample_nearest1d",
      "aten::upsample_nearest2d",
      "aten::upsample_nearest3d",
      "aten::upsample_trilinear3d",
      "aten::var",
      "aten::vstack",
      "aten::where",
  };
  return table;
}

bool is_annotated(const c10::Argument& argument) { return argument.alias_info() != nullptr; }

// Of a list the annotation may be on the list or on what it holds.
bool is_write(const c10::AliasInfo& info) {
  return info.isWrite() || std::any_of(info.containedTypes().begin(), info.containedTypes().end(),
                                       [](const c10::AliasInfo& inner) { return is_write(inner); });
}

bool updates_running_statistics(const c10::FunctionSchema& schema,
                                c10::function_ref<bool(size_t)> may_be_true) {
  const auto found = running_statistics_updates().find(schema.name());
  if (found == running_statistics_updates().end()) return false;
  const auto flag = schema.argumentIndexWithName(found->second);
  return !flag || may_be_true(static_cast<size_t>(*flag));
}

// Whether results may share the memory of arguments that the schema says nothing about.
bool may_share_silently(const c10::OperatorHandle& op) {
  const std::string& name = op.schema().name();
  if (unannotated_views().contains(name)) return true;
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
         !composites_with_new_results().contains(name);
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

const OperatorEffects& EffectsTable::of(const c10::OperatorHandle& op,
                                        c10::function_ref<bool(size_t)> may_be_true) {
  const c10::FunctionSchema& schema = op.schema();
  const auto [found, is_new] = by_schema_.try_emplace(&schema);
  if (is_new) found->second = effects_of_schema(op);
  if (!updates_running_statistics(schema, may_be_true)) return found->second;
  return of_call_ = writing_statistics(found->second, schema);
}

}  // namespace torch_ir

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros_like.h>

#include "torch_ir/executor/graph/fusion.h"
#include "torch_ir/executor/graph/graph_editor.h"

namespace torch_ir {
namespace {

bool is_convolution(const GraphEditor& editor, size_t index) {
  if (editor.calls(index, "aten.convolution.default")) {
    return !editor.fixed(index, "transposed").toBool();
  }
  return editor.calls(index, "aten.conv1d.default") || editor.calls(index, "aten.conv2d.default") ||
         editor.calls(index, "aten.conv3d.default");
}

bool is_evaluation_batch_norm(const GraphEditor& editor, size_t index) {
  if (editor.calls(index, "aten._native_batch_norm_legit_no_training.default")) return true;
  if (!editor.calls(index, "aten.batch_norm.default")) return false;
  const c10::IValue training = editor.fixed(index, "training");
  return training.isBool() && !training.toBool();
}

// The statistics that come after the first result belong to training.
bool uses_first_result_only(const GraphEditor& editor, const LoweredGraph& graph, size_t index) {
  for (size_t i = 1; i < graph.nodes[index].outputs.size(); ++i) {
    if (!editor.is_unused(graph.nodes[index].outputs[i])) return false;
  }
  return true;
}

struct Affine {
  at::Tensor scale;
  at::Tensor shift;
};

// What the batch norm does to each channel, in double precision.
Affine affine_of(const GraphEditor& editor, size_t norm) {
  const at::Tensor mean = editor.constant(norm, "running_mean");
  const at::Tensor variance = editor.constant(norm, "running_var");
  const at::Tensor weight = editor.constant(norm, "weight");
  const at::Tensor bias = editor.constant(norm, "bias");
  const double eps = editor.fixed(norm, "eps").toDouble();
  at::Tensor scale = (variance.to(at::kDouble) + eps).rsqrt();
  if (weight.defined()) scale = scale * weight.to(at::kDouble);
  at::Tensor shift = -mean.to(at::kDouble) * scale;
  if (bias.defined()) shift = shift + bias.to(at::kDouble);
  return {scale, shift};
}

bool has_constant_or_no(const GraphEditor& editor, size_t index, std::string_view name) {
  return !editor.value(index, name) || editor.constant(index, name).defined();
}

void fold(GraphEditor& editor, size_t convolution, size_t norm) {
  const Affine affine = affine_of(editor, norm);
  const at::Tensor weight = editor.constant(convolution, "weight");
  const at::Tensor bias = editor.constant(convolution, "bias");
  std::vector<int64_t> per_output(static_cast<size_t>(weight.dim()), 1);
  per_output[0] = -1;
  const at::Tensor folded_weight =
      (weight.to(at::kDouble) * affine.scale.view(per_output)).to(weight.scalar_type());
  at::Tensor folded_bias = affine.shift;
  if (bias.defined()) folded_bias = folded_bias + bias.to(at::kDouble) * affine.scale;
  editor.absorb(convolution, norm);
  editor.set_argument(norm, "weight", editor.add_constant(folded_weight));
  editor.set_argument(norm, "bias", editor.add_constant(folded_bias.to(weight.scalar_type())));
}

}  // namespace

void fold_batch_norms(LoweredGraph& graph) {
  GraphEditor editor(graph);
  for (size_t norm = 0; norm < editor.num_nodes(); ++norm) {
    if (!is_evaluation_batch_norm(editor, norm) || !uses_first_result_only(editor, graph, norm) ||
        !editor.constant(norm, "running_mean").defined() ||
        !editor.constant(norm, "running_var").defined() ||
        !has_constant_or_no(editor, norm, "weight") || !has_constant_or_no(editor, norm, "bias")) {
      continue;
    }
    const auto input = editor.value(norm, "input");
    const auto convolution = editor.producer(*input);
    const bool folds = convolution && editor.only_user(*input) &&
                       is_convolution(editor, *convolution) &&
                       editor.constant(*convolution, "weight").defined() &&
                       has_constant_or_no(editor, *convolution, "bias");
    if (folds) fold(editor, *convolution, norm);
  }
  editor.finish();
}

}  // namespace torch_ir

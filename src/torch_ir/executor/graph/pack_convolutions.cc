#include <ATen/Context.h>
#include <ATen/core/List.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "torch_ir/executor/graph/fusion.h"
#include "torch_ir/executor/graph/graph_editor.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

// Multiplications below which oneDNN's fixed cost a call is more than it saves, measured.
constexpr int64_t kMinMultiplications = 400'000;

constexpr std::string_view kPacked = "mkldnn._convolution_pointwise.default";

struct Activation {
  std::string_view op_type;
  // oneDNN's name.
  std::string_view attr;
};

constexpr std::array kActivations = {
    Activation{"aten.relu.default", "relu"},
    Activation{"aten.sigmoid.default", "sigmoid"},
    Activation{"aten.tanh.default", "tanh"},
    Activation{"aten.silu.default", "swish"},
    Activation{"aten.hardswish.default", "hardswish"},
};

struct Convolution {
  NodeArgument input;
  at::Tensor weight;
  NodeArgument bias;
  std::vector<int64_t> stride;
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  int64_t groups;
  std::vector<int64_t> input_shape;
};

std::vector<int64_t> pair_of(const c10::IValue& value) {
  std::vector<int64_t> values = value.toIntVector();
  if (values.size() == 1) values.push_back(values[0]);
  return values;
}

bool is_static(const TensorMeta& meta) {
  return std::ranges::none_of(meta.shape, [](int64_t size) { return size < 0; });
}

// Of a two-dimensional convolution of floats, whose sizes, weight and bias are known.
std::optional<Convolution> convolution_of(const GraphEditor& editor, const LoweredNode& node,
                                          size_t index) {
  const bool is_general = editor.calls(index, "aten.convolution.default");
  if (!is_general && !editor.calls(index, "aten.conv2d.default")) return std::nullopt;
  if (is_general && editor.fixed(index, "transposed").toBool()) return std::nullopt;
  const at::Tensor weight = editor.constant(index, "weight");
  const TensorMeta* input = editor.meta(index, "input");
  if (!weight.defined() || weight.dim() != 4 || weight.scalar_type() != at::kFloat ||
      input == nullptr || input->shape.size() != 4 || !is_static(*input) || node.outputs.empty()) {
    return std::nullopt;
  }
  const auto fixed = [&](std::string_view name) { return editor.fixed(index, name); };
  if (!fixed("stride").isIntList() || !fixed("padding").isIntList() ||
      !fixed("dilation").isIntList() || !fixed("groups").isInt()) {
    return std::nullopt;
  }
  return Convolution{editor.argument(index, "input"), weight,
                     editor.argument(index, "bias"),  pair_of(fixed("stride")),
                     pair_of(fixed("padding")),       pair_of(fixed("dilation")),
                     fixed("groups").toInt(),         input->shape};
}

int64_t output_size(const Convolution& convolution, size_t d) {
  const int64_t window =
      convolution.dilation[d] * (convolution.weight.size(static_cast<int64_t>(d) + 2) - 1) + 1;
  return (convolution.input_shape[d + 2] + 2 * convolution.padding[d] - window) /
             convolution.stride[d] +
         1;
}

int64_t multiplications(const Convolution& convolution) {
  return convolution.input_shape[0] * output_size(convolution, 0) * output_size(convolution, 1) *
         convolution.weight.numel();
}

at::Tensor pack(const Convolution& convolution) {
  std::vector<c10::IValue> stack = {convolution.weight, convolution.padding,
                                    convolution.stride, convolution.dilation,
                                    convolution.groups, convolution.input_shape};
  find_operator("mkldnn._reorder_convolution_weight.default")->callBoxed(stack);
  return stack[0].toTensor();
}

NodeArgument no_scalars() { return c10::IValue(c10::List<std::optional<at::Scalar>>()); }

// The activation that alone reads what the node makes.
const Activation* activation_after(const GraphEditor& editor, const LoweredNode& node,
                                   std::optional<size_t>& user) {
  user = editor.only_user(node.outputs[0]);
  if (!user) return nullptr;
  const auto found = std::ranges::find_if(kActivations, [&](const Activation& activation) {
    return editor.calls(*user, activation.op_type);
  });
  return found == kActivations.end() ? nullptr : &*found;
}

// What is added to what the node makes, of the same shape, by the one node that reads that.
std::optional<NodeArgument> addend_after(const GraphEditor& editor, const LoweredNode& node,
                                         std::optional<size_t>& user) {
  user = editor.only_user(node.outputs[0]);
  if (!user || !editor.calls(*user, "aten.add.Tensor")) return std::nullopt;
  const c10::IValue alpha = editor.fixed(*user, "alpha");
  const bool is_plain =
      alpha.isInt() ? alpha.toInt() == 1 : alpha.isDouble() && alpha.toDouble() == 1;
  const auto self = editor.value(*user, "self");
  const auto other = editor.value(*user, "other");
  if (!is_plain || !self || !other || *self == *other) return std::nullopt;
  const std::string_view added = *self == node.outputs[0] ? "other" : "self";
  const TensorMeta* meta = editor.meta(*user, added);
  const TensorMeta& output = editor.meta_of(node.outputs[0]);
  if (meta == nullptr || meta->shape != output.shape || meta->dtype != output.dtype) {
    return std::nullopt;
  }
  return editor.argument(*user, added);
}

// Whether a node asks how its input lies in memory.
bool depends_on_strides(const LoweredGraph& graph) {
  return std::ranges::any_of(graph.nodes, [](const LoweredNode& node) {
    return node.op_type.starts_with("aten.as_strided") ||
           node.op_type.find("stride") != std::string::npos || node.op_type == "aten.view.dtype";
  });
}

class Packing {
 public:
  explicit Packing(LoweredGraph& graph) : editor_(graph) {}

  void pack_all() {
    bool packs_any = false;
    for (size_t i = 0; i < editor_.num_nodes(); ++i) {
      const auto convolution = convolution_of(editor_, editor_.node(i), i);
      if (convolution && multiplications(*convolution) >= kMinMultiplications) {
        pack_one(i, *convolution);
        packs_any = true;
      }
    }
    // What is channels-last can not always be viewed as another shape.
    for (size_t i = 0; packs_any && i < editor_.num_nodes(); ++i) {
      if (editor_.calls(i, "aten.view.default") || editor_.calls(i, "aten._unsafe_view.default")) {
        editor_.replace(i, "aten.reshape.default", editor_.node(i).arguments);
      }
    }
    editor_.finish();
  }

 private:
  void pack_one(size_t index, const Convolution& convolution) {
    const NodeArgument weight = editor_.add_constant(pack(convolution));
    size_t last = index;
    std::optional<size_t> user;
    const auto addend = addend_after(editor_, editor_.node(last), user);
    if (addend) last = merge(last, *user);
    const Activation* activation = activation_after(editor_, editor_.node(last), user);
    if (activation != nullptr) last = merge(last, *user);
    const auto text = [](std::string_view value) { return c10::IValue(std::string(value)); };
    const NodeArgument padding = c10::IValue(convolution.padding);
    const NodeArgument stride = c10::IValue(convolution.stride);
    const NodeArgument dilation = c10::IValue(convolution.dilation);
    const NodeArgument groups = c10::IValue(convolution.groups);
    const NodeArgument none = c10::IValue();
    if (addend) {
      editor_.replace(
          last, "mkldnn._convolution_pointwise.binary",
          {convolution.input, *addend, weight, convolution.bias, padding, stride, dilation, groups,
           text("add"), none, activation ? NodeArgument(text(activation->attr)) : none,
           no_scalars(), none});
    } else {
      editor_.replace(
          last, std::string(kPacked),
          {convolution.input, weight, convolution.bias, padding, stride, dilation, groups,
           text(activation ? activation->attr : "none"), no_scalars(), text("")});
    }
  }

  // Lets node `later` stand for both.
  size_t merge(size_t earlier, size_t later) {
    editor_.absorb(earlier, later);
    return later;
  }

  GraphEditor editor_;
};

}  // namespace

void pack_convolutions(LoweredGraph& graph) {
  if (!at::globalContext().hasMKLDNN() || !at::globalContext().userEnabledMkldnn()) return;
  if (!find_operator(kPacked) || depends_on_strides(graph)) return;
  Packing(graph).pack_all();
}

}  // namespace torch_ir

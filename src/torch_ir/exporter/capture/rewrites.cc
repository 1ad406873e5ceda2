#include <c10/core/Scalar.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "torch_ir/exporter/capture/traced_graph.h"

namespace torch_ir {
namespace {

using Match = std::span<const TracedNode>;

c10::OperatorHandle find_op(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

std::optional<TracedId> value_of(const TracedArgument& argument) {
  const TracedId* value = std::get_if<TracedId>(&argument);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

bool is_number(const TracedArgument& argument, double number) {
  const auto* value = std::get_if<c10::IValue>(&argument);
  return value != nullptr && value->isScalar() && !value->toScalar().isComplex() &&
         value->toScalar().toDouble() == number;
}

// Whether argument `index` of `node` is the output of `producer`.
bool consumes(const TracedNode& node, size_t index, const TracedNode& producer) {
  return value_of(node.arguments[index]) == producer.outputs[0];
}

// What a rewrite may ask about the values of the graph.
class Values {
 public:
  explicit Values(const TracedGraph& graph)
      : metas_(graph.values), is_weight_(graph.values.size()) {
    for (const TracedInput& input : graph.inputs) {
      is_weight_[input.value] = input.kind != InputKind::kUserInput;
    }
  }

  size_t dim(const TracedArgument& argument) const {
    const auto value = value_of(argument);
    return value ? metas_[*value].shape.size() : 0;
  }

  bool is_weight(const TracedArgument& argument) const {
    const auto value = value_of(argument);
    return value && is_weight_[*value];
  }

 private:
  const std::vector<ValueMeta>& metas_;
  std::vector<bool> is_weight_;
};

// The node that takes the place of a match, or nothing when the arguments do not fit. Its outputs
// are set by the caller.
using Rewrite = std::optional<TracedNode> (*)(Match, const Values&);

TracedNode make_linear(const TracedArgument& input, const TracedArgument& weight,
                       const TracedArgument& bias) {
  return {find_op("aten::linear", ""), {input, weight, bias}, {}};
}

// t(weight), addmm(bias, input, t)
std::optional<TracedNode> linear_from_addmm(Match match, const Values& values) {
  const TracedNode& t = match[0];
  const TracedNode& addmm = match[1];
  const bool is_linear = consumes(addmm, 2, t) && !consumes(addmm, 1, t) &&
                         values.dim(t.arguments[0]) == 2 && values.dim(addmm.arguments[0]) == 1 &&
                         is_number(addmm.arguments[3], 1) && is_number(addmm.arguments[4], 1);
  if (!is_linear) return std::nullopt;
  return make_linear(addmm.arguments[1], t.arguments[0], addmm.arguments[0]);
}

bool is_product_with_transpose(const TracedNode& t, const TracedNode& matmul,
                               const Values& values) {
  return consumes(matmul, 1, t) && !consumes(matmul, 0, t) && values.dim(t.arguments[0]) == 2;
}

// t(weight), matmul(input, t). A product of two activations is what its author wrote.
std::optional<TracedNode> linear_from_matmul(Match match, const Values& values) {
  const TracedNode& t = match[0];
  const TracedNode& matmul = match[1];
  if (!is_product_with_transpose(t, matmul, values) || !values.is_weight(t.arguments[0])) {
    return std::nullopt;
  }
  return make_linear(matmul.arguments[0], t.arguments[0], c10::IValue());
}

// t(weight), matmul(input, t), add_(matmul, bias)
std::optional<TracedNode> linear_from_matmul_and_bias(Match match, const Values& values) {
  const TracedNode& t = match[0];
  const TracedNode& matmul = match[1];
  const TracedNode& add = match[2];
  const bool is_linear = is_product_with_transpose(t, matmul, values) && consumes(add, 0, matmul) &&
                         values.dim(add.arguments[1]) == 1 && is_number(add.arguments[2], 1);
  if (!is_linear) return std::nullopt;
  return make_linear(matmul.arguments[0], t.arguments[0], add.arguments[1]);
}

// empty_like(other), fill_(empty, number), OP_(filled, other): `number OP other`
template <bool kHasAlpha>
std::optional<TracedArgument> number_before_operator(Match match) {
  const TracedNode& empty = match[0];
  const TracedNode& fill = match[1];
  const TracedNode& op = match[2];
  const bool is_reversed = consumes(fill, 0, empty) && consumes(op, 0, fill) &&
                           value_of(op.arguments[1]) == value_of(empty.arguments[0]) &&
                           (!kHasAlpha || is_number(op.arguments[2], 1));
  if (!is_reversed) return std::nullopt;
  return fill.arguments[1];
}

std::optional<TracedNode> rsub(Match match, const Values&) {
  const auto number = number_before_operator</*kHasAlpha=*/true>(match);
  if (!number) return std::nullopt;
  const c10::IValue alpha = c10::Scalar(1);
  return TracedNode{find_op("aten::rsub", "Scalar"), {match[2].arguments[1], *number, alpha}, {}};
}

std::optional<TracedNode> remainder_of_number(Match match, const Values&) {
  const auto number = number_before_operator</*kHasAlpha=*/false>(match);
  if (!number) return std::nullopt;
  return TracedNode{
      find_op("aten::remainder", "Scalar_Tensor"), {*number, match[2].arguments[1]}, {}};
}

// Python's layer_norm says whether cuDNN is on, which it never is during an export; C++ leaves it
// at the default. No kernel reads it.
std::optional<TracedNode> layer_norm_without_cudnn(Match match, const Values&) {
  TracedNode layer_norm = match[0];
  layer_norm.arguments.back() = c10::IValue(false);
  return layer_norm;
}

struct OpPattern {
  std::string_view name;
  std::string_view overload;
};

// An operator with a number where Python calls the overload for tensors with the number in it.
struct NumberOverload {
  const char* name;
  const char* from;
  const char* to;
};

constexpr NumberOverload kNumberOverloads[] = {
    {"aten::add", "Scalar", "Tensor"},           {"aten::add_", "Scalar", "Tensor"},
    {"aten::sub", "Scalar", "Tensor"},           {"aten::sub_", "Scalar", "Tensor"},
    {"aten::mul", "Scalar", "Tensor"},           {"aten::mul_", "Scalar", "Tensor"},
    {"aten::div", "Scalar", "Tensor"},           {"aten::div_", "Scalar", "Tensor"},
    {"aten::div", "Scalar_mode", "Tensor_mode"}, {"aten::div_", "Scalar_mode", "Tensor_mode"},
    {"aten::floor_divide", "Scalar", ""},        {"aten::floor_divide_", "Scalar", "Tensor"},
};

std::optional<TracedNode> number_as_tensor(Match match, const Values&) {
  const c10::OperatorName& op = match[0].op.operator_name();
  for (const NumberOverload& overload : kNumberOverloads) {
    if (op.name != overload.name || op.overload_name != overload.from) continue;
    return TracedNode{find_op(overload.name, overload.to), match[0].arguments, {}};
  }
  return std::nullopt;
}

struct Rule {
  // One for each node; those without a name match all operators.
  std::array<OpPattern, 3> pattern;
  size_t length;
  Rewrite rewrite;
};

// Longest first: the first rule that matches at a node is taken.
constexpr Rule kRules[] = {
    {{{{"aten::t", ""}, {"aten::matmul", ""}, {"aten::add_", "Tensor"}}},
     3,
     &linear_from_matmul_and_bias},
    {{{{"aten::empty_like", ""}, {"aten::fill_", "Scalar"}, {"aten::sub_", "Tensor"}}}, 3, &rsub},
    {{{{"aten::empty_like", ""}, {"aten::fill_", "Scalar"}, {"aten::remainder_", "Tensor"}}},
     3,
     &remainder_of_number},
    {{{{"aten::t", ""}, {"aten::addmm", ""}}}, 2, &linear_from_addmm},
    {{{{"aten::t", ""}, {"aten::matmul", ""}}}, 2, &linear_from_matmul},
    {{{{"aten::layer_norm", ""}}}, 1, &layer_norm_without_cudnn},
    {{}, 1, &number_as_tensor},
};

bool matches(const OpPattern& pattern, const c10::OperatorName& name) {
  return pattern.name.empty() ||
         (pattern.name == name.name && pattern.overload == name.overload_name);
}

// How often nodes and graph outputs use each value.
std::vector<size_t> count_uses(const TracedGraph& graph) {
  std::vector<size_t> uses(graph.values.size());
  for (const TracedNode& node : graph.nodes) {
    for (const TracedArgument& argument : node.arguments) {
      for_each_id<TracedId>(argument, [&](TracedId value) { ++uses[value]; });
    }
  }
  for (const TracedId output : graph.outputs) ++uses[output];
  return uses;
}

class Rewriter {
 public:
  explicit Rewriter(TracedGraph& graph) : graph_(graph), uses_(count_uses(graph)), values_(graph) {}

  void run() {
    std::vector<TracedNode> rewritten;
    const std::span<const TracedNode> nodes(graph_.nodes);
    for (size_t i = 0; i < nodes.size();) {
      const Rule* rule = nullptr;
      std::optional<TracedNode> node = rewrite(nodes.subspan(i), &rule);
      rewritten.push_back(node ? std::move(*node) : nodes[i]);
      i += node ? rule->length : 1;
    }
    graph_.nodes = std::move(rewritten);
  }

 private:
  // Tries every rule at the first of `nodes`.
  std::optional<TracedNode> rewrite(Match nodes, const Rule** matched) const {
    for (const Rule& rule : kRules) {
      if (!has_operators_of(rule, nodes)) continue;
      const Match match = nodes.first(rule.length);
      if (!is_closed(match)) continue;
      if (std::optional<TracedNode> node = rule.rewrite(match, values_)) {
        node->outputs = match.back().outputs;
        *matched = &rule;
        return node;
      }
    }
    return std::nullopt;
  }

  static bool has_operators_of(const Rule& rule, Match nodes) {
    if (nodes.size() < rule.length) return false;
    for (size_t i = 0; i < rule.length; ++i) {
      if (!matches(rule.pattern[i], nodes[i].op.operator_name())) return false;
    }
    return true;
  }

  // Whether each value made inside is used exactly once, by the next node.
  bool is_closed(Match match) const {
    return std::ranges::all_of(match.first(match.size() - 1), [&](const TracedNode& node) {
      return node.outputs.size() == 1 && uses_[node.outputs[0]] == 1;
    });
  }

  TracedGraph& graph_;
  std::vector<size_t> uses_;
  Values values_;
};

}  // namespace

void rewrite_to_python_form(TracedGraph& graph) { Rewriter(graph).run(); }

}  // namespace torch_ir

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "torch_ir/exporter/capture/python_form.h"

namespace torch_ir {
namespace {

using Match = std::span<const Node>;
using Given = ArgumentValue;

const Given& argument(const Node& node, size_t index) { return node.arguments[index].value; }

bool is_number(const Given& value, double number) {
  const auto* attribute = std::get_if<Attribute>(&value);
  if (attribute == nullptr) return false;
  if (const auto* integer = attribute->get_if<int64_t>()) return *integer == number;
  const auto* real = attribute->get_if<double>();
  return real != nullptr && *real == number;
}

bool consumes(const Node& node, size_t index, const Node& producer) {
  return argument(node, index) == Given(producer.outputs[0]);
}

size_t dim_of(const Graph& graph, const Given& value) {
  const auto* id = std::get_if<ValueId>(&value);
  return id == nullptr ? 0 : graph[*id].shape.size();
}

bool is_weight(const Graph& graph, const Given& value) {
  return std::ranges::any_of(graph.inputs, [&](const GraphInput& input) {
    return input.kind != InputKind::kUserInput && value == Given(input.value);
  });
}

// The replacement of a match, or nothing if the arguments do not fit. The caller sets its outputs.
using Rewrite = std::optional<Node> (*)(Match, const Graph&);

Node make_node(std::string target, std::vector<Argument> arguments) {
  return {.name = {}, .target = std::move(target), .arguments = std::move(arguments)};
}

Node make_linear(const Given& input, const Given& weight, const Given& bias) {
  return make_node("aten.linear.default", {{"input", input}, {"weight", weight}, {"bias", bias}});
}

// t(weight), addmm(bias, input, t)
std::optional<Node> linear_from_addmm(Match match, const Graph& graph) {
  const Node& t = match[0];
  const Node& addmm = match[1];
  const bool is_linear = consumes(addmm, 2, t) && !consumes(addmm, 1, t) &&
                         dim_of(graph, argument(t, 0)) == 2 &&
                         dim_of(graph, argument(addmm, 0)) == 1 &&
                         is_number(argument(addmm, 3), 1) && is_number(argument(addmm, 4), 1);
  if (!is_linear) return std::nullopt;
  return make_linear(argument(addmm, 1), argument(t, 0), argument(addmm, 0));
}

// t(weight), matmul(input, t), optionally add_(matmul, bias). A product of two activations stays.
std::optional<Node> linear_from_matmul(Match match, const Graph& graph) {
  const Node& t = match[0];
  const Node& matmul = match[1];
  const bool is_product =
      consumes(matmul, 1, t) && !consumes(matmul, 0, t) && dim_of(graph, argument(t, 0)) == 2;
  if (!is_product) return std::nullopt;
  if (match.size() == 2) {
    if (!is_weight(graph, argument(t, 0))) return std::nullopt;
    return make_linear(argument(matmul, 0), argument(t, 0), Attribute());
  }
  const Node& add = match[2];
  const bool has_bias = consumes(add, 0, matmul) && dim_of(graph, argument(add, 1)) == 1 &&
                        is_number(argument(add, 2), 1);
  if (!has_bias) return std::nullopt;
  return make_linear(argument(matmul, 0), argument(t, 0), argument(add, 1));
}

// Whether empty_like(other), fill_(empty, number), OP_(filled, other) is `number OP other`. For
// integers it is not if the number is a float: C++ cuts its fraction off, Python's result is a
// float.
bool has_number_first(Match match, const Graph& graph) {
  const Node& op = match[2];
  const auto* number = std::get_if<Attribute>(&argument(match[1], 1));
  const bool is_cut = number != nullptr && number->get_if<double>() != nullptr &&
                      c10::isIntegralType(graph[match[0].outputs[0]].dtype, /*includeBool=*/true);
  return !is_cut && consumes(match[1], 0, match[0]) && consumes(op, 0, match[1]) &&
         argument(op, 1) == argument(match[0], 0);
}

std::optional<Node> rsub(Match match, const Graph& graph) {
  if (!has_number_first(match, graph) || !is_number(argument(match[2], 2), 1)) return std::nullopt;
  return make_node(
      "aten.rsub.Scalar",
      {{"self", argument(match[2], 1)}, {"other", argument(match[1], 1)}, {"alpha", Attribute(1)}});
}

std::optional<Node> remainder_of_number(Match match, const Graph& graph) {
  if (!has_number_first(match, graph)) return std::nullopt;
  return make_node("aten.remainder.Scalar_Tensor",
                   {{"self", argument(match[1], 1)}, {"other", argument(match[2], 1)}});
}

// cuDNN is off in a Python export, but C++ leaves this argument at its default. No kernel reads it.
std::optional<Node> layer_norm_without_cudnn(Match match, const Graph&) {
  Node layer_norm = match[0];
  layer_norm.arguments.back().value = Attribute(false);
  return layer_norm;
}

// "aten.add_.Scalar" to "aten.add_.Tensor", which Python calls with a number. "aten.add.Scalar_out"
// has no such counterpart.
std::optional<Node> number_as_tensor(Match match, const Graph&) {
  constexpr std::string_view kOperators[] = {"add", "sub", "mul", "div", "floor_divide"};
  constexpr std::string_view kOverload = ".Scalar";
  std::string target = match[0].target;
  const size_t overload = target.find(kOverload);
  const bool has_overload = overload != std::string::npos && !target.ends_with("_out");
  if (!target.starts_with("aten.") || !has_overload) return std::nullopt;
  const std::string_view op = std::string_view(target).substr(5, overload - 5);
  const std::string_view name = op.ends_with('_') ? op.substr(0, op.size() - 1) : op;
  if (std::ranges::find(kOperators, name) == std::end(kOperators)) return std::nullopt;
  const bool has_one_overload = op == "floor_divide";
  target.replace(overload, kOverload.size(), has_one_overload ? ".default" : ".Tensor");
  return make_node(target, match[0].arguments);
}

struct Rule {
  // Empty for any target.
  std::array<std::string_view, 3> pattern;
  size_t length;
  Rewrite rewrite;
};

// The first rule that matches at a node wins, so longer ones come first.
constexpr Rule kRules[] = {
    {{"aten.t.default", "aten.matmul.default", "aten.add_.Tensor"}, 3, linear_from_matmul},
    {{"aten.empty_like.default", "aten.fill_.Scalar", "aten.sub_.Tensor"}, 3, rsub},
    {{"aten.empty_like.default", "aten.fill_.Scalar", "aten.remainder_.Tensor"},
     3,
     remainder_of_number},
    {{"aten.t.default", "aten.addmm.default"}, 2, linear_from_addmm},
    {{"aten.t.default", "aten.matmul.default"}, 2, linear_from_matmul},
    {{"aten.layer_norm.default"}, 1, layer_norm_without_cudnn},
    {{}, 1, number_as_tensor},
};

std::vector<size_t> count_uses(const Graph& graph) {
  std::vector<size_t> uses(graph.values.size());
  const auto count = [&](ValueId value) { ++uses[static_cast<size_t>(value)]; };
  for (const Node& node : graph.nodes) {
    for (const Argument& given : node.arguments) for_each_value(given, count);
  }
  std::ranges::for_each(graph.outputs, count);
  return uses;
}

bool has_operators_of(const Rule& rule, Match nodes) {
  if (nodes.size() < rule.length) return false;
  for (size_t i = 0; i < rule.length; ++i) {
    if (!rule.pattern[i].empty() && rule.pattern[i] != nodes[i].target) return false;
  }
  return true;
}

// Returns the first node, or the replacement of a match that begins with it, and the number of
// nodes that it stands for.
std::pair<Node, size_t> rewrite(Match nodes, const Graph& graph, const std::vector<size_t>& uses) {
  // Each value made inside of a match is used exactly once, by the next node.
  const auto is_inside = [&](const Node& node) {
    return node.outputs.size() == 1 && uses[static_cast<size_t>(node.outputs[0])] == 1;
  };
  for (const Rule& rule : kRules) {
    if (!has_operators_of(rule, nodes)) continue;
    const Match match = nodes.first(rule.length);
    if (!std::ranges::all_of(match.first(match.size() - 1), is_inside)) continue;
    if (std::optional<Node> node = rule.rewrite(match, graph)) {
      node->outputs = match.back().outputs;
      return {std::move(*node), rule.length};
    }
  }
  return {nodes.front(), 1};
}

}  // namespace

void rewrite_to_python_form(Graph& graph) {
  const std::vector<size_t> uses = count_uses(graph);
  std::vector<Node> nodes;
  for (Match rest = graph.nodes; !rest.empty();) {
    auto [node, length] = rewrite(rest, graph, uses);
    nodes.push_back(std::move(node));
    rest = rest.subspan(length);
  }
  graph.nodes = std::move(nodes);
}

}  // namespace torch_ir

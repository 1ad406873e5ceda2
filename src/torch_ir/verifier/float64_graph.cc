#include "torch_ir/verifier/float64_graph.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <fmt/format.h>
#include <torch/library.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/runtime/graph/memory_overlap.h"

namespace torch_ir {
namespace {

constexpr std::pair<std::string_view, std::string_view> kObstacles[] = {
    {"next_number", "the next representable number differs in float64"},
    {"greatest_number", "the greatest number, which replaces infinity, differs in float64"},
};

// LibTorch's kernel adds in float32.
at::Tensor scaled_mm(const at::Tensor& self, const at::Tensor& mat2, const at::Tensor& scale_a,
                     const at::Tensor& scale_b, const std::optional<at::Tensor>& bias,
                     const std::optional<at::Tensor>& scale_result,
                     std::optional<c10::ScalarType> out_dtype, bool /*use_fast_accum*/) {
  TORCH_CHECK(!scale_result, "a scale_result has no meaning in float64");
  at::Tensor product =
      at::matmul(self.to(c10::kDouble).mul(scale_a), mat2.to(c10::kDouble).mul(scale_b));
  if (bias) product = product.add(*bias);
  return product.to(out_dtype.value_or(self.scalar_type()));
}

// LibTorch's kernel overflows on processors without instructions for products of bytes.
at::Tensor int_mm(const at::Tensor& self, const at::Tensor& mat2) {
  return at::matmul(self.to(c10::kDouble), mat2.to(c10::kDouble)).to(c10::kInt);
}

void define_wide_operators() {
  [[maybe_unused]] static const bool is_done = [] {
    // The dispatcher refers to it.
    auto* library = new torch::Library(torch::Library::FRAGMENT, "torch_ir_float64", std::nullopt,
                                       __FILE__, __LINE__);
    library->def(
        "_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, "
        "Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False)"
        " -> Tensor",
        scaled_mm);
    library->def("_int_mm(Tensor self, Tensor mat2) -> Tensor", int_mm);
    return true;
  }();
}

bool is_widened(const Value& value) { return in_float64(value.dtype) != value.dtype; }

// Why the node would mean something else in float64; empty if it would not.
std::string_view why_not_in_float64(const Graph& graph, const Node& node) {
  const std::string_view obstacle = facts_of(node.target).float64_obstacle;
  for (const auto& [name, reason] : kObstacles) {
    if (name == obstacle) return reason;
  }
  const std::vector<ValueId> inputs = node.inputs();
  if (obstacle != "bit_cast" || inputs.empty() || node.outputs.empty()) return "";
  const Value& from = graph[inputs[0]];
  const Value& to = graph[node.outputs[0]];
  const bool is_obstacle = from.dtype != to.dtype && (is_widened(from) || is_widened(to));
  return is_obstacle ? "it reinterprets the bits of one dtype as another" : "";
}

void widen(Argument& argument) {
  auto* attribute = std::get_if<Attribute>(&argument.value);
  if (attribute == nullptr) return;
  // An attribute of softmax: whether the result of float16 is float32. float64 has no such variant.
  if (argument.name == "half_to_float") *attribute = false;
  if (const auto* dtype = attribute->get_if<c10::ScalarType>()) *attribute = in_float64(*dtype);
}

void widen_result(Node& node, std::string_view dtype) {
  const auto given = std::ranges::find(node.arguments, dtype, &Argument::name);
  if (given == node.arguments.end()) {
    node.arguments.push_back({std::string(dtype), Attribute(c10::kDouble)});
  } else if (std::get<Attribute>(given->value).is_none()) {
    given->value = Attribute(c10::kDouble);
  }
}

// Without `obstacles`, there must be none.
void widen(Graph& graph, std::map<size_t, std::string>* obstacles = nullptr) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    if (const std::string_view reason = why_not_in_float64(graph, node); !reason.empty()) {
      std::string text =
          fmt::format("node '{}' ({}): {}", printable(node.name), printable(node.target), reason);
      if (obstacles == nullptr) throw Error(text);
      obstacles->emplace(i, std::move(text));
      continue;
    }
    for (Argument& argument : node.arguments) widen(argument);
    const OperatorFacts& facts = facts_of(node.target);
    if (!facts.float32_without.empty()) widen_result(node, facts.float32_without);
    if (!facts.float64_operator.empty()) {
      define_wide_operators();
      node.target = facts.float64_operator;
    }
    for (Graph& inner : node.graphs) widen(inner);
  }
  for (Value& value : graph.values) {
    if (c10::isQIntType(value.dtype)) {
      throw Error(fmt::format("values of dtype {} are quantized", dtype_name(value.dtype)));
    }
    value.dtype = in_float64(value.dtype);
  }
}

// Widens tensors of one dtype whose memory overlaps: all elements of that memory, once.
std::vector<at::Tensor> widen_group(const std::vector<at::Tensor>& tensors, c10::ScalarType dtype) {
  const at::Tensor& first = tensors.front();
  if (first.layout() != c10::kStrided) return {first.to(dtype)};
  for (const at::Tensor& tensor : tensors) {
    if (tensor.scalar_type() == first.scalar_type()) continue;
    throw Error("tensors of several dtypes share memory");
  }
  const std::vector<at::Tensor> copies = copy_group(tensors);
  const c10::Storage& storage = copies.front().storage();
  const auto size = static_cast<int64_t>(storage.nbytes() / first.itemsize());
  const at::Tensor all = at::empty({0}, first.options()).set_(storage, 0, {size}, {1}).to(dtype);
  std::vector<at::Tensor> widened;
  for (const at::Tensor& copy : copies) {
    widened.push_back(all.as_strided(copy.sizes(), copy.strides(), copy.storage_offset()));
  }
  return widened;
}

void check_size(const StateDict& weights) {
  int64_t bytes = 0;
  for (const auto& item : weights) {
    const at::Tensor& weight = item.value();
    const c10::ScalarType wide = in_float64(weight.scalar_type());
    if (wide == weight.scalar_type()) continue;
    bytes += weight.numel() * static_cast<int64_t>(c10::elementSize(wide));
  }
  if (bytes <= kMaxFloat64WeightBytes) return;
  throw Error(fmt::format("the weights would take {:.3g} GiB in float64; the limit is {} GiB",
                          static_cast<double>(bytes) / (1 << 30), kMaxFloat64WeightBytes >> 30));
}

}  // namespace

c10::ScalarType in_float64(c10::ScalarType dtype) {
  if (c10::isFloat8Type(dtype)) return dtype;
  if (c10::isFloatingType(dtype)) return c10::kDouble;
  return c10::isComplexType(dtype) ? c10::kComplexDouble : dtype;
}

Program in_float64(const Program& program, std::map<size_t, std::string>& obstacles) {
  Program wide = program;
  widen(static_cast<Graph&>(wide), &obstacles);
  const std::vector<at::Tensor> constants = in_float64(wide.constants.values());
  for (size_t i = 0; i < constants.size(); ++i) {
    wide.constants[wide.constants[i].key()] = constants[i];
  }
  return wide;
}

void replace_groups(
    std::vector<at::Tensor>& tensors,
    c10::function_ref<std::vector<at::Tensor>(const std::vector<at::Tensor>& group)> replace) {
  std::map<size_t, std::vector<size_t>> groups;
  const std::vector<size_t> group_of = overlap_groups(tensors);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].defined()) groups[group_of[i]].push_back(i);
  }
  for (const auto& [group, indices] : groups) {
    std::vector<at::Tensor> members;
    for (const size_t i : indices) members.push_back(tensors[i]);
    members = replace(members);
    for (size_t k = 0; k < indices.size(); ++k) tensors[indices[k]] = members[k];
  }
}

std::vector<at::Tensor> in_float64(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> widened;
  for (const at::Tensor& tensor : tensors) {
    widened.push_back(tensor.defined() ? tensor.detach().cpu().resolve_conj().resolve_neg()
                                       : tensor);
  }
  replace_groups(widened, [](const std::vector<at::Tensor>& group) {
    const bool is_converted = std::ranges::any_of(group, [](const at::Tensor& tensor) {
      return in_float64(tensor.scalar_type()) != tensor.scalar_type();
    });
    return is_converted ? widen_group(group, in_float64(group.front().scalar_type())) : group;
  });
  return widened;
}

// Weights and inputs are widened together, since they may share memory.
Float64Case in_float64(const Case& graph_case) {
  check_size(graph_case.weights);
  std::vector<at::Tensor> tensors = graph_case.inputs;
  for (const StateDict* weights : {&graph_case.weights, &graph_case.constants}) {
    for (const auto& item : *weights) tensors.push_back(item.value());
  }
  tensors = in_float64(tensors);
  auto obstacles = std::make_shared<std::map<size_t, std::string>>();
  Case wide = graph_case.with(in_float64(*graph_case.program, *obstacles));
  auto next = tensors.begin();
  for (at::Tensor& input : wide.inputs) input = *next++;
  for (StateDict* weights : {&wide.weights, &wide.constants}) {
    for (auto& item : *weights) item.value() = *next++;
  }
  wide.expected.clear();
  return {std::move(wide), std::move(obstacles)};
}

}  // namespace torch_ir

#include "torch_ir/ir/value_checks.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {
namespace {

std::optional<std::string> expression_problem(const std::string& text) {
  try {
    SymExpr::parse(text);
    return std::nullopt;
  } catch (const ValidationError& error) {
    return error.what();
  }
}

// Says why no tensor of this shape and dtype can be made, if so. Unknown or wrong sizes count as
// one.
std::optional<std::string> size_problem(const TensorMeta& meta, c10::ScalarType dtype) {
  if (meta.shape.size() > kMaxTensorDims) {
    return fmt::format("has {} dimensions; a tensor can have at most {}", meta.shape.size(),
                       kMaxTensorDims);
  }
  auto num_bytes = static_cast<int64_t>(c10::elementSize(dtype));
  for (const int64_t size : meta.shape) {
    if (__builtin_mul_overflow(num_bytes, std::max<int64_t>(size, 1), &num_bytes) ||
        num_bytes > kMaxTensorBytes) {
      return fmt::format("has shape {}, which needs more than {} bytes", shape_list_text(meta),
                         kMaxTensorBytes);
    }
  }
  return std::nullopt;
}

bool has_same_shape(const TensorMeta& a, const TensorMeta& b) {
  if (a.shape != b.shape) return false;
  // Nearly all shapes are without symbols, and need no text.
  return a.symbolic_shape == b.symbolic_shape || shape_list_text(a) == shape_list_text(b);
}

std::string counted_values(size_t count) {
  return fmt::format("{} value{}", count, count == 1 ? "" : "s");
}

void check_num_returned(const OpNode& node, const char* what, const IRGraph& graph,
                        const ProblemReport& report) {
  if (graph.graph_outputs.size() == node.outputs.size()) return;
  report("node '{}' ({}): {} returns {}, expected {}", node.name, node.op_type, what,
         counted_values(graph.graph_outputs.size()), node.outputs.size());
}

// Checks that `given`, from `first` on, matches `expected` in length and in which are tensors.
void check_carried(const OpNode& node, const char* what, const std::vector<TensorMeta>& given,
                   size_t first, const std::vector<TensorMeta>& expected,
                   const ProblemReport& report) {
  if (given.size() < first || given.size() - first != expected.size()) {
    report("node '{}' ({}): {} takes {}, found {}", node.name, node.op_type, what,
           counted_values(expected.size()), given.size() - std::min(first, given.size()));
    return;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorMeta& value = given[first + i];
    if (value.is_scalar != expected[i].is_scalar || value.dtype != expected[i].dtype) {
      report("node '{}' ({}): {} takes {} as '{}', but '{}' is {}", node.name, node.op_type, what,
             expected[i].dtype, expected[i].name, value.name, value.dtype);
    }
  }
}

void check_cond(const OpNode& node, const ProblemReport& report) {
  const size_t first = node.attrs.find("pred") == nullptr ? 1 : 0;
  const char* const names[] = {"the true graph", "the false graph"};
  for (size_t i = 0; i < 2; ++i) {
    const IRGraph& graph = node.graphs[i];
    check_carried(node, names[i], node.inputs, first, graph.graph_inputs, report);
    check_num_returned(node, names[i], graph, report);
  }
}

void check_while_loop(const OpNode& node, const ProblemReport& report) {
  const IRGraph& condition = node.graphs[0];
  const IRGraph& body = node.graphs[1];
  check_carried(node, "the condition", node.inputs, 0, condition.graph_inputs, report);
  check_carried(node, "the body", node.inputs, 0, body.graph_inputs, report);
  if (condition.graph_outputs.size() != 1 || condition.graph_outputs[0].dtype != "bool") {
    report("node '{}' ({}): the condition must return one bool", node.name, node.op_type);
  }
  check_num_returned(node, "the body", body, report);
  if (body.graph_outputs.size() > node.inputs.size()) {
    report("node '{}' ({}): the body returns {} values, expected at most {}, the number of inputs",
           node.name, node.op_type, body.graph_outputs.size(), node.inputs.size());
  }
}

// The lengths of the lists of tensors that `node` takes.
std::vector<int64_t> list_sizes(const OpNode& node) {
  std::vector<int64_t> sizes;
  const Attribute* given = node.attrs.find("_tensor_list_sizes");
  const auto* list = given == nullptr ? nullptr : given->get_if<Attribute::List>();
  if (list == nullptr) return sizes;
  for (const Attribute& item : *list) {
    if (const int64_t* size = item.get_if<int64_t>()) sizes.push_back(*size);
  }
  return sizes;
}

// Binding checks the sizes of the lists themselves.
void check_loop_over_slices(const OpNode& node, const ProblemReport& report) {
  const IRGraph& body = node.graphs[0];
  check_carried(node, "the body", node.inputs, 0, body.graph_inputs, report);
  check_num_returned(node, "the body", body, report);
  const std::vector<int64_t> sizes = list_sizes(node);
  const auto num_carried = node.op_type == kScan && !sizes.empty() ? sizes[0] : 0;
  if (std::ssize(body.graph_outputs) < num_carried) {
    report(
        "node '{}' ({}): the body returns {}, expected at least {}, the number of carried values",
        node.name, node.op_type, counted_values(body.graph_outputs.size()), num_carried);
  }
  const size_t sliced = node.op_type == kScan ? 1 : 0;
  if (sizes.size() > sliced && sizes[sliced] == 0) {
    report("node '{}' ({}) has no tensor to loop over", node.name, node.op_type);
  }
}

}  // namespace

void ProblemReport::add(const std::string& problem) const {
  constexpr size_t kMaxSize = 1000;
  problems_.push_back(printable(prefix_ + problem, kMaxSize));
}

std::optional<std::string> disagreement(const TensorMeta& use, const TensorMeta& declaration) {
  if (use.is_scalar != declaration.is_scalar) {
    return fmt::format("is a {}, but is declared as a {}", use.is_scalar ? "number" : "tensor",
                       declaration.is_scalar ? "number" : "tensor");
  }
  if (!has_same_shape(use, declaration)) {
    return fmt::format("has shape {}, but is declared with shape {}", shape_list_text(use),
                       shape_list_text(declaration));
  }
  if (use.dtype != declaration.dtype) {
    return fmt::format("has dtype {}, but is declared with dtype {}", use.dtype, declaration.dtype);
  }
  return std::nullopt;
}

void check_meta(const TensorMeta& meta, const std::string& kind, const ProblemReport& report) {
  const auto what = [&] { return fmt::format("{}'{}'", kind, meta.name); };
  if (meta.name.empty()) report("{} has no name", what());
  if (!meta.symbolic_shape.empty() && meta.symbolic_shape.size() != meta.shape.size()) {
    report("{} has {} sizes, but {} symbolic sizes", what(), meta.shape.size(),
           meta.symbolic_shape.size());
    return;
  }
  for (size_t i = 0; i < meta.shape.size(); ++i) {
    const bool is_symbolic = !meta.symbolic_shape.empty() && !meta.symbolic_shape[i].empty();
    if (is_symbolic) {
      const auto problem = expression_problem(meta.symbolic_shape[i]);
      if (problem) report("{}: {}", what(), *problem);
    } else if (meta.shape[i] < 0) {
      report("{} has a negative size: {}", what(), shape_list_text(meta));
      break;
    }
  }
  const auto dtype = find_dtype(meta.dtype);
  if (!dtype) {
    report("{} has the unknown dtype '{}'", what(), meta.dtype);
  } else if (const auto problem = size_problem(meta, *dtype)) {
    report("{} {}", what(), *problem);
  }
  if (!meta.is_scalar) return;
  if (!meta.shape.empty())
    report("{} is a number, but has the shape {}", what(), shape_list_text(meta));
  if (!(meta.dtype == "int64" || meta.dtype == "float64" || meta.dtype == "bool")) {
    report("{} is a number of dtype {}, expected int64, float64 or bool", what(), meta.dtype);
  }
}

void check_strides(const TensorMeta& tensor, const char* kind, const ProblemReport& report) {
  const auto is_negative = [](int64_t stride) { return stride < 0; };
  if (!tensor.strides.empty() && (tensor.strides.size() != tensor.shape.size() ||
                                  std::ranges::any_of(tensor.strides, is_negative))) {
    report("{} '{}' has the strides [{}], expected {} that are not negative", kind, tensor.name,
           fmt::join(tensor.strides, ", "), tensor.shape.size());
  }
}

void refuse_strides(const TensorMeta& value, const ProblemReport& report) {
  if (value.strides.empty()) return;
  report("'{}' has strides, which only weights and inputs of the model have", value.name);
}

void refuse_requires_grad(const TensorMeta& value, const ProblemReport& report) {
  if (value.requires_grad) report("'{}' has requires_grad, which only weights have", value.name);
}

void check_ranges(const std::vector<SymbolRange>& ranges, const ProblemReport& report) {
  for (const auto& [expression, min, max] : ranges) {
    const auto problem = expression_problem(expression);
    if (problem) report("range_constraints: {}", *problem);
    if (min && max && *min > *max) {
      report("range_constraints: empty range for '{}': at least {} and at most {}", expression,
             *min, *max);
    }
  }
}

void check_constant_outputs(const IRGraph& graph, const ProblemReport& report) {
  const auto num_outputs = std::ssize(graph.graph_outputs) + std::ssize(graph.constant_outputs);
  int64_t least = 0;
  for (const ConstantOutput& output : graph.constant_outputs) {
    if (output.index < least || output.index >= num_outputs) {
      return report(
          "constant_outputs: invalid index {}: there are {} outputs, and each index must be "
          "listed once, in order",
          output.index, num_outputs);
    }
    least = output.index + 1;
  }
}

void check_input_sizes(const TensorMeta& input, const ProblemReport& report) {
  for (const std::string& text : input.symbolic_shape) {
    if (text.empty() || expression_problem(text)) continue;
    const SymExpr expression = SymExpr::parse(text);
    if (const auto function = expression.unknown_function()) {
      report("graph input '{}': the size '{}' uses the unknown function '{}'", input.name, text,
             *function);
    } else if (expression.symbols().empty() && !expression.evaluate({})) {
      report("graph input '{}': the size '{}' has no value", input.name, text);
    }
  }
}

void check_getitem(const OpNode& node, const ProblemReport& report) {
  const Attribute* attribute = node.attrs.find("index");
  const int64_t* index = attribute == nullptr ? nullptr : attribute->get_if<int64_t>();
  if (index == nullptr) {
    report("node '{}' ({}) needs an integer attribute 'index'", node.name, node.op_type);
  } else if (*index < 0 || static_cast<size_t>(*index) >= node.inputs.size()) {
    report("node '{}' ({}) takes output {} of a node with {} output{}", node.name, node.op_type,
           *index, node.inputs.size(), node.inputs.size() == 1 ? "" : "s");
  } else if (node.outputs.size() != 1) {
    report("node '{}' ({}) has {} outputs, expected one", node.name, node.op_type,
           node.outputs.size());
  } else if (const auto what = disagreement(node.outputs[0], node.inputs[*index])) {
    report("node '{}': output '{}' {}", node.name, node.outputs[0].name, *what);
  }
}

void check_num_outputs(const OpNode& node, const c10::FunctionSchema& schema,
                       const ProblemReport& report) {
  const size_t num_returns = schema.returns().size();
  const bool returns_list = std::ranges::any_of(schema.returns(), [](const c10::Argument& result) {
    return result.type()->kind() == c10::TypeKind::ListType;
  });
  if (!returns_list && node.outputs.size() > num_returns) {
    report("node '{}' ({}) has {} outputs, but its operator returns {}", node.name, node.op_type,
           node.outputs.size(), num_returns);
  }
}

bool check_num_graphs(const OpNode& node, const ProblemReport& report) {
  const size_t expected = num_graphs_of(node.op_type);
  const bool may_have_any = expected == 0 && is_higher_order(node.op_type);
  if (may_have_any || node.graphs.size() == expected) return true;
  report("node '{}' ({}): wrong number of graphs: {}, expected {}", node.name, node.op_type,
         node.graphs.size(), expected);
  return false;
}

void check_control_flow(const OpNode& node, const ProblemReport& report) {
  if (node.op_type == kCond) check_cond(node, report);
  if (node.op_type == kWhileLoop) check_while_loop(node, report);
  if (node.op_type == kScan || node.op_type == kMap) check_loop_over_slices(node, report);
}

}  // namespace torch_ir

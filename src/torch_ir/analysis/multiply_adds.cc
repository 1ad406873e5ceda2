#include "torch_ir/analysis/multiply_adds.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/builtin_operators.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {

Count operator*(const Count& a, const Count& b) {
  int64_t product = 0;
  if (a.value_ == 0 || b.value_ == 0) return 0;
  if (!a.value_ || !b.value_) return Count::unknown();
  return __builtin_mul_overflow(*a.value_, *b.value_, &product) ? Count::unknown() : Count(product);
}

Count operator+(const Count& a, const Count& b) {
  int64_t sum = 0;
  if (!a.value_ || !b.value_) return Count::unknown();
  return __builtin_add_overflow(*a.value_, *b.value_, &sum) ? Count::unknown() : Count(sum);
}

Count operator/(const Count& a, const Count& b) {
  if (a.value_ == 0) return 0;
  return a.value_ && b.value_ && *b.value_ != 0 ? Count(*a.value_ / *b.value_) : Count::unknown();
}

namespace {

Count size_of(int64_t size) { return size == kDynamicSize ? Count::unknown() : Count(size); }

// Thrown for missing arguments; the count is then unknown.
struct Missing : std::exception {};

template <class Kind>
const Kind& argument_of(const NodeCall& call, std::string_view name) {
  const Argument* argument = call.node.find(name);
  const Kind* value = argument == nullptr ? nullptr : std::get_if<Kind>(&argument->value);
  if (value == nullptr) throw Missing();
  return *value;
}

template <class Kind>
const Kind& content_of(const Attribute& attribute) {
  const Kind* content = attribute.get_if<Kind>();
  if (content == nullptr) throw Missing();
  return *content;
}

const Value& tensor(const NodeCall& call, std::string_view argument) {
  return call.graph[argument_of<ValueId>(call, argument)];
}

// Leaves out None.
std::vector<const Value*> tensors(const NodeCall& call, std::string_view argument) {
  std::vector<const Value*> values;
  for (const auto& item : argument_of<ValueList>(call, argument)) {
    if (item) values.push_back(&call.graph[*item]);
  }
  return values;
}

Count elements(const NodeCall& call, std::string_view argument) {
  return count_elements(tensor(call, argument));
}

// A size of an argument; a negative `dim` counts from the end.
Count size(const NodeCall& call, std::string_view argument, int64_t dim) {
  const std::vector<int64_t>& shape = tensor(call, argument).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  if (dim < -rank || dim >= rank) throw Missing();
  return size_of(shape[static_cast<size_t>(dim < 0 ? dim + rank : dim)]);
}

Count output_elements(const NodeCall& call) {
  if (call.node.outputs.empty()) throw Missing();
  return count_elements(call.graph[call.node.outputs[0]]);
}

// Matrix products: one for each element of the first and each column of the second.

// Two operands of the call, which the row of its operator names: "product:self,mat2".
std::pair<std::string_view, std::string_view> named_operands(const NodeCall& call) {
  std::string_view names = facts_of(out_of_place(call.node.target)).multiply_adds;
  names.remove_prefix(names.find(':') + 1);
  const size_t comma = names.find(',');
  return {names.substr(0, comma), names.substr(comma + 1)};
}

Count product(const NodeCall& call) {
  const auto [first, second] = named_operands(call);
  const bool is_vector = tensor(call, second).shape.size() == 1;
  return elements(call, first) * (is_vector ? Count(1) : size(call, second, -1));
}

// Batches may be broadcast, so the result counts.
Count matmul(const NodeCall& call) { return output_elements(call) * size(call, "self", -1); }

Count linear(const NodeCall& call) {
  const bool is_vector = tensor(call, "weight").shape.size() == 1;
  return elements(call, "input") * (is_vector ? Count(1) : size(call, "weight", 0));
}

Count tensordot(const NodeCall& call) {
  Count count = output_elements(call);
  const auto& dims = content_of<Attribute::List>(argument_of<Attribute>(call, "dims_self"));
  for (const Attribute& dim : dims) count = count * size(call, "self", content_of<int64_t>(dim));
  return count;
}

// einsum of two operands: each summed or shared index counts once.

// One label per dimension; those of an ellipsis are numbered from the end, as they are broadcast.
std::string labels_of(std::string_view term, size_t num_dims) {
  std::string labels(term);
  const size_t dots = labels.find("...");
  if (dots != labels.npos) {
    std::string batch;
    for (size_t i = num_dims + 3; i-- > labels.size();)
      batch += static_cast<char>(1 + i - labels.size());
    labels.replace(dots, 3, batch);
  }
  if (labels.size() != num_dims) throw Missing();
  return labels;
}

// Without "->", the result has all labels that occur once, and the ellipsis.
bool is_in_result(char label, const std::string& equation) {
  const size_t arrow = equation.find("->");
  if (label < ' ') return arrow == equation.npos || equation.find("...", arrow) != equation.npos;
  if (arrow == equation.npos) return std::ranges::count(equation, label) == 1;
  return equation.find(label, arrow) != equation.npos;
}

Count einsum(const NodeCall& call) {
  auto equation = content_of<std::string>(argument_of<Attribute>(call, "equation"));
  const std::vector<const Value*> operands = tensors(call, "tensors");
  if (operands.size() < 2) return 0;
  // The order of multiplication is open for more operands.
  if (operands.size() > 2) return Count::unknown();
  std::erase(equation, ' ');
  const std::string terms = equation.substr(0, equation.find("->"));
  const size_t comma = terms.find(',');
  if (comma == terms.npos) throw Missing();
  const std::string labels[] = {labels_of(terms.substr(0, comma), operands[0]->shape.size()),
                                labels_of(terms.substr(comma + 1), operands[1]->shape.size())};
  std::map<char, int64_t> sizes;
  for (size_t k = 0; k < 2; ++k) {
    for (size_t i = 0; i < labels[k].size(); ++i) {
      int64_t& size = sizes.try_emplace(labels[k][i], 1).first->second;
      if (size == 1) size = operands[k]->shape[i];
    }
  }
  // An index of only one operand that is not in the result is summed first.
  Count count = 1;
  bool adds_up = false;
  for (const auto& [name, size] : sizes) {
    const bool is_shared =
        labels[0].find(name) != labels[0].npos && labels[1].find(name) != labels[1].npos;
    const bool is_kept = is_in_result(name, equation);
    if (is_shared || is_kept) count = count * size_of(size);
    adds_up |= is_shared && !is_kept;
  }
  return adds_up ? count : 0;
}

// Convolutions: weights are [out, in / groups, kernel...], transposed [in, out / groups, ...].

Count of_each_channel(const NodeCall& call) {
  return elements(call, "weight") / size(call, "weight", 0);
}

Count convolution(const NodeCall& call) {
  const Attribute* transposed = call.node.find_attribute("transposed");
  const bool is_transposed = transposed != nullptr && *transposed == Attribute(true);
  return (is_transposed ? elements(call, "input") : output_elements(call)) * of_each_channel(call);
}

Count transposed_convolution(const NodeCall& call) {
  return elements(call, "input") * of_each_channel(call);
}

// Weights are [kernel, in, out].
Count conv_tbc(const NodeCall& call) {
  return output_elements(call) * elements(call, "weight") / size(call, "weight", -1);
}

// Attention over [..., length, width]: the scores, and the values that they weigh.

Count attention(const NodeCall& call) {
  const Count rows = elements(call, "query") / size(call, "query", -1);
  return rows * size(call, "key", -2) * (size(call, "query", -1) + size(call, "value", -1));
}

// Queries, keys and values from one input of [batch, length, width], and the output projection.
Count self_attention(const NodeCall& call, std::string_view input) {
  const Count width = size(call, input, -1);
  const Count projections = elements(call, input) * width * 4;
  return projections + elements(call, input) * size(call, input, -2) * 2;
}

Count multi_head_attention(const NodeCall& call) {
  const Value& query = tensor(call, "query");
  const bool is_self =
      tensor(call, "key").name == query.name && tensor(call, "value").name == query.name;
  return is_self ? self_attention(call, "query") : Count::unknown();
}

Count transformer_layer(const NodeCall& call) {
  return self_attention(call, "src") + elements(call, "src") * size(call, "ffn_weight_1", 0) * 2;
}

// Recurrent layers: every matrix counts once per step of each sequence.

Count of_steps(const NodeCall& call, std::string_view input,
               const std::vector<const Value*>& weights) {
  Count matrices = 0;
  for (const Value* weight : weights) {
    if (weight->shape.size() == 2) matrices = matrices + count_elements(*weight);
  }
  return elements(call, input) / size(call, input, -1) * matrices;
}

// The input may be packed.
Count recurrent_layer(const NodeCall& call) {
  const bool is_packed = call.node.find("input") == nullptr;
  return of_steps(call, is_packed ? "data" : "input", tensors(call, "params"));
}

Count recurrent_cell(const NodeCall& call) {
  const auto [input_weight, hidden_weight] = named_operands(call);
  return of_steps(call, "input", {&tensor(call, input_weight), &tensor(call, hidden_weight)});
}

// After torch/utils/flop_counter.py if it has the operator (mm_flop, addmm_flop, bmm_flop,
// baddbmm_flop, conv_flop_count, sdpa_flop_count, which count two operations each); otherwise from
// the documentation of torch.nn.
constexpr NamedFunction<MultiplyAdds> kFormulas[] = {
    {"attention", attention},
    {"conv_tbc", conv_tbc},
    {"convolution", convolution},
    {"einsum", einsum},
    {"linear", linear},
    {"matmul", matmul},
    {"multi_head_attention", multi_head_attention},
    {"none", no_multiply_adds},
    {"product", product},
    {"recurrent_cell", recurrent_cell},
    {"recurrent_layer", recurrent_layer},
    {"tensordot", tensordot},
    {"transformer_layer", transformer_layer},
    {"transposed_convolution", transposed_convolution},
};

// It asks or asserts something, as `promote_types` does.
bool makes_no_tensor(const c10::FunctionSchema& schema) {
  return !schema.is_mutable() &&
         std::ranges::none_of(schema.returns(), holds_tensors, &c10::Argument::type);
}

}  // namespace

Count count_elements(const Value& value) {
  Count elements = 1;
  for (const int64_t size : value.shape) elements = elements * size_of(size);
  return elements;
}

Count no_multiply_adds(const NodeCall& /*call*/) { return 0; }

MultiplyAdds find_formula(std::string_view op_type) {
  // Control flow counts by its graphs; other built-in operators compute with numbers.
  if (num_graphs_of(op_type) > 0) return nullptr;
  if (find_builtin_schema(op_type) != nullptr) return no_multiply_adds;
  const std::string plain = out_of_place(op_type);
  const std::string_view formula = facts_of(plain).multiply_adds;
  if (!formula.empty()) return find_function(kFormulas, formula.substr(0, formula.find(':')));
  const auto op = find_operator(op_type);
  if (!op) return nullptr;
  const bool is_none = op->hasTag(at::Tag::pointwise) || op->hasTag(at::Tag::view_copy) ||
                       is_view(op->schema()) || makes_no_tensor(op->schema());
  if (is_none) return no_multiply_adds;
  return plain == op_type ? nullptr : find_formula(plain);
}

}  // namespace torch_ir

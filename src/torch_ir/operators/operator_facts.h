// OperatorFacts: what is known about an operator beyond its schema and LibTorch's tags.
//
// operator_facts.txt has a row for each operator, the only place that lists operators by their
// properties.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// The columns of operator_facts.txt, which describes them. An operator has only those that apply.
struct OperatorFacts {
  bool returns_new_tensor = false;
  bool shares_memory = false;
  bool is_composite = false;
  bool makes_empty = false;
  bool replaces_memory = false;
  bool uses_results_as_scratch = false;
  std::string_view elementwise_unless = {};
  std::string_view passes_on_input = {};
  std::string_view updates_statistics = {};

  bool asks_about_metadata = false;
  bool depends_on_data = false;
  bool has_known_shape = false;
  bool takes_masks = false;

  std::string_view refusal = {};
  std::string_view shape_check = {};
  std::string_view value_check = {};

  std::string_view multiply_adds = {};
  bool is_reduction = false;
  std::string_view discontinuous = {};
  std::string_view rounded_output = {};
  bool rounds_to_float8 = false;
  std::string_view float64_obstacle = {};
  std::string_view float64_operator = {};
  std::string_view float32_without = {};
  std::string_view quantization = {};
  std::string_view property = {};

  std::string_view meta_rule = {};
  bool replaces_composition = false;
  bool casts_under_autocast = false;

  bool runs_on_host = false;
};

// The facts of `op_type`, "aten.add.Tensor"; none for an operator without a row.
const OperatorFacts& facts_of(std::string_view op_type);
const OperatorFacts& facts_of(const c10::OperatorHandle& op);

// "aten.relu.default" for "aten.relu_.default"; other names as they are.
std::string out_of_place(std::string_view op_type);

// The names of all rows, for tests.
const std::vector<std::string_view>& rows_of_facts();

// Throws std::logic_error.
[[noreturn]] void fail_unknown(std::string_view word);

template <class Function>
struct NamedFunction {
  std::string_view name;
  Function function;
};

// The function that a row names, or null for an empty name. Throws std::logic_error for a name that
// `functions` lacks.
template <class Function, size_t size>
Function find_function(const NamedFunction<Function> (&functions)[size], std::string_view name) {
  if (name.empty()) return nullptr;
  const auto found = std::ranges::find(functions, name, &NamedFunction<Function>::name);
  if (found == std::end(functions)) fail_unknown(name);
  return found->function;
}

}  // namespace torch_ir

#include "torch_ir/registry/operator_case.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/isclose.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/take.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/operators/named_arguments.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

using at::Tensor;

class CaseCall : public NamedArguments {
 public:
  using NamedArguments::NamedArguments;

  const Tensor& first_tensor() const {
    const c10::ArrayRef<c10::IValue> all = arguments();
    const auto found = std::ranges::find_if(all, &c10::IValue::isTensor);
    if (found == all.end()) throw Error("missing tensor argument");
    return found->toTensor();
  }

  // The dimensions of a window: the 2 of `int[2] kernel_size` or `int[2] output_size`.
  int64_t window_rank() const {
    for (const c10::Argument& argument : schema().arguments()) {
      if (argument.name() == "kernel_size" || argument.name() == "output_size") {
        return argument.N().value_or(1);
      }
    }
    throw Error("the operator has no windows");
  }
};

using Outputs = std::vector<Tensor>;

template <Tensor (*function)(const Tensor&)>
Outputs each(const CaseCall&, const Outputs& outputs) {
  Outputs mapped;
  for (const Tensor& output : outputs) mapped.push_back(function(output));
  return mapped;
}

Tensor is_in_unit_interval(const Tensor& values) { return (values >= 0).logical_and(values < 1); }
Tensor is_zero_or_one(const Tensor& values) { return (values == 0).logical_or(values == 1); }
Tensor sorted(const Tensor& values) { return std::get<0>(at::sort(values)); }
Tensor without_values(const Tensor& values) { return at::zeros_like(values); }

Outputs are_in_range(const CaseCall& call, const Outputs& outputs) {
  const int64_t low = call.has("low") ? call.number("low") : 0;
  const int64_t high = call.number("high");
  Outputs mapped;
  for (const Tensor& output : outputs) {
    mapped.push_back((output >= low).logical_and(output < high));
  }
  return mapped;
}

Outputs are_kept_or_dropped(const CaseCall& call, const Outputs& outputs) {
  const Tensor scaled = call.first_tensor() / (1 - call.real("p"));
  const Tensor dropped = outputs.at(0) == 0;
  Outputs mapped = {dropped.logical_or(at::isclose(outputs[0], scaled, 1e-2, 1e-2))};
  if (outputs.size() > 1) mapped.push_back(outputs[1] != dropped);
  return mapped;
}

// The elements of `values` at `indices` along `dim`, which the indices may lack.
Tensor pick(const Tensor& values, int64_t dim, const Tensor& indices) {
  if (indices.numel() == 0) return indices;
  if (indices.dim() == values.dim()) return at::gather(values, dim, indices);
  return at::gather(values, dim, indices.unsqueeze(dim)).squeeze(dim);
}

Outputs picked_values(const CaseCall& call, const Outputs& outputs) {
  const Tensor& values = call.first_tensor();
  Outputs mapped = outputs;
  Tensor& indices = mapped.back();
  indices = call.has("dim") ? pick(values, call.number("dim"), indices) : at::take(values, indices);
  return mapped;
}

Outputs picked_in_plane(const CaseCall& call, const Outputs& outputs) {
  const int64_t rank = call.window_rank();
  Outputs mapped = outputs;
  Tensor& indices = mapped.back();
  const Tensor picked = pick(call.first_tensor().flatten(-rank), -1, indices.flatten(-rank));
  indices = picked.view(indices.sizes());
  return mapped;
}

struct PropertyRow {
  CaseProperty property;
  std::string_view name;
  std::string_view description;
  Outputs (*map)(const CaseCall&, const Outputs&);
};

constexpr std::array kProperties = std::to_array<PropertyRow>({
    {CaseProperty::kValues, "values", "each element",
     [](const CaseCall&, const Outputs& outputs) { return outputs; }},
    {CaseProperty::kShape, "shape", "shapes and dtypes only, as the elements have arbitrary values",
     &each<without_values>},
    {CaseProperty::kFinite, "finite", "shapes, dtypes, and that each (random) element is finite",
     &each<at::isfinite>},
    {CaseProperty::kUnitInterval, "unit_interval",
     "shapes, dtypes, and that each (random) element is in [0, 1)", &each<is_in_unit_interval>},
    {CaseProperty::kZeroOrOne, "zero_or_one",
     "shapes, dtypes, and that each (random) element is 0 or 1", &each<is_zero_or_one>},
    {CaseProperty::kInRange, "in_range",
     "shapes, dtypes, and that each (random) element is in [low, high), from the arguments",
     &are_in_range},
    {CaseProperty::kPermutation, "permutation", "each row after sorting, as any order is correct",
     &each<sorted>},
    {CaseProperty::kDropout, "dropout",
     "that each element is either 0 or the input's element / (1 - p), in agreement with the mask",
     &are_kept_or_dropped},
    {CaseProperty::kPickedValues, "picked_values",
     "the elements of the first input that the last output, the indices, selects along dim (of the "
     "whole input without dim), as any index of equal values is correct",
     &picked_values},
    {CaseProperty::kPickedInPlane, "picked_in_plane",
     "the elements of the first input that the last output, the indices, selects in its plane (the "
     "dimensions of the window), as any index of equal values is correct",
     &picked_in_plane},
    {CaseProperty::kMagnitudes, "magnitudes",
     "the magnitude of each element, as signs of vectors and factors are arbitrary",
     &each<at::abs>},
});

static_assert(std::ranges::all_of(kProperties, [](const PropertyRow& row) {
  return &row == &kProperties[static_cast<size_t>(row.property)];
}));

const PropertyRow& row_of(CaseProperty property) {
  return kProperties.at(static_cast<size_t>(property));
}

using CaseMaker = std::function<std::vector<OperatorCase>()>;

// A function, because tables register themselves before main, in any order.
std::vector<CaseMaker>& case_makers() {
  static std::vector<CaseMaker> makers;
  return makers;
}

struct AllCases {
  std::vector<OperatorCase> cases;
  std::unordered_map<std::string, const OperatorCase*> by_name;
};

AllCases make_all_cases() {
  std::vector<OperatorCase> unsorted;
  for (const CaseMaker& make : case_makers()) {
    std::ranges::move(make(), std::back_inserter(unsorted));
  }
  std::vector<std::tuple<std::string_view, std::string, OperatorCase*>> order;
  for (OperatorCase& one : unsorted) order.emplace_back(one.category, one.name(), &one);
  std::ranges::sort(order);
  AllCases all;
  all.cases.reserve(order.size());
  all.by_name.reserve(order.size());
  for (auto& [category, name, one] : order) {
    const bool is_new =
        all.by_name.try_emplace(name, &all.cases.emplace_back(std::move(*one))).second;
    if (!is_new) throw Error("duplicate case '" + name + "'");
  }
  return all;
}

const AllCases& all_cases() {
  static const AllCases all = make_all_cases();
  return all;
}

}  // namespace

std::string OperatorCase::name() const { return op_type + "/" + dtype_name(dtype) + "/" + variant; }

std::string_view property_name(CaseProperty property) { return row_of(property).name; }

CaseProperty parse_property(std::string_view name) {
  const auto row = std::ranges::find(kProperties, name, &PropertyRow::name);
  if (row == kProperties.end()) {
    throw Error("unknown case property '" + std::string(name) + "'");
  }
  return row->property;
}

std::string_view property_description(CaseProperty property) {
  return row_of(property).description;
}

std::vector<Tensor> compared_values(const OperatorCase& operator_case,
                                    const std::vector<c10::IValue>& arguments,
                                    const std::vector<Tensor>& outputs) {
  const PropertyRow& row = row_of(operator_case.property);
  const std::string about = "case '" + operator_case.name() + "', compared by its property '" +
                            std::string(row.name) + "': ";
  const c10::FunctionSchema* schema = find_schema(operator_case.op_type);
  if (schema == nullptr) throw Error(about + "unknown operator");
  if (outputs.empty()) throw Error(about + "missing output");
  try {
    return row.map(CaseCall(*schema, arguments), outputs);
  } catch (const c10::Error& error) {
    throw Error(about + error.what_without_backtrace());
  } catch (const Error& error) {
    throw Error(about + error.what());
  }
}

bool register_operator_cases(std::function<std::vector<OperatorCase>()> make) {
  case_makers().push_back(std::move(make));
  return true;
}

const std::vector<OperatorCase>& list_operator_cases() { return all_cases().cases; }

const OperatorCase& find_operator_case(const std::string& name) {
  const auto found = all_cases().by_name.find(name);
  if (found == all_cases().by_name.end()) throw Error("unknown case '" + name + "'");
  return *found->second;
}

CaseProperty usual_property(std::string_view op_type) {
  const std::string_view property = facts_of(op_type).property;
  return property.empty() ? CaseProperty::kValues : parse_property(property);
}

}  // namespace torch_ir

#include "models/operators/case_table.h"

#include <array>
#include <utility>

#include "models/operators/call_text.h"
#include "models/operators/tolerances.h"
#include "torch_ir/base/error.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

constexpr std::array kDtypes = std::to_array<std::pair<Dtypes, c10::ScalarType>>({
    {kF32, c10::ScalarType::Float},
    {kF64, c10::ScalarType::Double},
    {kF16, c10::ScalarType::Half},
    {kBF16, c10::ScalarType::BFloat16},
    {kC64, c10::ScalarType::ComplexFloat},
    {kI8, c10::ScalarType::Char},
    {kI16, c10::ScalarType::Short},
    {kI32, c10::ScalarType::Int},
    {kI64, c10::ScalarType::Long},
    {kU8, c10::ScalarType::Byte},
    {kBool, c10::ScalarType::Bool},
});

std::vector<c10::ScalarType> dtypes_of(Dtypes dtypes) {
  std::vector<c10::ScalarType> result;
  for (const auto& [bit, dtype] : kDtypes) {
    if ((dtypes & bit) != 0) result.push_back(dtype);
  }
  return result;
}

std::string op_type_of(std::string_view op) {
  const bool has_overload = op.find('.') != std::string::npos;
  return "aten." + std::string(op) + (has_overload ? "" : ".default");
}

// `text` with ":WORD" replaced by ":RANGE", or left out where there is none.
std::string with_range(std::string text, std::string_view word, std::string_view range) {
  const std::string marked = ":" + std::string(word);
  const std::string replacement = range.empty() ? "" : ":" + std::string(range);
  for (size_t at = text.find(marked); at != std::string::npos; at = text.find(marked, at)) {
    text.replace(at, marked.size(), replacement);
  }
  return text;
}

std::string arguments_text(const OperatorRows& rows, const CaseRow& row) {
  const std::string text = with_range(std::string(row.arguments), "domain", rows.domain);
  return with_range(text, "other_domain", rows.other_domain);
}

Dtypes dtypes_of_row(const OperatorRows& rows, const CaseRow& row) {
  if (row.dtypes != 0) return rows.dtypes & row.dtypes;
  return &row == rows.rows.data() ? rows.dtypes : rows.dtypes & kMain;
}

OperatorCase make_case(const OperatorRows& rows, const CaseRow& row, c10::ScalarType dtype) {
  OperatorCase result = {
      .op_type = op_type_of(rows.op),
      .dtype = dtype,
      .variant = std::string(row.variant),
      .note = std::string(row.note),
      .property = rows.property,
  };
  if (const auto tolerance = find_case_tolerance(rows.op, dtype)) {
    result.tolerance = tolerance->tolerance;
    result.tolerance_reason = std::string(tolerance->reason);
  }
  result.arguments = [op_type = result.op_type, name = result.name(),
                      text = arguments_text(rows, row), dtype] {
    const c10::FunctionSchema* schema = find_schema(op_type);
    if (schema == nullptr) throw Error("case '" + name + "': there is no such operator");
    return read_arguments(text, *schema, dtype, name);
  };
  return result;
}

}  // namespace

std::vector<OperatorCase> make_cases(std::string_view category, const OperatorTable& table) {
  std::vector<OperatorCase> cases;
  for (const OperatorRows& rows : table) {
    for (const CaseRow& row : rows.rows) {
      for (const c10::ScalarType dtype : dtypes_of(dtypes_of_row(rows, row))) {
        cases.push_back(make_case(rows, row, dtype));
        cases.back().category = category;
      }
    }
  }
  return cases;
}

}  // namespace torch_ir

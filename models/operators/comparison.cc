// Comparisons, logic, and tests of numbers: results are booleans.
#include <algorithm>
#include <iterator>

#include "models/operators/families.h"

namespace torch_ir {
namespace {

OperatorTable comparisons() {
  const std::vector<CaseRow> equal = {
      {"equal", "x[4]{1,2,3,4}, x[4]{1,2,0,5}", "some that are equal"}};
  const std::vector<CaseRow> numbers =
      with(scalar_rows(), {{"equal", "x[4]{1,2,3,2}, 2", "some that are equal"},
                           {"with_nan", "x[12]:special, nan", "with NaN", kFloats},
                           {"with_infinity", "x[12]:special, inf", "with infinity", kFloats}});
  OperatorTable table;
  for (const std::string_view op : {"eq.Tensor", "ne.Tensor"}) {
    table.push_back({op, kAll, with(binary_rows(), equal)});
  }
  for (const std::string_view op : {"lt.Tensor", "le.Tensor", "gt.Tensor", "ge.Tensor"}) {
    table.push_back({op, kRealsAndBool, with(binary_rows(), equal)});
  }
  for (const std::string_view op : {"eq.Scalar", "ne.Scalar"}) {
    table.push_back({op, kAll, numbers});
  }
  for (const std::string_view op : {"lt.Scalar", "le.Scalar", "gt.Scalar", "ge.Scalar"}) {
    table.push_back({op, kRealsAndBool, numbers});
  }
  for (const std::string_view op : {"greater.Tensor", "greater_equal.Tensor", "less.Tensor",
                                    "less_equal.Tensor", "not_equal.Tensor"}) {
    table.push_back({op, kReals, {{"usual", "x[3,7], x[3,7]"}}});
  }
  return table;
}

OperatorTable logic_and_tests() {
  const std::vector<CaseRow> tests = {
      {"usual", "x[3,7]"},
      {"empty", "x[0,3]", "no elements", kF32},
      {"zero_dim", "x[]", "0-d", kF32},
      {"transposed", "x[4,6]:transposed", "columns first in memory", kF32},
      {"special", "x[12]:special", kSpecialNote, kFloats},
      {"denormal", "x[6]:denormal", "denormals", kFloats}};
  return {
      {"logical_and", kAll, binary_rows()},
      {"logical_or", kAll, binary_rows()},
      {"logical_xor", kAll, binary_rows()},
      {"logical_not", kAll, tests},
      {"isnan", kAll, tests},
      {"isinf", kAll, tests},
      {"isfinite", kAll, tests},
      {"isposinf", kRealsAndBool, tests},
      {"isneginf", kRealsAndBool, tests},
      {"isreal", kAll, tests},
      {"signbit", kRealsAndBool, tests},
      {"isclose",
       kNumbers,
       {{"usual", "x[4]{1,2,3,4}, x[4]{1,2,3,5}"},
        {"tolerances", "x[4]{1,2,3,4}, x[4]{1,2.5,3,5}, 0.1, 0.25", "tolerances", kFloats},
        {"special", "x[12,1]:special, x[12]:special, equal_nan=True", "NaN equals NaN", kFloats}}},
      {"isin.Tensor_Tensor",
       kReals,
       {{"usual", "x[3,4]:0..6, x[3]:0..6"},
        {"many", "x[3,4]:0..6, x[40]:0..6", "so many that they are sorted"},
        {"invert", "x[3,4]:0..6, x[3]:0..6, invert=True", "those that are not among them"}}},
      {"isin.Tensor_Scalar", kReals, {{"usual", "x[5]{1,2,3,2,0}, 2"}}},
  };
}

const bool registered_comparison = register_operator_cases([] {
  std::vector<OperatorCase> cases = make_cases("comparison", comparisons());
  std::ranges::move(make_cases("comparison", logic_and_tests()), std::back_inserter(cases));
  return cases;
});

}  // namespace
}  // namespace torch_ir

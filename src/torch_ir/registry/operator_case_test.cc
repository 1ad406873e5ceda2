#include "torch_ir/registry/operator_case.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "torch_ir/base/error.h"
#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Arguments = std::vector<c10::IValue>;
using Outputs = std::vector<at::Tensor>;

OperatorCase make_case(std::string op_type, CaseProperty property) {
  return {
      .op_type = std::move(op_type), .variant = "usual", .category = "test", .property = property};
}

// Whether an executor that gives `actual` is right where eager gives `expected`.
bool agree(const std::string& op_type, CaseProperty property, const Arguments& arguments,
           const Outputs& actual, const Outputs& expected) {
  const OperatorCase it = make_case(op_type, property);
  const auto equal = [](const at::Tensor& a, const at::Tensor& b) {
    return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.equal(b);
  };
  return std::ranges::equal(compared_values(it, arguments, actual),
                            compared_values(it, arguments, expected), equal);
}

at::Tensor floats(std::vector<float> values) { return at::tensor(values); }
at::Tensor indices(std::vector<int64_t> values) { return at::tensor(values); }

TEST(OperatorCaseTest, IsNamedByOperatorDtypeAndVariant) {
  OperatorCase it = make_case("aten.conv2d.default", CaseProperty::kValues);
  it.dtype = at::kBFloat16;
  EXPECT_EQ(it.name(), "aten.conv2d.default/bfloat16/usual");
}

TEST(OperatorCaseTest, DescribesEveryProperty) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(CaseProperty::kMagnitudes); ++i) {
    const auto property = static_cast<CaseProperty>(i);
    EXPECT_TRUE(names.insert(property_name(property)).second) << property_name(property);
    EXPECT_FALSE(property_description(property).empty());
  }
}

TEST(OperatorCaseTest, TakesAnyIndexOfEqualValues) {
  const Arguments sort = {floats({3, 1, 3}), -1, false};
  const Outputs expected = {floats({1, 3, 3}), indices({1, 0, 2})};
  const auto property = CaseProperty::kPickedValues;
  EXPECT_TRUE(
      agree("aten.sort.default", property, sort, {expected[0], indices({1, 2, 0})}, expected));
  EXPECT_FALSE(
      agree("aten.sort.default", property, sort, {expected[0], indices({0, 1, 2})}, expected));
  // Without the dimension, and without dimensions at all.
  const at::Tensor rows = floats({1, 5, 5, 2, 0, 2}).view({2, 3});
  EXPECT_TRUE(agree("aten.argmax.default", property, {rows, 1, false}, {indices({2, 0})},
                    {indices({1, 2})}));
  EXPECT_FALSE(agree("aten.argmax.default", property, {rows, 1, false}, {indices({0, 0})},
                     {indices({1, 2})}));
  EXPECT_TRUE(agree("aten.argmax.default", property, {rows, c10::IValue(), false},
                    {at::full({}, 2, at::kLong)}, {at::full({}, 1, at::kLong)}));
}

TEST(OperatorCaseTest, RefusesOutputsWithoutTheProperty) {
  const OperatorCase it = make_case("aten.argmax.default", CaseProperty::kPickedValues);
  const Arguments argmax = {floats({1, 2}), 0, false};
  const auto compare = [&](const Outputs& outputs) { compared_values(it, argmax, outputs); };
  EXPECT_THAT([&] { compare({at::full({}, 2, at::kLong)}); },
              ThrowsMessage<Error>(HasSubstr("'picked_values': index 2 is out of bounds")));
  EXPECT_THAT([&] { compare({floats({1})}); }, ThrowsMessage<Error>(HasSubstr("usual'")));
  EXPECT_THAT([&] { compare({}); }, ThrowsMessage<Error>(HasSubstr("missing output")));
}

TEST(OperatorCaseTest, TakesAnyIndexOfEqualValuesInAPlane) {
  const at::Tensor image = floats({1, 7, 7, 2, 3, 4, 9, 9}).view({1, 2, 2, 2});
  const Arguments pool = {image, c10::List<int64_t>({2, 2})};
  const at::Tensor maxima = floats({7, 9}).view({1, 2, 1, 1});
  const auto at_places = [&](int64_t a, int64_t b) {
    return Outputs{maxima, indices({a, b}).view({1, 2, 1, 1})};
  };
  const std::string op_type = "aten.max_pool2d_with_indices.default";
  const auto property = CaseProperty::kPickedInPlane;
  EXPECT_TRUE(agree(op_type, property, pool, at_places(2, 3), at_places(1, 2)));
  EXPECT_FALSE(agree(op_type, property, pool, at_places(0, 2), at_places(1, 2)));
}

TEST(OperatorCaseTest, ComparesRandomNumbersByWhereTheyLie) {
  const Outputs expected = {floats({0.25, 0.75})};
  const auto agrees = [&](CaseProperty property, const Outputs& actual) {
    return agree("aten.randint.low", property, {0, 3, c10::List<int64_t>({2})}, actual, expected);
  };
  EXPECT_TRUE(agrees(CaseProperty::kUnitInterval, {floats({0, 0.5})}));
  EXPECT_FALSE(agrees(CaseProperty::kUnitInterval, {floats({0, 1})}));
  EXPECT_TRUE(agrees(CaseProperty::kFinite, {floats({-7, 9})}));
  EXPECT_FALSE(agrees(CaseProperty::kFinite, {floats({NAN, 9})}));
  EXPECT_TRUE(agrees(CaseProperty::kInRange, {floats({0, 2})}));
  EXPECT_FALSE(agrees(CaseProperty::kInRange, {floats({0, 3})}));
  EXPECT_TRUE(agrees(CaseProperty::kShape, {floats({8, NAN})}));
  EXPECT_FALSE(agrees(CaseProperty::kShape, {floats({8, 8, 8})}));
  EXPECT_FALSE(agrees(CaseProperty::kShape, {floats({8, 8}).to(at::kDouble)}));
}

TEST(OperatorCaseTest, ComparesBitsPermutationsAndSigns) {
  const auto agrees = [](CaseProperty property, const at::Tensor& a, const at::Tensor& b) {
    return agree("aten.randperm.default", property, {3}, {a}, {b});
  };
  EXPECT_TRUE(agrees(CaseProperty::kZeroOrOne, floats({0, 1}), floats({1, 1})));
  EXPECT_FALSE(agrees(CaseProperty::kZeroOrOne, floats({0, 0.5}), floats({1, 1})));
  EXPECT_TRUE(agrees(CaseProperty::kPermutation, indices({2, 0, 1}), indices({0, 1, 2})));
  EXPECT_FALSE(agrees(CaseProperty::kPermutation, indices({2, 2, 1}), indices({0, 1, 2})));
  EXPECT_TRUE(agrees(CaseProperty::kMagnitudes, floats({-1, 2}), floats({1, -2})));
  EXPECT_FALSE(agrees(CaseProperty::kMagnitudes, floats({-1, 3}), floats({1, 2})));
}

TEST(OperatorCaseTest, HoldsDropoutToItsProbabilityAndMask) {
  const Arguments call = {floats({1, 2}), 0.5, true};
  const auto mask = [](bool a, bool b) { return at::tensor({int(a), int(b)}).to(at::kBool); };
  const auto agrees = [&](const Outputs& actual) {
    return agree("aten.native_dropout.default", CaseProperty::kDropout, call, actual,
                 {floats({2, 0}), mask(true, false)});
  };
  EXPECT_TRUE(agrees({floats({0, 4}), mask(false, true)}));
  EXPECT_FALSE(agrees({floats({0, 2}), mask(false, true)}));
  EXPECT_FALSE(agrees({floats({0, 4}), mask(true, true)}));
}

TEST(OperatorCaseTest, KnowsThePropertiesOfAllRows) {
  for (const std::string_view row : rows_of_facts()) EXPECT_NO_THROW(usual_property(row)) << row;
  EXPECT_EQ(usual_property("aten.randint.low"), CaseProperty::kInRange);
  EXPECT_EQ(usual_property("aten.max.other"), CaseProperty::kValues);
}

TEST(OperatorCaseTest, RefusesANameTwice) {
  for (int i = 0; i < 2; ++i) {
    register_operator_cases([] {
      return std::vector<OperatorCase>{make_case("aten.relu.default", CaseProperty::kValues)};
    });
  }
  EXPECT_THAT(list_operator_cases,
              ThrowsMessage<Error>(HasSubstr("duplicate case 'aten.relu.default/float32/usual'")));
}

}  // namespace
}  // namespace torch_ir

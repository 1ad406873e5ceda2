#include "harness/results/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

std::vector<RegisteredModel> registered() {
  const auto model = [](const char* name, std::vector<std::string> categories) {
    return RegisteredModel{.name = name, .spec = {.categories = std::move(categories)}, .make = {}};
  };
  return {model("CrossAttention", {"attention", "multi_io"}), model("DenseBlock", {"skip"}),
          model("SelfAttention", {"attention"}), model("Siamese", {"multi_io"})};
}

std::vector<std::string> select(std::vector<std::string> models,
                                std::vector<std::string> categories) {
  return select_models(registered(), {.models = models, .categories = categories});
}

TEST(SelectionTest, RepeatedNamesAreAUnionAndNothingAskedForIsEverything) {
  EXPECT_THAT(select({}, {}),
              ElementsAre("CrossAttention", "DenseBlock", "SelfAttention", "Siamese"));
  EXPECT_THAT(select({"Siamese", "DenseBlock", "Siamese"}, {}),
              ElementsAre("DenseBlock", "Siamese"));
  EXPECT_THAT(select({}, {"skip", "multi_io"}),
              ElementsAre("CrossAttention", "DenseBlock", "Siamese"));
}

void expect_no_model(const Selection& selection, const char* message) {
  EXPECT_THAT([&] { select_models(registered(), selection); }, ThrowsMessage<Error>(message));
}

TEST(SelectionTest, ModelsAndCategoriesIntersect) {
  EXPECT_THAT(select({"SelfAttention", "DenseBlock"}, {"attention"}), ElementsAre("SelfAttention"));
  expect_no_model({.models = {"DenseBlock"}, .categories = {"attention"}},
                  "no model matches both --model and --category");
}

TEST(SelectionTest, UnknownNamesAreRefusedWithASuggestion) {
  expect_no_model({.models = {"selfatention"}},
                  "unknown model 'selfatention'; did you mean 'SelfAttention'?");
  expect_no_model({.categories = {"atention"}},
                  "unknown category 'atention'; did you mean 'attention'?");
  expect_no_model({.models = {"ResNet"}}, "unknown model 'ResNet'; see --list-models");
  expect_no_model({.categories = {"zoo"}}, "unknown category 'zoo'; see --list-categories");
  expect_no_model({.models = {"Siamese,DenseBlock"}},
                  "unknown model 'Siamese,DenseBlock'; repeat --model for each");
  expect_no_model({.categories = {"skip,"}},
                  "unknown category 'skip,'; repeat --category for each");
  EXPECT_THAT([] { select_models({}, {}); }, ThrowsMessage<Error>("no model is registered"));
}

std::vector<OperatorCase> cases() {
  const auto make = [](const char* op_type, c10::ScalarType dtype, const char* category) {
    return OperatorCase{.op_type = op_type, .dtype = dtype, .category = category};
  };
  return {make("aten.conv2d.default", at::kFloat, "convolution"),
          make("aten.conv2d.padding", at::kFloat, "convolution"),
          make("aten.abs.default", at::kFloat, "pointwise"),
          make("aten.abs.default", at::kLong, "pointwise")};
}

// "OPERATOR/DTYPE" of each.
std::vector<std::string> select(const Selection& selection) {
  std::vector<std::string> names;
  for (const OperatorCase& it : select_cases(cases(), selection)) {
    names.push_back(it.op_type + "/" + dtype_name(it.dtype));
  }
  return names;
}

TEST(CaseSelectionTest, GoesByOperatorDtypeAndCategory) {
  EXPECT_EQ(select({}).size(), 4u);
  EXPECT_THAT(select({.operators = {"aten.conv2d"}}),
              ElementsAre("aten.conv2d.default/float32", "aten.conv2d.padding/float32"));
  EXPECT_THAT(select({.operators = {"aten.conv2d.padding", "aten.abs"}, .dtypes = {"float32"}}),
              ElementsAre("aten.conv2d.padding/float32", "aten.abs.default/float32"));
  EXPECT_THAT(select({.categories = {"pointwise"}, .dtypes = {"int64"}}),
              ElementsAre("aten.abs.default/int64"));
  EXPECT_THAT(categories_of(cases()), ElementsAre("convolution", "pointwise"));
}

void expect_no_case(const Selection& selection, const char* message) {
  EXPECT_THAT([&] { select_cases(cases(), selection); }, ThrowsMessage<Error>(message));
}

TEST(CaseSelectionTest, RefusesWhatNoCaseHas) {
  expect_no_case({.operators = {"aten.conv3"}},
                 "unknown operator 'aten.conv3'; did you mean 'aten.conv2d'?");
  expect_no_case({.operators = {"softmax"}},
                 "unknown operator 'softmax'; expected one of: aten.abs, aten.abs.default, "
                 "aten.conv2d, aten.conv2d.default, aten.conv2d.padding");
  expect_no_case({.operators = {"aten.abs,aten.conv2d"}},
                 "unknown operator 'aten.abs,aten.conv2d'; repeat --operator for each");
  expect_no_case({.dtypes = {"bool"}}, "unknown dtype 'bool'; expected one of: float32, int64");
  expect_no_case({.categories = {"zoo"}}, "unknown category 'zoo'; see --list-categories");
  expect_no_case({.categories = {"convolution"}, .dtypes = {"int64"}},
                 "no case matches all of --operator, --dtype and --category");
  EXPECT_THAT([] { select_cases({}, {}); },
              ThrowsMessage<Error>("no operator case is linked into this program"));
}

}  // namespace
}  // namespace torch_ir

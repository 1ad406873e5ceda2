#include "harness/selection/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"

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

TEST(SelectionTest, NothingAskedForIsEverything) {
  EXPECT_THAT(select({}, {}),
              ElementsAre("CrossAttention", "DenseBlock", "SelfAttention", "Siamese"));
}

TEST(SelectionTest, RepeatedNamesAreAUnion) {
  EXPECT_THAT(select({"Siamese", "DenseBlock", "Siamese"}, {}),
              ElementsAre("DenseBlock", "Siamese"));
  EXPECT_THAT(select({}, {"skip", "multi_io"}),
              ElementsAre("CrossAttention", "DenseBlock", "Siamese"));
}

TEST(SelectionTest, ModelsAndCategoriesIntersect) {
  EXPECT_THAT(select({"SelfAttention", "DenseBlock"}, {"attention"}), ElementsAre("SelfAttention"));
  EXPECT_THAT([] { select({"DenseBlock"}, {"attention"}); },
              ThrowsMessage<Error>("no model matches both the models and the categories"));
}

TEST(SelectionTest, UnknownNamesAreRefusedWithASuggestion) {
  EXPECT_THAT(
      [] { select({"selfatention"}, {}); },
      ThrowsMessage<Error>("there is no model 'selfatention'; did you mean 'SelfAttention'?"));
  EXPECT_THAT([] { select({}, {"atention"}); },
              ThrowsMessage<Error>("there is no category 'atention'; did you mean 'attention'?"));
  EXPECT_THAT([] { select({"ResNet"}, {}); },
              ThrowsMessage<Error>("there is no model 'ResNet'; see --list-models"));
  EXPECT_THAT([] { select({}, {"zoo"}); },
              ThrowsMessage<Error>("there is no category 'zoo'; see --list-categories"));
  EXPECT_THAT(
      [] { select({"Siamese,DenseBlock"}, {}); },
      ThrowsMessage<Error>("there is no model 'Siamese,DenseBlock'; repeat --model for each"));
  EXPECT_THAT([] { select({}, {"skip,"}); },
              ThrowsMessage<Error>("there is no category 'skip,'; repeat --category for each"));
  EXPECT_THAT([] { select_models({}, {}); }, ThrowsMessage<Error>("no model is registered"));
}

}  // namespace
}  // namespace torch_ir

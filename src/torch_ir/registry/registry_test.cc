#include "torch_ir/registry/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Model identity() {
  return Model(ModelFn([](const std::vector<at::Tensor>& inputs) { return inputs; }));
}

ModelSpec spec(size_t inputs, std::vector<std::string> categories) {
  ModelSpec result{.categories = std::move(categories)};
  for (size_t i = 0; i < inputs; ++i) result.inputs.push_back({.shape = {1, 2}});
  return result;
}

TEST(RegistryTest, ListsModelsByNameAndTheirCategories) {
  ModelSpec named = spec(2, {"b", "a"});
  named.inputs[0].name = "query";
  register_model("Second", named, identity);
  register_model("First", spec(1, {"c"}), identity);
  register_model("Third", spec(2, {"c"}), identity);

  const std::vector<RegisteredModel> models = list_models();
  ASSERT_EQ(models.size(), 3u);
  EXPECT_EQ(models[0].name, "First");
  EXPECT_EQ(models[1].name, "Second");
  EXPECT_EQ(models[2].name, "Third");
  EXPECT_THAT(list_categories(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(models[0].spec.inputs[0].name, "x");
  EXPECT_EQ(models[1].spec.inputs[0].name, "query");
  EXPECT_EQ(models[1].spec.inputs[1].name, "x2");
  EXPECT_EQ(models[2].spec.inputs[0].name, "x1");
}

TEST(RegistryTest, TellsModelsOfFullScaleApart) {
  ModelSpec large = spec(1, {"huge"});
  large.scale = Scale::kFull;
  register_model("Large", large, identity);

  const std::vector<RegisteredModel> models = list_models(Scale::kFull);
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(models[0].name, "Large");
  EXPECT_THAT(list_categories(Scale::kFull), ElementsAre("huge"));
  for (const RegisteredModel& model : list_models()) EXPECT_NE(model.name, "Large");
  EXPECT_THAT(list_categories(), ::testing::Not(::testing::Contains("huge")));
  EXPECT_EQ(find_model("Large").spec.scale, Scale::kFull);
  EXPECT_THAT([] { find_model("Unknown"); }, ThrowsMessage<Error>("unknown model 'Unknown'"));
}

TEST(RegistryTest, KnowsScalesByName) {
  for (const Scale scale : {Scale::kTest, Scale::kFull}) {
    EXPECT_EQ(parse_scale(scale_name(scale)), scale);
  }
  EXPECT_THAT([] { parse_scale("huge"); },
              ThrowsMessage<Error>("unknown scale 'huge'; expected test or full"));
}

TEST(RegistryTest, RefusesWhatCanNotBeRun) {
  const auto refuses = [](const char* name, const ModelSpec& it, const char* message) {
    EXPECT_THAT([&] { register_model(name, it, identity); },
                ThrowsMessage<Error>(HasSubstr(message)));
  };
  register_model("Taken", spec(1, {"a"}), identity);
  refuses("Taken", spec(1, {"a"}), "duplicate model 'Taken'");
  refuses("a/b", spec(1, {"a"}), "invalid model name 'a/b': use letters");
  refuses("NoInput", spec(0, {"a"}), "'NoInput' is registered without an input");
  refuses("NoCategory", spec(1, {}), "'NoCategory' is registered without a category");
  ModelSpec failing = spec(1, {"a"});
  failing.expected_failure = ExpectedFailure{.kind = FailureKind::kCrashed};
  refuses("NoReason", failing, "'NoReason' is registered as failing without a reason");
  ModelSpec loose = spec(1, {"a"});
  loose.output_tolerances[0] = {.rtol = -1, .atol = 0};
  refuses("Negative", loose, "'Negative' is registered with a tolerance below 0");
}

}  // namespace
}  // namespace torch_ir

// Tests that full-scale models have the published number of parameters, and none in memory.

#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <string>
#include <vector>

#include "torch_ir/converter/extract.h"
#include "torch_ir/exporter/meta/meta_device.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

struct Published {
  const char* name;
  double parameters;
  // The allowed difference: the rounding of the published number.
  double rounding;
};

constexpr Published kPublished[] = {
    // Table 2.1 of the paper.
    {"GPT-3-175B", 175.0e9, 0.5e9},
    // The bytes of its weights in bfloat16, halved.
    {"Llama-3.1-405B", 405'853'388'800, 0},
    // Its README: 671B in total.
    {"DeepSeek-V3", 671e9, 0.5e9},
    // Its README: 1T in total; 1026B by its files.
    {"Kimi-K2", 1026e9, 1e9},
    // Table 1 of the paper, 21,743M, without the head.
    {"ViT-22B", 21'743e6, 15e6},
    {"SDXL-UNet", 2'567'463'684, 0},
};

TEST(FullScaleTest, ModelsAndTheirParametersAreThosePublished) {
  std::vector<std::string> names;
  for (const RegisteredModel& model : list_models(Scale::kFull)) names.push_back(model.name);
  std::vector<std::string> expected;
  for (const Published& model : kPublished) expected.push_back(model.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAreArray(expected));
  for (const Published& published : kPublished) {
    const MetaDeviceGuard meta;
    const Model model = find_model(published.name).make();
    int64_t parameters = 0;
    for (const at::Tensor& parameter : model.module()->parameters()) {
      EXPECT_TRUE(parameter.is_meta()) << published.name;
      parameters += parameter.numel();
    }
    EXPECT_NEAR(static_cast<double>(parameters), published.parameters, published.rounding)
        << published.name << ": " << parameters;
  }
}

TEST(FullScaleTest, AreExtractedWithoutWeights) {
  for (const RegisteredModel& registered : list_models(Scale::kFull)) {
    const MetaDeviceGuard meta;
    const Model model = registered.make();
    model.module()->eval();
    ExtractOptions options{.model_name = registered.name, .strict = true};
    std::vector<at::Tensor> inputs;
    for (const ModelInput& input : registered.spec.inputs) {
      options.input_names.push_back(input.name);
      inputs.push_back(at::empty(input.shape, at::dtype(input.dtype)));
    }
    const IR ir = extract_ir(model, inputs, options);
    EXPECT_EQ(ir.weights.size(),
              model.module()->parameters().size() + model.module()->buffers().size())
        << registered.name;
    EXPECT_TRUE(ir.constants.is_empty()) << registered.name;
    EXPECT_TRUE(deserialize_ir(serialize_ir(ir)) == ir) << registered.name;
  }
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/converter/extract.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <sstream>

#include "torch_ir/base/error.h"
#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/exporter/meta/meta_device.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;

struct MaskedImpl : torch::nn::Module, LiftedConstants {
  MaskedImpl() : linear(register_module("linear", torch::nn::Linear(4, 4))) {
    mask = register_constant("mask", torch::tensor({1.f, 0.f, 1.f, 0.f}));
  }
  at::Tensor forward(const at::Tensor& x) { return linear(x) * mask; }
  torch::nn::Linear linear;
  at::Tensor mask;
};
TORCH_MODULE(Masked);

class ExtractWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }
  std::vector<std::string> texts;

 private:
  c10::WarningUtils::WarningHandlerGuard guard_{this};
};

TEST(ExtractTest, IsNamedAfterTheModelUnlessTold) {
  const std::vector<at::Tensor> inputs = {torch::ones({1, 4})};
  EXPECT_EQ(extract_ir(Masked(), inputs).model_name, "Masked");
  EXPECT_EQ(extract_ir(Masked(), inputs, {.model_name = "MyCustomModel_v2"}).model_name,
            "MyCustomModel_v2");
}

TEST(ExtractTest, PrintsAsASummary) {
  std::ostringstream stream;
  stream << extract_ir(Masked(), {torch::ones({1, 4})}, {.model_name = "B"});
  EXPECT_EQ(stream.str(), "IR(model_name='B', nodes=2, inputs=1, outputs=1, weights=3)");
}

TEST(ExtractTest, KeepsTheValuesOfConstantsOnRealTensors) {
  const IR ir = extract_ir(Masked(), {torch::ones({1, 4})});
  ASSERT_THAT(ir.constants.keys(), ElementsAre("mask"));
  EXPECT_TRUE(torch::equal(ir.constants["mask"], torch::tensor({1.f, 0.f, 1.f, 0.f})));
}

TEST(ExtractTest, WarnsOnMetaThatConstantsHaveNoValues) {
  const ExtractWarnings warnings;
  const MetaDeviceGuard meta;
  const IR ir = extract_ir(Masked(), {torch::ones({1, 4})}, {.strict = true});
  EXPECT_TRUE(ir.constants.is_empty());
  EXPECT_EQ(ir.weights.back().name, "mask");
  EXPECT_THAT(warnings.texts, ElementsAre("Skipping 1 meta-device constant(s) (shape/dtype already "
                                          "in weights): ['mask']"));
}

}  // namespace
}  // namespace torch_ir

#include "harness/benchmark/eager_models.h"

#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "harness/benchmark/benchmark_check.h"
#include "harness/benchmark/benchmark_models.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/executor/execution_plan.h"

namespace torch_ir {

// For the messages of tests.
static void PrintTo(const RegisteredModel& model, std::ostream* out) { *out << model.name; }

namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

class EagerModels : public ::testing::TestWithParam<RegisteredModel> {};

std::vector<std::string> operators(const IR& ir) {
  std::vector<std::string> result;
  for (const OpNode& node : ir.nodes) result.push_back(node.op_type);
  return result;
}

TEST_P(EagerModels, ComputeTheBitsOfTheGraph) {
  const Subject subject = make_subject(GetParam(), 0);
  const IR ir = extract(GetParam(), subject);
  const ModelFn eager = eager_model(GetParam().name, subject.weights, ir.constants);
  const c10::InferenceMode inference_mode;
  const std::vector<at::Tensor> outputs = eager(subject.inputs);
  EXPECT_EQ(disagreement(outputs, compile(ir, subject.weights).run_checked(subject.inputs),
                         Agreement::kBits),
            "");
  // The module's linear is a product and a sum, the graph's one call: the last bits may differ.
  EXPECT_EQ(disagreement(outputs, subject.model(subject.inputs), Agreement::kClose), "");
}

TEST_P(EagerModels, MakeTheCallsOfTheGraph) {
  const Subject subject = make_subject(GetParam(), 0);
  const IR ir = extract(GetParam(), subject);
  // Captured as the module was: what the graph of the calls would be.
  const ModelFn eager = eager_model(GetParam().name, subject.weights, ir.constants);
  const IR calls = extract_ir(Model(eager), subject.inputs);
  EXPECT_THAT(operators(calls), ElementsAreArray(operators(ir)));
  for (size_t i = 0; i < calls.nodes.size() && i < ir.nodes.size(); ++i) {
    EXPECT_EQ(calls.nodes[i].attrs, ir.nodes[i].attrs) << ir.nodes[i].name;
  }
}

std::string name_of(const ::testing::TestParamInfo<RegisteredModel>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Benchmark, EagerModels, ::testing::ValuesIn(list_benchmark_models()),
                         name_of);

template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(EagerModels, NameTheModelThatTheyDoNotHave) {
  EXPECT_THAT(error_of([] { eager_model("Perceptron", StateDict(), StateDict()); }),
              HasSubstr("model 'Perceptron' has no eager calls"));
}

TEST(EagerModels, NameTheValueThatIsMissing) {
  EXPECT_THAT(error_of([] { eager_model("MaskedLinear", StateDict(), StateDict()); }),
              HasSubstr("a value for 'linear.weight'"));
}

}  // namespace
}  // namespace torch_ir

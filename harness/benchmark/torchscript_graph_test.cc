#include "harness/benchmark/torchscript_graph.h"

#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "harness/benchmark/benchmark_engines.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {

// For the messages of tests.
static void PrintTo(const RegisteredModel& model, std::ostream* out) { *out << model.name; }

namespace {

using ::testing::HasSubstr;
using Tensors = std::vector<at::Tensor>;

Tensors run(torch::jit::Module& module, const Tensors& inputs) {
  const c10::IValue result = module.forward({inputs.begin(), inputs.end()});
  if (result.isTensor()) return {result.toTensor()};
  Tensors outputs;
  for (const c10::IValue& output : result.toTupleRef().elements()) {
    outputs.push_back(output.toTensor());
  }
  return outputs;
}

class TorchScriptGraph : public ::testing::TestWithParam<RegisteredModel> {};

TEST_P(TorchScriptGraph, ComputesWhatEagerComputes) {
  const Subject subject = make_subject(GetParam(), 0);
  const BenchmarkedGraph graph{extract(GetParam(), subject), subject.weights, subject.inputs};
  const c10::InferenceMode inference_mode;
  Tensors expected;
  engine_kinds().front().make(graph).run(expected);
  torch::jit::Module module = to_torchscript(graph.ir, graph.weights);
  // The first two runs of a module choose how it runs.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(disagreement(run(module, subject.inputs), expected, Agreement::kBits), "");
  }
  torch::jit::Module optimized = torch::jit::optimize_for_inference(module);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(disagreement(run(optimized, subject.inputs), expected, Agreement::kClose), "");
  }
}

std::string name_of(const ::testing::TestParamInfo<RegisteredModel>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Benchmark, TorchScriptGraph, ::testing::ValuesIn(list_models()), name_of);

// The message with which `ir` is refused.
std::string refusal(const IR& ir) {
  try {
    to_torchscript(ir, StateDict());
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

IR one_node(const std::string& op_type, AttributeMap attrs) {
  const TensorMeta x{.name = "x", .shape = {2}, .dtype = "float32"};
  TensorMeta y = x;
  y.name = "y";
  IR ir;
  ir.model_name = "Model";
  ir.graph_inputs = {x};
  ir.graph_outputs = {y};
  ir.nodes = {{.name = "y", .op_type = op_type, .inputs = {x}, .outputs = {y}, .attrs = attrs}};
  return ir;
}

TEST(TorchScriptGraph, RefusesWhatIsNoOperator) {
  EXPECT_THAT(refusal(one_node("higher_order.cond", {})),
              HasSubstr("node 'y' (higher_order.cond) has no TorchScript form: it is no operator"));
}

TEST(TorchScriptGraph, RefusesNumbersOfTheGraph) {
  EXPECT_THAT(refusal(one_node("aten.mul.Scalar", {{"other", ValueRef{"n"}}})),
              HasSubstr("it takes a number of the graph"));
}

TEST(TorchScriptGraph, NamesTheWeightThatIsMissing) {
  IR ir = one_node("aten.relu.default", {});
  ir.weight_name_mapping.insert("p_w", "layer.w");
  EXPECT_EQ(refusal(ir), "weight 'layer.w' has no value for a TorchScript module");
}

TEST(TorchScriptGraph, KeepsTheOverload) {
  const IR ir = one_node("aten.mul.Tensor", {{"other", 2.0}});
  torch::jit::Module module = to_torchscript(ir, StateDict());
  EXPECT_EQ(refusal(ir), "none");
  EXPECT_THAT(module.get_method("forward").graph()->toString(), HasSubstr("aten::mul"));
}

}  // namespace
}  // namespace torch_ir

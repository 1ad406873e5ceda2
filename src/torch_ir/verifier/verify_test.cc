#include "torch_ir/verifier/verify.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/rand_like.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "torch_ir/converter/extract.h"
#include "torch_ir/runtime/testing/eager_graph.h"
#include "torch_ir/verifier/testing/tensors.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string text(const VerificationReport& report) {
  std::ostringstream stream;
  stream << report;
  return stream.str();
}

// linear, and the model that it comes from.
struct Linear {
  ReferenceFn reference() const {
    return [this](const std::vector<at::Tensor>& inputs) {
      return std::vector<at::Tensor>{
          at::linear(inputs.at(0), graph.weights["linear.weight"], graph.weights["linear.bias"])};
    };
  }

  std::pair<bool, VerificationReport> verify(const ReferenceFn& fn,
                                             const VerifyOptions& options = {},
                                             const StateDict* weights = nullptr) const {
    return verify_ir_with_state_dict(graph.ir, weights == nullptr ? graph.weights : *weights, fn,
                                     graph.inputs, options);
  }

  EagerGraph graph = linear_graph();
};

TEST(VerifyIr, PassesWhatComputesTheSame) {
  const Linear model;
  const auto [is_valid, report] = model.verify(model.reference());
  EXPECT_TRUE(is_valid);
  EXPECT_EQ(report.error_message, "");
  EXPECT_EQ(text(report),
            "Verification PASSED\n"
            "  max abs. error 0, mean abs. error 0\n"
            "  optimization exact, rtol 1e-05, atol 1e-05; smallest passing tolerance: 0\n"
            "  output 0 'n0' float32[2, 3]: equal\n");
}

TEST(VerifyIr, ComparesStateAndPutsItBack) {
  const at::Tensor sum = at::zeros({2});
  const Model model([&](const std::vector<at::Tensor>& inputs) {
    sum.add_(inputs[0]);
    return std::vector{inputs[0] * 2};
  });
  const std::vector<at::Tensor> inputs = {at::ones({2})};
  IR ir = extract_ir(model, inputs);
  EXPECT_THAT(ir.state, ElementsAre("c_lifted_tensor_0"));
  EXPECT_TRUE(at::equal(sum, at::zeros({2})));
  StateDict own;
  own.insert("lifted_tensor_0", sum);
  EXPECT_EQ(verify_ir_with_state_dict(ir, own, model.forward(), inputs).second.error_message, "");
  EXPECT_TRUE(at::equal(sum, at::zeros({2})));
  ir.nodes[0].attrs.set("alpha", 1.5);
  EXPECT_THAT(verify_ir_with_state_dict(ir, own, model.forward(), inputs).second.error_message,
              StartsWith("state 'c_lifted_tensor_0': 2 of 2 elements mismatched"));
  // Nobody knows where the model has its state.
  own["lifted_tensor_0"] = sum.clone();
  const VerificationReport report =
      verify_ir_with_state_dict(ir, own, model.forward(), inputs).second;
  EXPECT_TRUE(report.is_valid);
  EXPECT_THAT(report.not_compared, ElementsAre("c_lifted_tensor_0"));
  EXPECT_THAT(text(report), HasSubstr("\n  state not compared: 'c_lifted_tensor_0'\n"));
  EXPECT_TRUE(at::equal(sum, at::zeros({2})));
}

TEST(VerifyIr, RunsCapturedGraphsAtOtherSizes) {
  const Model model([](const std::vector<at::Tensor>& inputs) {
    const at::Tensor& x = inputs[0];
    const at::Tensor heads = x.view({x.size(0), x.size(1), 2, 4}).transpose(1, 2);
    const at::Tensor scores = heads.matmul(heads.transpose(2, 3)).softmax(-1);
    const at::Tensor past = at::arange(x.size(1)).lt(at::arange(x.size(1)).unsqueeze(1));
    const at::Tensor rows = scores.masked_fill(past, 0).matmul(heads).transpose(1, 2);
    return std::vector{rows.reshape({x.size(0) * x.size(1), 8}).exp()};
  });
  const IR ir = extract_ir(model, {at::randn({2, 5, 8})},
                           {.dynamic = {{"x", 0, "batch", 1, 8}, {"x", 1, "length"}}});
  for (const auto& [batch, length] : {std::pair(1, 1), {2, 5}, {3, 2}, {8, 17}}) {
    const auto [is_valid, report] = verify_ir_with_state_dict(ir, StateDict(), model.forward(),
                                                              {at::randn({batch, length, 8})});
    EXPECT_TRUE(is_valid) << report;
    EXPECT_EQ(report.max_diff, 0);
  }
  EXPECT_EQ(verify_ir_with_state_dict(ir, StateDict(), model.forward(), {at::randn({9, 2, 8})})
                .second.error_message,
            "Verification error: batch (Dimension 0 of input 'x') is 9, but must be at most 8.");
}

TEST(VerifyIr, DrawsTheNumbersOfTheReference) {
  const Model model([](const std::vector<at::Tensor>& inputs) {
    return std::vector{inputs[0] + at::rand_like(inputs[0])};
  });
  const IR ir = extract_ir(model, {at::ones({4})});
  EXPECT_TRUE(verify_ir_with_state_dict(ir, StateDict(), model.forward(), {at::ones({4})}).first);
}

TEST(VerifyIr, FailsWhatComputesSomethingElse) {
  const Linear model;
  const auto off_by_one = [&](const std::vector<at::Tensor>& inputs) {
    return std::vector<at::Tensor>{model.reference()(inputs)[0] + 1};
  };
  const auto [is_valid, report] = model.verify(off_by_one);
  EXPECT_FALSE(is_valid);
  EXPECT_NEAR(report.max_diff, 1, 1e-6);
  EXPECT_NEAR(report.mean_diff, 1, 1e-6);
  const std::string problem = "6 of 6 elements mismatched (100 %): max abs. error 1";
  EXPECT_THAT(report.error_message, StartsWith("output 0 'n0': " + problem));
  EXPECT_THAT(text(report), StartsWith("Verification FAILED\n  max abs. error 1"));
  EXPECT_THAT(text(report), HasSubstr("  output 0 'n0' float32[2, 3]: " + problem));
  // The problem is printed once.
  EXPECT_EQ(text(report).find("6 of 6"), text(report).rfind("6 of 6"));
  EXPECT_TRUE(model.verify(off_by_one, {.tolerance = {.fixed = {0, 1.5}}}).first);
}

// Each side gets its own inputs, and the plan runs before the reference can change the weights.
TEST(VerifyIr, IsNotDisturbedByAReferenceThatWrites) {
  Linear model;
  const at::Tensor input = model.graph.inputs[0].clone();
  const auto reference = [&](const std::vector<at::Tensor>& inputs) {
    auto outputs = model.reference()(inputs);
    inputs[0].zero_();
    model.graph.weights["linear.bias"].zero_();
    return outputs;
  };
  EXPECT_TRUE(model.verify(reference).first);
  EXPECT_TRUE(same_bits(model.graph.inputs[0], input));
}

TEST(VerifyIr, ReportsWhatThePlanThrows) {
  const Linear model;
  StateDict weights;
  weights.insert("linear.weight", model.graph.weights["linear.weight"]);
  const auto [is_valid, report] = model.verify(model.reference(), {}, &weights);
  EXPECT_FALSE(is_valid);
  EXPECT_EQ(
      text(report),
      "Verification FAILED\n"
      "  Verification error: Missing weight 'linear.bias' (float32 [3]), read by node 'n0'.\n");

  VerifyOptions options;
  options.constants.insert("linear.bias", model.graph.weights["linear.bias"]);
  EXPECT_TRUE(model.verify(model.reference(), options, &weights).first);
}

// PyTorch runs such a graph, and so does its checker: a warning says so.
TEST(VerifyIr, PassesAnIrThatIsWrongAboutAShape) {
  Linear model;
  model.graph.output(model.graph.call1("aten.relu.default", {V{"n0"}}));
  model.graph.ir.graph_outputs.erase(model.graph.ir.graph_outputs.begin());
  model.graph.ir.nodes[0].outputs[0].shape = model.graph.ir.nodes[1].inputs[0].shape = {7, 9};
  const auto [is_valid, report] = model.verify([&](const std::vector<at::Tensor>& inputs) {
    return std::vector<at::Tensor>{model.reference()(inputs)[0].relu()};
  });
  EXPECT_TRUE(is_valid) << text(report);
}

TEST(VerifyIr, ReportsWhatTheReferenceThrows) {
  const Linear model;
  const auto throwing = [](const auto&) -> std::vector<at::Tensor> {
    throw std::runtime_error("no reference today");
  };
  EXPECT_EQ(model.verify(throwing).second.error_message, "Verification error: no reference today");
}

TEST(VerifyIr, RunsAtTheLevelThatIsAskedFor) {
  const Linear model;
  VerifyOptions options;
  options.execution.optimization = Optimization::kFast;
  const VerificationReport report = model.verify(model.reference(), options).second;
  EXPECT_TRUE(report.is_valid) << report;
  EXPECT_EQ(report.optimization, Optimization::kFast);
  EXPECT_THAT(text(report), HasSubstr("\n  optimization fast, rtol 1e-05, atol 1e-05; "));
}

TEST(VerifyIr, TakesWeightsFromAFile) {
  const Linear model;
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/weights.safetensors";
  save_weights_safetensors(model.graph.weights, path);
  EXPECT_TRUE(verify_ir(model.graph.ir, path, model.reference(), model.graph.inputs).first);

  const auto [is_valid, report] =
      verify_ir(model.graph.ir, path + ".missing", model.reference(), model.graph.inputs);
  EXPECT_FALSE(is_valid);
  EXPECT_THAT(report.error_message, StartsWith("Verification error: "));
  EXPECT_THAT(report.error_message, HasSubstr("weights.safetensors.missing"));
}

TEST(CompareOutputs, SumsUpOverOutputs) {
  const VerificationReport report =
      compare_outputs({at::zeros({3}), at::zeros({1}), at::zeros({2})},
                      {at::zeros({3}), at::ones({1}) * 4, at::zeros({3})}, {"a", "b", "c"});
  EXPECT_FALSE(report.is_valid);
  EXPECT_EQ(report.max_diff, 4);
  EXPECT_EQ(report.mean_diff, 1);
  EXPECT_EQ(report.error_message,
            "2 of 3 outputs differ, the first: output 1 'b': 1 of 1 elements mismatched (100 %): "
            "max abs. error 4, mean abs. error 4, max relative error 1, max 1082130432 ULP; worst "
            "at [0]: 0, expected 4; smallest passing tolerance 0.8");
  EXPECT_THAT(text(report), HasSubstr("  output 0 'a' float32[3]: equal\n"));
  EXPECT_THAT(text(report), HasSubstr("  output 2 'c' float32[2]: shape [2], expected [3]\n"));
  EXPECT_THAT(text(report),
              HasSubstr("  max abs. error 4, mean abs. error 1 (1 not comparable)\n"));
  EXPECT_THAT(text(report), HasSubstr("smallest passing tolerance: none\n"));
}

// A tolerance for all outputs applies to floating-point outputs.
TEST(CompareOutputs, ComparesIntegersAndBooleansExactly) {
  const at::Tensor number = at::ones({1}) * 4;
  const at::Tensor index = at::ones({1}, at::kLong) * 50'000;
  const at::Tensor flag = at::ones({1}, at::kBool);
  EXPECT_THAT(compare_outputs({number + 1, index + 1, at::logical_not(flag)}, {number, index, flag},
                              {"number", "index", "flag"}, {.fixed = {0, 2}})
                  .error_message,
              StartsWith("2 of 3 outputs differ, the first: output 1 'index': 1 of 1 elements"));
  EXPECT_EQ(text(compare_outputs({number + 1, index}, {number, index}, {"a", "b"},
                                 {.fixed = {.rtol = 0, .atol = 2}})),
            "Verification PASSED\n"
            "  max abs. error 1, mean abs. error 0.5\n"
            "  rtol 0, atol 2, integers exact; smallest passing tolerance: 0.2\n"
            "  output 0 'a' float32[1]: close: max abs. error 1, mean abs. error 1, smallest "
            "passing tolerance 0.2\n"
            "  output 1 'b' int64[1] (rtol 0, atol 0): equal\n");
  EXPECT_THAT(text(compare_outputs({index + 1}, {index}, {"b"})),
              HasSubstr("  rtol 1e-05, atol 1e-05, integers exact; smallest passing tolerance: "
                        "none\n"));
  const ToleranceRule own = {.outputs = {{0, {.rtol = 0, .atol = 1}}}};
  EXPECT_TRUE(compare_outputs({index + 1}, {index}, {"b"}, own).is_valid);
}

TEST(CompareKnownOutputs, LeavesOutThoseThatNothingIsExpectedOf) {
  Program graph;
  for (const char* name : {"a", "b", "c"}) {
    graph.outputs.push_back(graph.add_value({.shape = {1}, .dtype = at::kFloat, .name = name}));
  }
  const at::Tensor e = at::ones({1});
  const ToleranceRule rule = {.outputs = {{1, {0, 9}}, {2, {0, 2}}}};
  const VerificationReport report =
      compare_known_outputs(graph, {e, e, e + 1}, {e, at::Tensor(), e}, rule);
  EXPECT_TRUE(report.is_valid) << report;
  ASSERT_EQ(report.output_details.size(), 2);
  EXPECT_EQ(report.output_details[1].value, "c");
  EXPECT_EQ(report.output_details[1].tolerance, (Tolerance{0, 2}));
  EXPECT_EQ(compare_known_outputs(graph, {e, e, e}, {e}, rule).error_message,
            "3 outputs, expected 1");
  EXPECT_EQ(compare_known_outputs(graph, {e, e, e, e}, {e, e, e}, rule).error_message,
            "4 outputs, expected 3");
}

TEST(CompareOutputs, TakesTheToleranceOfEachDtypeOrOutput) {
  const at::Tensor single = at::ones({1});
  const at::Tensor half = single.to(at::kHalf);
  const at::Tensor whole = single.to(at::kLong);
  const VerificationReport report = compare_outputs(
      {half * 1.001, single * 1.001, whole, at::Tensor()}, {half, single, whole, at::Tensor()},
      {"h", "s", "w", "n"}, {.by_dtype = true});
  EXPECT_FALSE(report.is_valid);
  EXPECT_THAT(report.error_message, StartsWith("output 1 's': 1 of 1 elements mismatched (100 %)"));
  // Two files of tensors are compared without any graph, and so without a level.
  EXPECT_THAT(text(report),
              AllOf(HasSubstr("\n  tolerances by dtype; smallest"),
                    HasSubstr("\n  output 0 'h' float16[1] (rtol 0.001, atol 1e-05): close"),
                    HasSubstr("\n  output 1 's' float32[1] (rtol 1.3e-06, atol 1e-05): "),
                    HasSubstr("\n  output 2 'w' int64[1] (rtol 0, atol 0): equal\n")));
  const ToleranceRule rule = {.fixed = {0, 0.5}, .outputs = {{1, {0, 2}}}};
  EXPECT_THAT(text(compare_outputs({single + 1, single + 1}, {single, single}, {"a", "b"}, rule)),
              AllOf(HasSubstr("\n  tolerances by output; smallest"),
                    HasSubstr("\n  output 0 'a' float32[1] (rtol 0, atol 0.5): 1 of 1"),
                    HasSubstr("\n  output 1 'b' float32[1] (rtol 0, atol 2): close")));
}

}  // namespace
}  // namespace torch_ir

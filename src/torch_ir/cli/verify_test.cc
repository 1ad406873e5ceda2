#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;

class VerifyTest : public CliTest {
 protected:
  // Of a graph without weights. Expects the status and no error; returns the output.
  static std::string verify_graph(const std::string& graph, const std::string& inputs,
                                  const std::string& expected, std::vector<std::string> more,
                                  int status) {
    more.insert(more.begin(), {"verify", graph, "--inputs", inputs, "--expected", expected});
    return printed(more, status);
  }

  std::vector<std::string> command(const std::string& expected,
                                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"verify",   model_.graph,  "--weights",  model_.weights,
                                      "--inputs", model_.inputs, "--expected", expected};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string verify(const std::string& expected, const std::vector<std::string>& more = {},
                     int status = 0) const {
    return printed(command(expected, more), status);
  }

  // The outputs of the graph, with one element off by 0.001.
  std::string nearly_right() const {
    return tensor_file("near.safetensors",
                       {{"mul", model_.output + at::tensor({0.0f, 0.001f, 0.0f, 0.0f})}});
  }

  const MaskedLinear model_ = masked_linear();
};

TEST_F(VerifyTest, PassesWhereTheGraphComputesWhatIsExpected) {
  const std::string report = verify(model_.expected);
  EXPECT_THAT(report, HasSubstr("PASSED"));
  EXPECT_THAT(report,
              HasSubstr("tolerances by dtype, else error factor 4 against float64; smallest"));
  EXPECT_THAT(verify(model_.expected, {"--rtol", "1e-3"}),
              HasSubstr("rtol 0.001, atol 1e-05; smallest"));
  EXPECT_EQ(verify(model_.expected, {"-q"}), "");
}

TEST_F(VerifyTest, FailsWhereAValueDiffers) {
  const std::string report = verify(nearly_right(), {}, 1);
  EXPECT_THAT(report, HasSubstr("FAILED"));
  EXPECT_THAT(report, HasSubstr("[0, 1]"));
  EXPECT_EQ(verify(nearly_right(), {"--quiet"}, 1), "");
}

TEST_F(VerifyTest, TakesTolerancesAndLevels) {
  verify(nearly_right(), {"--atol", "0.002"});
  verify(nearly_right(), {"--atol", "0.0005"}, 1);
  verify(nearly_right(), {"--rtol", "2"});
  verify(model_.expected, {"--rtol", "0", "--atol", "0"});
  const std::string report = verify(model_.expected, {"--tolerance", "dtype"});
  EXPECT_THAT(report, HasSubstr("\n  optimization exact, tolerances by dtype; "));
  EXPECT_THAT(report, HasSubstr(" float32[1, 4] (rtol 1.3e-06, atol 1e-05): equal\n"));
  verify(nearly_right(), {"--tolerance", "dtype"}, 1);
  EXPECT_THAT(verify(model_.expected, {"--optimization", "fast"}),
              HasSubstr("\n  optimization fast, "));
}

// 3e7 + 1 lies between two numbers of float32, and eager takes the lower one.
TEST_F(VerifyTest, PassesWhatIsAsNearToFloat64AsEager) {
  TestGraphBuilder builder("Rounds");
  builder.input("x", {1}).input("y", {1}).op("add", "aten.add.Tensor", {"x", "y"}, {1});
  builder.op("sub", "aten.sub.Tensor", {"add", "x"}, {1}).output("sub");
  const std::string graph = graph_file("rounds.json", builder.build());
  const std::string inputs =
      tensor_file("xy.safetensors", {{"x", at::tensor({3e7f})}, {"y", at::tensor({1.0f})}});
  const auto verify_sub = [&](float value, const std::vector<std::string>& more, int status) {
    const std::string sub = tensor_file("sub.safetensors", {{"sub", at::tensor({value})}});
    return verify_graph(graph, inputs, sub, more, status);
  };
  EXPECT_THAT(verify_sub(2, {}, 0),
              HasSubstr("; eager operators compute it, too\n  passed: right by its own error\n"));
  verify_sub(2, {"--tolerance", "auto"}, 0);
  verify_sub(2, {"--tolerance", "dtype"}, 1);
  verify_sub(2, {"--atol", "0.1"}, 1);
  verify_sub(100, {}, 1);
}

// Tolerances are for numbers that are rounded.
TEST_F(VerifyTest, ComparesIntegersExactly) {
  TestGraphBuilder builder("Index");
  builder.input("x", {2});
  builder.op("index", "aten._to_copy.default", {"x"}, {2}, {{"dtype", at::kLong}});
  IR ir = builder.output("index").build();
  ir.graph_outputs[0].dtype = ir.nodes[0].outputs[0].dtype = "int64";
  const std::string graph = graph_file("index.json", ir);
  const std::string x = tensor_file("x2.safetensors", {{"x", at::tensor({7.0f, 50'000.0f})}});
  const auto verify_index = [&](int64_t index, int status) {
    const std::string expected =
        tensor_file("index.safetensors", {{"index", at::tensor({int64_t{7}, index})}});
    return verify_graph(graph, x, expected, {"--rtol", "1", "--atol", "1"}, status);
  };
  verify_index(50'000, 0);
  EXPECT_THAT(
      verify_index(50'001, 1),
      HasSubstr("rtol 1, atol 1, integers exact; smallest passing tolerance: none\n"
                "  output 0 'index' int64[2] (rtol 0, atol 0): 1 of 2 elements mismatched"));
}

// As in the harness, random numbers begin with seed 0.
TEST_F(VerifyTest, DrawsTheNumbersOfTheHarness) {
  TestGraphBuilder builder("Random");
  builder.input("x", {8}).op("rand", "aten.rand_like.default", {"x"}, {8}).output("rand");
  const std::string graph = graph_file("random.json", builder.build());
  const std::string inputs = tensor_file("x8.safetensors", {{"x", at::zeros({8})}});
  const auto verify_rand = [&](uint64_t seed, const std::vector<std::string>& more, int status) {
    at::manual_seed(seed);
    const std::string drawn = tensor_file("rand.safetensors", {{"rand", at::rand({8})}});
    return verify_graph(graph, inputs, drawn, more, status);
  };
  verify_rand(0, {}, 0);
  verify_rand(7, {"--seed", "7"}, 0);
  EXPECT_THAT(verify_rand(7, {}, 1),
              HasSubstr("the graph does not match the model, or that drew other random numbers\n"));
}

TEST_F(VerifyTest, RefusesValuesThatThereAreNot) {
  const auto refuses = [&](const std::string& flag, const std::string& value,
                           const std::string& problem) {
    expect_refused(torch_ir(command(model_.expected, {flag, value})),
                   flag + ": " + problem + " (see 'torch-ir verify --help')");
  };
  for (const std::string value : {"-1", "nan", "inf", "small"}) {
    refuses("--rtol", value, "invalid tolerance '" + value + "'; expected a number of 0 or more");
  }
  refuses("--seed", "-1", "invalid seed '-1'; expected a whole number");
  refuses("--optimization", "faster",
          "unknown optimization level 'faster'; expected exact or fast");
  refuses("--device", "gpu", "invalid device 'gpu'; expected cpu, cuda or cuda:INDEX");
}

TEST_F(VerifyTest, RunsOnADevice) {
  verify(model_.expected, {"--device", "cpu"});
  const Outcome cuda = torch_ir(command(model_.expected, {"--device", "cuda"}));
  if (cuda.err.find("finds no cuda device here") != std::string::npos) {
    EXPECT_EQ(cuda.status, 2);
    GTEST_SKIP() << "there is no CUDA device";
  }
  EXPECT_EQ(cuda.status, 0) << cuda.out << cuda.err;
}

TEST_F(VerifyTest, FailsWhereAShapeDiffers) {
  EXPECT_EQ(
      verify(tensor_file("wide.safetensors", {{"mul", at::zeros({1, 5})}}), {}, 1),
      "Verification FAILED\n"
      "  not comparable\n"
      "  optimization exact, tolerances by dtype, else error factor 4 against float64; smallest "
      "passing tolerance: none\n"
      "  output 0 'mul' float32[1, 4] (rtol 1.3e-06, atol 1e-05): shape [1, 4], expected [1, "
      "5]\n"
      "  output 0 'mul': shape [1, 4], expected [1, 5]; eager operators compute the same from the "
      "graph: the graph does not match the model\n");
}

TEST_F(VerifyTest, RefusesAFileThatIsNotAboutTheOutputs) {
  expect_refused(torch_ir(command(model_.inputs)),
                 model_.inputs +
                     ": 2 problems with its tensors:\n"
                     "  unexpected output 'x'; the graph's outputs are 'mul'\n"
                     "  missing output 'mul'; the file has 'x'");
}

}  // namespace
}  // namespace torch_ir

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "torch_ir/base/file.h"
#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using InfoTest = CliTest;

// The specification has the summary.
TEST_F(InfoTest, PrintsASummaryAndCosts) {
  const std::string out = printed({"info", graph_file("model.json", deep_resnet_graph())});
  EXPECT_THAT(out, StartsWith(R"(Model: DeepResNet
Nodes: 27
Inputs: 1
Outputs: 1
Weights: 51
Total parameters: 57,617

Input shapes:
  x: [1, 3, 32, 32]

Output shapes:
  linear: [1, 10]

Op distribution:
  aten.conv2d.default: 7
  aten.batch_norm.default: 7
  aten.relu.default: 7
  aten.add.Tensor: 3
  aten.adaptive_avg_pool2d.default: 1
  aten.flatten.using_ints: 1
  aten.linear.default: 1

Buffers among the parameters: 455

Costs:
  Multiply-adds: 57,508,160
  Weights: 230,496 bytes
  Inputs: 12,288 bytes
  Largest value: 131,072 bytes, conv2d
  Smallest peak: 393,216 bytes, batch_norm_1

Costs by operator:
)"));
  EXPECT_THAT(out, testing::ContainsRegex("aten.conv2d.default +7 +57,507,840 +56,384 "));
}

TEST_F(InfoTest, SaysWhatModulesCost) {
  IR ir = deep_resnet_graph();
  ir.nodes[0].module = "conv1";
  const std::string graph = graph_file("model.json", ir);
  EXPECT_THAT(torch_ir({"info", graph}).out,
              testing::ContainsRegex("\nCosts by module; [^\n]*\n[^\n]*\n"
                                     "  \\(other nodes\\) +26 +[0-9,]+ +[0-9,]+\n"
                                     "  conv1 +1 +[0-9,]+ +[0-9,]+\n$"));
  const auto json = nlohmann::json::parse(torch_ir({"info", graph, "--json"}).out);
  EXPECT_EQ(json["cost"]["modules"][1]["module"], "conv1");
}

TEST_F(InfoTest, NamesGuardsThatRunsDoNotCheck) {
  TestGraphBuilder builder("Guarded");
  IR ir = builder.input("x", {2}).op("a", "aten.neg.default", {"x"}, {2}).output("a").build();
  ir.guards = {"x.size()[0] % 2 == 0"};
  EXPECT_THAT(torch_ir({"info", graph_file("guarded.json", ir)}).out,
              testing::Not(HasSubstr("uards")));
  ir.guards.push_back("L['x']._base.size()[0] == 2");
  const std::string graph = graph_file("guarded.json", ir);
  const std::string reason =
      "L['x']._base.size()[0] == 2: the expression 'L['x']._base.size()[0] == 2' has a syntax "
      "error "
      "at character 2";
  EXPECT_THAT(torch_ir({"info", graph}).out,
              HasSubstr("\nGuards that runs do not check:\n  " + reason + "\n\n"));
  const auto json = nlohmann::json::parse(torch_ir({"info", graph, "--json"}).out);
  EXPECT_EQ(json["guards"], nlohmann::json(ir.guards));
  EXPECT_EQ(json["unchecked_guards"], nlohmann::json::array({reason}));
  const std::string inputs = tensor_file("inputs.safetensors", {{"x", at::ones({2})}});
  for (const char* quiet : {"--quiet", "--reject-nan"}) {
    EXPECT_EQ(
        torch_ir({"execute", graph, "--inputs", inputs, "-o", path("y.safetensors"), quiet}).err,
        "torch-ir: warning: Runs do not check a guard of the model: " + reason + "\n");
  }
}

TEST_F(InfoTest, NamesWhatItCouldNotCount) {
  TestGraphBuilder graph("Odd");
  graph.input("x", {2}).op("a", "my.op.default", {"x"}, {2}).output("a");
  EXPECT_THAT(torch_ir({"info", graph_file("model.json", graph.build())}).out,
              HasSubstr("  Multiply-adds: unknown\n"
                        "  Not counted: my.op.default (1 node): unknown operator\n"));
}

TEST_F(InfoTest, CountsADynamicArchiveAtTheSizesOfItsExampleInputs) {
  const Outcome info = torch_ir({"info", archive("dynamic.pt2")});
  EXPECT_THAT(info.out,
              testing::ContainsRegex("With [a-z0-9]+ = [0-9]+, as in the example inputs\n"));
  EXPECT_THAT(info.out, testing::Not(HasSubstr("unknown")));
}

// The name decides if the content is neither.
TEST_F(InfoTest, TakesAFileThatIsCalledAnArchiveForOne) {
  const std::string advice = "; write a .pt2 archive with torch.export.save";
  const std::string text = file("text.pt2", "not a graph");
  expect_refused(torch_ir({"info", text}), text + ": not a .pt2 archive (not a zip file)" + advice);
  const std::string weights = tensor_file("weights.safetensors", {{"w", at::zeros({2})}});
  expect_refused(torch_ir({"info", weights}),
                 weights + ": is a safetensors file, which holds weights but no graph" + advice);
  for (const char* name : {"other.pt2", "other.json", "other.onnx"}) {
    const std::string empty = file(name, "");
    expect_refused(torch_ir({"info", empty}), empty + ": is empty" + advice);
    const std::string onnx = file(name, "\x08\x0a\x12\x07pytorch\x1a\x06");
    expect_refused(torch_ir({"info", onnx}),
                   onnx + ": is an ONNX model; use the PyTorch model that it was converted from");
  }
  EXPECT_THAT(torch_ir({"info", file("text.json", "text")}).err, HasSubstr("not valid JSON"));
}

TEST_F(InfoTest, PrintsJson) {
  TestGraphBuilder graph("Small");
  graph.input("x", {2, 3}).input("n", {}).weight("p_w", "w", {3});
  graph.op("mul", "aten.mul.Tensor", {"x", "p_w"}, {2, 3}).output("mul");
  EXPECT_EQ(printed({"info", graph_file("model.json", graph.build()), "--json"}),
            nlohmann::ordered_json::parse(R"({
    "model_name": "Small", "num_nodes": 1, "num_inputs": 2, "num_outputs": 1, "num_weights": 1,
    "total_parameters": 3, "input_shapes": {"x": [2, 3], "n": []},
    "output_shapes": {"mul": [2, 3]}, "op_distribution": {"aten.mul.Tensor": 1}, "buffer_elements": 0,
    "cost": {"sizes": {}, "multiply_adds": 0, "not_counted": [], "input_bytes": 28,
             "weight_bytes": 12, "largest_value": "mul", "largest_bytes": 24, "peak_bytes": 24,
             "peak_node": "mul", "num_unknown_sizes": 0,
             "operators": {"aten.mul.Tensor": {"num_nodes": 1, "multiply_adds": 0,
                                               "parameters": 3, "output_bytes": 24}},
             "modules": []},
    "guards": [], "unchecked_guards": []})")
                    .dump(2) +
                "\n");
}

TEST_F(InfoTest, WritesToAFile) {
  const std::string graph = graph_file("model.json", masked_linear_graph());
  const std::string text = torch_ir({"info", graph, "--json"}).out;
  EXPECT_EQ(printed({"info", graph, "--json", "-o", path("summary.json")}), "");
  EXPECT_EQ(read_file(path("summary.json")), text);
}

// As every command that reads a graph does, except `validate`, which lists all problems.
TEST_F(InfoTest, RefusesAGraphThatIsNotWellFormed) {
  IR ir = masked_linear_graph();
  ir.graph_inputs[0].shape = {-3};
  const std::string bad = graph_file("bad.json", ir);
  const std::string good = graph_file("good.json", masked_linear_graph());
  const std::vector<std::vector<std::string>> commands = {
      {"info", bad},
      {"info", bad, "--json", "-o", path("summary.json")},
      {"visualize", bad},
      {"visualize", bad, "-o", path("graph.dot")},
      {"ops", good, bad},
      {"diff", bad, good},
      {"diff", good, bad},
      {"benchmark", bad},
      {"import", bad, "--output", path("imported")},
      {"execute", bad, "--inputs", good, "-o", path("outputs.safetensors")},
      {"info", bad, "--quiet"}};
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(command[0]);
    expect_failed(torch_ir(command), StartsWith("torch-ir: " + bad +
                                                " is not well formed: graph input 'x' has a "
                                                "negative size: [-3] (and "));
  }
  EXPECT_THAT(files(), ElementsAre("bad.json", "good.json"));
}

// The file does not say whether `t` is `min` or `max`, which matters only in a run.
TEST_F(InfoTest, ShowsAGraphThatCannotBeRun) {
  TestGraphBuilder builder("Clamps");
  builder.input("x", {2}).input("t", {2});
  builder.op("clamp", "aten.clamp.Tensor", {"x", "t"}, {2}).output("clamp");
  const std::string graph = graph_file("clamps.json", builder.build());
  for (const char* command : {"info", "visualize"}) {
    const Outcome outcome = torch_ir({command, graph});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, HasSubstr("clamp"));
    EXPECT_THAT(outcome.err, StartsWith("torch-ir: warning: " + graph +
                                        " cannot be run: node 'clamp' (aten.clamp.Tensor): "));
  }
  EXPECT_THAT(torch_ir({"diff", graph, graph}).out, HasSubstr("no difference"));
  for (const char* command : {"validate", "benchmark", "ops"}) {
    EXPECT_EQ(torch_ir({command, graph}).status, 2) << command;
  }
}

TEST_F(InfoTest, RefusesWhatIsNoGraph) {
  expect_refused(torch_ir({"info", path("none.json"), "-o", path("summary")}),
                 "cannot open '" + path("none.json") + "': No such file or directory");
  expect_failed(torch_ir({"info", file("model.pt2", "PK\x03\x04"), "-o", path("summary")}),
                HasSubstr(path("model.pt2") + "' cannot be read as a zip archive"));
  EXPECT_THAT(files(), ElementsAre("model.pt2"));
}

}  // namespace
}  // namespace torch_ir

// The command line on graphs in files: reproducers of a run, and files of the Python package.

#include <ATen/TensorOperators.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/max.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/testing/run_command_line.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Adds one too much.
class OffByOne : public Backend {
 public:
  std::vector<at::Tensor> run(const Case& graph_case) override {
    std::vector<at::Tensor> outputs = plan_.run(graph_case);
    for (at::Tensor& output : outputs) output = output + 1;
    return outputs;
  }

 private:
  PlanBackend plan_{ExecutionOptions()};
};

const bool registered = register_backend(
    "off_by_one", [](const BackendOptions&) { return std::make_unique<OffByOne>(); });

class GraphModelsTest : public HarnessTest {
 protected:
  std::string report(const std::string& name) const { return read_file(output_ + "/" + name); }

  // The reproducer of a run of the model Wrong of the registry, whose graph adds 1 to x and whose
  // model adds 2, in a folder of its own.
  std::string make_reproducer() const {
    run({"--model", "Wrong"}).expect_status(1);
    fs::create_directories(path("repro"));
    fs::rename(output_ + "/repro/Wrong", path("repro/Wrong"));
    fs::remove_all(output_);
    return path("repro/Wrong");
  }
};

TEST_F(GraphModelsTest, AReproducerFailsAsItsModelDid) {
  const std::string folder = make_reproducer();
  ::setenv("BUILD_WORKING_DIRECTORY", fs::path(folder).parent_path().c_str(), /*replace=*/1);
  const HarnessOutcome result = run({"--ir", "Wrong"});
  ::unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(result.out,
              StartsWith("[1/1] Wrong  FAILED  the graph does not match the model: output 0 "));
  const std::string page = report("Wrong.md");
  EXPECT_THAT(
      page, AllOf(HasSubstr("The graph of `Wrong`.\n\nCategories: `imported`\n"),
                  HasSubstr("Expected outputs are those in `expected.safetensors`."),
                  HasSubstr("tools/bazel run //harness -- --ir Wrong\n"), Not(HasSubstr(scratch_)),
                  // Node by node, the reference is the graph's own operators, so no
                  // intermediate value differs.
                  HasSubstr("the outputs differ from the expected ones"),
                  HasSubstr("```sh\nharness --ir .\n```")));
  EXPECT_THAT(report("SUMMARY.md"), HasSubstr("This run covers 1 graph."));
  EXPECT_THAT(report("results.json"), HasSubstr("\"path\": \"Wrong\""));
  // Run the command of the page in the folder of the whole graph.
  fs::rename(output_ + "/repro/Wrong", path("again"));
  const HarnessOutcome again = run({"--ir", path("again")}).expect_status(1);
  const std::string message = result.out.substr(result.out.find("FAILED"));
  EXPECT_THAT(again.out, HasSubstr(message.substr(0, message.find('\n'))));
}

TEST_F(GraphModelsTest, ABackendIsComparedNodeByNode) {
  const std::string folder = make_reproducer();
  fs::remove(folder + "/expected.safetensors");
  run({"--ir", folder, "--per-node"}).expect_status(0);
  EXPECT_THAT(report("Wrong.md"), AllOf(HasSubstr("No file gives expected outputs."),
                                        HasSubstr("1 value compared with those of the model"),
                                        HasSubstr("zeros and ones")));
  const HarnessOutcome bad =
      run({"--ir", folder, "--executor", "off_by_one", "--trials", "1"}).expect_status(1);
  EXPECT_THAT(bad.out, HasSubstr(" wrong, by at most 1\n"));
  EXPECT_THAT(report("Wrong.md"), AllOf(HasSubstr("**The first difference**"),
                                        HasSubstr("harness --ir . --executor off_by_one")));
  // Run the command of the page.
  fs::rename(output_ + "/repro/Wrong", path("again"));
  const HarnessOutcome again =
      run({"--ir", path("again"), "--executor", "off_by_one"}).expect_status(1);
  EXPECT_THAT(again.out, HasSubstr(" wrong, by at most 1\n"));
}

TEST_F(GraphModelsTest, AFolderOfGraphsRunsBesideModelsOfTheRegistry) {
  const std::string folder = make_reproducer();
  expect_bad_usage({"--ir", folder, "--model", "Wrong"},
                   "--ir: '" + folder +
                       "/ir.json' and the registered model would have the same page, Wrong.md; "
                       "rename the folder");
  const HarnessOutcome result =
      run({"--ir", path("repro"), "--model", "Good", "--atol", "2"}).expect_status(0);
  EXPECT_THAT(result.out, HasSubstr("2 of 2 models passed"));
  EXPECT_THAT(report("SUMMARY.md"), AllOf(HasSubstr("selected by name, and 1 graph."),
                                          HasSubstr("--ir " + path("repro") + " --model Good")));
}

// Writes a graph of these calls, one after the other, and its inputs to `folder`.
void write_chain(const std::string& folder,
                 const std::vector<std::pair<std::string, std::string>>& calls) {
  TestGraphBuilder graph("Net");
  graph.input("x", {2, 3});
  std::string last = "x";
  for (const auto& [name, op_type] : calls) {
    graph.op(name, op_type, {last}, {2, 3});
    last = name;
  }
  fs::create_directories(folder);
  save_ir(graph.output(last).build(), folder + "/ir.json");
  save_weights_safetensors({{"x", at::linspace(-1, 1, 6).view({2, 3})}},
                           folder + "/inputs.safetensors");
}

TEST_F(GraphModelsTest, ValuesOfTwoRunsAreCompared) {
  write_chain(
      path("v1/net"),
      {{"relu", "aten.relu.default"}, {"tanh", "aten.tanh.default"}, {"neg", "aten.neg.default"}});
  const HarnessOutcome first = run({"--ir", path("v1/net"), "--save-values"});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(report("results.json"),
              HasSubstr(R"(svg/net.svg", "tensors/net.values.safetensors"])"));
  fs::rename(output_, path("old"));
  fs::copy(path("old"), output_, fs::copy_options::recursive);
  const HarnessOutcome same = run_command_line({"compare", path("old"), output_}).expect_status(0);
  EXPECT_THAT(same.out, AllOf(HasSubstr("no changes since"),
                              HasSubstr("note     0 of 3 values of nodes differ\n")));

  // One element of one value differs.
  const std::string file = "/tensors/net.values.safetensors";
  StateDict values = load_weights_safetensors(path("old") + file);
  StateDict changed;
  for (const auto& item : values) changed.insert(item.key(), item.value().clone());
  changed["tanh"].view({-1})[5].fill_(7);
  save_weights_safetensors(changed, output_ + file);
  const HarnessOutcome other =
      run_command_line({"compare", path("old"), output_, "-o", path("compared")}).expect_status(0);
  EXPECT_THAT(other.out,
              AllOf(HasSubstr("changed  net  first value that differs: node 1, tanh: "),
                    HasSubstr(" at [1, 2] -> 7, 1 of 6 elements differ, by up to "),
                    HasSubstr("    new: float32 [2, 3], min "), HasSubstr(", max 7, mean "),
                    HasSubstr("    other nodes: SNR -"), HasSubstr(" dB, cosine similarity 0."),
                    HasSubstr("note     1 of 3 values of nodes differs\n"),
                    HasSubstr("see " + path("compared") + "/COMPARE.md\n")));
  EXPECT_THAT(read_file(path("compared/COMPARE.md")),
              AllOf(HasSubstr("first value that differs: node 1"), HasSubstr("## Nodes of net"),
                    HasSubstr("| 1 | `tanh` | `aten.tanh.default` |"),
                    HasSubstr("| other nodes | 1 |"), HasSubstr("<br>old: float32")));
  EXPECT_THAT(read_file(path("compared/index.html")),
              AllOf(HasSubstr("id=\"data-model-0\""), HasSubstr("id=\"data-model-1\""),
                    Not(HasSubstr("id=\"data-model-2\""))));

  // Within the tolerance, and outside one that is given.
  changed["tanh"].copy_(values["tanh"]);
  changed["tanh"].view({-1})[5].mul_(1.000001);
  save_weights_safetensors(changed, output_ + file);
  EXPECT_THAT(run_command_line({"compare", path("old"), output_}).out,
              HasSubstr("note     0 of 3 values of nodes differ\n"));
  const HarnessOutcome exact =
      run_command_line({"compare", "eager=" + path("old"), "chip=" + output_, "--rtol", "0",
                        "--atol", "0", "-o", path("compared")});
  EXPECT_THAT(exact.out, AllOf(HasSubstr("    chip: float32 [2, 3], min "),
                               HasSubstr("    other nodes: SNR 12"),
                               HasSubstr("note     1 of 3 values of nodes differs\n"),
                               HasSubstr("note     tolerance of values: rtol 0, atol 0\n")));
  EXPECT_EQ(
      run_command_line({"compare", path("old"), output_, "--tolerance", "own"}).err,
      "harness: compare and --tolerance cannot be combined: kept values are compared by --rtol "
      "and --atol\n");
  changed["tanh"].view({-1})[5].fill_(std::nan(""));
  save_weights_safetensors(changed, output_ + file);
  EXPECT_THAT(run_command_line({"compare", path("old"), output_}).out,
              HasSubstr("    other nodes: SNR -inf dB, cosine similarity nan\n"));
  EXPECT_THAT(read_file(path("compared/COMPARE.md")),
              AllOf(HasSubstr("| eager | `"), HasSubstr("<br>chip: float32")));

  // A run whose other trial failed has kept that.
  const std::string results = read_file(output_ + "/results.json");
  const std::string other_trial =
      std::regex_replace(results, std::regex(R"("kept_trial": ")"), "$&not ");
  ASSERT_NE(other_trial, results);
  write_file(output_ + "/results.json", other_trial);
  EXPECT_THAT(run_command_line({"compare", path("old"), output_}).out,
              HasSubstr("note     net: its values are of different trials: old kept those of \""));
  write_file(output_ + "/results.json", results);

  // A folder that does not exist, by a relative path.
  const fs::path here = fs::current_path();
  fs::current_path(path("compared"));
  run_command_line({"compare", path("old"), output_, "-o", "again"}).expect_status(0);
  fs::current_path(here);
  EXPECT_TRUE(fs::exists(path("compared/again/COMPARE.md")));

  // Another version of the model, with other names.
  fs::remove_all(output_);
  write_chain(path("v2/net"), {{"relu", "aten.relu.default"},
                               {"abs_1", "aten.abs.default"},
                               {"tanh_1", "aten.tanh.default"},
                               {"sigmoid", "aten.sigmoid.default"}});
  ASSERT_EQ(run({"--ir", path("v2/net"), "--save-values"}).status, 0);
  const HarnessOutcome versions = run_command_line({"compare", path("old"), output_});
  EXPECT_THAT(versions.out,
              AllOf(HasSubstr("first value that differs: node 3, sigmoid: "),
                    HasSubstr("1 of 3 values of nodes differs; only one run kept 1 other value")));

  ASSERT_EQ(run({"--ir", path("v2/net")}).status, 0);
  EXPECT_THAT(report_names(), Not(::testing::Contains("tensors/net.values.safetensors")));
  EXPECT_THAT(run_command_line({"compare", path("old"), output_}).out,
              HasSubstr("note     no values of nodes compared: at most one run kept them\n"));
  write_file(path("old") + file, "broken");
  EXPECT_THAT(run_command_line({"compare", path("old"), output_}).expect_status(2).err,
              HasSubstr(file + "'. Supported formats: .safetensors"));
}

// A graph that the Python package wrote for a module of ours, compared with this LibTorch.
TEST_F(GraphModelsTest, TakesWhatThePythonPackageWrites) {
  fs::copy_file("src/torch_ir/ir/testdata/python_package.json", path("mixed.json"));
  const at::Tensor weight = at::randn({4});
  const at::Tensor bias = at::randn({4});
  const at::Tensor mean = at::randn({4});
  const at::Tensor variance = at::ones({4}) * 2;
  save_weights_safetensors({{"bn.weight", weight},
                            {"bn.bias", bias},
                            {"bn.running_mean", mean},
                            {"bn.running_var", variance},
                            {"bn.num_batches_tracked", at::zeros({}, at::kLong)}},
                           path("mixed.weights.safetensors"));
  const at::Tensor x = at::randn({2, 4});
  const at::Tensor y = at::randn({2, 3});
  save_weights_safetensors({{"x", x}, {"y", y}}, path("mixed.inputs.safetensors"));
  run({"--ir", path("mixed.json")}).expect_status(0);

  const at::Tensor masked =
      at::where(x > 0, at::full({}, -std::numeric_limits<float>::infinity()), x);
  const at::Tensor parts = at::cat({x.narrow(1, 0, 1), x.narrow(1, 3, 1), x.narrow(1, 1, 2)}, 1);
  const auto [values, indices] = at::max(y, 1);
  StateDict expected = {
      {"batch_norm", at::batch_norm(parts, weight, bias, mean, variance, false, 0.1, 1e-5, false)},
      {"getitem_3", values},
      {"getitem_4", indices},
      {"index", masked.narrow(1, 0, 2).contiguous()},
      {"y", y},
      {"div", weight / 2}};
  save_weights_safetensors(expected, path("mixed.expected.safetensors"));
  run({"--ir", path("mixed.json"), "--rtol", "0", "--atol", "0"}).expect_status(0);
  EXPECT_THAT(report("mixed.md"),
              AllOf(HasSubstr("The graph of `mixed.json`."),
                    HasSubstr("the outputs match those in `mixed.expected.safetensors`.")));
}

TEST_F(GraphModelsTest, WhatDoesNotFitFailsItsModel) {
  const std::string folder = make_reproducer();
  const std::string inputs = folder + "/inputs.safetensors";
  const std::string expected = folder + "/expected.safetensors";
  const std::string own_inputs = read_file(inputs);
  const std::string own_expected = read_file(expected);
  save_weights_safetensors({{"z", at::ones({2, 3})}}, expected);
  EXPECT_THAT(run({"--ir", folder}).out,
              HasSubstr("Wrong  FAILED  load failed in verify: expected.safetensors: "));
  fs::remove(expected);
  save_weights_safetensors({{"z", at::ones({2, 3})}}, inputs);
  EXPECT_THAT(
      run({"--ir", folder}).out,
      HasSubstr("Wrong  FAILED  load failed in execute: inputs.safetensors: 2 problems with its "
                "tensors: unexpected input 'z'; the graph's inputs are 'x'\n"));
  EXPECT_THAT(report("Wrong.md"), HasSubstr("  missing input 'x'; the file has 'z'\n"));
  save_weights_safetensors({{"x", at::ones({2, 4}, at::kDouble)}}, inputs);
  EXPECT_THAT(run({"--ir", folder, "--executor", "off_by_one"}).out,
              HasSubstr("Wrong  FAILED  load failed in execute: Input 'x' has shape [2, 4], "
                        "expected [2, 3], and dtype float64, expected float32.\n"));
  write_file(inputs, own_inputs);
  write_file(expected, own_expected);
  // The graph is there to look at.
  EXPECT_THAT(report_names(), ::testing::IsSupersetOf({"ir/Wrong.json", "svg/Wrong.svg"}));
  IR twice = load_ir(folder + "/ir.json");
  twice.model_name = "Twice";
  twice.nodes.push_back(twice.nodes.back());
  save_ir(twice, folder + "/ir.json");
  const std::string problem = "the IR 'Twice' is not well formed: node '";
  EXPECT_THAT(run({"--ir", folder}).out,
              HasSubstr("Wrong  FAILED  load failed in extract: " + problem));
  EXPECT_THAT(report("SUMMARY.md"), HasSubstr("is not well formed: node "));
  write_file(folder + "/ir.json", "no graph");
  const HarnessOutcome broken = run({"--ir", folder, "--model", "Good"}).expect_status(1);
  EXPECT_THAT(broken.out, AllOf(HasSubstr("Wrong  FAILED  load failed in extract: ir.json"),
                                HasSubstr("Good   PASSED")));
}

TEST_F(GraphModelsTest, ReportsDoNotReplaceWhatTheyAreAbout) {
  run({"--model", "Wrong"}).expect_status(1);
  expect_bad_usage({"--ir", output_ + "/repro/Wrong"},
                   "--ir: the reports would replace '" + output_ +
                       "/repro/Wrong/ir.json'; choose another --output");
  fs::copy_file(output_ + "/repro/Wrong/inputs.safetensors",
                output_ + "/ir/Wrong.inputs.safetensors");
  expect_bad_usage(
      {"--ir", output_ + "/ir/Wrong.json"},
      "--ir: the reports would replace '" + output_ + "/ir/Wrong.json'; choose another --output");
  EXPECT_TRUE(fs::exists(output_ + "/SUMMARY.md"));
}

TEST_F(GraphModelsTest, GraphsAreQuestionsOfSupportToo) {
  const std::string folder = make_reproducer();
  write_file(path("list.txt"), "aten.mul.Tensor\n");
  const HarnessOutcome result =
      run_command_line({"supported", path("list.txt"), "--ir", folder}).expect_status(0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("Wrong"), HasSubstr("aten.add.Tensor")));
  const std::string missing = "harness: 'supported' needs a file that lists operators\n";
  expect_refusal(run_command_line({"supported"}), missing);
  expect_refusal(run_command_line({"supported", "--ir", folder}), missing);
  expect_refusal(run_command_line({"supported", path("list.txt"), "--baseline", "x"}),
                 "supported and --baseline cannot be combined: no model is compared\n");
}

}  // namespace
}  // namespace torch_ir

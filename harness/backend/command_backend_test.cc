#include "harness/backend/command_backend.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "harness/backend/open_backend.h"
#include "harness/backend/testing/command_backend_fixture.h"
#include "harness/results/testing/schema_problem.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

TEST_F(CommandBackendTest, TheCommandGetsGraphWeightsAndInputs) {
  const std::string copy = folder_ + "/copy";
  fs::create_directories(copy);
  const auto outputs = run("cp {ir} {weights} {inputs} " + copy + " && " +
                           hand_in({{"mul", at::tensor({8.0f, 0.0f}).view({1, 2})}}));
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(at::equal(outputs[0], at::tensor({8.0f, 0.0f}).view({1, 2})));
  EXPECT_TRUE(load_ir(copy + "/ir.json") == to_ir(*graph_case().program));
  const StateDict inputs = load_weights_safetensors(copy + "/inputs.safetensors");
  EXPECT_THAT(inputs.keys(), ElementsAre("x"));
  EXPECT_TRUE(at::equal(inputs["x"], inputs_[0]));
  // Unused weights are not written.
  const StateDict weights = load_weights_safetensors(copy + "/weights.safetensors");
  EXPECT_THAT(weights.keys(), ElementsAre("fc.weight", "mask"));
  EXPECT_TRUE(at::equal(weights["fc.weight"], weights_["fc.weight"]));
  EXPECT_TRUE(at::equal(weights["mask"], ir_.constants["mask"]));
}

TEST_F(CommandBackendTest, WeightsAreWrittenAgainWhenTheyChange) {
  const std::string sizes = folder_ + "/weights";
  const auto it =
      backend("cat {weights} >> " + sizes + ";" + hand_in({{"mul", at::zeros({1, 2})}}));
  const auto written = [&](const StateDict& weights) {
    fs::remove(sizes);
    it->run(graph_case(weights, inputs_));
    return load_weights_safetensors(sizes)["fc.weight"].clone();
  };
  EXPECT_TRUE(at::equal(written(weights_), weights_["fc.weight"]));
  EXPECT_TRUE(at::equal(written(weights_), weights_["fc.weight"]));
  const StateDict others = {{"fc.weight", at::ones({2, 2})}};
  EXPECT_TRUE(at::equal(written(others), at::ones({2, 2})));
}

TEST_F(CommandBackendTest, ResultsOfARunOutliveTheNextAndTheBackend) {
  auto it = backend("cat {ir} {weights} {inputs} > /dev/null; mv " + folder_ + "/next {outputs}");
  save_weights_safetensors({{"mul", at::ones({1, 2})}}, folder_ + "/next");
  const at::Tensor first = it->run(graph_case())[0];
  save_weights_safetensors({{"mul", at::zeros({1, 2})}}, folder_ + "/next");
  const at::Tensor second = it->run(graph_case())[0];
  it.reset();
  EXPECT_TRUE(at::equal(first, at::ones({1, 2})));
  EXPECT_TRUE(at::equal(second, at::zeros({1, 2})));
  EXPECT_TRUE(fs::is_empty(folder_ + "/it's a folder"));
}

TEST_F(CommandBackendTest, OutputsOfAnEarlierRunAreNotTakenForThoseOfALater) {
  const auto it = backend("test -e {ir}.once && exit 0; touch {ir}.once;" +
                          hand_in({{"mul", at::ones({1, 2})}}));
  it->run(graph_case());
  EXPECT_EQ(error_of_run(*it),
            "The executor exited with status 0 but wrote no file {outputs}; it printed nothing");
}

TEST_F(CommandBackendTest, TheCommandRunsWhereTheUserIs) {
  std::ofstream(folder_ + "/here") << "content";
  ::setenv("BUILD_WORKING_DIRECTORY", folder_.c_str(), 1);
  const std::string error = error_of("cat here; exit 1");
  ::unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(error, "The executor exited with status 1; it printed: content");
  EXPECT_EQ(error_of("pwd; exit 1"),
            "The executor exited with status 1; it printed: " + fs::current_path().string());
}

TEST_F(CommandBackendTest, TellsHowACommandFailed) {
  EXPECT_EQ(error_of("exit 4"), "The executor exited with status 4; it printed nothing");
  EXPECT_EQ(error_of("echo a; echo b >&2; printf 'c\\nd\\n\\033[2J'; exit 4"),
            "The executor exited with status 4; it printed: c | d | \\x1b[2J");
  EXPECT_EQ(error_of("kill -11 $$"),
            "The executor was killed by signal 11 (Segmentation fault); it printed nothing");
  EXPECT_THAT([&] { run("echo no mul; exit 3"); },
              is_unsupported("The executor does not support the graph; it printed: no mul"));
}

// It would fail for each model.
TEST_F(CommandBackendTest, ACommandThatIsNotThereEndsTheRun) {
  std::ofstream(folder_ + "/no_program") << "text";
  EXPECT_THAT([&] { raw_backend("no_such_program")->run(graph_case()); },
              ThrowsMessage<InputError>("no program or C++ backend 'no_such_program'; " +
                                        known_backends()));
  const std::string commands[] = {"no_such_program --server", "cd / && ./no_such_program",
                                  "'" + folder_ + "/no_program'", "python3 /no/such_program.py"};
  for (const std::string& command : commands) {
    for (const std::string& files : {kFiles, std::string()}) {
      SCOPED_TRACE(command);
      const auto it = raw_backend(command + files);
      EXPECT_THAT([&] { it->run(graph_case()); },
                  ThrowsMessage<InputError>(StartsWith("cannot start the executor '")));
    }
  }
  // It was found, and says so of something else.
  EXPECT_EQ(error_of("echo x: not found; exit 127"),
            "The executor exited with status 127; it printed: x: not found");
}

TEST_F(CommandBackendTest, TellsWhatIsWrongWithItsFile) {
  EXPECT_EQ(error_of("echo done"),
            "The executor exited with status 0 but wrote no file {outputs}; it printed: done");
  EXPECT_THAT(error_of("echo hello > {outputs}"),
              StartsWith("Cannot read {outputs} of the executor: " + folder_ +
                         "/it's a folder/executor/outputs.safetensors: "));
  EXPECT_THAT(error_of("mkdir {outputs}"), StartsWith("Cannot read {outputs} of the executor: "));
}

TEST_F(CommandBackendTest, TellsWhichOutputsAreMissingOrTooManyAndWhichDoNotFit) {
  const at::Tensor mul = at::zeros({1, 2});
  const std::pair<StateDict, std::string> cases[] = {
      {{{"Mul", mul}, {"b", mul}},
       "Missing output 'mul' (float32 [1, 2]) of the executor; {outputs} has 'Mul', 'b'."},
      {StateDict(),
       "Missing output 'mul' (float32 [1, 2]) of the executor; {outputs} has nothing."},
      {{{"mul", mul}, {"mull", mul}},
       "Unexpected output 'mull' in {outputs} of the executor; did you mean 'mul'?"},
      {{{"mul", mul}, {"hidden", mul}},
       "Unexpected output 'hidden' in {outputs} of the executor; the graph has 'mul'"},
      {{{"mul", at::zeros({2})}},
       "The executor wrote output 'mul' as float32 [2]; expected float32 [1, 2]."},
      {{{"mul", mul.to(at::kHalf)}},
       "The executor wrote output 'mul' as float16 [1, 2]; expected float32 [1, 2]."},
  };
  for (const auto& [outputs, message] : cases) EXPECT_EQ(error_of(hand_in(outputs)), message);
}

TEST_F(CommandBackendTest, StateHasTheNameOfWhatIsWrittenOrIsLeftOut) {
  const at::Tensor mul = at::ones({1, 2});
  const at::Tensor mask = at::tensor({3.0f, 4.0f});
  ir_.state = {"c_mask"};
  const auto outputs = run(hand_in({{"mul", mul}, {"c_mask", mask}}));
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_TRUE(at::equal(outputs[1], mask));
  EXPECT_FALSE(run(hand_in({{"mul", mul}})).at(1).defined());
  // As after run_decompositions: an output with a name of its own, which may also be returned.
  ir_.state = {};
  ir_.graph_outputs = {meta("relu", {1, 2}), meta("mul", {1, 2})};
  ir_.graph_outputs[0].mutates = "x";
  for (const char* name : {"relu", "x"}) {
    EXPECT_TRUE(at::equal(run(hand_in({{name, mul}, {"mul", mul}})).at(0), mul));
  }
  EXPECT_FALSE(run(hand_in({{"mul", mul}})).at(0).defined());
  ir_.graph_outputs.push_back(meta("relu", {1, 2}));
  EXPECT_TRUE(at::equal(run(hand_in({{"x", mul}, {"mul", mul}})).at(2), mul));
  EXPECT_THAT(error_of(hand_in({{"mul", mul}})), StartsWith("Missing output 'relu'"));
}

TEST_F(CommandBackendTest, DynamicSizesAreThoseOfTheInputs) {
  const TensorMeta x = dynamic("x", {"s0", "2"});
  ir_ = IR();
  ir_.graph_inputs = {x};
  ir_.graph_outputs = {dynamic("mul", {"s0", "2"})};
  ir_.nodes = {node("mul", "aten.relu.default", {x}, ir_.graph_outputs)};
  inputs_ = {at::ones({3, 2})};
  EXPECT_EQ(run(hand_in({{"mul", at::zeros({3, 2})}})).at(0).size(0), 3);
  EXPECT_EQ(error_of(hand_in({{"mul", at::zeros({4, 2})}})),
            "The executor wrote output 'mul' as float32 [4, 2]; expected float32 [s0, 2].");
}

TEST_F(CommandBackendTest, AWeightThatNobodyHasIsAnError) {
  EXPECT_THAT([&] { backend(":")->run(graph_case(StateDict(), inputs_)); },
              ThrowsMessage<ExecutionError>(
                  "weight 'fc.weight' of the graph is neither in the state dict nor a constant"));
  EXPECT_THAT([&] { backend(":")->run(graph_case(weights_, {})); },
              ThrowsMessage<ExecutionError>("wrong number of inputs: 0, expected 1"));
}

TEST_F(CommandBackendTest, IntermediatesAreReadByNameAndOthersAreListed) {
  const auto it = backend(hand_in({{"linear", at::ones({1, 2})},
                                   {"mul", at::zeros({1, 2})},
                                   {"hidden", at::ones({1, 2})},
                                   {"a", at::ones({1})}},
                                  "{intermediates}"),
                          true);
  const auto values = it->values(graph_case());
  EXPECT_TRUE(at::equal(values->next("linear"), at::ones({1, 2})));
  EXPECT_FALSE(values->next("relu").defined());
  EXPECT_TRUE(at::equal(values->next("mul"), at::zeros({1, 2})));
  EXPECT_THAT(values->unknown(), ElementsAre("a", "hidden"));
  EXPECT_EQ(backend(":")->values(graph_case()), nullptr);
  EXPECT_THAT([&] { backend(": {intermediates}", true)->values(graph_case()); },
              ThrowsMessage<ExecutionError>("The executor exited with status 0 but wrote no file "
                                            "{intermediates}; it printed nothing"));
}

constexpr const char* kGroupsSchema = "harness/backend/groups_schema.json";

// The first block of JSON in groups_format.md.
std::string example_of_groups() {
  const std::string text = read_file("harness/backend/groups_format.md");
  const std::string fence = "```json\n";
  const size_t begin = text.find(fence) + fence.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST_F(CommandBackendTest, GroupsAreReadAfterARun) {
  const std::string groups = folder_ + "/groups";
  write_file(groups, example_of_groups());
  const auto it = backend(hand_in({{"mul", at::ones({1, 2})}}) + "; cp " + groups + " {groups}");
  EXPECT_TRUE(it->groups().empty());
  it->run(graph_case());
  const std::vector<NodeGroup> found = it->groups();
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].name, "conv_relu_3");
  EXPECT_THAT(found[0].nodes, ElementsAre("conv2d_3", "relu_3"));
  const ValueForm& form = found[0].values.at(0);
  EXPECT_THAT(form.permutation, ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(form.padding.at(3), ElementsAre(0, 13));
  EXPECT_EQ(form.dtype, "int8");
  EXPECT_EQ(form.scale, 0.05);
  EXPECT_EQ(form.zero_point, -3);
  std::vector<NodeGroup> taken;
  const Case content = graph_case();
  const auto run = [&] { run_grouped(*it, content, taken); };
  EXPECT_THAT(run,
              ThrowsMessage<LoadError>("group 'conv_relu_3': the graph has no node 'conv2d_3'"));
  EXPECT_TRUE(taken.empty());
  EXPECT_THROW(it->run(graph_case(weights_, {})), ExecutionError);
  EXPECT_TRUE(it->groups().empty()) << "those of another run";
  write_file(groups, R"({"groups": [{"name": "a", "nodes": "relu"}]})");
  it->run(graph_case());
  EXPECT_THAT([&] { it->groups(); },
              ThrowsMessage<Error>(HasSubstr("{groups} cannot be read: /groups/0/nodes: expected a "
                                             "list, found \"relu\"")));
  EXPECT_THAT(run, ThrowsMessage<LoadError>(HasSubstr("{groups} cannot be read")));
  // One that fails may have ended in the middle of it.
  const auto failing = backend("cp " + groups + " {groups}; echo out of memory; exit 1");
  EXPECT_THAT([&] { run_grouped(*failing, content, taken); },
              ThrowsMessage<CommandFailure>(HasSubstr("out of memory")));
}

TEST_F(CommandBackendTest, TheSchemaOfGroupsSaysWhatIsRead) {
  const nlohmann::json example = nlohmann::json::parse(example_of_groups());
  EXPECT_EQ(schema_problem(example, kGroupsSchema), "");
  for (const auto& [pointer, value] : std::vector<std::pair<const char*, nlohmann::json>>{
           {"/groups", "conv"},
           {"/groups/0/nodes", nlohmann::json::array()},
           {"/groups/0/values/0/scale", 0},
           {"/groups/0/values/0/padding/0", {1}},
           {"/groups/0/values/0/layout", "NHWC"}}) {
    nlohmann::json changed = example;
    changed[nlohmann::json::json_pointer(pointer)] = value;
    EXPECT_NE(schema_problem(changed, kGroupsSchema), "") << pointer;
  }
}

TEST_F(CommandBackendTest, ACommandIsCheckedBeforeItRuns) {
  EXPECT_THAT(
      [] { is_executor_server("sim {ir} {inputs} {outputs}"); },
      ThrowsMessage<Error>("--executor: missing {weights} in the command 'sim {ir} {inputs} "
                           "{outputs}'; expected {ir}, {weights}, {inputs} and {outputs}"));
  EXPECT_THAT([] { is_executor_server(""); }, ThrowsMessage<Error>("--executor: missing command"));
  EXPECT_THAT([&] { raw_backend("sim {ir}"); },
              ThrowsMessage<Error>(HasSubstr("missing {weights} in the command 'sim {ir}'")));
  EXPECT_FALSE(is_executor_server(kFiles));
  EXPECT_FALSE(is_executor_server("{intermediates}" + kFiles));
  EXPECT_TRUE(is_executor_server("sim --server"));
}

TEST_F(CommandBackendTest, AFolderThatCanNotBeMadeIsNotTheModelsFault) {
  std::ofstream(folder_ + "/it's a folder") << "a file";
  EXPECT_THAT([&] { run(":"); },
              ThrowsMessage<OutputError>("cannot create '" + folder_ +
                                         "/it's a folder/executor': Not a directory"));
}

}  // namespace
}  // namespace torch_ir

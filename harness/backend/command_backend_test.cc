#include "harness/backend/command_backend.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/backend/open_backend.h"
#include "harness/results/testing/schema_problem.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;
using testing::ThrowsMessage;

constexpr const char* kFiles = " : {ir} {weights} {inputs} {outputs}; ";

// relu(linear(x, w)) * mask, with the mask as a constant.
IR make_graph() {
  IR ir = TestGraphBuilder("Small")
              .input("x", {1, 2})
              .weight("p_fc_weight", "fc.weight", {2, 2})
              .weight("c_mask", "mask", {2})
              .op("linear", "aten.linear.default", {"x", "p_fc_weight"}, {1, 2})
              .op("relu", "aten.relu.default", {"linear"}, {1, 2})
              .op("mul", "aten.mul.Tensor", {"relu", "c_mask"}, {1, 2})
              .output("mul")
              .build();
  ir.constants.insert("mask", at::tensor({1.0f, 0.5f}));
  return ir;
}

class CommandBackendTest : public ::testing::Test {
 protected:
  CommandBackendTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    weights_.insert("fc.weight", at::tensor({1.0f, 2.0f, -3.0f, 0.5f}).view({2, 2}));
    weights_.insert("unused", at::ones({3}));
  }
  ~CommandBackendTest() override { fs::remove_all(folder_); }

  std::unique_ptr<Backend> backend(const std::string& command, bool has_intermediates = false) {
    return make_command_backend({.executor = command, .executor_intermediates = has_intermediates},
                                folder_ + "/it's a folder");
  }

  Case graph_case(const StateDict& weights, const std::vector<at::Tensor>& inputs) const {
    return Case{.weights = weights, .inputs = inputs}.with(resolve(ir_));
  }
  Case graph_case() const { return graph_case(weights_, inputs_); }

  std::vector<at::Tensor> run(const std::string& command) {
    return backend(command)->run(graph_case());
  }

  // The error message of a run of `command`, with "DIR" for the folder of files.
  std::string error_of(const std::string& command, bool has_intermediates = false) {
    try {
      const auto it = backend(command, has_intermediates);
      if (has_intermediates) it->values(graph_case());
      it->run(graph_case());
    } catch (const Error& error) {
      std::string text = error.what();
      const std::string own = folder_ + "/it's a folder/executor";
      for (size_t at; (at = text.find(own)) != std::string::npos;) {
        text.replace(at, own.size(), "DIR");
      }
      return text;
    }
    return "no error";
  }

  // Writes a file with these tensors, and returns a command that copies it to {outputs}.
  std::string hand_in(const StateDict& tensors) {
    save_weights_safetensors(tensors, folder_ + "/given.safetensors");
    return "cp " + folder_ + "/given.safetensors {outputs};" + kFiles;
  }

  const std::string folder_ = ::testing::TempDir() + "command_backend_test";
  IR ir_ = make_graph();
  StateDict weights_;
  std::vector<at::Tensor> inputs_ = {at::tensor({2.0f, 3.0f}).view({1, 2})};
};

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
  EXPECT_THAT([&] { it->run(graph_case()); },
              ThrowsMessage<ExecutionError>("The executor exited with status 0 but wrote no file "
                                            "{outputs}; it printed nothing"));
}

TEST_F(CommandBackendTest, TheCommandRunsWhereTheUserIs) {
  std::ofstream(folder_ + "/here") << "content";
  ::setenv("BUILD_WORKING_DIRECTORY", folder_.c_str(), 1);
  const std::string error = error_of(std::string("cat here; exit 1;") + kFiles);
  ::unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(error, "The executor exited with status 1; it printed: content");
  EXPECT_EQ(error_of(std::string("pwd; exit 1;") + kFiles),
            "The executor exited with status 1; it printed: " + fs::current_path().string());
}

TEST_F(CommandBackendTest, TakesStatusThreeForLackOfSupport) {
  try {
    run(std::string("echo no mul; exit 3;") + kFiles);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(error.is_unsupported());
    EXPECT_STREQ(error.what(), "The executor does not support the graph; it printed: no mul");
  }
}

TEST_F(CommandBackendTest, TellsHowACommandFailed) {
  EXPECT_EQ(error_of(std::string("exit 4;") + kFiles),
            "The executor exited with status 4; it printed nothing");
  EXPECT_EQ(
      error_of(std::string("echo a; echo b >&2; printf 'c\\nd\\n\\033[2J'; exit 4;") + kFiles),
      "The executor exited with status 4; it printed: c | d | \\x1b[2J");
  EXPECT_EQ(error_of(std::string("kill -11 $$;") + kFiles),
            "The executor was killed by signal 11 (Segmentation fault); it printed nothing");
}

// It would fail for each model.
TEST_F(CommandBackendTest, ACommandThatIsNotThereEndsTheRun) {
  std::ofstream(folder_ + "/no_program") << "text";
  EXPECT_THAT([&] { backend("no_such_program")->run(graph_case()); },
              ThrowsMessage<InputError>("no program or C++ backend 'no_such_program'; " +
                                        known_backends()));
  const std::string commands[] = {"no_such_program --server", "cd / && ./no_such_program",
                                  "'" + folder_ + "/no_program'", "python3 /no/such_program.py"};
  for (const std::string& command : commands) {
    for (const char* files : {kFiles, ""}) {
      SCOPED_TRACE(command);
      const auto it = backend(command + files);
      EXPECT_THAT([&] { it->run(graph_case()); },
                  ThrowsMessage<InputError>(StartsWith("cannot start the executor '")));
    }
  }
  // It was found, and says so of something else.
  EXPECT_EQ(error_of(std::string("echo x: not found; exit 127;") + kFiles),
            "The executor exited with status 127; it printed: x: not found");
}

TEST_F(CommandBackendTest, TellsWhatIsWrongWithItsFile) {
  EXPECT_EQ(error_of(std::string("echo done;") + kFiles),
            "The executor exited with status 0 but wrote no file {outputs}; it printed: done");
  EXPECT_THAT(error_of(std::string("echo hello > {outputs};") + kFiles),
              StartsWith("Cannot read {outputs} of the executor: DIR/outputs.safetensors: "));
  EXPECT_THAT(error_of(std::string("mkdir {outputs};") + kFiles),
              StartsWith("Cannot read {outputs} of the executor: "));
}

TEST_F(CommandBackendTest, TellsWhichOutputsAreMissingOrTooManyAndWhichDoNotFit) {
  EXPECT_EQ(error_of(hand_in({{"Mul", at::zeros({1, 2})}, {"b", at::zeros({1})}})),
            "Missing output 'mul' (float32 [1, 2]) of the executor; {outputs} has 'Mul', 'b'.");
  EXPECT_EQ(error_of(hand_in(StateDict())),
            "Missing output 'mul' (float32 [1, 2]) of the executor; {outputs} has nothing.");
  EXPECT_EQ(error_of(hand_in({{"mul", at::zeros({1, 2})}, {"mull", at::zeros({1})}})),
            "Unexpected output 'mull' in {outputs} of the executor; did you mean 'mul'?");
  EXPECT_EQ(error_of(hand_in({{"mul", at::zeros({1, 2})}, {"hidden", at::zeros({1})}})),
            "Unexpected output 'hidden' in {outputs} of the executor; the graph has 'mul'");
  EXPECT_EQ(error_of(hand_in({{"mul", at::zeros({2})}})),
            "The executor wrote output 'mul' as float32 [2]; expected float32 [1, 2].");
  EXPECT_EQ(error_of(hand_in({{"mul", at::zeros({1, 2}, at::kHalf)}})),
            "The executor wrote output 'mul' as float16 [1, 2]; expected float32 [1, 2].");
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
  const auto dynamic = [](TensorMeta& meta) {
    meta.shape[0] = kDynamicSize;
    meta.symbolic_shape = {"s0", ""};
  };
  dynamic(ir_.graph_inputs[0]);
  dynamic(ir_.graph_outputs[0]);
  for (OpNode& node : ir_.nodes) {
    dynamic(node.outputs[0]);
    for (TensorMeta& input : node.inputs) {
      if (input.producer_node) dynamic(input);
    }
  }
  inputs_ = {at::ones({3, 2})};
  EXPECT_EQ(run(hand_in({{"mul", at::zeros({3, 2})}})).at(0).size(0), 3);
  EXPECT_EQ(error_of(hand_in({{"mul", at::zeros({4, 2})}})),
            "The executor wrote output 'mul' as float32 [4, 2]; expected float32 [s0, 2].");
}

TEST_F(CommandBackendTest, AWeightThatNobodyHasIsAnError) {
  EXPECT_THAT([&] { backend(kFiles)->run(graph_case(StateDict(), inputs_)); },
              ThrowsMessage<ExecutionError>(
                  "weight 'fc.weight' of the graph is neither in the state dict nor a constant"));
  EXPECT_THAT([&] { backend(kFiles)->run(graph_case(weights_, {})); },
              ThrowsMessage<ExecutionError>("wrong number of inputs: 0, expected 1"));
}

TEST_F(CommandBackendTest, IntermediatesAreReadByNameAndOthersAreListed) {
  const std::string given = folder_ + "/given";
  save_weights_safetensors({{"linear", at::ones({1, 2})},
                            {"mul", at::zeros({1, 2})},
                            {"hidden", at::ones({1, 2})},
                            {"a", at::ones({1})}},
                           given);
  const auto it = backend("cp " + given + " {intermediates};" + kFiles, true);
  const auto values = it->values(graph_case());
  EXPECT_TRUE(at::equal(values->next("linear"), at::ones({1, 2})));
  EXPECT_FALSE(values->next("relu").defined());
  EXPECT_TRUE(at::equal(values->next("mul"), at::zeros({1, 2})));
  EXPECT_THAT(values->unknown(), ElementsAre("a", "hidden"));
  EXPECT_EQ(backend(kFiles)->values(graph_case()), nullptr);
  EXPECT_EQ(error_of(std::string(": {intermediates};") + kFiles, true),
            "The executor exited with status 0 but wrote no file {intermediates}; it printed "
            "nothing");
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
  const std::string given = folder_ + "/given";
  save_weights_safetensors({{"mul", at::ones({1, 2})}}, given);
  const std::string groups = folder_ + "/groups";
  write_file(groups, example_of_groups());
  const auto it = backend("cp " + given + " {outputs}; cp " + groups + " {groups};" + kFiles);
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
  const Case content = Case{.weights = weights_, .inputs = inputs_}.with(resolve(ir_));
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
  const auto failing = backend("cp " + groups + " {groups}; echo out of memory; exit 1;" + kFiles);
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
  EXPECT_THAT([&] { backend("sim {ir}"); },
              ThrowsMessage<Error>(HasSubstr("missing {weights} in the command 'sim {ir}'")));
  EXPECT_FALSE(is_executor_server(kFiles));
  EXPECT_FALSE(is_executor_server(std::string("{intermediates}") + kFiles));
  EXPECT_TRUE(is_executor_server("sim --server"));
}

// A server whose shell script runs `start` once, and `on_request` for each line $line with its
// number $n.
class ServerTest : public CommandBackendTest {
 protected:
  ServerTest() { save_weights_safetensors({{"mul", at::ones({1, 2})}}, folder_ + "/given"); }

  std::unique_ptr<Backend> server(const std::string& on_request, const std::string& start = "",
                                  bool has_intermediates = false) {
    write_file(folder_ + "/server.sh", "cd " + folder_ + "\nhand_in() { cp given \"" + files_ +
                                           "outputs.safetensors\"; }\necho >> starts\n" + start +
                                           "\nn=0\nwhile read -r line; do\n  n=$((n + 1))\n" +
                                           on_request + "\ndone\n");
    return make_command_backend({.executor = "exec sh " + folder_ + "/server.sh",
                                 .executor_intermediates = has_intermediates},
                                folder_ + "/it's a folder");
  }

  void expect_run(Backend& backend) {
    EXPECT_TRUE(at::equal(backend.run(graph_case()).at(0), at::ones({1, 2})));
  }
  std::string error_of_run(Backend& backend) {
    try {
      backend.run(graph_case());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  size_t num_starts() const { return read_file(folder_ + "/starts").size(); }

  const std::string files_ = folder_ + "/it's a folder/executor/";
};

constexpr const char* kAnswerOk = "hand_in; echo '{\"status\": \"ok\"}'";

TEST_F(ServerTest, IsStartedOnceAndReadsTheFilesOfEachRun) {
  const auto it = server(std::string("echo \"$line\" >> requests; ") + kAnswerOk);
  expect_run(*it);
  expect_run(*it);
  EXPECT_EQ(num_starts(), 1u);
  const std::string request =
      "{\"name\":\"Small\",\"ir\":\"" + files_ + "ir.json\",\"weights\":\"" + files_ +
      "weights.safetensors\",\"inputs\":\"" + files_ + "inputs.safetensors\",\"outputs\":\"" +
      files_ + "outputs.safetensors\",\"groups\":\"" + files_ + "groups.json\"}\n";
  EXPECT_EQ(read_file(folder_ + "/requests"), request + request);
  EXPECT_EQ(it->values(graph_case()), nullptr);
  EXPECT_EQ(it->last_report(), std::nullopt);
}

TEST_F(ServerTest, HandsBackIntermediatesWhereTheyAreAskedFor) {
  const std::string path = files_ + "intermediates.safetensors";
  const auto it = server("case \"$line\" in *'\"intermediates\":\"" + files_.substr(0, 5) +
                             "'*) cp given \"" + path + "\";; esac; " + kAnswerOk,
                         "", /*has_intermediates=*/true);
  EXPECT_TRUE(at::equal(it->values(graph_case())->next("mul"), at::ones({1, 2})));
  EXPECT_EQ(server(kAnswerOk, "", /*has_intermediates=*/true)->values(graph_case()), nullptr);
}

TEST_F(ServerTest, SaysWhatItDoesNotSupportAndWhatFailsAndStays) {
  const auto it = server(
      "echo noise >&2; case $n in\n"
      "1) echo '{\"status\": \"unsupported\", \"message\": \"no mul\"}';;\n"
      "2) echo '{\"status\": \"unsupported\"}';;\n"
      "3) printf '%s\\n' '{\"status\": \"error\", \"message\": \"a\\nb\"}';;\n"
      "4) echo '{\"status\": \"ok\", \"more\": [1]}';;\n"
      "*) " +
      std::string(kAnswerOk) + ";; esac");
  try {
    it->run(graph_case());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(error.is_unsupported());
    EXPECT_STREQ(error.what(), "The executor does not support the graph: no mul");
  }
  EXPECT_EQ(error_of_run(*it), "The executor does not support the graph; it printed: noise");
  EXPECT_EQ(error_of_run(*it), "The executor answered with an error: a | b");
  EXPECT_EQ(error_of_run(*it),
            "The executor answered ok but wrote no file {outputs}; it printed: noise");
  expect_run(*it);
  EXPECT_EQ(num_starts(), 1u);
}

TEST_F(ServerTest, ThatEndsCostsTheRunAtHand) {
  const auto it =
      server("[ $n = 1 ] || { echo no memory >&2; . ./end; }\n" + std::string(kAnswerOk));
  const std::string exited = " without an answer (a command without {ir} is run as a server)";
  const std::pair<std::string, std::string> ends[] = {
      {"exit 4", "exited with status 4" + exited},
      {"exit 0", "exited with status 0" + exited},
      {"kill -11 $$", "was killed by signal 11 (Segmentation fault) without an answer"}};
  for (const auto& [end, how] : ends) {
    write_file(folder_ + "/end", end);
    expect_run(*it);
    try {
      it->run(graph_case());
      FAIL() << "no error";
    } catch (const CommandFailure& failure) {
      EXPECT_TRUE(failure.end().has_crashed);
      EXPECT_EQ(failure.what(), "The executor " + how + "; it printed: no memory");
    }
  }
  expect_run(*it);
  EXPECT_EQ(num_starts(), 4u);
}

TEST_F(ServerTest, ThatAnswersNonsenseIsStartedAgain) {
  const std::string two_lines = R"({"status": "ok"})"
                                "\n"
                                R"({"status": "ok"})";
  const std::pair<std::string, std::string> answers[] = {
      {"hello", "not valid JSON: "},
      {"[]", "expected an object, found array"},
      {"{}", "missing key 'status'"},
      {R"({"status": "okay"})", "unknown status 'okay'; expected one of: ok, unsupported, error"},
      {R"({"status": "ok", "nodes": {"relu": 1}})",
       "/nodes/relu: expected a place or an object, found 1"},
      {R"({"status": "ok", "nodes": {"relu": {"metrics": {"load": [1]}}}})",
       "/nodes/relu/metrics/load: expected a number or text, found array"},
      {R"({"status": "ok", "nodes": {"rel": "npu"}})", "unknown node 'rel'; did you mean 'relu'?"},
      {two_lines, ""}};
  for (const auto& [answer, problem] : answers) {
    // In one write, because a reader might otherwise see the second line later.
    write_file(folder_ + "/answer", answer + "\n");
    const auto it = server("if [ -e answer ]; then mv answer now; hand_in; cat now; else\n" +
                           std::string(kAnswerOk) + "\nfi");
    EXPECT_THAT(
        error_of_run(*it),
        StartsWith("The executor " +
                   (answer == two_lines ? "answered with more than one line"
                                        : "gave the invalid answer '" + answer + "': " + problem)));
    const size_t starts = num_starts();
    expect_run(*it);
    EXPECT_EQ(num_starts(), starts + 1) << answer;
  }
}

TEST_F(ServerTest, ThatSpeaksUnaskedIsNotTakenForOneThatAnswers) {
  // The server waits until the test has read its answer.
  ASSERT_EQ(::mkfifo((folder_ + "/go").c_str(), 0600), 0);
  const auto it =
      server("hand_in; echo '{\"status\": \"ok\"}'; read -r go < go; echo more; echo > go");
  expect_run(*it);
  std::ofstream(folder_ + "/go") << "go\n";
  std::string line;
  std::getline(std::ifstream(folder_ + "/go"), line);
  EXPECT_EQ(error_of_run(*it), "The executor answered without a request; it printed nothing");
}

// Other keys, such as times, are ignored.
TEST_F(ServerTest, TellsWhereNodesRan) {
  const auto it = server(
      "hand_in; echo '{\"status\": \"ok\", \"seconds\": 0.5, \"nodes\": "
      "{\"mul\": {\"place\": \"host\", \"seconds\": 0.25, \"metrics\": {\"cycles\": 7, "
      "\"load\": 0.5, \"tile\": \"8x8\"}}, \"relu\": \"cpu-fallback\", \"linear\": \"host\"}}'");
  expect_run(*it);
  ASSERT_TRUE(it->last_report());
  EXPECT_EQ(it->last_report()->num_nodes, 3);
  EXPECT_THAT(it->last_report()->on_host(), ElementsAre("linear", "mul"));
  const auto nodes = it->last_report()->nodes;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[1].second.place, "cpu-fallback");
  EXPECT_EQ(nodes[2].first, "mul");
  EXPECT_EQ(nodes[2].second.op_type, "aten.mul.Tensor");
  EXPECT_THAT(nodes[2].second.metrics,
              ElementsAre(Pair("cycles", ExecutorMetric(int64_t{7})),
                          Pair("load", ExecutorMetric(0.5)), Pair("tile", ExecutorMetric("8x8"))));
}

TEST_F(ServerTest, EndsWithWhatItHasStarted) {
  const std::string fifo = folder_ + "/alive";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int alive = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  auto it = server(kAnswerOk, "exec 9> alive; sleep 1000 & echo > alive");
  expect_run(*it);
  it.reset();
  ::fcntl(alive, F_SETFL, 0);
  char byte = 0;
  EXPECT_EQ(::read(alive, &byte, 1), 1);
  // Blocks while the other end is open in any process.
  EXPECT_EQ(::read(alive, &byte, 1), 0);
  ::close(alive);
}

TEST_F(CommandBackendTest, AFolderThatCanNotBeMadeIsNotTheModelsFault) {
  std::ofstream(folder_ + "/it's a folder") << "a file";
  EXPECT_THAT([&] { run(kFiles); },
              ThrowsMessage<OutputError>("cannot create '" + folder_ +
                                         "/it's a folder/executor': Not a directory"));
}

}  // namespace
}  // namespace torch_ir

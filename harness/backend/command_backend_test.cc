#include "harness/backend/command_backend.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

constexpr const char* kFiles = " : {ir} {weights} {inputs} {outputs}; ";

TensorMeta value(const std::string& name, std::vector<int64_t> shape, const std::string& producer) {
  TensorMeta meta{.name = name, .shape = std::move(shape), .dtype = "float32"};
  if (!producer.empty()) meta.producer_node = producer;
  return meta;
}

// relu(linear(x, w)) * mask, with the mask as a constant.
IR make_graph() {
  IR ir;
  ir.model_name = "Small";
  ir.graph_inputs = {value("x", {1, 2}, "")};
  ir.weights = {value("fc.weight", {2, 2}, ""), value("mask", {2}, "")};
  ir.weight_name_mapping.insert("p_fc_weight", "fc.weight");
  ir.weight_name_mapping.insert("c_mask", "mask");
  ir.constants.insert("mask", at::tensor({1.0f, 0.5f}));
  ir.nodes = {{.name = "linear",
               .op_type = "aten.linear.default",
               .inputs = {value("x", {1, 2}, "x"), value("p_fc_weight", {2, 2}, "")},
               .outputs = {value("linear", {1, 2}, "linear")},
               .attrs = {}},
              {.name = "relu",
               .op_type = "aten.relu.default",
               .inputs = {value("linear", {1, 2}, "linear")},
               .outputs = {value("relu", {1, 2}, "relu")},
               .attrs = {}},
              {.name = "mul",
               .op_type = "aten.mul.Tensor",
               .inputs = {value("relu", {1, 2}, "relu"), value("c_mask", {2}, "")},
               .outputs = {value("mul", {1, 2}, "mul")},
               .attrs = {}}};
  ir.graph_outputs = {value("mul", {1, 2}, "mul")};
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
    return make_command_backend({.command = command,
                                 .command_has_intermediates = has_intermediates,
                                 .directory = folder_ + "/it's a folder"});
  }

  std::vector<at::Tensor> run(const std::string& command) {
    return backend(command)->run(ir_, weights_, inputs_);
  }

  // The message of the error that a run of `command` ends in; files lie in "DIR".
  std::string error_of(const std::string& command, bool has_intermediates = false) {
    try {
      const auto it = backend(command, has_intermediates);
      if (has_intermediates) it->values(ir_, weights_, inputs_);
      it->run(ir_, weights_, inputs_);
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

  // A file with these tensors, and the command that hands it in as {outputs}.
  std::string hand_in(const StateDict& tensors) {
    save_weights_safetensors(tensors, folder_ + "/given.safetensors");
    return "cp " + folder_ + "/given.safetensors {outputs};" + kFiles;
  }

  static StateDict dict(const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
    StateDict result;
    for (const auto& [name, tensor] : tensors) result.insert(name, tensor);
    return result;
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
                           hand_in(dict({{"mul", at::tensor({8.0f, 0.0f}).view({1, 2})}})));
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(at::equal(outputs[0], at::tensor({8.0f, 0.0f}).view({1, 2})));
  EXPECT_TRUE(load_ir(copy + "/ir.json") == ir_);
  const StateDict inputs = load_weights_safetensors(copy + "/inputs.safetensors");
  EXPECT_THAT(inputs.keys(), ElementsAre("x"));
  EXPECT_TRUE(at::equal(inputs["x"], inputs_[0]));
  // What the graph does not use is not written.
  const StateDict weights = load_weights_safetensors(copy + "/weights.safetensors");
  EXPECT_THAT(weights.keys(), ElementsAre("fc.weight"));
  EXPECT_TRUE(at::equal(weights["fc.weight"], weights_["fc.weight"]));
}

TEST_F(CommandBackendTest, TorchIrIsAnExecutor) {
  const auto outputs =
      run("src/torch_ir/cli/torch-ir execute {ir} --weights {weights} --inputs {inputs} --outputs "
          "{outputs}");
  ASSERT_EQ(outputs.size(), 1u);
  const at::Tensor expected =
      at::mul(at::linear(inputs_[0], weights_["fc.weight"]).relu(), ir_.constants["mask"]);
  EXPECT_TRUE(at::equal(outputs[0], expected));
}

TEST_F(CommandBackendTest, WeightsAreWrittenAgainWhenTheyChange) {
  const std::string sizes = folder_ + "/weights";
  const auto it =
      backend("cat {weights} >> " + sizes + ";" + hand_in(dict({{"mul", at::zeros({1, 2})}})));
  const auto written = [&](const StateDict& weights) {
    fs::remove(sizes);
    it->run(ir_, weights, inputs_);
    return load_weights_safetensors(sizes)["fc.weight"].clone();
  };
  EXPECT_TRUE(at::equal(written(weights_), weights_["fc.weight"]));
  EXPECT_TRUE(at::equal(written(weights_), weights_["fc.weight"]));
  const StateDict others = dict({{"fc.weight", at::ones({2, 2})}});
  EXPECT_TRUE(at::equal(written(others), at::ones({2, 2})));
}

TEST_F(CommandBackendTest, ResultsOfARunOutliveTheNextAndTheBackend) {
  auto it = backend("cat {ir} {weights} {inputs} > /dev/null; mv " + folder_ + "/next {outputs}");
  save_weights_safetensors(dict({{"mul", at::ones({1, 2})}}), folder_ + "/next");
  const at::Tensor first = it->run(ir_, weights_, inputs_)[0];
  save_weights_safetensors(dict({{"mul", at::zeros({1, 2})}}), folder_ + "/next");
  const at::Tensor second = it->run(ir_, weights_, inputs_)[0];
  it.reset();
  EXPECT_TRUE(at::equal(first, at::ones({1, 2})));
  EXPECT_TRUE(at::equal(second, at::zeros({1, 2})));
  EXPECT_TRUE(fs::is_empty(folder_ + "/it's a folder"));
}

TEST_F(CommandBackendTest, OutputsOfAnEarlierRunAreNotTakenForThoseOfALater) {
  const auto it = backend("test -e {ir}.once && exit 0; touch {ir}.once;" +
                          hand_in(dict({{"mul", at::ones({1, 2})}})));
  it->run(ir_, weights_, inputs_);
  EXPECT_THAT([&] { it->run(ir_, weights_, inputs_); },
              ThrowsMessage<ExecutionError>("The executor exited with status 0 and wrote no file "
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
  EXPECT_THAT(error_of(std::string("no_such_program") + kFiles + "no_such_program"),
              AllOf(StartsWith("The executor exited with status 127; it printed: "),
                    HasSubstr("no_such_program"), HasSubstr("not found")));
  EXPECT_EQ(error_of(std::string("echo no convolutions; exit 3;") + kFiles),
            "The executor does not support the graph; it printed: no convolutions");
}

TEST_F(CommandBackendTest, TellsWhatIsWrongWithItsFile) {
  EXPECT_EQ(error_of(std::string("echo done;") + kFiles),
            "The executor exited with status 0 and wrote no file {outputs}; it printed: done");
  EXPECT_THAT(error_of(std::string("echo hello > {outputs};") + kFiles),
              StartsWith("What the executor wrote as {outputs} can not be read: "
                         "DIR/outputs.safetensors: "));
  EXPECT_THAT(error_of(std::string("mkdir {outputs};") + kFiles),
              StartsWith("What the executor wrote as {outputs} can not be read: "));
}

TEST_F(CommandBackendTest, TellsWhichOutputsAreMissingOrTooMany) {
  EXPECT_EQ(error_of(hand_in(dict({{"Mul", at::zeros({1, 2})}, {"b", at::zeros({1})}}))),
            "The executor wrote no output 'mul' (float32 [1, 2]); {outputs} has 'Mul', 'b'.");
  EXPECT_EQ(error_of(hand_in(dict({}))),
            "The executor wrote no output 'mul' (float32 [1, 2]); {outputs} has nothing.");
  EXPECT_EQ(error_of(hand_in(dict({{"mul", at::zeros({1, 2})}, {"mull", at::zeros({1})}}))),
            "The executor wrote 'mull' into {outputs}, but the graph has no such output; did you "
            "mean 'mul'?");
  EXPECT_EQ(error_of(hand_in(dict({{"mul", at::zeros({1, 2})}, {"hidden", at::zeros({1})}}))),
            "The executor wrote 'hidden' into {outputs}, but the graph has no such output; it has "
            "'mul'");
}

TEST_F(CommandBackendTest, TellsBothShapesAndDtypes) {
  EXPECT_EQ(error_of(hand_in(dict({{"mul", at::zeros({2})}}))),
            "The executor wrote output 'mul' as float32 [2], expected float32 [1, 2].");
  EXPECT_EQ(error_of(hand_in(dict({{"mul", at::zeros({1, 2}, at::kHalf)}}))),
            "The executor wrote output 'mul' as float16 [1, 2], expected float32 [1, 2].");
}

TEST_F(CommandBackendTest, DynamicSizesAreThoseOfTheInputs) {
  const auto dynamic = [](TensorMeta& meta) {
    meta.shape[0] = kDynamicSize;
    meta.symbolic_shape = {"s0", ""};
  };
  dynamic(ir_.graph_inputs[0]);
  dynamic(ir_.graph_outputs[0]);
  for (OpNode& node : ir_.nodes) dynamic(node.outputs[0]);
  inputs_ = {at::ones({3, 2})};
  EXPECT_EQ(run(hand_in(dict({{"mul", at::zeros({3, 2})}}))).at(0).size(0), 3);
  EXPECT_EQ(error_of(hand_in(dict({{"mul", at::zeros({4, 2})}}))),
            "The executor wrote output 'mul' as float32 [4, 2], expected float32 [s0, 2].");
}

TEST_F(CommandBackendTest, AWeightThatNobodyHasIsAnError) {
  EXPECT_THAT([&] { backend(kFiles)->run(ir_, StateDict(), inputs_); },
              ThrowsMessage<ExecutionError>(
                  "weight 'fc.weight' of the graph is neither in the state dict nor a constant"));
  EXPECT_THAT([&] { backend(kFiles)->run(ir_, weights_, {}); },
              ThrowsMessage<ExecutionError>("0 input(s) for a graph that takes 1"));
}

TEST_F(CommandBackendTest, IntermediatesAreReadByName) {
  const std::string given = folder_ + "/given";
  save_weights_safetensors(dict({{"linear", at::ones({1, 2})}, {"mul", at::zeros({1, 2})}}), given);
  const auto it = backend("cp " + given + " {intermediates};" + kFiles, true);
  const auto values = it->values(ir_, weights_, inputs_);
  EXPECT_TRUE(at::equal(values->next("linear"), at::ones({1, 2})));
  EXPECT_FALSE(values->next("relu").defined());
  EXPECT_TRUE(at::equal(values->next("mul"), at::zeros({1, 2})));
  EXPECT_EQ(backend(kFiles)->values(ir_, weights_, inputs_), nullptr);
}

TEST_F(CommandBackendTest, IntermediatesOfOtherNamesAreAnError) {
  const std::string given = folder_ + "/given";
  save_weights_safetensors(dict({{"hidden_state", at::ones({1, 2})}}), given);
  EXPECT_EQ(
      error_of("cp " + given + " {intermediates};" + kFiles, true),
      "The executor wrote 'hidden_state' into {intermediates}, but the graph has no such value; it "
      "has 'linear', 'mul', 'relu'");
  EXPECT_EQ(error_of(std::string(": {intermediates};") + kFiles, true),
            "The executor exited with status 0 and wrote no file {intermediates}; it printed "
            "nothing");
}

TEST_F(CommandBackendTest, ACommandIsCheckedBeforeItRuns) {
  EXPECT_THAT([] { check_executor_command("sim {ir} {inputs} {outputs}", false); },
              ThrowsMessage<Error>("--executor: the command 'sim {ir} {inputs} {outputs}' has no "
                                   "{weights}: it needs {ir}, {weights}, {inputs} and {outputs}"));
  EXPECT_THAT([] { check_executor_command(kFiles, true); },
              ThrowsMessage<Error>(HasSubstr("has no {intermediates}: it needs {ir}, {weights}, "
                                             "{inputs}, {outputs} and {intermediates}")));
  EXPECT_THAT(
      [] { check_executor_command(std::string("{intermediates}") + kFiles, false); },
      ThrowsMessage<Error>(
          "--executor: the command has {intermediates}: give --executor-intermediates too"));
  EXPECT_THAT([&] { backend("sim {ir}"); },
              ThrowsMessage<Error>(HasSubstr("the command 'sim {ir}' has no {weights}")));
  EXPECT_NO_THROW(check_executor_command(kFiles, false));
}

TEST_F(CommandBackendTest, AFolderThatCanNotBeMadeIsNotTheModelsFault) {
  std::ofstream(folder_ + "/it's a folder") << "a file";
  EXPECT_THAT([&] { run(kFiles); },
              ThrowsMessage<OutputError>("cannot make '" + folder_ +
                                         "/it's a folder/executor': Not a directory"));
}

}  // namespace
}  // namespace torch_ir

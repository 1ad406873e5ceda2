#include "torch_ir/weights/state_dict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/serialize.h>

#include <filesystem>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/testing/warning_texts.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/testing/test_support.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// --- state_dict ---

TEST(StateDictTest, HoldsTheModulesParametersThenBuffersByDottedName) {
  torch::nn::Linear without_bias(torch::nn::LinearOptions(2, 1).bias(false));
  torch::nn::Sequential model(torch::nn::BatchNorm1d(2), without_bias);
  const StateDict tensors = state_dict(*model);
  EXPECT_THAT(tensors.keys(), ElementsAre("0.weight", "0.bias", "1.weight", "0.running_mean",
                                          "0.running_var", "0.num_batches_tracked"));
  EXPECT_TRUE(tensors["1.weight"].is_same(without_bias->weight));
}

TEST(LoadStateDictTest, CopiesWhatFits) {
  torch::nn::BatchNorm1d model(2);
  StateDict tensors;
  for (const auto& item : state_dict(*model)) {
    tensors.insert(item.key(), torch::full_like(item.value(), 7).to(torch::kDouble));
  }
  load_state_dict(*model, tensors);
  EXPECT_TRUE(torch::equal(model->running_var, torch::full({2}, 7.f)));
  EXPECT_TRUE(torch::equal(model->weight, torch::full({2}, 7.f)));
  EXPECT_EQ(model->num_batches_tracked.item<int64_t>(), 7);
}

TEST(LoadStateDictTest, ChangesNothingWhereSomethingDoesNotFit) {
  torch::nn::Linear model(2, 1);
  const at::Tensor bias = model->bias.clone();
  StateDict tensors = {{"weight", torch::ones({1, 3})}, {"bias", torch::full({1}, 7.f)}};
  EXPECT_THAT(
      [&] { load_state_dict(*model, tensors); },
      ThrowsMessage<WeightError>("Shape mismatch for 'weight': expected [1, 2], got [1, 3]"));
  EXPECT_TRUE(torch::equal(model->bias, bias));
  tensors.insert("scale", torch::ones({1}));
  EXPECT_THAT([&] { load_state_dict(*model, tensors); },
              ThrowsMessage<WeightError>(
                  ::testing::HasSubstr("\n  Unexpected weight 'scale': the module has none")));
}

// --- load_weights ---

TEST(LoadWeightsTest, ContentDecidesNotTheName) {
  StateDict tensors = {{"a", torch::ones({2})}};
  std::string path = temporary_path("really_safetensors.pt");
  save_weights_safetensors(tensors, path);
  EXPECT_TRUE(torch::equal(load_weights(path)["a"], tensors["a"]));
  torch::nn::Linear model(2, 1);
  path = temporary_path("really_pt.safetensors");
  torch::save(model, path);
  EXPECT_TRUE(torch::equal(load_weights(path)["weight"], model->weight));
}

TEST(LoadWeightsTest, OtherContentIsRefusedAsWhatItIs) {
  const std::string path = temporary_path("other.safetensors");
  const std::string quoted = "'" + path + "'";
  const std::pair<std::string, std::string> files[] = {
      {"weights, honestly, many of them",
       "Unknown weight file format: " + quoted +
           ". Supported formats: .safetensors, .pt as torch.save and torch::save write it, and the "
           "index of a sharded checkpoint (.index.json)"},
      {"", quoted + " is empty; save the weights with torch.save or as safetensors"},
      // Its first bytes could be the size of a header.
      {std::string("GGUF\x03\0\0\0\0\0", 10),
       quoted + " is a GGUF file of llama.cpp; use the PyTorch model that it was converted from"},
      {std::string("\x40\0\0\0\0\0\0\0{\"a\":", 13),
       path + ": the header has 64 bytes, but the file ends after 5 of them; it is truncated"},
      {std::string(8, '\xff') + "{}",
       path + ": the header has 18446744073709551615 bytes; at most 100000000 are allowed"},
  };
  for (const auto& [content, message] : files) {
    write_file(path, content);
    EXPECT_THAT([&] { load_weights(path); }, ThrowsMessage<WeightError>(message));
  }
}

TEST(LoadWeightsTest, KeysAreForCheckpoints) {
  EXPECT_EQ(load_weights("src/torch_ir/weights/testdata/two_state_dicts.pt", {"first"}).size(), 7u);
  const std::string path = "src/torch_ir/weights/testdata/dtypes.safetensors";
  EXPECT_THAT([&] { load_weights(path, {"model"}); },
              ThrowsMessage<WeightError>(
                  "'" + path +
                  "' has tensors by name only; --weights-key 'model' is for checkpoints of "
                  "torch.save that hold more than a state dict"));
}

TEST(LoadWeightsTest, MissingFileIsNamed) {
  const std::string path = temporary_path("missing");
  const auto is_named =
      ThrowsMessage<WeightError>("cannot open '" + path + "': No such file or directory");
  EXPECT_THAT([&] { load_weights(path); }, is_named);
  EXPECT_THAT([&] { load_weights_pt(path); }, is_named);
  EXPECT_THAT([&] { load_weights_safetensors(path); }, is_named);
}

// --- Sharded checkpoints ---

// A folder of its own with two shards and no index: one.safetensors has "a" and "b", two.pt has "c"
// (and the other tensors of its module).
class ShardedWeightsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = temporary_path(::testing::UnitTest::GetInstance()->current_test_info()->name()) + "/";
    std::filesystem::create_directories(folder_ + "inner");
    StateDict tensors = {{"a", torch::ones({2})}, {"b", torch::zeros({3})}};
    save_weights_safetensors(tensors, folder_ + "one.safetensors");
    torch::save(torch::nn::Linear(2, 1), folder_ + "inner/two.pt");
  }

  // Writes an index with this weight_map.
  std::string write_index(const std::string& map) {
    const std::string path = folder_ + "model.safetensors.index.json";
    write_file(path, "{\"metadata\": {\"total_size\": 1}, \"weight_map\": " + map + "}\n");
    return path;
  }
  // Expects an error with the path and `message`.
  static void expect_refused(const std::string& path, const std::string& message) {
    EXPECT_THAT([&] { load_weights(path); },
                ThrowsMessage<WeightError>("'" + path + "'" + message));
  }

  std::string folder_;
};

TEST_F(ShardedWeightsTest, TensorsComeInTheOrderOfTheIndex) {
  const std::string path =
      write_index(R"({"b": "one.safetensors", "weight": "inner/two.pt", "a": "one.safetensors"})");
  const StateDict tensors = load_weights(path);
  EXPECT_THAT(tensors.keys(), ElementsAre("b", "weight", "a"));
  EXPECT_TRUE(torch::equal(tensors["a"], torch::ones({2})));
  EXPECT_EQ(tensors["weight"].sizes(), torch::IntArrayRef({1, 2}));
}

TEST_F(ShardedWeightsTest, FoldersAreLookedThrough) {
  EXPECT_THAT(load_weights(folder_).keys(), ElementsAre("a", "b")) << "the only file of weights";
  write_index(R"({"b": "one.safetensors"})");
  EXPECT_THAT(load_weights(folder_).keys(), ElementsAre("b"));
  write_file(folder_ + "other.index.json", "{}");
  expect_refused(folder_,
                 " is a folder with 'model.safetensors.index.json', 'other.index.json'; name one "
                 "file");
  std::filesystem::create_directories(folder_ + "nothing");
  expect_refused(folder_ + "nothing", " is a folder with no weight files; name one file");
}

TEST_F(ShardedWeightsTest, WhatIsMissingOrElsewhereOrOtherJsonIsRefused) {
  expect_refused(write_index(R"({"a": "three.safetensors"})"),
                 " names the missing file 'three.safetensors'");
  expect_refused(write_index(R"({"c": "one.safetensors"})"),
                 " says that tensor 'c' is in 'one.safetensors', but that file has no such tensor");
  for (const char* file :
       {"../one.safetensors", "inner/../../one.safetensors", "/etc/passwd", ""}) {
    expect_refused(write_index("{\"a\": \"" + std::string(file) + "\"}"),
                   " says that tensor 'a' is in '" + std::string(file) +
                       "'; only files in its own folder are read");
  }
  const std::string path = write_index("[1]");
  expect_refused(path, ": weight_map: expected an object, found a list");
  expect_refused(write_index(R"({"a": 1})"), ": weight_map.a: expected a string, found an integer");
  expect_refused(write_index(R"({"a": "model.safetensors.index.json"})"),
                 " names '" + path + "', which is itself an index");
  write_file(path, "{\"a\": 1}");
  expect_refused(path, " is JSON, but not an index of weights: missing key 'weight_map'");
}

TEST_F(ShardedWeightsTest, AShardOfAnotherFormatIsNotSupported) {
  write_file(folder_ + "three.gguf", std::string("GGUF\x03\0\0\0\0\0", 10));
  EXPECT_THAT([&] { load_weights(write_index(R"({"a": "three.gguf"})")); },
              ::testing::Throws<WeightError>(
                  ::testing::Property(&WeightError::is_unsupported, ::testing::IsTrue())));
}

// --- validate_weights_against_ir ---

class ValidateWeightsTest : public ::testing::Test {
 protected:
  ValidateWeightsTest() {
    ir_.weights = {{.name = "linear.weight", .shape = {1, 2}, .dtype = "float32"},
                   {.name = "mask", .shape = {2}, .dtype = "int64"}};
    ir_.weight_name_mapping.insert("p_linear_weight", "linear.weight");
    ir_.weight_name_mapping.insert("c_mask", "mask");
    weights_.insert("linear.weight", torch::ones({1, 2}));
    weights_.insert("mask", torch::ones({2}, torch::kLong));
  }

  std::vector<std::string> problems() const { return validate_weights_against_ir(weights_, ir_); }

  IR ir_;
  StateDict weights_;
  WarningTexts warnings_;
};

TEST_F(ValidateWeightsTest, FittingWeightsHaveNoProblems) {
  EXPECT_THAT(problems(), IsEmpty());
  // By the name of its placeholder, and by the other name of a tied weight.
  const at::Tensor weight = weights_["linear.weight"];
  weights_.erase("linear.weight");
  weights_.insert("p_linear_weight", weight);
  EXPECT_THAT(problems(), IsEmpty());
  weights_.erase("p_linear_weight");
  weights_.insert("head.weight", weight);
  ir_.tied_weights = {{"linear.weight", "head.weight"}};
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_THAT(warnings_.texts, IsEmpty());
}

TEST_F(ValidateWeightsTest, ListsWhatDoesNotFitAndWhatIsMissing) {
  weights_["linear.weight"] = torch::ones({2, 1});
  weights_["mask"] = torch::ones({2}, torch::kInt);
  EXPECT_THAT(problems(),
              ElementsAre("Shape mismatch for 'linear.weight': expected [1, 2], got [2, 1]",
                          "Dtype mismatch for 'mask': expected int64, got int32"));
  const std::string linear = "Missing weight 'linear.weight' (float32 [1, 2])";
  weights_.erase("linear.weight");
  weights_["mask"] = at::Tensor();
  EXPECT_THAT(problems(), ElementsAre(linear, "Missing weight 'mask' (int64 [2])"));
  weights_.erase("mask");
  EXPECT_THAT(problems(), ElementsAre(linear, "Missing weight 'mask' (int64 [2])"));
  ir_.constants.insert("mask", torch::ones({2}, torch::kLong));
  EXPECT_THAT(problems(), ElementsAre(linear));
}

TEST_F(ValidateWeightsTest, SurplusWeightsAreWarnedAbout) {
  weights_.insert("extra0", torch::ones({1}));
  EXPECT_THAT(problems(), IsEmpty());
  for (int i = 1; i < 7; ++i) weights_.insert("extra" + std::to_string(i), torch::ones({1}));
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_THAT(warnings_.texts,
              ElementsAre("The graph does not use 1 of the weights: 'extra0'",
                          "The graph does not use 7 of the weights: 'extra0', 'extra1', 'extra2', "
                          "'extra3', 'extra4' and 2 more"));
}

// --- move_large_constants ---

TEST(LargeConstantsTest, OnlyThoseBeyondTheLimitMove) {
  IR ir;
  ir.constants.insert("mask", torch::zeros({256, 256}));
  ir.constants.insert("table", torch::zeros({65'537}));
  ir.constants.insert("scale", torch::zeros({}));
  StateDict weights = {{"fc.weight", torch::zeros({2})}};
  move_large_constants(ir, weights);
  EXPECT_THAT(ir.constants.keys(), ElementsAre("mask", "scale"));
  EXPECT_THAT(weights.keys(), ElementsAre("fc.weight", "table"));
}

}  // namespace
}  // namespace torch_ir

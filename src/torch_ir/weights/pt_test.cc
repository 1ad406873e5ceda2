#include "torch_ir/weights/pt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/serialize.h>

#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/testing/zip_builder.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/testing/test_support.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

// Writes `value` as torch::pickle_save does, and returns the path.
std::string pickled(const c10::IValue& value) {
  const std::vector<char> bytes = torch::pickle_save(value);
  const std::string path = temporary_path("pickled.pt");
  write_file(path, {bytes.data(), bytes.size()});
  return path;
}

// Expects an error with the path and `message`.
void expect_not_loaded(const std::string& path, const std::string& message,
                       const LoadWeightsOptions& options = {}) {
  EXPECT_THAT([&] { load_weights_pt(path, options); },
              ThrowsMessage<WeightError>("'" + path + "' " + message));
}

// The state dict of make_pt.py: each tensor has its own number as its elements.
void expect_numbered(const StateDict& tensors) {
  EXPECT_EQ(tensors.size(), 7u);
  int64_t number = 0;
  for (const auto& item : tensors) {
    EXPECT_TRUE((item.value() == number).all().item<bool>()) << item.key();
    ++number;
  }
}

// --- Files of C++ ---

TEST(PtTest, ReadsAPickledDict) {
  const StateDict tensors = {{"z.weight", torch::randn({3, 2})},
                             {"a", torch::tensor(5)},
                             {"half", torch::ones({2}, torch::kHalf)},
                             {"view", torch::arange(6).view({2, 3}).t()}};
  c10::Dict<std::string, at::Tensor> dict;
  for (const auto& item : tensors) dict.insert(item.key(), item.value());
  const StateDict loaded = load_weights_pt(pickled(dict));
  EXPECT_THAT(loaded.keys(), ElementsAre("z.weight", "a", "half", "view"));
  expect_same_tensors(loaded, tensors);
  EXPECT_FALSE(loaded["z.weight"].requires_grad());
}

TEST(PtTest, ReadsASavedModule) {
  torch::nn::Sequential model(torch::nn::Linear(2, 3), torch::nn::BatchNorm1d(3),
                              torch::nn::Linear(torch::nn::LinearOptions(3, 1).bias(false)));
  const std::string path = temporary_path("module.pt");
  torch::save(model, path);
  const StateDict expected = state_dict(*model);
  ASSERT_EQ(expected.size(), 8u);
  expect_same_tensors(load_weights_pt(path), expected);
}

TEST(PtTest, ReadsTheModulesTensorsOfTorchScript) {
  const StateDict loaded = load_weights_pt(weights_testdata("script.pt"));
  EXPECT_THAT(loaded.keys(), ElementsAre("inner.0.weight", "inner.0.bias", "inner.1.weight",
                                         "inner.1.bias", "inner.1.running_mean",
                                         "inner.1.running_var", "inner.1.num_batches_tracked"));
  expect_numbered(loaded);
}

// --- Files of Python; testdata/make_pt.py makes them ---

TEST(PtTest, ReadsTheOnlyStateDictOrTheOneThatKeysChoose) {
  const StateDict loaded = load_weights_pt(weights_testdata("python_state_dict.pt"));
  EXPECT_THAT(loaded.keys(),
              ElementsAre("0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean",
                          "1.running_var", "1.num_batches_tracked"));
  expect_numbered(loaded);
  for (const char* name : {"checkpoint_2.pt", "checkpoint_5.pt"}) {
    expect_numbered(load_weights_pt(weights_testdata(name)));
  }
  expect_numbered(load_weights_pt(weights_testdata("two_state_dicts.pt"), {"first"}));
  expect_numbered(load_weights_pt(weights_testdata("two_state_dicts.pt"), {"more.second.ema"}));
  expect_numbered(load_weights_pt(weights_testdata("checkpoint_2.pt"), {"model"}));
}

TEST(PtTest, ExtraStateIsLeftOutAndTensorsThatAreNotDenseAreNamed) {
  EXPECT_THAT(load_weights_pt(weights_testdata("extra_state.pt")).keys(), ElementsAre("w"));
  EXPECT_TRUE(load_weights_pt(weights_testdata("empty_checkpoint.pt")).is_empty());
  expect_not_loaded(weights_testdata("unsupported.pt"),
                    "holds a sparse tensor under 'sparse' instead of a dense tensor");
}

TEST(PtTest, SeveralStateDictsNeedAKeyThatLeadsToOne) {
  const std::string path = weights_testdata("two_state_dicts.pt");
  expect_not_loaded(
      path, "holds 2 state dicts; choose one of 'first', 'more.second.ema' with --weights-key");
  expect_not_loaded(
      path,
      "holds a dict without the key 'more.first' of --weights-key; its keys are 'first', 'more'",
      {"more.first"});
  expect_not_loaded(
      path, "holds a dict under 'second.ema' instead of a tensor; --weights-key chooses a dict",
      {"more"});
  expect_not_loaded(weights_testdata("checkpoint_2.pt"),
                    "holds an int instead of a dict from names to tensors under 'epoch'",
                    {"epoch"});
}

// A Namespace beside the state dict. Python's own torch.load refuses it with weights_only=True.
TEST(PtTest, BesideForeignObjectsAKeyChoosesTheStateDict) {
  const std::string path = weights_testdata("namespace.pt");
  expect_numbered(load_weights_pt(path, {"model"}));
  expect_not_loaded(path,
                    "holds an object of class 'argparse.Namespace' beside weights, which is not "
                    "read; choose 'model' with --weights-key");
  expect_not_loaded(path,
                    "holds a pickled object of class 'argparse.Namespace'; only tensors and plain "
                    "values are read, since anything else could run code. Save model.state_dict() "
                    "instead",
                    {"args"});
  expect_not_loaded(weights_testdata("module.pt"),
                    "holds a pickled object of class 'torch.nn.modules.linear.Linear'; only "
                    "tensors and plain values are read, since anything else could run code. Save "
                    "model.state_dict() instead");
}

TEST(PtTest, OtherArchivesAreNamed) {
  const std::string path = temporary_path("other.zip");
  write_file(path, build_zip({{"w.npy", ""}}));
  expect_not_loaded(path,
                    "is an archive of NumPy arrays (.npz); load it in Python, and write the "
                    "tensors with safetensors.torch.save_file");
  write_file(path, build_zip({{"model/archive_format", "pt2"}}));
  expect_not_loaded(path,
                    "is an exported program (.pt2), not a file of weights; torch-ir import writes "
                    "its weights to a separate file");
}

// --- Files without a state dict ---

TEST(PtTest, OtherValuesAreNamed) {
  expect_not_loaded(pickled(torch::ones({1})),
                    "holds a tensor instead of a dict from names to tensors");
  expect_not_loaded(pickled(c10::List<int64_t>({1})),
                    "holds a list instead of a dict from names to tensors");
  c10::Dict<int64_t, at::Tensor> numbered;
  numbered.insert(1, torch::ones({1}));
  expect_not_loaded(pickled(numbered), "holds a dict with an int as a key instead of a str");
  c10::Dict<std::string, int64_t> numbers;
  numbers.insert("epoch", 3);
  expect_not_loaded(pickled(numbers), "holds an int under 'epoch' instead of a tensor");
}

TEST(PtTest, FileThatIsNoArchiveIsNamed) {
  const std::string path = temporary_path("broken.pt");
  write_file(path, "PK\x03\x04 and nothing else");
  expect_not_loaded(path, "cannot be read as a zip archive: it is damaged or truncated");
}

}  // namespace
}  // namespace torch_ir

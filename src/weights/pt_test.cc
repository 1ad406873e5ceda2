#include "torch_ir/weights/pt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/serialize.h>

#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

std::string temporary(const std::string& name) { return ::testing::TempDir() + name; }

// Writes `value` as torch::pickle_save does, and returns where.
std::string pickled(const c10::IValue& value) {
  const std::vector<char> bytes = torch::pickle_save(value);
  const std::string path = temporary("pickled.pt");
  write_file(path, {bytes.data(), bytes.size()});
  return path;
}

auto fails_with(const std::string& message) { return ThrowsMessage<WeightError>(message); }

void expect_same(const StateDict& actual, const StateDict& expected) {
  EXPECT_EQ(actual.keys(), expected.keys());
  for (const auto& item : expected) {
    const at::Tensor* tensor = actual.find(item.key());
    ASSERT_NE(tensor, nullptr) << item.key();
    EXPECT_EQ(tensor->scalar_type(), item.value().scalar_type()) << item.key();
    EXPECT_TRUE(torch::equal(*tensor, item.value())) << item.key();
    EXPECT_FALSE(tensor->requires_grad()) << item.key();
  }
}

TEST(PtTest, ReadsAPickledDict) {
  c10::Dict<std::string, at::Tensor> dict;
  StateDict expected;
  for (const auto& [name, tensor] : std::vector<std::pair<std::string, at::Tensor>>{
           {"z.weight", torch::randn({3, 2})},
           {"a", torch::tensor(5)},
           {"half", torch::ones({2}, torch::kHalf)},
           {"view", torch::arange(6).view({2, 3}).t()}}) {
    dict.insert(name, tensor);
    expected.insert(name, tensor);
  }
  expect_same(load_weights_pt(pickled(dict)), expected);
}

TEST(PtTest, ReadsASavedModule) {
  torch::nn::Sequential model(torch::nn::Linear(2, 3), torch::nn::BatchNorm1d(3),
                              torch::nn::Linear(torch::nn::LinearOptions(3, 1).bias(false)));
  const std::string path = temporary("module.pt");
  torch::save(model, path);
  StateDict expected;
  for (const auto& item : state_dict(*model)) expected.insert(item.key(), item.value().detach());
  ASSERT_EQ(expected.size(), 8u);
  const StateDict loaded = load_weights_pt(path);
  EXPECT_EQ(loaded.size(), expected.size());
  for (const auto& item : expected) {
    ASSERT_TRUE(loaded.contains(item.key())) << item.key();
    EXPECT_TRUE(torch::equal(loaded[item.key()], item.value())) << item.key();
  }
}

TEST(PtTest, OtherValuesAreNamed) {
  EXPECT_THAT([] { load_weights_pt(pickled(torch::ones({1}))); },
              fails_with("'" + temporary("pickled.pt") +
                         "' holds a Tensor instead of a dict from names to tensors"));
  EXPECT_THAT([] { load_weights_pt(pickled(c10::List<int64_t>({1}))); },
              fails_with("'" + temporary("pickled.pt") +
                         "' holds a List[int] instead of a dict from names to tensors"));
}

TEST(PtTest, OtherKeysAndValuesOfADictAreNamed) {
  c10::Dict<int64_t, at::Tensor> numbered;
  numbered.insert(1, torch::ones({1}));
  EXPECT_THAT([&] { load_weights_pt(pickled(numbered)); },
              fails_with("'" + temporary("pickled.pt") +
                         "' holds a dict whose keys are of type int instead of str"));
  c10::Dict<std::string, int64_t> numbers;
  numbers.insert("epoch", 3);
  EXPECT_THAT([&] { load_weights_pt(pickled(numbers)); },
              fails_with("'" + temporary("pickled.pt") +
                         "' holds a int under 'epoch' instead of a tensor"));
}

TEST(PtTest, StateDictsOfPythonAreRefusedWithAdvice) {
  EXPECT_THAT([] { load_weights_pt("src/weights/testdata/python_state_dict.pt"); },
              fails_with("'src/weights/testdata/python_state_dict.pt' holds no plain dict "
                         "from names to tensors that LibTorch can read. Write it in Python with "
                         "safetensors.torch.save_file(model.state_dict(), FILE)"));
}

TEST(PtTest, MissingFileIsNamed) {
  EXPECT_THAT(
      [] { load_weights_pt(temporary("missing.pt")); },
      fails_with("cannot open '" + temporary("missing.pt") + "': No such file or directory"));
}

TEST(PtTest, FileThatIsNoArchiveIsNamed) {
  const std::string path = temporary("broken.pt");
  write_file(path, "PK\x03\x04 and nothing else");
  EXPECT_THAT([&] { load_weights_pt(path); },
              ThrowsMessage<WeightError>(
                  AllOf(StartsWith("'" + path + "' can not be read as a .pt file: "),
                        HasSubstr("not a ZIP archive"), ::testing::Not(HasSubstr("frame #")))));
}

}  // namespace
}  // namespace torch_ir

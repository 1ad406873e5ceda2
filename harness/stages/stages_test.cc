#include "harness/stages/stages.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "torch_ir/ir/document.h"

namespace torch_ir {
namespace {

TEST(FailureTest, KindsFollowFromTheStageAndTheError) {
  const auto expect_kind = [](Stage stage, const std::exception& error, FailureKind kind) {
    EXPECT_EQ(failure_kind(stage, error), kind) << error.what();
  };
  const ExportError refused(kNotSupported, "no such operator");
  expect_kind(Stage::kExtract, refused, FailureKind::kExtractUnsupported);
  expect_kind(Stage::kExtract, ConversionError(refused, "a.pt2: no such operator"),
              FailureKind::kExtractUnsupported);
  expect_kind(Stage::kExtract, ExportError("damaged"), FailureKind::kExtractFailed);
  expect_kind(Stage::kExtract, std::runtime_error("?"), FailureKind::kExtractFailed);
  expect_kind(Stage::kExtract, LoadError("no JSON"), FailureKind::kLoadFailed);
  expect_kind(Stage::kExtract, std::bad_alloc(), FailureKind::kOutOfMemory);
  expect_kind(Stage::kSerialize, SerializeMismatch("another"), FailureKind::kSerializeMismatch);
  expect_kind(Stage::kSerialize, ValidationError("not well formed"), FailureKind::kLoadFailed);
  expect_kind(Stage::kExecute, WeightError("no weight"), FailureKind::kLoadFailed);
  expect_kind(Stage::kExecute, LoadError("no input"), FailureKind::kLoadFailed);
  expect_kind(Stage::kExecute, ExecutionError("an operator"), FailureKind::kExecuteFailed);
  expect_kind(Stage::kVerify, std::runtime_error("the model"), FailureKind::kExecuteFailed);
  expect_kind(Stage::kVerify, OutputMismatch("other"), FailureKind::kOutputMismatch);
}

// The format drops symbols if no dimension has one.
TEST(SerializeTest, AnIrThatIsReadAsAnotherOneIsAMismatch) {
  const std::string path = ::testing::TempDir() + "/mismatch.json";
  IR ir;
  ir.graph_inputs = {{.name = "x", .shape = {2}, .dtype = "float32"}};
  EXPECT_EQ(to_ir(serialize(ir, path)), ir);
  ir.graph_inputs[0].symbolic_shape = {""};
  EXPECT_THROW(serialize(ir, path), SerializeMismatch);
}

TEST(FailureTest, MemoryThatIsRefusedIsNoticed) {
  const AllocationWatch memory;
  EXPECT_FALSE(memory.has_refused());
  try {
    at::empty({int64_t{1} << 58});
    FAIL() << "there is no such memory";
  } catch (const std::exception& error) {
    // Even if the exception is wrapped.
    EXPECT_EQ(failure_kind(Stage::kExecute, ExecutionError("a node"), memory),
              FailureKind::kOutOfMemory);
  }
}

TEST(FailureTest, FoldersOfARunAreLeftOut) {
  const std::string absolute = std::filesystem::absolute("out/A").string();
  EXPECT_EQ(without_folder("out/A/ir.json and " + absolute + "/x: bad", "out/A"),
            "ir.json and x: bad");
  EXPECT_EQ(without_folder(absolute + "/x, out/B/y", absolute), "x, out/B/y");
}

TEST(ReferenceProblemTest, TheModelRaisesOrReadsWhatNobodyWrote) {
  const auto why = [](const std::function<at::Tensor()>& model) {
    return reference_problem([&] { return std::vector<at::Tensor>{model(), at::Tensor()}; });
  };
  EXPECT_EQ(why([] { return at::full({3}, NAN); }), "");
  EXPECT_EQ(why([] { return at::ones({2}).view({3}); }),
            "the model raises shape '[3]' is invalid for input of size 2");
  const std::string differs =
      "two runs of the model differ, as where it reads memory that nobody wrote";
  EXPECT_EQ(why([] { return at::empty({3}); }), differs);
  // Behind its memory.
  EXPECT_EQ(why([] { return at::full({}, at::ones({16}).const_data_ptr<float>()[16]); }), differs);
  EXPECT_EQ(why([] { return at::ones({3}); }), "");
}

}  // namespace
}  // namespace torch_ir

#include "harness/divergence/against_float.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_int_mm.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include <cmath>
#include <optional>

#include "torch_ir/ir/resolve.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kExports = "harness/testdata/exports/";

FloatComparison compare_with(const std::string& floating, const std::string& quantized) {
  FloatModel model(kExports + floating, {});
  const std::unique_ptr<Candidate> candidate =
      make_candidate(ModelFiles{.path = kExports + quantized}, /*seed=*/0);
  const Program graph = resolve(candidate->extract());
  model.check_inputs(graph);
  return model.compare(*candidate, graph);
}

// The values that make_against.py (in scripts/ beside the archives) computes with PyTorch.
struct FromPython {
  std::string floating;
  std::string quantized;
  double sqnr;
  double min;
  double float_min;
  std::optional<int64_t> num_saturated;
};

void expect_as_python(const FloatComparison& comparison, const std::vector<FromPython>& expected) {
  EXPECT_EQ(comparison.error, "");
  for (const FromPython& python : expected) {
    SCOPED_TRACE(python.floating);
    const auto value = std::ranges::find_if(comparison.values, [&](const ComparedValue& it) {
      return it.floating.name == python.floating;
    });
    ASSERT_NE(value, comparison.values.end());
    EXPECT_EQ(value->quantized.name, python.quantized);
    EXPECT_NEAR(value->sqnr, python.sqnr, 1e-3);
    EXPECT_NEAR(value->quantized.min, python.min, 1e-5);
    EXPECT_NEAR(value->floating.min, python.float_min, 1e-5);
    EXPECT_EQ(value->num_saturated, python.num_saturated);
  }
}

// Its conv2d includes the batch norm, and the float model's ReLU writes in place.
TEST(AgainstFloatTest, Pt2eIsComparedAsInPython) {
  const FloatComparison comparison = compare_with("against_float.pt2", "against_pt2e.pt2");
  expect_as_python(
      comparison,
      {{"x", "dequantize_per_tensor_3", 45.6598809, -2.24228501, -2.23571825, 2},
       {"batch_norm", "conv2d", 44.6844817, -1.4308635, -1.42478371, std::nullopt},
       {"relu_", "dequantize_per_tensor_4", 43.9474925, 0, 0, 1},
       {"relu", "dequantize_per_tensor_7", 2.58307694, 0, 0, 4},
       {"linear_1", "dequantize_per_tensor_8", 6.70828028, -0.0982215852, -0.146867365, 0}});
  EXPECT_EQ(comparison.values.size(), 8U);
  EXPECT_THAT(comparison.unmatched, IsEmpty());
  EXPECT_EQ(comparison.num_folded, 1);

  // The layer with a wrong scale is the worst.
  const std::vector<const ComparedValue*> worst = worst_values(comparison, 2);
  ASSERT_EQ(worst.size(), 2U);
  EXPECT_EQ(place_text(*worst[0]), "'relu' (layers.1)");
  EXPECT_EQ(noisiest_value(comparison), worst[0]);
  EXPECT_GT(worst[0]->input_sqnr, 40);
  EXPECT_EQ(worst[1]->floating.name, "linear_1");
  EXPECT_EQ(worst[1]->input_sqnr, worst[0]->sqnr);
  EXPECT_EQ(comparison_line(comparison),
            "against against_float.pt2: 8 tensors compared, worst 2.6 dB at 'relu' (layers.1)");
}

// It does not on processors without instructions for products of bytes.
bool libtorch_multiplies_int8_exactly() {
  const at::Tensor product = at::_int_mm(at::full({32, 32}, 127, at::kChar),  //
                                         at::full({32, 32}, 127, at::kChar));
  return product.eq(32 * 127 * 127).all().item<bool>();
}

// What LibTorch computes here.
at::Tensor value_of(const std::string& archive, const std::string& name) {
  const std::unique_ptr<Candidate> candidate =
      make_candidate(ModelFiles{.path = kExports + archive}, /*seed=*/0);
  candidate->extract();
  at::Tensor found;
  candidate->observe(candidate->inputs(0), [&](const std::string& seen, const at::Tensor& value) {
    if (seen == name) found = value.to(at::kDouble);
  });
  return found;
}

// The linear of layers.0 is many operators there; the linear of the head comes first.
TEST(AgainstFloatTest, TorchaoIsComparedAsInPython) {
  const FloatComparison comparison = compare_with("against_float.pt2", "against_torchao.pt2");
  std::vector<FromPython> expected = {
      {"linear", "to_5", 41.3345486, -0.775101721, -0.77294004, std::nullopt},
      {"linear_1", "linear", 39.4131854, -0.145749122, -0.146867365, std::nullopt}};
  if (!libtorch_multiplies_int8_exactly()) {
    for (FromPython& value : expected) {
      const at::Tensor floating = value_of("against_float.pt2", value.floating);
      const at::Tensor quantized = value_of("against_torchao.pt2", value.quantized);
      const at::Tensor noise = (floating - quantized).square().sum();
      value.sqnr = 10 * std::log10((floating.square().sum() / noise).item<double>());
      value.min = quantized.min().item<double>();
    }
  }
  expect_as_python(comparison, expected);
  EXPECT_EQ(comparison.num_folded, 0);
}

TEST(AgainstFloatTest, AModelAgainstItselfIsEqual) {
  const FloatComparison comparison = compare_with("against_float.pt2", "against_float.pt2");
  EXPECT_EQ(comparison.values.size(), 7U);
  for (const ComparedValue& value : comparison.values) {
    EXPECT_EQ(value.sqnr, std::numeric_limits<double>::infinity()) << value.floating.name;
  }
}

TEST(AgainstFloatTest, OtherInputsAreRefused) {
  try {
    compare_with("against_float.pt2", "quantized_per_tensor.pt2");
    FAIL() << "expected an InputError";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("input 'x' as float32 [2, 1, 8, 8], but the quantised model has "
                          "'args_0' as float32 [1, 3, 8, 8]"));
  }
  EXPECT_THROW(FloatModel(kExports + "against_float.inputs", {}), Error);
}

}  // namespace
}  // namespace torch_ir

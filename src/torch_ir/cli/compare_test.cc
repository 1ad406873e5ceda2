#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "torch_ir/cli/testing/test_support.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;

using CompareTest = CliTest;

TEST_F(CompareTest, AgreesOnEqualFiles) {
  const std::string a =
      tensor_file("a.safetensors", {{"w", at::zeros({2, 3})}, {"bias", at::zeros({3})}});
  EXPECT_EQ(printed({"compare", a, a}),
            "bias  float32[3]     equal\n"
            "w     float32[2, 3]  equal\n"
            "2 of 2 tensors agree (rtol 1e-05, atol 1e-05)\n");
  EXPECT_EQ(printed({"compare", a, a, "--quiet"}), "");
}

TEST_F(CompareTest, TakesTheTolerancesOfDtypes) {
  const at::Tensor e = at::tensor({1.0, 2.0}, at::kDouble);
  const std::string a = tensor_file("a.safetensors", {{"f64", e + 1e-6}, {"f16", e.to(at::kHalf)}});
  const std::string b = tensor_file("b.safetensors", {{"f64", e}, {"f16", e.to(at::kHalf)}});
  printed({"compare", a, b});
  const std::string compare = printed({"compare", a, b, "--tolerance", "dtype"}, 1);
  EXPECT_THAT(compare, HasSubstr("f16  float16[2]  equal (rtol 0.001, atol 1e-05)\n"));
  EXPECT_THAT(compare, HasSubstr("f64  float64[2]  2 of 2 elements mismatched"));
  EXPECT_THAT(compare, HasSubstr(" (rtol 1e-07, atol 1e-07)\n"));
  EXPECT_THAT(compare, HasSubstr("\n1 of 2 tensors agree (tolerances by dtype)\n"));
}

TEST_F(CompareTest, ComparesIntegersExactly) {
  const at::Tensor index = at::tensor({3, 50'000}, at::kLong);
  const std::string a =
      tensor_file("a.safetensors", {{"w", at::tensor({1.5f})}, {"index", index + 1}});
  const std::string b = tensor_file("b.safetensors", {{"w", at::tensor({1.0f})}, {"index", index}});
  EXPECT_EQ(
      printed({"compare", a, b, "--atol", "2"}, 1),
      "index  int64[2]    2 of 2 elements mismatched (100 %): max abs. error 1, mean abs. error 1, "
      "max relative error 0.3333; worst at [0]: 4, expected 3; no tolerance passes (rtol 0, atol "
      "0)\n"
      "w      float32[1]  close: max abs. error 0.5, mean abs. error 0.5, smallest passing "
      "tolerance 0.25\n"
      "1 of 2 tensors agree (rtol 1e-05, atol 2, integers exact)\n");
  printed({"compare", b, b});
}

TEST_F(CompareTest, RefusesWhatIsNoRuleOfTolerances) {
  expect_refused(
      torch_ir({"compare", "a", "b", "--tolerance", "float"}),
      "--tolerance: unknown tolerance 'float'; expected dtype, or numbers with --rtol and "
      "--atol (see 'torch-ir compare --help')");
  for (const std::string option : {"--rtol", "--atol"}) {
    expect_refused(torch_ir({"compare", "a", "b", "--tolerance", "dtype", option, "1"}),
                   option + " excludes --tolerance (see 'torch-ir compare --help')");
  }
}

TEST_F(CompareTest, CountsMissingTensorsAsDifferent) {
  const std::string a =
      tensor_file("a.safetensors", {{"both", at::zeros({1})}, {"left", at::zeros({1})}});
  const std::string b =
      tensor_file("b.safetensors", {{"both", at::zeros({1})}, {"right", at::zeros({})}});
  EXPECT_EQ(printed({"compare", a, b}, 1),
            "both   float32[1]  equal\n"
            "left   float32[1]  only in " +
                a +
                "\n"
                "right  float32[]   only in " +
                b +
                "\n"
                "1 of 3 tensors agree (rtol 1e-05, atol 1e-05)\n");
}

TEST_F(CompareTest, RefusesFilesWithoutTensors) {
  const std::string a = tensor_file("a.safetensors", {});
  const std::string b = tensor_file("b.safetensors", {});
  expect_refused(torch_ir({"compare", a, b}), a + " and " + b + " have no tensors to compare");
  expect_failed(torch_ir({"compare", a, file("b.txt", "hello")}), HasSubstr(path("b.txt")));
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/verifier/statistics.h"

#include <ATen/ops/quantize_per_tensor.h>
#include <gmock/gmock.h>

#include <tuple>

#include "torch_ir/verifier/testing/tensors.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNan;

TEST(Statistics, AreThoseOfLibTorch) {
  // Several blocks, the last of them smaller, not contiguous.
  const at::Tensor tensor = (at::randn({300, 2, 501}) * 3 + 1000).transpose(0, 2);
  const TensorStatistics result = statistics("x", tensor);
  EXPECT_EQ(result.name, "x");
  EXPECT_THAT(result.shape, ElementsAre(501, 2, 300));
  EXPECT_EQ(result.dtype, "float32");
  EXPECT_EQ(result.num_elements, 300600);
  EXPECT_EQ(result.num_nan, 0);
  EXPECT_EQ(result.num_inf, 0);
  EXPECT_EQ(result.min, tensor.min().item<double>());
  EXPECT_EQ(result.max, tensor.max().item<double>());
  const at::Tensor wide = tensor.to(at::kDouble);
  EXPECT_NEAR(result.mean, wide.mean().item<double>(), 1e-9);
  EXPECT_NEAR(result.standard_deviation, wide.std(/*unbiased=*/false).item<double>(), 1e-9);
}

TEST(Statistics, LeaveOutWhatIsNotFinite) {
  const TensorStatistics result =
      statistics("x", at::tensor({1.0, kNan, -3.0, kInf, -kInf, kNan, kNan}, at::kDouble));
  EXPECT_EQ(result.num_elements, 7);
  EXPECT_EQ(result.num_nan, 3);
  EXPECT_EQ(result.num_inf, 2);
  EXPECT_EQ(result.min, -3);
  EXPECT_EQ(result.max, 1);
  EXPECT_EQ(result.mean, -1);
  EXPECT_EQ(result.standard_deviation, 2);
}

TEST(Statistics, OfComplexNumbersAreThoseOfTheirModuli) {
  const TensorStatistics result =
      statistics("z", at::complex(at::tensor({3.0F, 0.0F, 1.0F}),
                                  at::tensor({4.0F, 1.0F, static_cast<float>(kNan)})));
  EXPECT_EQ(result.dtype, "complex64");
  EXPECT_EQ(result.num_elements, 3);
  EXPECT_EQ(result.num_nan, 1);
  EXPECT_EQ(result.min, 1);
  EXPECT_EQ(result.max, 5);
}

TEST(Statistics, TakeAnyDtype) {
  EXPECT_EQ(statistics("b", at::tensor({0, 1, 1, 1}).to(at::kBool)).mean, 0.75);
  EXPECT_EQ(statistics("i", at::arange(5)).max, 4);
  EXPECT_EQ(statistics("h", at::full({2}, 1.5).to(at::kBFloat16)).min, 1.5);
  EXPECT_EQ(statistics("f", at::full({2}, 1.5).to(at::kFloat8_e4m3fn)).min, 1.5);
  EXPECT_EQ(statistics("q", at::quantize_per_tensor(at::full({2}, 1.5), 0.5, 0, at::kQInt8)).min,
            1.5);
}

TEST(Statistics, HaveNoFiguresWhereNothingIsFinite) {
  for (const auto& [tensor, num_elements, num_nan] :
       {std::tuple(at::full({3}, kNan), 3, 3), std::tuple(at::Tensor(), 0, 0),
        std::tuple(at::empty({0, 3}), 0, 0), std::tuple(at::empty({4}, at::kMeta), 4, 0)}) {
    const TensorStatistics result = statistics("x", tensor);
    EXPECT_EQ(result.num_elements, num_elements);
    EXPECT_EQ(result.num_nan, num_nan);
    for (const double figure : {result.min, result.max, result.mean, result.standard_deviation}) {
      EXPECT_THAT(figure, IsNan());
    }
  }
}

TEST(CountNan, TellsNanFromInfinity) {
  at::Tensor tensor = at::randn({70000});
  tensor[4] = -kInf;
  EXPECT_EQ(count_nan(tensor), 0);
  tensor[3] = kNan;
  tensor[69999] = kNan;
  EXPECT_EQ(count_nan(tensor), 2);
  EXPECT_EQ(count_nan(tensor.to(at::kBFloat16)), 2);
  EXPECT_EQ(count_nan(tensor.to(at::kFloat8_e5m2)), 2);
  EXPECT_EQ(count_nan(at::complex(tensor, tensor).conj()), 2);
  EXPECT_EQ(count_nan(at::complex(at::randn({70000}), tensor)), 2);
  EXPECT_EQ(count_nan(at::arange(4)), 0);
  EXPECT_EQ(count_nan(at::Tensor()), 0);
}

}  // namespace
}  // namespace torch_ir

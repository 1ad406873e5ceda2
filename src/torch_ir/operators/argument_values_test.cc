#include "torch_ir/operators/argument_values.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linalg_ldl_factor.h>
#include <ATen/ops/linalg_ldl_solve.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torch_ir/base/testing/error_of.h"

namespace torch_ir {
namespace {

using Numbers = std::vector<int64_t>;

// The problem of a call; empty for a valid call, which LibTorch must accept.
std::string problem_of_call(const char* name, const char* overload, torch::jit::Stack stack) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
  const std::string problem = error_of<c10::Error>([&] { check_argument_values(op, stack); });
  if (problem.empty()) op.callBoxed(stack);
  return problem;
}

at::Tensor whole(const Numbers& numbers) { return at::tensor(numbers, at::kLong); }

TEST(ArgumentValues, OfBagsLieAmongTheIndices) {
  const auto problem = [](const char* name, const at::Tensor& offsets) {
    torch::jit::Stack stack = {
        at::ones({4, 3}), whole({0, 1, 2, 3}), offsets, false, 0, false, c10::IValue(), true};
    if (std::string_view(name).starts_with("aten::_")) stack.emplace_back(-1);
    return problem_of_call(name, "", stack);
  };
  for (const char* name :
       {"aten::embedding_bag", "aten::_embedding_bag", "aten::_embedding_bag_forward_only"}) {
    EXPECT_EQ(problem(name, whole({0, 2, 4})), "") << name;
    EXPECT_EQ(problem(name, whole({0, -5, 4})),
              "offsets has -5 at 1, but should be at least 0 and less than 5");
    EXPECT_EQ(problem(name, whole({0, 2, 5})),
              "offsets has 5 at 2, but should be at least 0 and less than 5");
    EXPECT_EQ(problem(name, whole({0, 7, 2, 7, 6, 7}).slice(0, 0, 6, 2)),
              "offsets has 6 at 2, but should be at least 0 and less than 5");
  }
}

TEST(ArgumentValues, OfTargetsAreClassesWhereTheyAreRead) {
  const auto problem = [](const at::Tensor& targets) {
    return problem_of_call("aten::_ctc_loss", "",
                           {at::zeros({8, 2, 5}), targets, Numbers{8, 8}, Numbers{3, 2}, 0, false});
  };
  EXPECT_EQ(problem(whole({1, 2, 3, 4, 1, -1}).view({2, 3})), "");
  EXPECT_EQ(problem(whole({1, 2, 3, 4, 5, -1}).view({2, 3})),
            "targets has 5 at 1, but should be at least 0 and less than 5");
  EXPECT_EQ(problem(whole({1, 2, 3, 4, 1})), "");
  EXPECT_EQ(problem(whole({1, 2, 3, -4, 1})),
            "targets has -4 at 3, but should be at least 0 and less than 5");
  EXPECT_EQ(problem_of_call("aten::ctc_loss", "Tensor",
                            {at::zeros({8, 2, 5}), whole({1, 2, 3, 4, 5}), whole({8, 8}),
                             whole({3, 2}), 0, 1, false}),
            "targets has 5 at 4, but should be at least 0 and less than 5");
}

TEST(ArgumentValues, OfPivotsAreRowsThatAFactorizationSwaps) {
  const at::Tensor matrix = at::tensor({1.0f, 2.0f, 3.0f, 2.0f, 0.0f, 5.0f, 3.0f, 5.0f, 0.0f});
  const auto problem = [&](const at::Tensor& pivots) {
    return problem_of_call("aten::linalg_ldl_solve", "",
                           {matrix.view({3, 3}), pivots, at::ones({3, 2}), false});
  };
  const auto rows = [](const Numbers& numbers) { return whole(numbers).to(at::kInt); };
  EXPECT_EQ(problem(rows({1, 3, 3})), "");
  EXPECT_EQ(problem(rows({-3, -3, 3})), "");
  const auto expected = [](const char* found, const char* range) {
    return std::string("pivots has ") + found + ", but should be " + range;
  };
  EXPECT_EQ(problem(rows({4, 2, 3})),
            expected("4 at 0", "from 1 to 3, or a pair of equal values from -3 to -2"));
  EXPECT_EQ(problem(rows({1, 1, 3})),
            expected("1 at 1", "from 2 to 3, or a pair of equal values from -3 to -3"));
  EXPECT_THAT(problem(rows({1, 0, 3})), testing::StartsWith("pivots has 0 at 1"));
  EXPECT_THAT(problem(rows({-3, -2, 3})), testing::StartsWith("pivots has -3 at 0"));
  EXPECT_THAT(problem(rows({-4, -4, 3})), testing::StartsWith("pivots has -4 at 0"));
  EXPECT_THAT(problem(rows({1, 2, -3})), testing::StartsWith("pivots has -3 at 2"));
  EXPECT_THROW(problem(rows({1, 2, 3, 4})), c10::Error);
  EXPECT_THROW(problem(rows({1, 2, 3}).view({1, 3})), c10::Error);
}

// LAPACK's own pivots are right, whatever the matrix.
TEST(ArgumentValues, OfPivotsAreWhatAFactorizationGives) {
  for (int64_t size = 1; size < 12; ++size) {
    // Hardly anything on the diagonal, so that there are blocks of two rows.
    at::Tensor matrix =
        at::arange(2 * size * size, at::kDouble).mul(1.7).add(1).sin().view({2, size, size});
    matrix = matrix + matrix.mT() - matrix.diagonal(0, 1, 2).diag_embed().mul(1.9);
    const auto [factors, pivots] = at::linalg_ldl_factor(matrix);
    const at::Tensor right = at::ones({2, size, 1}, at::kDouble);
    EXPECT_EQ(problem_of_call("aten::linalg_ldl_solve", "", {factors, pivots, right, false}), "");
    EXPECT_TRUE(at::allclose(matrix.matmul(at::linalg_ldl_solve(factors, pivots, right)), right));
  }
}

TEST(ArgumentValues, OfMaximaLieInWhatWasPooled) {
  for (const auto& [name, dims] : {std::pair("aten::max_pool2d_with_indices_backward", 2),
                                   std::pair("aten::max_pool3d_with_indices_backward", 3),
                                   std::pair("aten::adaptive_max_pool2d_backward", 2),
                                   std::pair("aten::adaptive_max_pool3d_backward", 3)}) {
    const auto problem = [name = name, dims = dims](int64_t index) {
      Numbers sizes(static_cast<size_t>(dims), 4);
      sizes.insert(sizes.begin(), 2);
      Numbers pooled(static_cast<size_t>(dims), 2);
      torch::jit::Stack stack = {at::ones(2), at::ones(sizes)};
      if (!std::string_view(name).starts_with("aten::adaptive")) {
        const Numbers ones(pooled.size(), 1);
        const Numbers zeros(pooled.size(), 0);
        for (const Numbers& numbers : {pooled, pooled, zeros, ones}) stack.emplace_back(numbers);
        stack.emplace_back(false);
      }
      pooled.insert(pooled.begin(), 2);
      stack[0] = at::ones(pooled);
      stack.emplace_back(at::zeros(pooled, at::kLong).fill_(index));
      return problem_of_call(name, "", stack);
    };
    const int64_t end = dims == 2 ? 16 : 64;
    EXPECT_EQ(problem(end - 1), "") << name;
    EXPECT_EQ(problem(end), "indices has " + std::to_string(end) +
                                " at 0, but should be at least 0 and less than " +
                                std::to_string(end));
    EXPECT_EQ(problem(-1),
              "indices has -1 at 0, but should be at least 0 and less than " + std::to_string(end));
  }
}

TEST(ArgumentValues, OfSegmentsLieAlongTheAxis) {
  const auto problem = [](c10::IValue lengths, c10::IValue offsets, bool unsafe) {
    return problem_of_call("aten::segment_reduce", "",
                           {at::ones({4, 3}), "sum", std::move(lengths), c10::IValue(),
                            std::move(offsets), 0, unsafe, c10::IValue()});
  };
  EXPECT_EQ(problem(whole({1, 3}), c10::IValue(), false), "");
  EXPECT_EQ(problem(whole({1, 3}), c10::IValue(), true),
            "unsafe must be false; otherwise the lengths are not checked");
  EXPECT_EQ(problem(c10::IValue(), whole({0, 1, 4}), false), "");
  EXPECT_EQ(problem(c10::IValue(), whole({0, 9, 4}), false),
            "offsets has 9 at 1, but should be at least 0 and less than 5");
}

TEST(ArgumentValues, OfBatchSizesFall) {
  const auto problem = [](const Numbers& sizes) {
    return problem_of_call("aten::_pad_packed_sequence", "",
                           {at::ones({4, 3}), whole(sizes), false, 0.0, 2});
  };
  const std::string expected = "batch_sizes should be descending, from at most 4 to at least 1";
  EXPECT_EQ(problem({2, 2}), "");
  EXPECT_EQ(problem({2, 3}), expected);
  EXPECT_EQ(problem({3, 0}), expected);
  EXPECT_EQ(problem({1'000'000'000, 1}), expected);
  EXPECT_EQ(problem({}), expected);
  for (const char* name : {"aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu"}) {
    const auto packed = c10::Dispatcher::singleton().findSchemaOrThrow(name, "data");
    torch::jit::Stack stack(packed.schema().arguments().size());
    stack[0] = at::ones({5, 8});
    stack[1] = whole({2, 2, 3});
    EXPECT_THROW(check_argument_values(packed, stack), c10::Error) << name;
    stack[1] = whole({2, 2, 1});
    EXPECT_NO_THROW(check_argument_values(packed, stack)) << name;
    EXPECT_EQ(find_value_check(c10::Dispatcher::singleton().findSchemaOrThrow(name, "input")),
              nullptr);
  }
}

TEST(ArgumentValues, OfIndicesThatAreCountedAreThoseOfWeights) {
  const auto problem = [](int64_t index, bool scales) {
    return problem_of_call("aten::embedding_dense_backward", "",
                           {at::ones({2, 3}), whole({0, index}), 5, -1, scales});
  };
  EXPECT_EQ(problem(4, true), "");
  EXPECT_EQ(problem(5, true), "indices has 5 at 1, but should be at least 0 and less than 5");
  EXPECT_EQ(problem(5, false), "");
}

TEST(ArgumentValues, OfADivisionHaveAResult) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const at::Tensor numbers = whole({least, 7, least});
  const auto problem = [](const at::Tensor& self, const c10::IValue& other, const char* mode) {
    return problem_of_call("aten::div", other.isTensor() ? "Tensor_mode" : "Scalar_mode",
                           {self, other, mode});
  };
  const std::string expected = std::to_string(least) + " divided by -1 is out of range for ";
  EXPECT_EQ(problem(numbers, whole({2, -1, 1}), "trunc"), "");
  EXPECT_EQ(problem(numbers, whole({2, 2, -1}), "trunc"), expected + "Long");
  EXPECT_EQ(problem(numbers, whole({-1}), "trunc"), expected + "Long");
  EXPECT_EQ(problem(numbers, -1, "trunc"), expected + "Long");
  EXPECT_EQ(problem(numbers, -1, "floor"), "");
  EXPECT_EQ(problem(numbers.to(at::kDouble), -1, "trunc"), "");
  EXPECT_EQ(
      problem(at::zeros({2}, at::kInt).fill_(std::numeric_limits<int32_t>::min()), -1, "trunc"),
      "-2147483648 divided by -1 is out of range for Int");
  EXPECT_EQ(problem_of_call("aten::div", "Tensor", {numbers, whole({-1})}), "");
}

}  // namespace
}  // namespace torch_ir

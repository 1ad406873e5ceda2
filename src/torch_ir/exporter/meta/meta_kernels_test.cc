#include "torch_ir/exporter/meta/meta_kernels.h"

#include <ATen/Functions.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

using at::Tensor;
using testing::HasSubstr;
using testing::StartsWith;

Tensor meta(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) {
  return at::empty(sizes, at::TensorOptions(at::kMeta).dtype(dtype));
}

// Peak resident memory of this process.
int64_t peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t kilobytes = 0;
  while (status >> word && word != "VmHWM:") {
  }
  status >> kilobytes;
  return kilobytes;
}

class MetaKernelsTest : public testing::Test {
 protected:
  void SetUp() override { register_meta_kernels(); }
};

template <class Message>
auto fails_with(const Message& message) {
  return testing::ThrowsMessage<c10::Error>(message);
}

TEST_F(MetaKernelsTest, RegistersOnceFromManyThreads) {
  testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(register_meta_kernels);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(MetaKernelsTest, InPlaceOperatorsReturnTheirArgument) {
  Tensor values = meta({2, 3});
  Tensor indices = meta({2, 3}, at::kLong);
  at::_cummax_helper(meta({2, 3}), values, indices, 1);
  EXPECT_TRUE(values.is_meta());
  Tensor x = meta({2, 3});
  EXPECT_TRUE(at::relu_(x).is_same(x));
}

bool lacks_meta_kernel(const c10::OperatorHandle& op) {
  for (const c10::DispatchKey key :
       {c10::DispatchKey::Meta, c10::DispatchKey::CompositeImplicitAutograd,
        c10::DispatchKey::CompositeExplicitAutograd,
        c10::DispatchKey::CompositeExplicitAutogradNonFunctional}) {
    if (op.hasKernelForDispatchKey(key)) return false;
  }
  return op.hasKernelForDispatchKey(c10::DispatchKey::CPU);
}

// Operators that return tensors and write to none.
std::vector<c10::OperatorHandle> operators_without_meta_kernel() {
  const auto is_tensors = [](const c10::Argument& result) {
    return result.type()->isSubtypeOf(*c10::TensorType::get()) ||
           result.type()->isSubtypeOf(*c10::ListType::ofTensors());
  };
  std::vector<c10::OperatorHandle> operators;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op || !name.name.starts_with("aten::") || op->schema().is_mutable()) continue;
    const auto& results = op->schema().returns();
    const bool is_functional = !results.empty() && std::ranges::all_of(results, is_tensors);
    if (is_functional && lacks_meta_kernel(*op)) operators.push_back(*op);
  }
  return operators;
}

// Taken before anything registers more kernels.
const std::vector<c10::OperatorHandle> kWithoutMetaKernel = operators_without_meta_kernel();

TEST_F(MetaKernelsTest, EveryOperatorHasAKernelThatDoesNotNeedData) {
  EXPECT_GE(kWithoutMetaKernel.size(), 100u);
  for (const c10::OperatorHandle& op : kWithoutMetaKernel) {
    EXPECT_EQ(op.hasKernelForDispatchKey(c10::DispatchKey::Meta),
              !may_depend_on_data(op) || op.operator_name().name == "aten::repeat_interleave")
        << op.operator_name();
  }
}

// By a shape rule, and by the fallback.
TEST_F(MetaKernelsTest, OutOperatorsResizeTheirArgument) {
  Tensor out = meta({0});
  EXPECT_TRUE(at::index_select_out(out, meta({5, 4}), 0, meta({2}, at::kLong)).is_same(out));
  EXPECT_EQ(out.sizes(), (std::vector<int64_t>{2, 4}));

  Tensor other = meta({0});
  EXPECT_TRUE(
      at::im2col_out(other, meta({2, 3, 4, 4}), {2, 2}, {1, 1}, {0, 0}, {1, 1}).is_same(other));
  EXPECT_EQ(other.sizes(), (std::vector<int64_t>{2, 12, 9}));
}

TEST_F(MetaKernelsTest, ParametersNeedNoGuard) {
  Tensor weight = meta({2, 3}).requires_grad_();
  const Tensor y = at::relu(weight);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_TRUE(at::im2col(meta({1, 2, 4, 4}).requires_grad_(), {2, 2}, {1, 1}, {0, 0}, {1, 1})
                  .requires_grad());
}

// Composite operators that have a Meta kernel instead.
TEST_F(MetaKernelsTest, ReplacedCompositesKeepTrackOfGradients) {
  const Tensor x = meta({2, 4, 3, 3}).requires_grad_();
  testing::internal::CaptureStderr();
  EXPECT_TRUE(at::group_norm(x, 2).requires_grad());
  EXPECT_TRUE(at::scaled_dot_product_attention(x, x, x).requires_grad());
  EXPECT_TRUE(at::pixel_shuffle(x, 2).requires_grad());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(MetaKernelsTest, WorkInInferenceMode) {
  const c10::InferenceMode inference;
  const Tensor x = meta({2, 4, 3, 3});
  EXPECT_EQ(at::relu(at::group_norm(at::conv2d(x, meta({4, 4, 3, 3})), 2)).sizes(),
            (std::vector<int64_t>{2, 4, 1, 1}));
  EXPECT_EQ(at::im2col(x, {2, 2}, {1, 1}, {0, 0}, {1, 1}).sizes(),
            (std::vector<int64_t>{2, 16, 4}));
}

TEST_F(MetaKernelsTest, TakeTensorsOfTheCpuThatAreNumbers) {
  EXPECT_EQ(at::where(meta({2, 3}, at::kBool), meta({2, 3}), at::scalar_tensor(0.)).sizes(),
            (std::vector<int64_t>{2, 3}));
}

TEST_F(MetaKernelsTest, RandomOperatorsLeaveTheGeneratorAlone) {
  at::manual_seed(1);
  const Tensor expected = at::rand({4});
  at::manual_seed(1);
  at::multinomial(meta({4}), 2);
  at::_sample_dirichlet(meta({4}));
  at::poisson(meta({4}));
  EXPECT_TRUE(at::equal(at::rand({4}), expected));
}

// The rule learns the dtype of std from a single element, which has no standard deviation.
TEST_F(MetaKernelsTest, MadeUpValuesAreNotWarnedOf) {
  testing::internal::CaptureStderr();
  at::std(meta({2, 3}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(MetaKernelsTest, ErrorsNameTheOperator) {
  EXPECT_THAT([] { at::im2col(meta({2}), {2, 2}, {1, 1}, {0, 0}, {1, 1}); },
              fails_with(StartsWith("aten::im2col on meta tensors: Dimension out of range")));
}

TEST_F(MetaKernelsTest, ResultsThatAreNotDenseAreRefused) {
  EXPECT_THAT([] { meta({2, 3}).to_sparse(); },
              fails_with(HasSubstr("its result is Sparse Float, not dense")));
}

TEST_F(MetaKernelsTest, RealTensorsAreNotOverwrittenWithZeros) {
  Tensor out = at::ones({2, 12, 9});
  EXPECT_THAT([&] { at::im2col_out(out, meta({2, 3, 4, 4}), {2, 2}, {1, 1}, {0, 0}, {1, 1}); },
              fails_with(HasSubstr("argument out is written to but is on cpu")));
  EXPECT_TRUE(at::equal(out, at::ones_like(out)));
}

TEST_F(MetaKernelsTest, OperatorsThatDependOnDataStillFail) {
  EXPECT_THAT([] { at::nonzero(meta({3})); }, fails_with(HasSubstr("aten::nonzero")));
  EXPECT_THAT([] { at::masked_select(meta({3}), meta({3}, at::kBool)); },
              fails_with(HasSubstr("aten::masked_select")));
  EXPECT_THAT([] { at::equal(meta({3}), meta({3})); }, fails_with(HasSubstr("aten::equal")));
  EXPECT_THAT([] { meta({}).item(); }, fails_with(HasSubstr("aten::_local_scalar_dense")));
  EXPECT_THAT([] { at::repeat_interleave(meta({3}, at::kLong)); },
              fails_with(HasSubstr("needs its argument output_size")));
}

// 400 gigabytes of weights, by a shape rule and by the fallback.
TEST_F(MetaKernelsTest, HugeTensorsTakeNoMemory) {
  const Tensor table = meta({100'000'000, 1000});
  const Tensor places = meta({5, 7}, at::kLong);
  at::embedding(meta({2, 2}), places);
  at::_embedding_bag(meta({4, 2}), meta({3}, at::kLong), meta({2}, at::kLong));
  const int64_t before = peak_kilobytes();
  EXPECT_EQ(at::embedding(table, places).sizes(), (std::vector<int64_t>{5, 7, 1000}));
  EXPECT_EQ(at::relu(table).numel(), table.numel());
  EXPECT_EQ(
      std::get<0>(at::_embedding_bag(table, meta({3}, at::kLong), meta({2}, at::kLong))).sizes(),
      (std::vector<int64_t>{2, 1000}));
  EXPECT_LT(peak_kilobytes() - before, 50'000);
}

}  // namespace
}  // namespace torch_ir

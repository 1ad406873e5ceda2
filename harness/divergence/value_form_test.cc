#include "harness/divergence/value_form.h"

#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <limits>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

TEST(ValueFormTest, PaddingBehindTheTensorIsRefusedWhateverItsSize) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  using Padding = std::pair<int64_t, int64_t>;
  for (const auto& [before, behind] : {Padding(3, 0), Padding(0, 3), Padding(kMost, kMost)}) {
    EXPECT_THROW(
        in_graph_form(at::tensor({1.0f, 2.0f}), {.name = "v", .padding = {{before, behind}}},
                      {.shape = {}, .dtype = c10::kFloat}),
        ExecutionError)
        << before << " " << behind;
  }
}

TEST(ValueFormTest, NumbersThatTheGraphCannotHoldDoNotPassAsOthers) {
  const auto in_form = [](const at::Tensor& tensor, const char* dtype, const char* of_graph) {
    return in_graph_form(tensor, {.name = "v", .dtype = dtype},
                         {.shape = {}, .dtype = find_dtype(of_graph).value()});
  };
  EXPECT_TRUE(in_form(at::tensor({2.0f, 5.0f}), "float32", "int64")
                  .tensor.equal(at::tensor({2, 5}, at::kLong)));
  EXPECT_TRUE(in_form(at::tensor({0, 255}, at::kByte), "uint8", "bool")
                  .tensor.equal(at::tensor({0, 1}).to(at::kBool)));
  EXPECT_THAT([&] { in_form(at::tensor({2.9f}), "float32", "int64"); },
              ThrowsMessage<ExecutionError>("'v' was returned as float32 with numbers that "
                                            "int64, its dtype in the graph, cannot hold"));
  EXPECT_THROW(in_form(at::tensor({261}, at::kInt), "int32", "uint8"), ExecutionError);
  EXPECT_THROW(in_form(at::tensor({c10::complex<float>(1, 2)}), "complex64", "float32"),
               ExecutionError);
}

}  // namespace
}  // namespace torch_ir

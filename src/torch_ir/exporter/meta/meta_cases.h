// For tests: whether operators give on meta tensors what they give on the CPU; cases of calls for
// which they do, one line a case.
//
//   MetaCases norms() {
//     return {META_CASE("LayerNorm", at::layer_norm(a, {5}, b, b), {floats({2, 5}), floats({5})})};
//   }
//   INSTANTIATE_META_CASES(Normalization, norms);
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

namespace torch_ir {

// Sizes, strides and dtype of each tensor in `values`, for comparison and for reading.
std::string describe(const torch::jit::Stack& values);

// The results of `op` on `arguments`, whose tensors are real, and on their meta twins.
struct Agreement {
  // Empty when the call failed.
  std::string cpu;
  std::string meta;
  // Why it failed.
  std::string cpu_error;
  std::string meta_error;
};
Agreement compare_on_meta(const c10::OperatorHandle& op, const torch::jit::Stack& arguments);

using Tensors = std::vector<at::Tensor>;

struct MetaCase {
  std::string name;
  std::function<Tensors(const Tensors&)> function;
  Tensors inputs;
};
using MetaCases = std::vector<MetaCase>;

// For GoogleTest, which prints the bytes of what it does not know, addresses among them.
void PrintTo(const MetaCase& call, std::ostream* out);

// Runs the case on the CPU and, with our Meta kernels, on the meta device.
Agreement agreement_of(const MetaCase& meta_case);

// Has a test that every case that is instantiated agrees.
class MetaKernels : public testing::TestWithParam<MetaCase> {};

std::string meta_case_name(const testing::TestParamInfo<MetaCase>& info);

// Random numbers in [0, 1); in the memory format.
at::Tensor floats(at::IntArrayRef sizes);
at::Tensor channels_last(at::IntArrayRef sizes);
// Zeros, valid as indices into anything.
at::Tensor indices(at::IntArrayRef sizes);

namespace internal {

inline Tensors flatten(const at::Tensor& tensor) { return {tensor}; }
inline Tensors flatten(const Tensors& tensors) { return tensors; }
template <class... T>
Tensors flatten(const std::tuple<T...>& tensors) {
  return std::apply([](const auto&... tensor) { return Tensors{tensor...}; }, tensors);
}

inline at::Tensor element(const Tensors& tensors, size_t index) {
  return index < tensors.size() ? tensors[index] : at::Tensor();
}

}  // namespace internal
}  // namespace torch_ir

// A MetaCase for the call `expression` with up to five inputs, called a to e in it.
#define META_CASE(case_name, expression, ...)                            \
  ::torch_ir::MetaCase {                                                 \
    case_name,                                                           \
        [](const ::torch_ir::Tensors& case_inputs) {                     \
          using ::torch_ir::internal::element;                           \
          [[maybe_unused]] const at::Tensor a = element(case_inputs, 0); \
          [[maybe_unused]] const at::Tensor b = element(case_inputs, 1); \
          [[maybe_unused]] const at::Tensor c = element(case_inputs, 2); \
          [[maybe_unused]] const at::Tensor d = element(case_inputs, 3); \
          [[maybe_unused]] const at::Tensor e = element(case_inputs, 4); \
          return ::torch_ir::internal::flatten(expression);              \
        },                                                               \
        ::torch_ir::Tensors __VA_ARGS__                                  \
  }

// Makes the tests of the function `cases`.
#define INSTANTIATE_META_CASES(family, cases) \
  INSTANTIATE_TEST_SUITE_P(family, MetaKernels, testing::ValuesIn(cases()), meta_case_name)

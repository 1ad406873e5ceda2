#include <gtest/gtest.h>

#include "torch_ir/runtime/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

TEST(PlainKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(plain_kernels());
  for (const char* op :
       {"aten::elu",        "aten::gelu",       "aten::hardsigmoid", "aten::hardswish",
        "aten::hardtanh",   "aten::leaky_relu", "aten::silu",        "aten::softplus",
        "aten::abs",        "aten::cos",        "aten::erf",         "aten::exp",
        "aten::isneginf",   "aten::log",        "aten::logical_not", "aten::neg",
        "aten::reciprocal", "aten::rsqrt",      "aten::sigmoid",     "aten::sin",
        "aten::sqrt",       "aten::tanh",       "aten::argmax"}) {
    run_with_one_tensor(runner, op);
  }
  run_with_one_tensor(runner, "aten::elu", {1.5, 0.5, 2.0});
  run_with_one_tensor(runner, "aten::gelu", {"tanh"});
  run_with_one_tensor(runner, "aten::hardtanh", {0, 6});
  run_with_one_tensor(runner, "aten::leaky_relu", {0.2});
  run_with_one_tensor(runner, "aten::clamp", {-1, 2});
  run_with_one_tensor(runner, "aten::clamp", {c10::IValue(), 0.5});
  run_with_one_tensor(runner, "aten::clamp_min", {0});
  for (const at::Scalar& exponent :
       {at::Scalar(2), at::Scalar(0.5), at::Scalar(-1), at::Scalar(3)}) {
    run_with_one_tensor(runner, "aten::pow.Tensor_Scalar", {exponent});
  }
  for (const char* op : {"aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor",
                         "aten::le.Tensor", "aten::maximum", "aten::minimum"}) {
    run_with_two_tensors(runner, op);
  }
  // Whole numbers are not divided by zero.
  run_with_two_tensors(runner, "aten::div.Tensor", {}, Values::kPositive);
  run_with_two_tensors(runner, "aten::floor_divide", {}, Values::kPositive);
  run_with_two_tensors(runner, "aten::add.Tensor", {2.5});
  run_with_two_tensors(runner, "aten::sub.Tensor", {3});
  const std::vector<int64_t> first = {0};
  const std::vector<int64_t> last = {-1};
  const std::vector<int64_t> planes = {2, 3};
  const c10::IValue none;
  for (const char* op : {"aten::amax", "aten::mean.dim", "aten::sum.dim_IntList"}) {
    for (const std::vector<c10::IValue>& more :
         {std::vector<c10::IValue>{std::vector<int64_t>(), false},
          {first, false},
          {last, true},
          {planes, false},
          {planes, true}}) {
      run_with_one_tensor(runner, op, more);
    }
  }
  run_with_one_tensor(runner, "aten::sum.dim_IntList", {none, false});
  run_with_one_tensor(runner, "aten::sum.dim_IntList", {last, false, at::kDouble});
  run_with_one_tensor(runner, "aten::mean.dim", {last, false, at::kFloat});
  run_with_one_tensor(runner, "aten::argmax", {-1, true});
  run_with_one_tensor(runner, "aten::cumsum", {0});
  run_with_one_tensor(runner, "aten::cumsum", {1, at::kDouble});
  run_with_one_tensor(runner, "aten::topk", {2, -1, true, true});
  run_with_one_tensor(runner, "aten::topk", {1, 0, false, true});
  for (const at::ScalarType dtype : kAllDtypes) {
    for (const Layout layout : kLayouts) {
      const at::Tensor mask = make_tensor(at::kBool, {2, 3, 4, 5}, layout);
      const at::Tensor chosen = make_tensor(dtype, {2, 3, 4, 5}, layout);
      runner.run("aten::where.self", {mask, chosen, make_tensor(dtype, {4, 1})});
      runner.run("aten::where.self", {mask, chosen, make_wrapped_number(2.5)});
      if (layout != Layout::kExpanded) runner.run("aten::masked_fill_.Scalar", {chosen, mask, 2});
    }
  }
  const std::vector<int64_t> zeros = {0, 0};
  const std::vector<int64_t> ones = {1, 1};
  const std::vector<int64_t> threes = {3, 3};
  for (const at::ScalarType dtype : kFloats) {
    const at::Tensor weight = make_tensor(dtype, {5, 3, 3, 3});
    const at::Tensor point = make_tensor(dtype, {5, 3, 1, 1});
    for (const Layout layout : {Layout::kContiguous, Layout::kChannelsLast, Layout::kSliced}) {
      const at::Tensor image = make_tensor(dtype, {2, 3, 11, 12}, layout, Values::kFinite);
      for (const c10::IValue& bias : {c10::IValue(make_tensor(dtype, {5})), none}) {
        runner.run("aten::_slow_conv2d_forward", {image, weight, threes, bias, ones, ones});
        runner.run("aten::_slow_conv2d_forward", {image, point, ones, bias, ones, zeros});
      }
    }
  }
  runner.expect_all_taken();
}

TEST(PlainKernels, WriteInPlace) {
  CaseRunner runner(plain_kernels());
  for (const char* op : {"aten::add_.Tensor", "aten::mul_.Tensor"}) {
    for (const Layout layout : {Layout::kContiguous, Layout::kTransposed, Layout::kSliced}) {
      runner.run_taken(op, {make_tensor(at::kFloat, {3, 5}, layout), make_tensor(at::kFloat, {5})});
      runner.run_taken(op, {make_tensor(at::kFloat, {3, 5}, layout), make_tensor(at::kInt, {5})});
    }
    // The result is computed in float and then converted to half.
    runner.run_refused(op, {make_tensor(at::kHalf, {3, 5}), make_tensor(at::kFloat, {5})});
  }
  runner.run_taken("aten::clamp_min_", {make_tensor(at::kFloat, {3, 5}), 0});
  for (const char* op : {"aten::tanh_", "aten::neg_", "aten::abs_", "aten::sigmoid_"}) {
    runner.run_taken(op, {make_tensor(at::kFloat, {3, 5}, Layout::kSliced)});
    runner.run_taken(op, {make_tensor(at::kBFloat16, {3, 5}, Layout::kTransposed)});
  }
}

}  // namespace
}  // namespace torch_ir

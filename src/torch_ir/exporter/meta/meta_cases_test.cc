#include "torch_ir/exporter/meta/meta_cases.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "torch_ir/exporter/meta/meta_kernels.h"
#include "torch_ir/operators/call_recording.h"

namespace torch_ir {
namespace {

std::string describe_tensor(const at::Tensor& tensor) {
  return fmt::format("{}{}/{}", c10::toString(tensor.scalar_type()),
                     fmt::format("{}", fmt::join(tensor.sizes(), "x")),
                     fmt::join(tensor.strides(), ","));
}

using StackFunction = std::function<torch::jit::Stack(torch::jit::Stack)>;

void run(const StackFunction& call, const torch::jit::Stack& arguments, std::string& result,
         std::string& error) {
  try {
    result = describe(call(arguments));
  } catch (const c10::Error& failure) {
    error = failure.what_without_backtrace();
  } catch (const std::exception& failure) {
    error = failure.what();
  }
}

Agreement compare(const StackFunction& call, const torch::jit::Stack& arguments) {
  Agreement agreement;
  torch::jit::Stack on_meta;
  for (const c10::IValue& argument : arguments) {
    on_meta.push_back(argument.isDevice() ? c10::IValue(c10::Device(c10::DeviceType::Meta))
                                          : map_tensors(argument, meta_twin));
  }
  run(call, arguments, agreement.cpu, agreement.cpu_error);
  run(call, on_meta, agreement.meta, agreement.meta_error);
  return agreement;
}

torch::jit::Stack to_stack(const std::vector<at::Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

}  // namespace

std::string describe(const torch::jit::Stack& values) {
  std::string text;
  for_each_tensor(values,
                  [&](const at::Tensor& tensor) { text += describe_tensor(tensor) + "; "; });
  return text.empty() ? "nothing" : text;
}

Agreement compare_on_meta(const c10::OperatorHandle& op, const torch::jit::Stack& arguments) {
  const auto call = [&](torch::jit::Stack stack) {
    op.callBoxed(stack);
    return stack;
  };
  return compare(call, arguments);
}

Agreement agreement_of(const MetaCase& meta_case) {
  register_meta_kernels();
  const auto call = [&](const torch::jit::Stack& stack) {
    Tensors inputs;
    for (const c10::IValue& value : stack) inputs.push_back(value.toTensor());
    return to_stack(meta_case.function(inputs));
  };
  return compare(call, to_stack(meta_case.inputs));
}

TEST_P(MetaKernels, AgreeWithTheCpu) {
  const Agreement agreement = agreement_of(GetParam());
  ASSERT_EQ(agreement.cpu_error, "") << "the case itself is wrong";
  EXPECT_EQ(agreement.meta_error, "");
  EXPECT_EQ(agreement.meta, agreement.cpu);
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MetaKernels);

void PrintTo(const MetaCase& call, std::ostream* out) { *out << call.name; }

std::string meta_case_name(const testing::TestParamInfo<MetaCase>& info) { return info.param.name; }

at::Tensor floats(at::IntArrayRef sizes) { return at::rand(sizes); }

at::Tensor channels_last(at::IntArrayRef sizes) {
  return at::rand(sizes).contiguous(sizes.size() == 4 ? at::MemoryFormat::ChannelsLast
                                                      : at::MemoryFormat::ChannelsLast3d);
}

at::Tensor indices(at::IntArrayRef sizes) { return at::zeros(sizes, at::kLong); }

}  // namespace torch_ir

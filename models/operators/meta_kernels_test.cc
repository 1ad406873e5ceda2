// Tests that operators behave on meta tensors as on the CPU: shapes, strides and dtypes of all
// cases and some more calls, and the calls that they reject.
#include "torch_ir/exporter/meta/meta_kernels.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/operators/call_text.h"
#include "torch_ir/cases/suite_case.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/operators/call_recording.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/registry/operator_case.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Shape, strides and dtype of each tensor that a call returns, or why it failed.
struct Outcome {
  std::string results;
  std::string error;
};

Outcome outcome_of(const c10::OperatorHandle& op, torch::jit::Stack stack) {
  try {
    op.callBoxed(stack);
  } catch (const c10::Error& error) {
    return {"", error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return {"", error.what()};
  }
  Outcome outcome;
  for_each_tensor(stack, [&](const at::Tensor& tensor) {
    outcome.results +=
        fmt::format("{}[{}]/[{}] ", c10::toString(tensor.scalar_type()),
                    fmt::join(tensor.sizes(), ","), fmt::join(tensor.strides(), ","));
  });
  return outcome;
}

torch::jit::Stack on_meta(const torch::jit::Stack& arguments) {
  torch::jit::Stack stack;
  for (const c10::IValue& argument : arguments) {
    stack.push_back(argument.isDevice() ? c10::IValue(c10::Device(c10::kMeta))
                                        : map_tensors(argument, meta_twin));
  }
  return stack;
}

// The difference of the results on meta tensors; empty if they agree.
std::string difference(const c10::OperatorHandle& op, const torch::jit::Stack& arguments) {
  const torch::jit::Stack meta_arguments = on_meta(arguments);
  const Outcome cpu = outcome_of(op, arguments);
  // oneDNN has no products of float8 on some processors.
  if (cpu.error.find("could not create a primitive") != std::string::npos) return "";
  const Outcome meta = outcome_of(op, meta_arguments);
  if (cpu.error.empty() && meta.error.empty() && cpu.results == meta.results) return "";
  return fmt::format("{}{}, but on meta {}{}", cpu.results, cpu.error, meta.results, meta.error);
}

class MetaKernelsOnCases : public ::testing::Test {
 protected:
  void SetUp() override { register_meta_kernels(); }
};

TEST_F(MetaKernelsOnCases, GiveWhatTheCpuGives) {
  std::vector<std::string> problems;
  size_t count = 0;
  for (const OperatorCase& it : list_operator_cases()) {
    const c10::OperatorHandle op = find_operator(it.op_type).value();
    const torch::jit::Stack arguments = it.arguments();
    const bool is_known = !may_depend_on_data(op) && !depends_on_data(op, arguments);
    if (!is_known || tensors_of(arguments).empty()) continue;
    ++count;
    const std::string problem = difference(op, arguments);
    if (!problem.empty()) problems.push_back(it.name() + ": " + problem);
  }
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_GE(count, 8000u);
}

// "float32[1, 3] int64[2]"
std::string outputs_text(const Program& program) {
  std::string text;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const Value& output = program[program.outputs[i]];
    // The tables have no state.
    if (program.is_in_place(i)) continue;
    text += fmt::format("{}[{}] ", c10::toString(output.dtype), fmt::join(output.shape, ", "));
  }
  return text;
}

// On real tensors if the operator needs data; nothing if capture refuses the call, as for training
// operators, because archives may still contain it.
std::optional<Program> captured(const Model& call, const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> metas;
  for (const at::Tensor& input : inputs) metas.push_back(meta_twin(input));
  for (const auto& tensors : {metas, inputs}) {
    try {
      return resolve(extract_ir(call, tensors));
    } catch (const ExportError& error) {
      if (!error.is_unsupported()) throw;
    }
  }
  return std::nullopt;
}

// A model that makes the call has the outputs of the call. Its node may be an equivalent overload
// (add.Scalar is add.Tensor in Python).
TEST_F(MetaKernelsOnCases, AreCapturedWithTheOutputsOfTheCall) {
  std::vector<std::string> problems;
  size_t count = 0;
  for (const OperatorCase& it : list_operator_cases()) {
    const c10::OperatorHandle op = find_operator(it.op_type).value();
    const torch::jit::Stack arguments = it.arguments();
    std::vector<at::Tensor> inputs;
    for (const at::Tensor& tensor : tensors_of(arguments)) {
      const auto is_same = [&](const at::Tensor& input) { return input.is_same(tensor); };
      if (std::ranges::none_of(inputs, is_same)) inputs.push_back(tensor);
    }
    const ModelFn call = [&](const std::vector<at::Tensor>& tensors) {
      torch::jit::Stack stack;
      for (const c10::IValue& argument : arguments) {
        stack.push_back(map_tensors(argument, [&](const at::Tensor& tensor) {
          const auto is_same = [&](const at::Tensor& input) { return input.is_same(tensor); };
          return tensors.at(std::ranges::find_if(inputs, is_same) - inputs.begin());
        }));
      }
      op.callBoxed(stack);
      return tensors_of(stack);
    };
    const Program called = *make_suite_case(it).content.program;
    const auto is_number = [&](ValueId output) { return called[output].is_scalar; };
    if (inputs.empty() || std::ranges::any_of(called.outputs, is_number)) continue;
    const std::optional<Program> program = captured(Model(call), inputs);
    if (!program) continue;
    ++count;
    if (outputs_text(*program) == outputs_text(called)) continue;
    problems.push_back(fmt::format("{} returns {}, captured {}", it.name(), outputs_text(called),
                                   outputs_text(*program)));
  }
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_GE(count, 8000u);
}

// Operator and arguments as in the tables.
struct Call {
  std::string op;
  std::string arguments;

  c10::OperatorHandle handle() const {
    const bool has_overload = op.find('.') != std::string::npos;
    return find_operator("aten." + op + (has_overload ? "" : ".default")).value();
  }
  torch::jit::Stack stack() const {
    return read_arguments(arguments, handle().schema(), {}, "meta");
  }
};

// Layouts and dtypes that no case has, which the rules of exporter/meta tell apart.
const Call kMoreCalls[] = {
    {"__lshift__.Tensor", "int64[2,3]:0..3, int64[3]:0..3"},
    {"_aminmax", "x[2,3,4]"},
    {"_aminmax.dim", "x[2,3,4], 1, True"},
    {"_prelu_kernel", "x[2,3,4,5]:channels_last, x[1,3,1,1]"},
    {"adaptive_avg_pool2d", "x[2,3,8,9]:channels_last, [1,1]"},
    {"adaptive_avg_pool3d", "x[2,3,6,8,9]:channels_last, [2,3,4]"},
    {"adaptive_max_pool2d", "x[2,3,8,9]:channels_last, [3,4]"},
    {"adaptive_max_pool3d", "x[2,3,6,8,9], [3,4,2]"},
    {"batch_norm", "x[3,6], x[6], x[6], x[6], x[6]:1..2, False, 0.1, 0.00001, True"},
    {"batch_norm",
     "x[2,6,4,5]:channels_last, x[6], x[6], x[6], x[6]:1..2, False, 0.1, 0.00001, True"},
    {"batch_norm",
     "x[2,6,3,4,5]:channels_last, x[6], x[6], x[6], x[6]:1..2, False, 0.1, 0.00001, True"},
    {"batch_norm", "x[2,6,5]:transposed, x[6], x[6], x[6], x[6]:1..2, False, 0.1, 0.00001, True"},
    {"batch_norm", "x[1,6,1,1], x[6], x[6], x[6], x[6]:1..2, False, 0.1, 0.00001, True"},
    {"batch_norm", "x[2,6,4,5], None, None, None, None, True, 0.1, 0.00001, True"},
    {"native_batch_norm", "bfloat16[2,6,4,5], x[6], x[6], x[6], x[6]:1..2, False, 0.1, 0.00001"},
    {"native_batch_norm", "bfloat16[2,6,4,5], x[6], x[6], x[6], x[6]:1..2, True, 0.1, 0.00001"},
    {"native_layer_norm", "bfloat16[2,6,5], [5], x[5], x[5], 0.00001"},
    {"native_layer_norm", "x[2,6,5]:transposed, [5], None, None, 0.00001"},
    {"native_layer_norm", "x[0,5], [5], None, None, 0.00001"},
    {"native_group_norm", "x[2,6,4,5]:channels_last, x[6], x[6], 2, 6, 20, 2, 0.1"},
    {"instance_norm", "x[2,6,4,5], x[6], x[6], None, None, True, 0.1, 0.00001, True"},
    {"conv2d", "x[2,3,9,8], x[4,3,3,3]:channels_last, x[4]"},
    {"conv2d", "x[2,3,9,8]:channels_last, x[4,3,1,1], x[4]"},
    {"conv2d", "x[2,4,9,8]:channels_last, x[4,1,3,3], None, [1], [1], [1], 4"},
    {"conv2d", "x[2,3,9,8]:channels_last, x[4,3,3,3], None, [1], [2], [2]"},
    {"conv2d", "x[16,32,32,32]:channels_last, x[32,32,3,3], x[32], [1], [1]"},
    {"conv2d", "float64[2,3,9,8]:channels_last, float64[4,3,3,3]"},
    {"conv3d", "x[2,3,5,6,7]:channels_last, x[4,3,3,3,3], x[4]"},
    {"conv3d", "float64[2,3,5,6,7]:channels_last, float64[4,3,3,3,3]"},
    {"conv3d", "x[3,5,6,7], x[4,3,3,3,3]"},
    {"conv_transpose2d.input", "x[2,3,9,8]:channels_last, x[3,4,3,3], x[4], [2]"},
    {"conv_transpose3d.input", "x[2,3,5,6,7]:channels_last, x[3,4,3,3,3], x[4]"},
    {"convolution_backward",
     "x[2,4,9,8], x[2,3,9,8]:channels_last, x[4,3,3,3], [4], [1,1], [1,1], [1,1], False, [0,0], "
     "1, [True,True,True]"},
    {"count_nonzero.dim_IntList", "x[2,3,4,5], [0,3]"},
    {"flip", "x[2,3,4,5]:channels_last, [2,3]"},
    {"flip", "x[8,3]:strided, [0,1]"},
    {"floor_divide", "int32[2,3], int64[3]:1..4"},
    {"fractional_max_pool2d", "x[2,3,8,9], [2,2], [4,4], x[2,3,2]:0..1"},
    {"grid_sampler", "x[2,3,8,9]:channels_last, x[2,5,6,2], 0, 0, False"},
    {"hardswish", "x[2,3,4,5]:channels_last"},
    {"index_select", "x[2,3,4,5]:channels_last, 1, int64[3]{0}"},
    {"index_select", "x[], 0, int64[1]{0}"},
    {"linalg_matrix_exp", "x[2,4,4]:transposed"},
    {"logical_and", "x[2,3,4,5]:channels_last, x[2,3,4,5]"},
    {"max.dim", "x[2,3,4,5]:channels_last, 1"},
    {"max_pool2d", "x[2,3,8,9]:channels_last, [3], [2], [1], [1], True"},
    {"max_pool3d", "x[2,3,6,8,9]:channels_last, [3], [2], [1], [1], True"},
    {"max_unpool2d", "x[2,3,4,4]:channels_last, int64[2,3,4,4]{0}, [8,8]"},
    {"nansum", "x[2,3,4,5]:channels_last, [1,-1], True"},
    {"pixel_shuffle", "x[2,8,3,4]:channels_last, 2"},
    {"pixel_unshuffle", "x[2,2,6,4]:channels_last, 2"},
    {"reflection_pad2d", "x[2,3,8,9]:channels_last, [1,2,3,4]"},
    {"remainder.Tensor", "x[2,3,4,5]:channels_last, x[3,1,1]:1..2"},
    {"roll", "x[2,3,4,5]:channels_last, [1], [1]"},
    {"std.correction", "x[2,3,4,5]:channels_last, [1], correction=1, keepdim=True"},
    {"std.correction", "complex64[2,3,4], [1]"},
    {"take", "x[7,4]:transposed, int64[2,3]{0}"},
    {"var_mean.correction", "bfloat16[2,3,4,5], [1]"},
    {"where.self", "bool[7,1], x[7,4], float64[4]"},
};

TEST_F(MetaKernelsOnCases, GiveWhatTheCpuGivesInOtherLayouts) {
  for (const Call& call : kMoreCalls) {
    EXPECT_EQ(difference(call.handle(), call.stack()), "") << call.op << " " << call.arguments;
  }
}

// Models rely on the layout of the result when they call view() on it.
TEST_F(MetaKernelsOnCases, AttentionIsLaidOutAsOnTheCpu) {
  const auto op = find_operator("aten.scaled_dot_product_attention.default").value();
  for (const std::array<int64_t, 4>& order :
       {std::array<int64_t, 4>{0, 1, 2, 3}, {0, 2, 1, 3}, {2, 3, 1, 0}}) {
    for (const double dropout : {0.0, 0.5}) {
      for (const auto dtype : {at::kFloat, at::kBFloat16, at::kDouble}) {
        const at::Tensor heads = at::zeros({2, 5, 3, 8}, at::dtype(dtype)).permute(order);
        const torch::jit::Stack arguments = {heads,   heads, heads,         c10::IValue(),
                                             dropout, false, c10::IValue(), false};
        EXPECT_EQ(difference(op, arguments), "") << heads.strides() << " " << dropout;
      }
    }
  }
}

struct Rejected {
  Call call;
  // A part of the message on meta tensors.
  std::string message;
};

const Rejected kRejectedCalls[] = {
    {{"where.self", "bool[2,3], x[2,3], x[2]"}, "must match the size of tensor"},
    {{"relu", "bool[2]"}, "Boolean inputs not supported for relu"},
    {{"flip", "x[2,6], [4]"}, "Dimension out of range"},
    {{"flip", "x[2,6], [1,1]"}, "appears multiple times"},
    {{"roll", "x[2,6], [1,2], [0]"}, "shifts and dimensions must align"},
    {{"conv2d", "int64[2,6,8,8], x[4,6,3,3]"},
     "expected an input of the dtype of weight and bias, Float, but got Long"},
    {{"conv2d", "x[2,6,8,8], x[4,5,3,3]"}, "to have 5 channels"},
    {{"conv2d", "x[2,6,8,8], x[4,6,9,9]"}, "Kernel size can't be greater than actual input size"},
    {{"batch_norm", "int64[2,6,8,8], x[6], x[6], x[6], x[6], False, 0.1, 0.00001, True"},
     "not implemented for Long"},
    {{"batch_norm", "x[2,6,8,8], x[5], x[5], x[5], x[5], False, 0.1, 0.00001, True"},
     "running_mean should contain 6 elements not 5"},
    {{"layer_norm", "x[2,6,8,8], [9]"},
     "Given normalized_shape=[9], expected input whose last sizes are these, but got"},
    {{"layer_norm", "x[2,6,8,8], [8], float64[8]"},
     "expected a weight of dtype Float, as the input, but got Double"},
    {{"group_norm", "x[2,6,8,8], 4"}, "num_groups=4"},
    {{"group_norm", "x[2,6,8,8], 2, x[5]"},
     "Expected weight to be a vector of size equal to the number of channels"},
    {{"max_pool3d", "x[2,3,8,8,8], [9]"}, "Output size is too small"},
    {{"adaptive_avg_pool2d", "x[8,8], [2,2]"}, "Expected 3D or 4D tensor, but got [8, 8]"},
    {{"reflection_pad2d", "x[2,6,8,8], [8,0,0,0]"},
     "Padding size should be less than the corresponding input dimension"},
    {{"grid_sampler_2d", "x[2,6,8,8], x[1,3,3,2], 0, 0, False"},
     "expected grid and input to have same batch size"},
    {{"pixel_shuffle", "x[2,6,8,8], 2"}, "is not divisible by 4"},
    {{"pixel_unshuffle", "x[2,6,8,8], 3"}, "expects height to be divisible by downscale_factor"},
    {{"channel_shuffle", "x[2,6,8,8], 4"}, "Got 6 channels and 4 groups"},
    {{"index_select", "x[2,6], 0, int64[2,2]{0}"}, "Index is supposed to be a vector"},
    {{"index_select", "x[2,6], 0, x[2]"}, "Expected dtype int32 or int64 for index"},
    {{"index_select", "x[], 0, int64[2]{0}"},
     "Index to scalar can have only 1 value, got 2 value(s)"},
    {{"embedding", "x[4,3], x[2]"},
     "Expected tensor for argument #1 'indices' to have one of the following scalar types"},
    {{"take", "x[2,6], x[2]"}, "Expected a long tensor for index, but got Float"},
    {{"searchsorted.Tensor", "x[2,5], x[3,4]"},
     "first N-1 dimensions of boundaries tensor and input value tensor must match"},
    {{"bucketize.Tensor", "x[3], x[2,5]"}, "boundaries tensor must be 1 dimension"},
    {{"multinomial", "x[6]:1..2, 7"}, "without replacement"},
    {{"multinomial", "int64[6]{1}, 1"}, "multinomial only supports floating-point dtypes"},
    {{"max", "x[0]"}, "Expected reduction dim to be specified"},
    {{"kthvalue", "x[6], 7"}, "selected number k out of range"},
    {{"dot", "x[6], x[5]"}, "inconsistent tensor size"},
    {{"dot", "x[6], float64[6]"}, "expected both vectors to have same dtype"},
    {{"addbmm", "x[5,7], x[2,4,3], x[2,3,5]"}, "must match the existing size (7)"},
    {{"cdist", "x[4,3], x[4,2]"}, "X1 and X2 must have the same number of columns"},
    {{"cholesky", "x[3,4]"}, "must be batches of square matrices"},
    {{"linalg_matrix_exp", "int64[3,3]"}, "Expected a floating point or complex tensor"},
    {{"scaled_dot_product_attention", "x[2,3,5,8], x[2,3,5,6], x[2,3,5,6]"},
     "Expected size for first two dimensions of batch2 tensor to be: [6, 8]"},
    {{"huber_loss", "x[3], x[2]"}, "must match the size of tensor"},
};

TEST_F(MetaKernelsOnCases, RejectWhatTheCpuRejects) {
  for (const auto& [call, message] : kRejectedCalls) {
    SCOPED_TRACE(call.op + " " + call.arguments);
    EXPECT_NE(outcome_of(call.handle(), call.stack()).error, "");
    EXPECT_THAT(outcome_of(call.handle(), on_meta(call.stack())).error, HasSubstr(message));
  }
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/operators/argument_shapes.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torch_ir/base/testing/error_of.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using Sizes = std::vector<int64_t>;

std::string problem_of(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  return error_of<c10::Error>([&] { check_argument_shapes(op, stack); });
}

std::string problem_of(const char* name, const char* overload, const torch::jit::Stack& stack) {
  return problem_of(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload), stack);
}

// Two layers in both directions; 3 sequences of 5 steps with 4 numbers each; 6 hidden numbers, of
// which 2 are outputs.
struct Lstm {
  Sizes input = {5, 3, 4};
  std::vector<Sizes> states = {{4, 3, 2}, {4, 3, 6}};
  std::vector<Sizes> parameters;
  bool has_biases = true;
  int64_t num_layers = 2;

  Lstm() {
    for (const int64_t width : {4, 4, 4, 4}) {
      parameters.insert(parameters.end(), {{24, width}, {24, 2}, {24}, {24}, {2, 6}});
    }
  }

  std::string problem() const {
    std::vector<at::Tensor> hx;
    for (const Sizes& sizes : states) hx.push_back(at::zeros(sizes));
    std::vector<at::Tensor> params;
    for (const Sizes& sizes : parameters) params.push_back(at::zeros(sizes));
    return problem_of("aten::lstm", "input",
                      {at::zeros(input), hx, params, has_biases, num_layers, 0.0, false,
                       /*bidirectional=*/true, /*batch_first=*/false});
  }
};

TEST(ArgumentShapes, OfAnLstm) {
  const std::pair<void (*)(Lstm&), const char*> changes[] = {
      {[](Lstm&) {}, ""},
      {[](Lstm& it) { it.parameters[6] = {24, 3}; },
       "params 6 has shape [24, 3], but should have [24, 2]"},
      {[](Lstm& it) { it.parameters[12] = {1}; }, "params 12 has shape [1], but should have [24]"},
      {[](Lstm& it) { it.parameters.pop_back(); },
       "found 19 params, expected 10 per layer for num_layers 2"},
      {[](Lstm& it) { it.num_layers = 3; },
       "found 20 params, expected 10 per layer for num_layers 3"},
      {[](Lstm& it) { it.states[1] = {4, 1, 6}; },
       "hx 1 has shape [4, 1, 6], but should have [4, 3, 6]"},
      {[](Lstm& it) { it.states.pop_back(); }, "hx should be two tensors of 3 dimensions"},
      {[](Lstm& it) { it.input = {5, 4}; }, "input has 2 dimensions, but should have 3"},
  };
  for (const auto& [change, problem] : changes) {
    Lstm lstm;
    change(lstm);
    EXPECT_EQ(lstm.problem(), problem);
  }
  EXPECT_EQ(problem_of("aten::relu", "", {at::zeros({2})}), "");
}

TEST(ArgumentShapes, OfALayerOfOneDnn) {
  const auto problem = [](const Sizes& weight1, const Sizes& cx, int64_t mode) {
    return problem_of(
        "aten::mkldnn_rnn_layer", "",
        {at::zeros({5, 3, 4}), at::zeros({8, 4}), at::zeros(weight1), at::zeros({8}),
         at::zeros({8}), at::zeros({3, 2}), at::zeros(cx), false, std::vector<int64_t>(), mode,
         /*hidden_size=*/2, 1, true, false, false, false});
  };
  EXPECT_EQ(problem({8, 2}, {3, 2}, 2), "");
  EXPECT_EQ(problem({8, 1}, {3, 2}, 2), "weight1 has shape [8, 1], but should have [8, 2]");
  EXPECT_EQ(problem({8, 2}, {3}, 2), "cx_ should have 6 elements");
  EXPECT_EQ(problem({8, 2}, {3, 2}, 7), "unknown mode 7");
}

// The arguments of a call by name; the others have the defaults of the schema.
using Arguments = std::map<std::string, c10::IValue>;

torch::jit::Stack stack_of(const c10::OperatorHandle& op, const Arguments& arguments) {
  torch::jit::Stack stack;
  for (const c10::Argument& argument : op.schema().arguments()) {
    const auto found = arguments.find(argument.name());
    stack.push_back(found != arguments.end() ? found->second
                                             : argument.default_value().value_or(c10::IValue()));
  }
  return stack;
}

std::string problem_with(const c10::OperatorHandle& op, const Arguments& arguments) {
  return problem_of(op, stack_of(op, arguments));
}

// All operators of the dispatcher with this name.
std::vector<c10::OperatorHandle> overloads_of(std::string_view name) {
  std::vector<c10::OperatorHandle> overloads;
  for (const c10::OperatorName& it : c10::Dispatcher::singleton().getAllOpNames()) {
    if (it.name == name) overloads.push_back(*c10::Dispatcher::singleton().findSchema(it));
  }
  return overloads;
}

TEST(ArgumentShapes, OfNormsAreOneForEachChannel) {
  for (const char* name :
       {"aten::native_batch_norm", "aten::_native_batch_norm_legit",
        "aten::_native_batch_norm_legit_no_training", "aten::_native_batch_norm_legit_functional",
        "aten::_batch_norm_with_update", "aten::_batch_norm_with_update_functional",
        "aten::_batch_norm_no_update", "aten::batch_norm_update_stats", "aten::batch_norm_elemt"}) {
    const std::vector<c10::OperatorHandle> overloads = overloads_of(name);
    EXPECT_FALSE(overloads.empty()) << name;
    for (const c10::OperatorHandle& op : overloads) {
      for (const char* argument :
           {"weight", "bias", "running_mean", "running_var", "mean", "invstd"}) {
        if (!op.schema().argumentIndexWithName(argument)) continue;
        const auto problem = [&](const Sizes& input, int64_t channels) {
          return problem_with(op, {{"input", at::zeros(input)}, {argument, at::ones({channels})}});
        };
        EXPECT_EQ(problem({2, 4, 8}, 4), "") << op.schema();
        EXPECT_EQ(problem({2, 4, 8}, 1),
                  std::string(argument) + " has shape [1], but should have [4]")
            << op.schema();
        EXPECT_EQ(problem({2}, 2), "input has 1 dimension, but should have at least 2")
            << op.schema();
      }
    }
  }
}

TEST(ArgumentShapes, OfAViewStayInItsMemory) {
  const auto problem = [](Sizes sizes, Sizes strides) {
    const at::Tensor part = at::zeros({16}).narrow(0, 4, 8);
    return problem_of("aten::_reshape_alias", "", {part, std::move(sizes), std::move(strides)});
  };
  EXPECT_EQ(problem({3, 4}, {4, 1}), "");
  EXPECT_EQ(problem({0, 1000}, {1000, 1}), "");
  EXPECT_THAT(problem({13}, {1}), HasSubstr("sizes [13] with strides [1] reach beyond the memory"));
  EXPECT_THAT(problem({2, 2}, {int64_t{1} << 62, int64_t{1} << 62}), HasSubstr("reach beyond"));
  EXPECT_THAT(problem({2}, {-1}), HasSubstr("reach beyond"));
  EXPECT_EQ(problem({2}, {}), "found 1 sizes and 0 strides");
}

TEST(ArgumentShapes, OfATransformAreItsDimensionsEachOnce) {
  for (const char* name : {"aten::_fft_c2r", "aten::_fft_r2c", "aten::_fft_c2c"}) {
    for (const c10::OperatorHandle& op : overloads_of(name)) {
      const auto problem = [&](const Sizes& dims) {
        return problem_with(op, {{"self", at::zeros({4, 6}, at::kComplexFloat)}, {"dim", dims}});
      };
      EXPECT_EQ(problem({1, 0}), "") << op.schema();
      EXPECT_EQ(problem({9}), "dimension 9 is out of range for rank 2") << op.schema();
      EXPECT_EQ(problem({-1}), "dimension -1 is out of range for rank 2") << op.schema();
      EXPECT_EQ(problem({1, 0, 1}), "duplicate dimension 1") << op.schema();
    }
  }
}

TEST(ArgumentShapes, OfAWeightThatIsNormedHaveANormEach) {
  for (const char* name : {"aten::_weight_norm", "aten::_weight_norm_interface"}) {
    for (const c10::OperatorHandle& op : overloads_of(name)) {
      const auto problem = [&](const Sizes& v, const Sizes& g, int64_t dim) {
        return problem_with(op, {{"v", at::ones(v)}, {"g", at::ones(g)}, {"dim", dim}});
      };
      EXPECT_EQ(problem({5, 2}, {5, 1}, 0), "") << op.schema();
      EXPECT_EQ(problem({5, 2}, {1}, 0), "the number of elements of g is 1, but should be 5")
          << op.schema();
      EXPECT_EQ(problem({5, 2}, {1}, 1), "the number of elements of g is 1, but should be 2")
          << op.schema();
      EXPECT_EQ(problem({0, 2}, {1}, 0), "v is empty") << op.schema();
    }
  }
}

TEST(ArgumentShapes, OfAnAttentionGoTogether) {
  const auto problem = [](const Sizes& query, const Sizes& key, const Sizes& value) {
    return problem_of("aten::_scaled_dot_product_flash_attention_for_cpu", "",
                      {at::zeros(query), at::zeros(key), at::zeros(value), 0.0, false,
                       c10::IValue(), c10::IValue()});
  };
  EXPECT_EQ(problem({2, 4, 7, 8}, {2, 4, 9, 8}, {2, 4, 9, 8}), "");
  EXPECT_EQ(problem({2, 4, 7, 8}, {2, 2, 9, 8}, {2, 2, 9, 8}), "");
  EXPECT_EQ(problem({2, 4, 7, 8}, {1, 4, 9, 8}, {2, 4, 9, 8}),
            "key has shape [1, 4, 9, 8], but should have [2, 4, 9, 8]");
  EXPECT_EQ(problem({2, 4, 7, 8}, {2, 4, 9, 8}, {2, 4, 1, 8}),
            "value has shape [2, 4, 1, 8], but should have [2, 4, 9, 8]");
  EXPECT_EQ(problem({2, 4, 7, 8}, {2, 3, 9, 8}, {2, 3, 9, 8}),
            "query has 4 heads, which is not a multiple of the 3 of key");
  EXPECT_EQ(problem({4, 7, 8}, {4, 7, 8}, {4, 7, 8}), "query has 3 dimensions, but should have 4");
}

TEST(ArgumentShapes, OfHeadsDivideTheirFeatures) {
  const auto problem = [](const Sizes& qkv, const Sizes& bias, int64_t heads) {
    return problem_of("aten::_transform_bias_rescale_qkv", "",
                      {at::zeros(qkv), at::zeros(bias), heads});
  };
  EXPECT_EQ(problem({2, 5, 24}, {24}, 4), "");
  EXPECT_EQ(problem({2, 5, 24}, {1}, 4), "qkv_bias has shape [1], but should have [24]");
  EXPECT_EQ(problem({2, 5, 24}, {24}, 0), "invalid number of heads 0");
  EXPECT_EQ(problem({2, 5, 24}, {24}, 5), "qkv has 24 features, which is not a multiple of 3 x 5");
  EXPECT_THAT(problem({2, 5, 24}, {24}, int64_t{1} << 62),
              HasSubstr("not a multiple of 3 x 461168"));
  for (const char* name :
       {"aten::_native_multi_head_attention", "aten::_transformer_encoder_layer_fwd"}) {
    for (const c10::OperatorHandle& op : overloads_of(name)) {
      EXPECT_EQ(problem_with(op, {{"num_head", 0}, {"num_heads", 0}}), "invalid number of heads 0");
    }
  }
}

TEST(ArgumentShapes, OfAKernelAreThoseOfItsWeight) {
  for (const auto& [name, dims] :
       {std::pair("aten::slow_conv3d", 3), std::pair("aten::slow_conv3d_forward", 3),
        std::pair("aten::slow_conv_transpose2d", 2), std::pair("aten::slow_conv_transpose3d", 3)}) {
    for (const c10::OperatorHandle& op : overloads_of(name)) {
      Sizes weight(static_cast<size_t>(dims), 3);
      weight.insert(weight.begin(), {8, 4});
      const auto problem = [&](int64_t kernel) {
        return problem_with(
            op, {{"weight", at::ones(weight)}, {"kernel_size", Sizes(weight.size() - 2, kernel)}});
      };
      EXPECT_EQ(problem(3), "") << op.schema();
      EXPECT_THAT(problem(10), HasSubstr("but should end with [10, 10")) << op.schema();
    }
  }
}

TEST(ArgumentShapes, OfScalesAreThoseOfGroups) {
  const auto problem = [](const Sizes& scales) {
    return problem_of("aten::_weight_int4pack_mm_for_cpu", "",
                      {at::zeros({4, 64}), at::zeros({16, 32}, at::kByte), 32, at::zeros(scales)});
  };
  EXPECT_EQ(problem({2, 16, 2}), "");
  EXPECT_EQ(problem({1, 16, 2}), "qScaleAndZeros has shape [1, 16, 2], but should have [2, 16, 2]");
}

TEST(ArgumentShapes, OfStatesAreOneForEachLayer) {
  const auto problem = [](int64_t layers) {
    const at::Tensor state = at::zeros({layers, 2, 4});
    const std::vector<at::Tensor> params = {at::ones({16, 8}), at::ones({16, 4})};
    return problem_of("aten::lstm", "data",
                      {at::ones({5, 8}), at::ones({3}, at::kLong), std::vector{state, state},
                       params, false, 1, 0.0, false, false});
  };
  EXPECT_EQ(problem(1), "");
  EXPECT_EQ(problem(0), "the number of layers of hx is 0, but should be 1");
}

at::Tensor indices(const Sizes& sizes) { return at::zeros(sizes, at::kLong); }

// A call that LibTorch accepts, and the problem if `argument` is `value` instead.
struct WrongCall {
  const char* name;
  Arguments arguments;
  const char* argument;
  c10::IValue value;
  const char* problem;
};

// The arguments of all poolings that make three planes (or volumes) of size 2 of those of size 4.
Arguments pooling(size_t dims) {
  const auto three_of = [&](int64_t size) {
    Sizes sizes(dims, size);
    sizes.insert(sizes.begin(), 3);
    return sizes;
  };
  const Sizes twos(dims, 2);
  return {{"grad_output", at::ones(three_of(2))},
          {"self", at::ones(three_of(4))},
          {"indices", indices(three_of(2))},
          {"kernel_size", twos},
          {"output_size", twos},
          {"stride", twos},
          {"padding", Sizes(dims, 0)},
          {"dilation", Sizes(dims, 1)},
          {"ceil_mode", false},
          {"count_include_pad", true}};
}

std::vector<WrongCall> wrong_gradients() {
  const Arguments batch_norm = {{"grad_out", at::ones({2, 3, 4})},
                                {"input", at::ones({2, 3, 4})},
                                {"weight", at::ones(3)},
                                {"running_mean", at::zeros(3)},
                                {"running_var", at::ones(3)},
                                {"save_mean", at::zeros(3)},
                                {"save_invstd", at::ones(3)},
                                {"save_var", at::ones(3)},
                                {"train", true},
                                {"update", true},
                                {"eps", 1e-5},
                                {"reserve", at::zeros(0, at::kByte)},
                                {"output_mask", c10::List<bool>({true, true, true})}};
  const Arguments layer_norm = {
      {"grad_out", at::ones({2, 3, 4})}, {"input", at::ones({2, 3, 4})},
      {"normalized_shape", Sizes{3, 4}}, {"mean", at::zeros({2, 1, 1})},
      {"rstd", at::ones({2, 1, 1})},     {"weight", at::ones({3, 4})},
      {"bias", at::ones({3, 4})},        {"output_mask", c10::List<bool>({true, true, true})}};
  const Arguments softmax = {{"grad_output", at::ones({2, 3})},
                             {"output", at::ones({2, 3})},
                             {"dim", 1},
                             {"input_dtype", at::kFloat}};
  const auto with = [](Arguments arguments, const char* name, c10::IValue value) {
    arguments.insert_or_assign(name, std::move(value));
    return arguments;
  };
  const at::Tensor pair = at::ones({2, 2, 2});
  constexpr const char* kPlanes = "grad_output has shape [2, 2, 2], but should begin with [3]";
  constexpr const char* kVolumes = "grad_output has shape [2, 2, 2, 2], but should begin with [3]";
  const at::Tensor volumes = at::ones({2, 2, 2, 2});
  return {
      {"_adaptive_avg_pool2d_backward", pooling(2), "grad_output", pair, kPlanes},
      {"_adaptive_avg_pool2d_backward", pooling(2), "self", at::ones({3, 0, 4}),
       "grad_output has shape [3, 2, 2], but self is empty"},
      {"_adaptive_avg_pool2d_backward", pooling(2), "grad_output", at::ones({3, 2}),
       "grad_output has 2 dimensions, but should have 3"},
      {"_adaptive_avg_pool3d_backward", pooling(3), "grad_output", volumes, kVolumes},
      {"adaptive_max_pool2d_backward", pooling(2), "grad_output", pair, kPlanes},
      {"adaptive_max_pool2d_backward", pooling(2), "indices", indices({1}),
       "indices has shape [1], but should have [3, 2, 2]"},
      {"adaptive_max_pool3d_backward", pooling(3), "grad_output", volumes, kVolumes},
      {"avg_pool2d_backward", pooling(2), "grad_output", pair, kPlanes},
      {"avg_pool3d_backward", pooling(3), "grad_output", volumes, kVolumes},
      {"fractional_max_pool2d_backward", pooling(2), "grad_output", pair, kPlanes},
      {"fractional_max_pool3d_backward", pooling(3), "grad_output", volumes, kVolumes},
      {"max_pool2d_with_indices_backward", pooling(2), "grad_output", pair, kPlanes},
      {"max_pool3d_with_indices_backward", pooling(3), "grad_output", volumes, kVolumes},
      {"native_batch_norm_backward", batch_norm, "grad_out", at::ones(1),
       "grad_out has shape [1], but should have [2, 3, 4]"},
      {"native_batch_norm_backward", batch_norm, "save_invstd", at::ones(0),
       "save_invstd has shape [0], but should have [3]"},
      {"native_batch_norm_backward",
       with(with(batch_norm, "train", false), "save_mean", at::ones(0)), "weight", at::ones(1),
       "weight has shape [1], but should have [3]"},
      {"batch_norm_backward", batch_norm, "save_var", at::ones(1),
       "save_var has shape [1], but should have [3]"},
      {"native_layer_norm_backward", layer_norm, "grad_out", at::ones(1),
       "grad_out has shape [1], but should have [2, 3, 4]"},
      {"native_layer_norm_backward", layer_norm, "rstd", at::ones(1),
       "the number of elements of rstd is 1, but should be 2"},
      {"native_layer_norm_backward", layer_norm, "weight", at::ones(12),
       "weight has shape [12], but should have [3, 4]"},
      {"native_layer_norm_backward", layer_norm, "normalized_shape", Sizes{2, 3, 4, 5},
       "input has shape [2, 3, 4], but should end with [2, 3, 4, 5]"},
      {"_log_softmax_backward_data", softmax, "output", at::ones({1, 3}),
       "grad_output has shape [2, 3], but should have [1, 3]"},
      {"_softmax_backward_data", softmax, "output", at::ones({1, 3}),
       "grad_output has shape [2, 3], but should have [1, 3]"},
      {"lu_unpack",
       {{"LU_data", at::ones({2, 3, 3})}, {"LU_pivots", at::ones({2, 3}, at::kInt)}},
       "LU_pivots",
       at::ones({1, 3}, at::kInt),
       "LU_pivots has shape [1, 3], but should have [2, 3]"},
  };
}

TEST(ArgumentShapes, OfAPaddingsGradientAreThoseOfItsPlanes) {
  for (const char* kind : {"reflection", "replication"}) {
    for (size_t dims = 1; dims <= 3; ++dims) {
      const std::string name = "aten::" + std::string(kind) + "_pad" + std::to_string(dims);
      const auto op =
          c10::Dispatcher::singleton().findSchemaOrThrow((name + "d_backward").c_str(), "");
      const auto of_planes = [&](int64_t planes) {
        Sizes self(dims, 4);
        Sizes padded(dims, 6);
        self.insert(self.begin(), 3);
        padded.insert(padded.begin(), planes);
        return Arguments{{"self", at::ones(self)},
                         {"grad_output", at::ones(padded)},
                         {"padding", Sizes(2 * dims, 1)}};
      };
      EXPECT_EQ(problem_with(op, of_planes(3)), "") << name;
      torch::jit::Stack stack = stack_of(op, of_planes(3));
      EXPECT_NO_THROW(op.callBoxed(stack)) << name;
      EXPECT_THAT(problem_with(op, of_planes(2)), HasSubstr("but should begin with [3]")) << name;
    }
  }
}

TEST(ArgumentShapes, OfAGradientAreThoseOfWhatItIsThatOf) {
  for (const WrongCall& it : wrong_gradients()) {
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
        (std::string("aten::") + it.name).c_str(), "");
    EXPECT_EQ(problem_with(op, it.arguments), "") << it.name;
    torch::jit::Stack stack = stack_of(op, it.arguments);
    EXPECT_NO_THROW(op.callBoxed(stack)) << it.name;
    Arguments wrong = it.arguments;
    wrong.insert_or_assign(it.argument, it.value);
    EXPECT_EQ(problem_with(op, wrong), it.problem) << it.name;
  }
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/exporter/capture/capture.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/functional.h>
#include <torch/nn/modules.h>
#include <torch/types.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/testing/error_of.h"
#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/exporter/meta/meta_device.h"
#include "torch_ir/ir/testing/program_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Tensors = std::vector<at::Tensor>;

// "add_1 = aten.add.Tensor(self=x, other=2.0)" for each node, none with a list of tensors.
std::vector<std::string> nodes(const Program& program) {
  std::vector<std::string> lines;
  for (const Node& node : program.nodes) {
    std::vector<std::string> arguments;
    for (const Argument& argument : node.arguments) {
      const auto* value = std::get_if<ValueId>(&argument.value);
      const std::string text = value != nullptr
                                   ? program[*value].name
                                   : attribute_text(std::get<Attribute>(argument.value));
      arguments.push_back(argument.name + "=" + text);
    }
    lines.push_back(fmt::format("{} = {}({})", fmt::join(names_of(program, node.outputs), ", "),
                                node.target, fmt::join(arguments, ", ")));
  }
  return lines;
}

std::vector<std::string> placeholders(const Program& program) {
  std::vector<std::string> names;
  for (const GraphInput& input : program.inputs) names.push_back(program[input.value].name);
  return names;
}

// Captures `forward`, a function of one tensor.
template <class Forward>
Program capture(Forward forward, const at::Tensor& input) {
  return export_model(Model([&](const Tensors& inputs) { return Tensors{forward(inputs[0])}; }),
                      {input});
}

std::string capture_error(const Model& model, const Tensors& inputs,
                          const ExportOptions& options = {}) {
  return error_of<ExportError>([&] { export_model(model, inputs, options); });
}

at::Tensor meta(at::IntArrayRef sizes) { return at::empty(sizes, at::TensorOptions(torch::kMeta)); }

TEST(CaptureTest, GivesLinearItsPythonForm) {
  const torch::nn::Linear no_bias(torch::nn::LinearOptions(4, 3).bias(false));
  EXPECT_THAT(nodes(export_model(no_bias, {torch::ones({2, 4})})),
              ElementsAre("linear = aten.linear.default(input=x, weight=p_weight)"));
}

TEST(CaptureTest, LeavesProductsThatAreNotLinearLayers) {
  const at::Tensor x = torch::ones({3, 3});
  EXPECT_THAT(nodes(capture([](const at::Tensor& t) { return t.matmul(t.exp().t()); }, x)),
              ElementsAre("exp = aten.exp.default(self=x)", "t = aten.t.default(self=exp)",
                          "matmul = aten.matmul.default(self=x, other=t)"));
  EXPECT_THAT(nodes(capture(
                  [](const at::Tensor& t) {
                    const at::Tensor bias = torch::ones({3});
                    const at::Tensor transposed = t.exp().t();
                    return torch::addmm(bias, t, transposed) + transposed;
                  },
                  x)),
              ElementsAre(HasSubstr("ones"), "exp = aten.exp.default(self=x)",
                          "t = aten.t.default(self=exp)", HasSubstr("aten.addmm.default"),
                          HasSubstr("aten.add.Tensor")));
}

TEST(CaptureTest, GivesNumbersTheirPythonOverload) {
  const auto forward = [](at::Tensor x) {
    x = (x + 1) * 2.5 / 4;
    x = 1 - x;
    x -= 3;
    return torch::remainder(7 % x, 2);
  };
  EXPECT_THAT(nodes(capture(forward, torch::ones({2}))),
              ElementsAre("add = aten.add.Tensor(self=x, other=1)",
                          "mul = aten.mul.Tensor(self=add, other=2.5)",
                          "div = aten.div.Tensor(self=mul, other=4)",
                          "rsub = aten.rsub.Scalar(self=div, other=1)",
                          "sub_ = aten.sub_.Tensor(self=rsub, other=3)",
                          "remainder = aten.remainder.Scalar_Tensor(self=7, other=sub_)",
                          "remainder_1 = aten.remainder.Scalar(self=remainder, other=2)"));
}

TEST(CaptureTest, LeavesNumbersOfOutFormsAsTheyAre) {
  const auto forward = [](const at::Tensor& x) {
    at::Tensor y = torch::empty_like(x);
    at::mul_out(y, x, 2.5);
    return y;
  };
  EXPECT_THAT(nodes(capture(forward, torch::ones({2}))),
              ElementsAre(HasSubstr("aten.empty_like.default"),
                          "mul = aten.mul.Scalar_out(self=x, other=2.5, out=empty_like)"));
}

TEST(CaptureTest, LeavesFloatsBeforeIntegersToCpp) {
  const Program program =
      capture([](const at::Tensor& x) { return 2.5 - x; }, torch::ones({2}, torch::kLong));
  EXPECT_THAT(nodes(program),
              ElementsAre(HasSubstr("aten.empty_like.default"), HasSubstr("aten.fill_.Scalar"),
                          HasSubstr("aten.sub_.Tensor")));
}

TEST(CaptureTest, DropsTrailingDefaultsOnly) {
  const auto forward = [](const at::Tensor& x) {
    at::Tensor y = torch::max_pool2d(x, {2, 2}, {2, 2});
    y = torch::gelu(y, "tanh");
    y = torch::gelu(y, "none");
    return torch::flatten(y, 0, -1);
  };
  EXPECT_THAT(
      nodes(capture(forward, torch::ones({1, 2, 4, 4}))),
      ElementsAre("max_pool2d = aten.max_pool2d.default(self=x, kernel_size=[2, 2], stride=[2, 2])",
                  "gelu = aten.gelu.default(self=max_pool2d, approximate='tanh')",
                  "gelu_1 = aten.gelu.default(self=gelu)",
                  "flatten = aten.flatten.using_ints(self=gelu_1)"));
}

TEST(CaptureTest, FollowsInPlaceOperatorsAndViews) {
  const auto forward = [](const at::Tensor& x) {
    at::Tensor y = x.exp();
    at::Tensor row = y.select(0, 0);
    row.add_(1);
    y.relu_();
    return y + row;
  };
  EXPECT_THAT(nodes(capture(forward, torch::ones({2, 2}))),
              ElementsAre("exp = aten.exp.default(self=x)",
                          "select = aten.select.int(self=exp, dim=0, index=0)",
                          "add_ = aten.add_.Tensor(self=select, other=1)",
                          "relu_ = aten.relu_.default(self=exp)",
                          "add = aten.add.Tensor(self=relu_, other=add_)"));
}

TEST(CaptureTest, LeavesTheCallersInputsAlone) {
  const at::Tensor x = torch::ones({2});
  capture([](at::Tensor t) { return t.add_(1); }, x);
  EXPECT_TRUE(torch::equal(x, torch::ones({2})));
}

// Output 1 of the first node is "chunk_1", and so would be the second node.
TEST(CaptureTest, NamesNoNodeAsAnEarlierOutput) {
  const auto forward = [](const at::Tensor& x) {
    const std::vector<at::Tensor> halves = x.chunk(2, 1);
    return halves[0].chunk(1, 1)[0] + halves[1];
  };
  EXPECT_THAT(nodes(capture(forward, torch::ones({2, 4}))),
              ElementsAre("chunk_0, chunk_1 = aten.chunk.default(self=x, chunks=2, dim=1)",
                          "chunk_2 = aten.chunk.default(self=chunk_0, chunks=1, dim=1)",
                          "add = aten.add.Tensor(self=chunk_2, other=chunk_1)"));
}

TEST(CaptureTest, NamesNoOutputAsAnInput) {
  const Model split([](const Tensors& inputs) { return inputs[0].split(1); });
  const Program program = export_model(split, {torch::ones({2, 3})}, {.input_names = {"split_1"}});
  EXPECT_THAT(names_of(program, program.outputs), ElementsAre("split_2_0", "split_2_1"));
}

struct ConstantsImpl : torch::nn::Module, LiftedConstants {
  ConstantsImpl() {
    scale = register_parameter("scale", torch::ones({2}));
    register_parameter("tied", scale);
    offset = register_buffer("offset", torch::ones({2}));
    mask = register_constant("mask", torch::tensor({1.f, 0.f}));
    register_constant("unused", torch::tensor({1.f}));
    unnamed = torch::tensor({3.f, 4.f, 5.f, 6.f}).slice(0, 0, 4, 2);
  }
  at::Tensor forward(const at::Tensor& x) { return (x * scale + offset) * mask + unnamed; }
  at::Tensor scale, offset, mask, unnamed;
};
TORCH_MODULE(Constants);

TEST(CaptureTest, NamesPlaceholdersByWhatTheyAre) {
  const Program program = export_model(Constants(), {torch::ones({2})});
  EXPECT_THAT(placeholders(program),
              ElementsAre("p_scale", "b_offset", "c_mask", "c_lifted_tensor_0", "x"));
  EXPECT_EQ(program.model_name, "Constants");
  EXPECT_THAT(program.tied_weights, ElementsAre(ElementsAre("scale", "tied")));
  ASSERT_THAT(program.constants.keys(), ElementsAre("mask", "lifted_tensor_0"));
  EXPECT_TRUE(torch::equal(program.constants["mask"], torch::tensor({1.f, 0.f})));
  EXPECT_TRUE(torch::equal(program.constants["lifted_tensor_0"], torch::tensor({3.f, 5.f})));
}

TEST(CaptureTest, KeepsTheStridesOfWeightsAndConstants) {
  Constants model;
  model->scale.set_data(torch::ones({2, 2}).slice(1, 0, 1).select(1, 0));
  const Program program = export_model(model, {torch::ones({2})});
  std::vector<std::vector<int64_t>> strides;
  for (const GraphInput& input : program.inputs) strides.push_back(program[input.value].strides);
  EXPECT_THAT(strides,
              ElementsAre(ElementsAre(2), IsEmpty(), IsEmpty(), ElementsAre(2), IsEmpty()));
}

TEST(CaptureTest, HasTheSameGraphOnMeta) {
  const std::vector<std::string> real = nodes(export_model(Constants(), {torch::ones({2})}));
  const MetaDeviceGuard guard;
  const Program program = export_model(Constants(), {torch::ones({2})}, {.strict = true});
  EXPECT_EQ(nodes(program), real);
  EXPECT_TRUE(program.constants["mask"].is_meta());
}

// In a capture on meta, only the shapes of real weights matter.
TEST(CaptureTest, TakesRealWeightsOnMetaByTheirShapes) {
  const Program program = export_model(Constants(), {meta({2})});
  EXPECT_THAT(program.nodes, ::testing::SizeIs(4));
  EXPECT_TRUE(torch::equal(program.constants["mask"], torch::tensor({1.f, 0.f})));
}

TEST(CaptureTest, LiftsTensorsMadeFromValuesInForward) {
  const auto forward = [](const at::Tensor& x) {
    return x * torch::tensor({2.f, 3.f}) + torch::tensor(std::vector<float>{4, 5});
  };
  for (const at::Tensor& input : {torch::ones({2}), meta({2})}) {
    const Program program = capture(forward, input);
    EXPECT_THAT(nodes(program),
                ElementsAre("mul = aten.mul.Tensor(self=x, other=c_lifted_tensor_0)",
                            "add = aten.add.Tensor(self=mul, other=c_lifted_tensor_1)"));
    EXPECT_TRUE(torch::equal(program.constants["lifted_tensor_0"], torch::tensor({2.f, 3.f})));
    EXPECT_TRUE(torch::equal(program.constants["lifted_tensor_1"], torch::tensor({4.f, 5.f})));
  }
}

// A buffer that a model fills piece by piece: the pieces stay views of the whole.
TEST(CaptureTest, KeepsViewsOfScratchThatIsWrittenTo) {
  const auto forward = [](const at::Tensor& x) {
    at::Tensor whole = at::empty({2, 2});
    at::Tensor first = whole[0];
    at::Tensor second = whole[1];
    first.copy_(x);
    second.fill_(7);
    return whole;
  };
  const Program program = capture(forward, torch::ones({2}));
  EXPECT_THAT(nodes(program),
              ElementsAre("select = aten.select.int(self=c_lifted_tensor_0, dim=0, index=0)",
                          "copy_ = aten.copy_.default(self=select, src=x)",
                          "select_1 = aten.select.int(self=c_lifted_tensor_0, dim=0, index=1)",
                          "fill_ = aten.fill_.Scalar(self=select_1, value=7)"));
  EXPECT_THAT(names_of(program, program.outputs), ElementsAre("c_lifted_tensor_0"));
  EXPECT_TRUE(torch::equal(program.constants["lifted_tensor_0"], torch::zeros({2, 2})));
}

// As torch.fx does, which never takes the name of a built-in function of Python.
TEST(CaptureTest, StartsSomeNamesAtOne) {
  const auto forward = [](const at::Tensor& x) {
    at::Tensor y = torch::sum(x).pow(2);
    y = torch::sum(y).add(y);
    y = y.gt(0);
    return torch::__and__(y, y);
  };
  const Program program = capture(forward, torch::ones({2}));
  std::vector<std::string> names;
  for (const Node& node : program.nodes) names.push_back(node.name);
  EXPECT_THAT(names, ElementsAre("sum_1", "pow_1", "sum_2", "add", "gt", "and_1"));
}

TEST(CaptureTest, NamesInputsAsTold) {
  const Model add([](const Tensors& inputs) { return Tensors{inputs[0] + inputs[1], inputs[0]}; });
  const at::Tensor x = torch::ones({2});
  EXPECT_THAT(placeholders(export_model(add, {x, x})), ElementsAre("x1", "x2"));
  const Program program = export_model(add, {x, x}, {.input_names = {"query", "add"}});
  EXPECT_THAT(placeholders(program), ElementsAre("query", "add"));
  // A node never takes the name of a placeholder, which may be an output, too.
  EXPECT_THAT(names_of(program, program.outputs), ElementsAre("add_1", "query"));
  EXPECT_EQ(capture_error(add, {x, x}, {.input_names = {"query"}}),
            "cannot export the model: wrong number of input names: 1, expected 2");
}

TEST(CaptureTest, RefusesOperatorsThatNeedData) {
  const auto model = [](auto forward) {
    return Model([forward](const Tensors& inputs) { return Tensors{forward(inputs[0])}; });
  };
  const Model nonzero = model([](const at::Tensor& x) { return torch::nonzero(x); });
  EXPECT_EQ(capture_error(nonzero, {meta({2})}),
            "cannot export the model: aten::nonzero needs the data of its input, but the "
            "meta device has none: replace it, or export on real tensors");
  EXPECT_EQ(capture_error(nonzero, {torch::ones({2})}), "");

  const Model item = model([](const at::Tensor& x) { return x * x.sum().item(); });
  for (const at::Tensor& input : {torch::ones({2}), meta({2})}) {
    EXPECT_EQ(capture_error(item, {input}),
              "cannot export the model: aten::item needs the data of a tensor, so the graph would "
              "be valid for these inputs only: replace it with tensor operators");
  }

  const Model equal =
      model([](const at::Tensor& x) { return torch::equal(x, x.exp()) ? x : x + 1; });
  EXPECT_THAT(capture_error(equal, {meta({2})}),
              HasSubstr("aten::equal needs the data of a tensor"));
  const Model same = model([](const at::Tensor& x) { return torch::equal(x, x) ? x : x + 1; });
  EXPECT_EQ(capture_error(same, {meta({2})}), "");
  const Model sizes =
      model([](const at::Tensor& x) { return torch::equal(x, x.sum(0)) ? x : x + 1; });
  EXPECT_EQ(capture_error(sizes, {meta({2})}), "");
}

TEST(CaptureTest, NamesTheModelThatItCanNotExport) {
  const torch::nn::Linear linear(4, 3);
  EXPECT_EQ(capture_error(linear, {torch::ones({2, 5})}),
            "cannot export model 'Linear': aten::addmm failed: mat1 and mat2 shapes cannot "
            "be multiplied (2x5 and 4x3)");
  EXPECT_THAT(capture_error(linear, {meta({2, 5})}),
              HasSubstr("cannot export model 'Linear': aten::addmm failed on the meta device: "));
  EXPECT_EQ(
      capture_error(Model([](const Tensors&) -> Tensors { throw std::runtime_error("boom"); }),
                    {torch::ones({1})}),
      "cannot export the model: the model failed: boom");
}

TEST(CaptureTest, RefusesTrainingModeOnlyWhereItMatters) {
  torch::nn::BatchNorm2d norm(3);
  EXPECT_EQ(capture_error(norm, {torch::ones({2, 3, 4, 4})}),
            "cannot export model 'BatchNorm2d': aten::batch_norm runs in training mode, "
            "whose results differ from inference: call model.eval() (C++: "
            "model->eval()) before the export");
  norm->eval();
  EXPECT_EQ(capture_error(norm, {torch::ones({2, 3, 4, 4})}), "");

  torch::nn::InstanceNorm2d tracked(torch::nn::InstanceNorm2dOptions(3).track_running_stats(true));
  EXPECT_THAT(capture_error(tracked, {torch::ones({2, 3, 4, 4})}),
              HasSubstr("aten::instance_norm runs in training mode"));
  tracked->eval();
  EXPECT_EQ(capture_error(tracked, {torch::ones({2, 3, 4, 4})}), "");
  EXPECT_EQ(capture_error(torch::nn::InstanceNorm2d(3), {torch::ones({2, 3, 4, 4})}), "");

  torch::nn::Dropout dropout(0.5);
  EXPECT_THAT(capture_error(dropout, {torch::ones({2})}),
              HasSubstr("aten::dropout runs in training"));
  EXPECT_EQ(capture_error(torch::nn::Dropout(0.0), {torch::ones({2})}), "");
  EXPECT_EQ(capture_error(torch::nn::Linear(2, 2), {torch::ones({2, 2})}), "");
  EXPECT_EQ(capture_error(torch::nn::LSTM(2, 2), {torch::ones({3, 1, 2})}), "");

  // Uses the statistics of the batch in both modes.
  torch::nn::BatchNorm2d untracked(torch::nn::BatchNormOptions(3).track_running_stats(false));
  untracked->eval();
  EXPECT_EQ(capture_error(untracked, {torch::ones({2, 3, 4, 4})}), "");
  const Model without_statistics([](const Tensors& inputs) -> Tensors {
    return {
        std::get<0>(at::_native_batch_norm_legit(inputs[0], {}, {}, /*training=*/true, 0.1, 1e-5))};
  });
  EXPECT_EQ(capture_error(without_statistics, {torch::ones({2, 3, 4, 4})}), "");
}

TEST(CaptureTest, RefusesMixedDevicesAndUndefinedInputs) {
  const Model add([](const Tensors& inputs) { return Tensors{inputs[0] + inputs[1]}; });
  EXPECT_EQ(capture_error(add, {meta({2}), torch::ones({2})}),
            "cannot export the model: input 1 is on cpu while others are on meta: put all "
            "inputs on one device");
  EXPECT_EQ(capture_error(add, {torch::ones({2}), at::Tensor()}),
            "cannot export the model: input 1 is undefined");
  const torch::nn::Linear linear = [] {
    const MetaDeviceGuard guard;
    return torch::nn::Linear(2, 2);
  }();
  EXPECT_EQ(capture_error(linear, {torch::ones({2, 2})}),
            "cannot export model 'Linear': 'weight' is on meta, but input 0 is on cpu: put "
            "the inputs on meta as well (torch::Device(torch::kMeta))");
}

TEST(CaptureTest, StrictModeRefusesWhatHasData) {
  EXPECT_EQ(capture_error(torch::nn::Linear(2, 2), {meta({2, 2})}, {.strict = true}),
            "Model must be on meta device for weight-free IR extraction.");
  EXPECT_EQ(capture_error(Model([](const Tensors& inputs) { return inputs; }), {torch::ones({2})},
                          {.strict = true}),
            "Model must be on meta device for weight-free IR extraction.");
}

}  // namespace
}  // namespace torch_ir

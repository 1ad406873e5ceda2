#include "torch_ir/verifier/float64_run.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/view_as_complex.h>
#include <c10/core/DefaultDtype.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;

TEST(Float64Graph, ChangesDtypesOnly) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}, at::kHalf));
  const V index = graph.input("index", at::arange(2));
  const V weight = graph.weight("weight", at::randn({2, 4}, at::kBFloat16));
  const V chosen = graph.call1("aten.index_select.default", {weight, 0, index});
  const V cast = graph.call1("aten.to.dtype", {chosen, c10::kHalf});
  graph.output(graph.call1("aten._softmax.default", {x, 1, false}));
  graph.output(graph.call1("aten.add.Tensor", {x, cast}));
  const Program wide = in_float64(*graph.program());
  for (const Value& value : wide.values) {
    EXPECT_EQ(value.dtype, value.name == "index" ? c10::kLong : c10::kDouble) << value.name;
  }
  EXPECT_EQ(*wide.nodes[1].find_attribute("dtype"), Attribute(c10::kDouble));
  EXPECT_EQ(to_ir(wide).nodes[2].attrs, graph.ir.nodes[2].attrs);
}

TEST(Float64Graph, ConvertsConstantsAndComplexNumbers) {
  IR ir;
  ir.weights = {{.name = "c", .shape = {2}, .dtype = "complex64"}};
  ir.constants.insert("c", at::view_as_complex(at::randn({2, 2})));
  const Program wide = in_float64(resolve(ir));
  EXPECT_EQ(wide.values[0].dtype, c10::kComplexDouble);
  EXPECT_EQ(wide.constants["c"].scalar_type(), c10::kComplexDouble);
  EXPECT_TRUE(at::equal(wide.constants["c"], ir.constants["c"].to(c10::kComplexDouble)));
}

TEST(Float64Graph, RefusesBitCasts) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({4}));
  graph.output(graph.call1("aten.view.dtype", {x, c10::kInt}));
  try {
    in_float64(*graph.program());
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "node 'n0' (aten.view.dtype): it reinterprets the bits of one dtype as another");
  }
}

TEST(Float64Graph, RefusesQuantizedValues) {
  IR ir;
  ir.graph_inputs = {{.name = "x", .shape = {2}, .dtype = "qint8"}};
  const Program program = resolve(ir);
  EXPECT_THROW(in_float64(program), Error);
}

TEST(Float64Tensors, KeepStridesAndSharedMemory) {
  const at::Tensor base = at::randn({4, 6});
  const std::vector<at::Tensor> tensors = {
      base.t(),    base[1], base.narrow(1, 2, 2), at::arange(3), at::randn({1, 3}).expand({4, 3}),
      at::Tensor()};
  const std::vector<at::Tensor> wide = in_float64(tensors);
  ASSERT_EQ(wide.size(), tensors.size());
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(wide[i].strides(), tensors[i].strides()) << i;
    EXPECT_TRUE(at::equal(wide[i], tensors[i].to(in_float64(tensors[i].scalar_type())))) << i;
  }
  EXPECT_TRUE(wide[3].is_same(tensors[3]) || wide[3].is_alias_of(tensors[3]));
  EXPECT_FALSE(wide[5].defined());
  wide[1].fill_(7);
  EXPECT_EQ(wide[0][3][1].item<double>(), 7);
  EXPECT_EQ(wide[2][1][0].item<double>(), 7);
  EXPECT_NE(base[1][0].item<float>(), 7);
}

TEST(Float64Tensors, RefuseMemoryOfSeveralDtypes) {
  const at::Tensor base = at::ones({4});
  EXPECT_THROW(in_float64({base, base.view(c10::kInt)}), Error);
}

TEST(Float64Run, ComputesWhatEagerDoesInFloat64) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}, at::kBFloat16));
  const V weight = graph.weight("weight", at::randn({3, 4}, at::kBFloat16));
  const V linear = graph.call1("aten.linear.default", {x, weight});
  const V wide = graph.call1("aten._to_copy.default", {linear, c10::kFloat});
  graph.output(graph.call1("aten.softmax.int", {wide, -1}));
  Float64Run run(graph.as_case());
  const at::Tensor expected =
      at::linear(graph.inputs[0].to(at::kDouble), graph.weights["weight"].to(at::kDouble));
  EXPECT_TRUE(same_bits(run.value("n0"), expected));
  EXPECT_EQ(run.doubt("n0"), "");
  const std::vector<at::Tensor> outputs = run.outputs();
  ASSERT_EQ(outputs.size(), 1);
  EXPECT_TRUE(same_bits(outputs[0], at::softmax(expected, -1)));
}

// LibTorch's own product of int8 overflows on some processors.
TEST(Float64Run, MultipliesInt8Exactly) {
  EagerGraph graph;
  const V x = graph.input("x", at::full({8, 64}, 127, at::kChar));
  const V weight = graph.weight("weight", at::full({64, 16}, 127, at::kChar));
  graph.output(graph.call1("aten._int_mm.default", {x, weight}));
  const at::Tensor product = Float64Run(graph.as_case()).value("n0");
  EXPECT_TRUE(at::equal(product, at::full({8, 16}, 64 * 127 * 127, at::kInt)));
}

TEST(Float64Run, MakesNewTensorsInFloat64) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({3}));
  const V ones = graph.call1("aten.ones.default", {Attribute::list({Attribute(3)})});
  graph.output(graph.call1("aten.div.Tensor", {ones, x}));
  Float64Run run(graph.as_case());
  EXPECT_EQ(run.value("n0").scalar_type(), at::kDouble);
  EXPECT_TRUE(same_bits(run.value("n1"), 1 / graph.inputs[0].to(at::kDouble)));
  EXPECT_EQ(c10::get_default_dtype_as_scalartype(), at::kFloat);
}

TEST(Float64Run, LeavesWhatTheGraphWritesTo) {
  EagerGraph graph;
  const at::Tensor given = at::ones({3}, at::kDouble);
  const V x = graph.input("x", given.clone());
  graph.output(graph.call1("aten.add_.Scalar", {x, 1}));
  graph.inputs = {given};
  Float64Run run(graph.as_case());
  EXPECT_TRUE(at::equal(run.outputs().at(0), given + 1));
  EXPECT_TRUE(at::equal(given, at::ones({3}, at::kDouble)));
}

// One number, expanded so far that copies would fill the memory.
TEST(Float64Run, LeavesWeightsThatAreTooLarge) {
  EagerGraph graph;
  const V w = graph.weight("w", at::ones({1}).expand({(int64_t{1} << 30) + 1}));
  graph.output(graph.call1("aten.select.int", {w, 0, 5}));
  Float64Run run(graph.as_case());
  EXPECT_FALSE(run.value("n0").defined());
  EXPECT_THAT(run.doubt("n0"), HasSubstr("8 GiB in float64"));
}

// In bfloat16 1 + 2^-12 is 1.
EagerGraph deciding_graph() {
  EagerGraph graph;
  const V x = graph.input("x", at::tensor({1.0, 2.0}, at::kDouble).to(at::kBFloat16));
  const V sum = graph.call1("aten.add.Scalar", {x, 0x1p-12});
  const V scaled = graph.call1("aten.mul.Tensor", {sum, x});
  const V chosen = graph.call1("aten.gt.Scalar", {scaled, 1.0});
  const V other = graph.call1("aten.neg.default", {x});
  graph.output(graph.call1("aten.where.self", {chosen, scaled, other}));
  graph.output(other);
  return graph;
}

TEST(Float64Run, DoubtsWhatComesOfAnotherDecision) {
  const EagerGraph graph = deciding_graph();
  Float64Run run(graph.as_case());
  ASSERT_EQ(run.outputs().size(), 2);
  EXPECT_EQ(run.doubt("n2"), "node 'n2' (aten.gt.Scalar) decides differently in float64");
  EXPECT_EQ(run.doubt("n4"), "node 'n2' (aten.gt.Scalar) decides differently in float64");
  EXPECT_EQ(run.doubt("n1"), "");
  EXPECT_EQ(run.doubt("n3"), "");
}

TEST(Float64Run, TrustsEqualDecisions) {
  EagerGraph graph;
  const V x = graph.input("x", at::tensor({1.0, -2.0, 3.0}, at::kDouble).to(at::kFloat));
  const V index = graph.call1("aten.argmax.default", {x});
  graph.output(graph.call1("aten.index.Tensor", {x, VList{index}}));
  Float64Run run(graph.as_case());
  EXPECT_EQ(run.outputs().at(0).item<double>(), 3);
  EXPECT_EQ(run.doubt("n1"), "");
}

TEST(Float64Run, DoubtsWhatIsRoundedOtherwise) {
  EagerGraph graph;
  const V x = graph.input("x", at::tensor({1.0, 2.0}, at::kDouble).to(at::kBFloat16));
  const V below = graph.call1("aten.sub.Scalar", {x, 0x1p-12});
  const V whole = graph.call1("aten.floor.default", {below});
  graph.output(graph.call1("aten.add.Tensor", {whole, x}));
  Float64Run run(graph.as_case());
  EXPECT_TRUE(at::equal(run.outputs().at(0), at::tensor({1.0, 3.0}, at::kDouble)));
  EXPECT_EQ(run.doubt("n2"), "node 'n1' (aten.floor.default) decides differently in float64");
}

TEST(Float64Run, DoubtsRandomNumbersAndLeavesTheGenerator) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({8}));
  const V noise = graph.call1("aten.rand_like.default", {x});
  graph.output(graph.call1("aten.add.Tensor", {x, noise}));
  graph.output(graph.call1("aten.dropout.default", {x, 0.5, false}));
  Float64Run run(graph.as_case());
  at::manual_seed(1);
  ASSERT_EQ(run.outputs().size(), 2);
  EXPECT_EQ(run.doubt("n1"), "node 'n0' (aten.rand_like.default) draws random numbers");
  EXPECT_EQ(run.doubt("n2"), "");
  const at::Tensor next = at::rand({2});
  at::manual_seed(1);
  EXPECT_TRUE(at::equal(next, at::rand({2})));
}

TEST(Float64Run, SaysWhyThereIsNone) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({4}));
  graph.output(graph.call1("aten.view.dtype", {x, c10::kInt}));
  Float64Run run(graph.as_case());
  EXPECT_TRUE(run.outputs().empty());
  EXPECT_FALSE(run.value("n0").defined());
  EXPECT_THAT(run.doubt("n0"), HasSubstr("reinterprets the bits of one dtype"));
}

// A cast that stays float32 whatever it is given.
TEST(Float64Run, SaysWhereAnOperatorDoesNotComputeInFloat64) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({4}));
  graph.output(graph.call1("aten._cast_Float.default", {x}));
  Float64Run run(graph.as_case());
  EXPECT_TRUE(run.outputs().empty());
  EXPECT_THAT(run.doubt("n0"), HasSubstr("float32"));
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/verifier/float64_graph.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/view_as_complex.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/executor/testing/eager_graph.h"

namespace torch_ir {
namespace {

TEST(Float64Graph, ChangesDtypesOnly) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}, at::kHalf));
  const V index = graph.input("index", at::arange(2));
  const V weight = graph.weight("weight", at::randn({2, 4}, at::kBFloat16));
  const V chosen = graph.call1("aten.index_select.default", {weight, 0, index});
  const V cast = graph.call1("aten.to.dtype", {chosen, c10::kHalf});
  graph.output(graph.call1("aten._softmax.default", {x, 1, false}));
  graph.output(graph.call1("aten.add.Tensor", {x, cast}));
  const IR wide = in_float64(graph.ir);
  EXPECT_EQ(wide.graph_inputs[0].dtype, "float64");
  EXPECT_EQ(wide.graph_inputs[1].dtype, "int64");
  EXPECT_EQ(wide.weights[0].dtype, "float64");
  EXPECT_EQ(wide.graph_outputs[1].dtype, "float64");
  for (const OpNode& node : wide.nodes) EXPECT_EQ(node.outputs[0].dtype, "float64") << node.op_type;
  EXPECT_EQ(*wide.nodes[1].attrs.find("dtype"), Attribute(c10::kDouble));
  EXPECT_EQ(wide.nodes[2].attrs, graph.ir.nodes[2].attrs);
}

TEST(Float64Graph, ConvertsConstantsAndComplexNumbers) {
  IR ir;
  ir.weights = {{.name = "c", .shape = {2}, .dtype = "complex64"}};
  ir.constants.insert("c", at::view_as_complex(at::randn({2, 2})));
  const IR wide = in_float64(ir);
  EXPECT_EQ(wide.weights[0].dtype, "complex128");
  EXPECT_EQ(wide.constants["c"].scalar_type(), c10::kComplexDouble);
  EXPECT_TRUE(at::equal(wide.constants["c"], ir.constants["c"].to(c10::kComplexDouble)));
}

TEST(Float64Graph, RefusesBitCasts) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({4}));
  graph.output(graph.call1("aten.view.dtype", {x, c10::kInt}));
  try {
    in_float64(graph.ir);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "node 'n0' (aten.view.dtype): it takes the bits of one dtype for those of another");
  }
}

TEST(Float64Graph, RefusesQuantizedValues) {
  IR ir;
  ir.graph_inputs = {{.name = "x", .shape = {2}, .dtype = "qint8"}};
  EXPECT_THROW(in_float64(ir), Error);
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

}  // namespace
}  // namespace torch_ir

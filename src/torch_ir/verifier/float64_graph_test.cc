#include "torch_ir/verifier/float64_graph.h"

#include <ATen/ops/view_as_complex.h>
#include <gmock/gmock.h>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/testing/eager_graph.h"
#include "torch_ir/verifier/testing/tensors.h"

namespace torch_ir {
namespace {

using ::testing::IsEmpty;

TEST(Float64Graph, ChangesDtypesOnly) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}, at::kHalf));
  const V index = graph.input("index", at::arange(2));
  const V weight = graph.weight("weight", at::randn({2, 4}, at::kBFloat16));
  const V chosen = graph.call1("aten.index_select.default", {weight, 0, index});
  const V cast = graph.call1("aten.to.dtype", {chosen, c10::kHalf});
  graph.output(graph.call1("aten._softmax.default", {x, 1, false}));
  graph.output(graph.call1("aten.add.Tensor", {x, cast}));
  std::map<size_t, std::string> obstacles;
  const Program wide = in_float64(*graph.program(), obstacles);
  EXPECT_THAT(obstacles, IsEmpty());
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
  std::map<size_t, std::string> obstacles;
  const Program wide = in_float64(resolve(ir), obstacles);
  EXPECT_EQ(wide.values[0].dtype, c10::kComplexDouble);
  EXPECT_EQ(wide.constants["c"].scalar_type(), c10::kComplexDouble);
  EXPECT_TRUE(at::equal(wide.constants["c"], ir.constants["c"].to(c10::kComplexDouble)));
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

TEST(Float64Graph, RefusesQuantizedValuesAndMemoryOfSeveralDtypes) {
  IR ir;
  ir.graph_inputs = {{.name = "x", .shape = {2}, .dtype = "qint8"}};
  std::map<size_t, std::string> obstacles;
  EXPECT_THROW(in_float64(resolve(ir), obstacles), Error);
  const at::Tensor base = at::ones({4});
  EXPECT_THROW(in_float64({base, base.view(c10::kInt)}), Error);
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/verifier/lanes.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/softmax.h>
#include <c10/core/DefaultDtype.h>
#include <gmock/gmock.h>

#include "torch_ir/base/error.h"
#include "torch_ir/operators/op_handler_registry.h"
#include "torch_ir/verifier/testing/graphs.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// The lanes of a graph of which the run returned nothing.
struct Walk {
  explicit Walk(const EagerGraph& graph)
      : program(graph.program()),
        lanes(in_float64(graph.as_case()), graph.as_case(), std::nullopt, {}) {}

  ValueId id(const std::string& name) const { return program->find(name).value(); }
  // Walks as far as the value.
  at::Tensor exact(const std::string& name) {
    while (lanes.next_node() <= (*program)[id(name)].producer.value()) lanes.advance();
    lanes.settle();
    return lanes.exact(id(name));
  }
  std::string doubt(const std::string& name) const { return lanes.doubt(id(name)); }

  std::shared_ptr<const Program> program;
  Lanes lanes;
};

TEST(LanesTest, TheExactOneComputesWhatEagerDoesInFloat64) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}, at::kBFloat16));
  const V weight = graph.weight("weight", at::randn({3, 4}, at::kBFloat16));
  const V linear = graph.call1("aten.linear.default", {x, weight});
  const V wide = graph.call1("aten._to_copy.default", {linear, c10::kFloat});
  graph.output(graph.call1("aten.softmax.int", {wide, -1}));
  Walk walk(graph);
  const at::Tensor expected =
      at::linear(graph.inputs[0].to(at::kDouble), graph.weights["weight"].to(at::kDouble));
  EXPECT_TRUE(same_bits(walk.exact("n0"), expected));
  EXPECT_EQ(walk.doubt("n0"), "");
  EXPECT_TRUE(same_bits(walk.exact("n2"), at::softmax(expected, -1)));
}

TEST(LanesTest, NewTensorsAreFloat64) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({3}));
  const V ones = graph.call1("aten.ones.default", {Attribute::list({Attribute(3)})});
  graph.output(graph.call1("aten.div.Tensor", {ones, x}));
  Walk walk(graph);
  EXPECT_EQ(walk.exact("n0").scalar_type(), at::kDouble);
  EXPECT_TRUE(same_bits(walk.exact("n1"), 1 / graph.inputs[0].to(at::kDouble)));
  EXPECT_EQ(c10::get_default_dtype_as_scalartype(), at::kFloat);
}

TEST(LanesTest, LeaveWhatTheGraphWritesTo) {
  EagerGraph graph;
  const at::Tensor given = at::ones({3}, at::kDouble);
  const V x = graph.input("x", given.clone());
  graph.output(graph.call1("aten.add_.Scalar", {x, 1}));
  graph.inputs = {given};
  EXPECT_TRUE(at::equal(Walk(graph).exact("n0"), given + 1));
  EXPECT_TRUE(at::equal(given, at::ones({3}, at::kDouble)));
}

// One number, expanded so far that copies would fill the memory.
TEST(LanesTest, RefuseWeightsThatAreTooLarge) {
  EagerGraph graph;
  const V w = graph.weight("w", at::ones({1}).expand({(int64_t{1} << 30) + 1}));
  graph.output(graph.call1("aten.select.int", {w, 0, 5}));
  EXPECT_THAT([&] { Walk walk(graph); }, ThrowsMessage<Error>(HasSubstr("8 GiB in float64")));
}

// In bfloat16 1 + 2^-12 is 1.
TEST(LanesTest, TheExactOneDecidesAsTheEagerOne) {
  EagerGraph graph;
  const V x = graph.input("x", at::tensor({1.0, 2.0}, at::kDouble).to(at::kBFloat16));
  const V sum = graph.call1("aten.add.Scalar", {x, 0x1p-12});
  const V chosen = graph.call1("aten.gt.Scalar", {sum, 1.0});
  const V other = graph.call1("aten.neg.default", {x});
  graph.output(graph.call1("aten.where.self", {chosen, sum, other}));
  Walk walk(graph);
  EXPECT_TRUE(at::equal(walk.exact("n0"), at::tensor({1 + 0x1p-12, 2 + 0x1p-12}, at::kDouble)));
  EXPECT_TRUE(at::equal(walk.exact("n3"), at::tensor({-1.0, 2 + 0x1p-12}, at::kDouble)));
  EXPECT_EQ(walk.doubt("n3"), "");
}

TEST(LanesTest, TheExactOneJumpsAsTheEagerOne) {
  Walk walk(chain(at::tensor({1.0, 2.0}, at::kDouble).to(at::kBFloat16),
                  {{"aten.sub.Scalar", {0x1p-12}}, {"aten.floor.default"}}));
  EXPECT_TRUE(at::equal(walk.exact("n1"), at::tensor({1.0, 2.0}, at::kDouble)));
}

TEST(LanesTest, RandomNumbersAreDoubtfulAndTheGeneratorStays) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({8}));
  const V noise = graph.call1("aten.rand_like.default", {x});
  graph.output(graph.call1("aten.add.Tensor", {x, noise}));
  graph.output(graph.call1("aten.dropout.default", {x, 0.5, false}));
  Walk walk(graph);
  at::manual_seed(1);
  const at::Tensor drawn = walk.exact("n0");
  EXPECT_TRUE(at::equal(drawn, walk.lanes.eager(walk.id("n0")).to(at::kDouble)));
  EXPECT_TRUE(at::equal(walk.exact("n1"), drawn + 1));
  EXPECT_EQ(walk.doubt("n1"), "node 'n0' (aten.rand_like.default) draws random numbers");
  walk.exact("n2");
  EXPECT_EQ(walk.doubt("n2"), "");
  const at::Tensor next = at::rand({2});
  at::manual_seed(1);
  EXPECT_TRUE(at::equal(next, at::rand({2})));
}

TEST(LanesTest, NodesWithoutFloat64AreDoubtful) {
  EagerGraph graph;
  const V x = graph.input("x", at::ones({4}));
  const V bits = graph.call1("aten.view.dtype", {x, c10::kInt});
  const V back = graph.call1("aten.view.dtype", {bits, c10::kFloat});
  graph.output(graph.call1("aten.add.Scalar", {back, 0.5}));
  // A cast that stays float32 whatever it is given.
  graph.output(graph.call1("aten._cast_Float.default", {x}));
  Walk walk(graph);
  EXPECT_TRUE(at::equal(walk.exact("n2"), at::full({4}, 1.5, at::kDouble)));
  EXPECT_THAT(walk.doubt("n2"), HasSubstr("'n0' (aten.view.dtype): it reinterprets the bits"));
  EXPECT_EQ(walk.exact("n3").scalar_type(), at::kDouble);
  EXPECT_EQ(walk.doubt("n3"), "node 'n3' (aten._cast_Float.default) computes in float32");
}

// How often an operator was called in float64.
int num_wide_calls = 0;
const bool registered_cosh = [] {
  register_executor("aten.cosh.default", [](const OpNode&, const std::vector<at::Tensor>& inputs) {
    num_wide_calls += inputs[0].scalar_type() == at::kDouble;
    return std::vector<at::Tensor>{inputs[0].cosh()};
  });
  return true;
}();

TEST(LanesTest, TheExactOneIsLazy) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4}));
  const V n0 = graph.call1("aten.cosh.default", {x});
  const V n1 = graph.call1("aten.exp.default", {n0});
  graph.output(graph.call1("aten.add.Tensor", {n0, n1}));
  const at::Tensor cosh = graph.inputs[0].cosh();
  for (const bool is_equal : {true, false}) {
    num_wide_calls = 0;
    Walk walk(graph);
    walk.lanes.advance();
    walk.lanes.take_over(walk.id("n0"), is_equal ? cosh : cosh * 2);
    walk.lanes.advance();
    EXPECT_EQ(num_wide_calls, is_equal ? 0 : 1);
    walk.lanes.advance();
    const at::Tensor taken = cosh.to(at::kDouble) * (is_equal ? 1 : 2);
    EXPECT_TRUE(at::equal(walk.lanes.exact(walk.id("n2")), taken.add(taken.exp())));
  }
}

}  // namespace
}  // namespace torch_ir

// Operators of many kinds through the dispatcher: the plan gives the bits of eager calls.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/remainder.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/executor/interpreter/node_run.h"
#include "torch_ir/executor/testing/eager_graph.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

constexpr std::monostate kDefault;

Attribute ints(std::initializer_list<Attribute> values) { return Attribute::list(values); }

TEST(Operators, OfOneTensor) {
  for (const char* name :
       {"abs",         "acos",      "alias",       "asinh",       "bitwise_not",    "ceil",
        "contiguous",  "cos",       "cosh",        "deg2rad",     "detach",         "elu",
        "erf",         "exp",       "expm1",       "floor",       "frac",           "gelu",
        "hardsigmoid", "hardswish", "hardtanh",    "isfinite",    "isnan",          "leaky_relu",
        "log",         "log1p",     "log_sigmoid", "logical_not", "logit",          "mean",
        "mish",        "neg",       "nonzero",     "ones_like",   "reciprocal",     "relu",
        "relu6",       "round",     "rsqrt",       "selu",        "sigmoid",        "sign",
        "silu",        "sin",       "softplus",    "sqrt",        "square",         "sum",
        "t",           "tan",       "tanh",        "trunc",       "unsqueeze_copy", "zeros_like"}) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kLong}) {
      EagerGraph graph;
      const V x = graph.input("x", (at::randn({3, 4}) * 3).to(type));
      std::vector<EagerArgument> arguments = {x};
      if (std::string(name) == "unsqueeze_copy") arguments.emplace_back(Attribute(1));
      try {
        graph.output(graph.call1("aten." + std::string(name) + ".default", arguments));
      } catch (const c10::Error&) {
        continue;  // Not for this dtype.
      }
      EXPECT_EQ(difference_from_eager(graph), "") << name << " of " << dtype_name(type);
    }
  }
}

TEST(Operators, OfTwoTensors) {
  for (const char* op_type : {"aten.add.Tensor",        "aten.sub.Tensor",
                              "aten.mul.Tensor",        "aten.div.Tensor",
                              "aten.maximum.default",   "aten.minimum.default",
                              "aten.pow.Tensor_Tensor", "aten.remainder.Tensor",
                              "aten.atan2.default",     "aten.eq.Tensor",
                              "aten.lt.Tensor",         "aten.logical_and.default",
                              "aten.mm.default",        "aten.matmul.default",
                              "aten.linear.default",    "aten.type_as.default",
                              "aten.expand_as.default", "aten.mse_loss.default",
                              "aten.kron.default",      "aten.cosine_similarity.default",
                              "aten.cdist.default"}) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({4, 4}));
    graph.output(graph.call1(op_type, {x, graph.weight("w", at::randn({4, 4}))}));
    EXPECT_EQ(difference_from_eager(graph), "") << op_type;
  }
}

// An operator with arguments of its own; x is [2, 3, 8, 8], n is [2, 3, 8, 8] of int64 in [0, 8).
struct Case {
  std::string op_type;
  std::function<std::vector<EagerArgument>(EagerGraph&, const V& x, const V& n)> arguments;
};

std::ostream& operator<<(std::ostream& stream, const Case& test_case) {
  return stream << test_case.op_type;
}

V weight(EagerGraph& graph, at::IntArrayRef shape) {
  return graph.weight("w" + std::to_string(graph.ir.weights.size()), at::randn(shape));
}

using Graph = EagerGraph;
using Arguments = std::vector<EagerArgument>;

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"aten.conv2d.default",
       [](Graph& g, const V& x, const V&) -> Arguments {
         return {x, weight(g, {4, 3, 3, 3}), weight(g, {4}), ints({2, 2}), ints({1, 1})};
       }},
      {"aten.conv2d.padding",
       [](Graph& g, const V& x, const V&) -> Arguments {
         return {x, weight(g, {4, 3, 3, 3}), kDefault, ints({1, 1}), Attribute("same")};
       }},
      {"aten.conv_transpose2d.input",
       [](Graph& g, const V& x, const V&) -> Arguments { return {x, weight(g, {3, 2, 2, 2})}; }},
      {"aten.group_norm.default",
       [](Graph& g, const V& x, const V&) -> Arguments {
         return {x, Attribute(3), weight(g, {3}), weight(g, {3})};
       }},
      {"aten.max_pool2d.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, ints({2, 2})}; }},
      {"aten.max_pool2d_with_indices.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, ints({3, 3}), ints({2, 2})}; }},
      {"aten.adaptive_avg_pool2d.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, ints({3, 5})}; }},
      {"aten.avg_pool2d.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, ints({2, 2}), ints({1, 1})}; }},
      {"aten.upsample_bilinear2d.vec",
       [](Graph&, const V& x, const V&) -> Arguments {
         return {x, kDefault, Attribute(false), ints({2.0, 1.5})};
       }},
      {"aten.pad.default",
       [](Graph&, const V& x, const V&) -> Arguments {
         return {x, ints({1, 2, 1, 0}), Attribute("reflect")};
       }},
      {"aten.grid_sampler.default",
       [](Graph& g, const V& x, const V&) -> Arguments {
         return {x, weight(g, {2, 4, 4, 2}), Attribute(0), Attribute(0), Attribute(false)};
       }},
      {"aten.scaled_dot_product_attention.default",
       [](Graph&, const V& x, const V&) -> Arguments {
         return {x, x, x, kDefault, Attribute(0.0), Attribute(true)};
       }},
      {"aten.softmax.int",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, Attribute(-1)}; }},
      {"aten.log_softmax.int",
       [](Graph&, const V& x, const V&) -> Arguments {
         return {x, Attribute(1), Attribute(at::kDouble)};
       }},
      {"aten.sum.dim_IntList",
       [](Graph&, const V& x, const V&) -> Arguments {
         return {x, ints({1, 3}), Attribute(true)};
       }},
      {"aten.var_mean.correction",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, ints({2}), Attribute(0)}; }},
      {"aten.aminmax.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, Attribute(2)}; }},
      {"aten.max.dim", [](Graph&, const V& x, const V&) -> Arguments { return {x, Attribute(1)}; }},
      {"aten.argmax.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, Attribute(0)}; }},
      {"aten.cumsum.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, Attribute(3)}; }},
      {"aten.sort.stable",
       [](Graph&, const V& x, const V&) -> Arguments {
         return {x, Attribute(true), Attribute(2), Attribute(true)};
       }},
      {"aten.embedding.default",
       [](Graph& g, const V&, const V& n) -> Arguments { return {weight(g, {8, 5}), n}; }},
      {"aten.one_hot.default",
       [](Graph&, const V&, const V& n) -> Arguments { return {n, Attribute(8)}; }},
      {"aten.gather.default",
       [](Graph&, const V& x, const V& n) -> Arguments { return {x, Attribute(3), n}; }},
      {"aten.index_put.default",
       [](Graph& g, const V& x, const V&) -> Arguments {
         const V index = g.weight("index", at::arange(2));
         return {x, VList{index}, weight(g, {2, 3, 8, 8}), Attribute(true)};
       }},
      {"aten.scatter.value",
       [](Graph&, const V& x, const V& n) -> Arguments {
         return {x, Attribute(2), n, Attribute(0.5)};
       }},
      {"aten.where.self",
       [](Graph& g, const V& x, const V& n) -> Arguments {
         return {g.call1("aten.gt.Scalar", {n, Attribute(3)}), x, weight(g, {8})};
       }},
      {"aten.masked_fill.Scalar",
       [](Graph& g, const V& x, const V& n) -> Arguments {
         return {x, g.call1("aten.eq.Scalar", {n, Attribute(3)}), Attribute(-1e30)};
       }},
      {"aten.clamp.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, kDefault, Attribute(0.5)}; }},
      {"aten.pow.Tensor_Scalar",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, Attribute(2)}; }},
      {"aten.to.dtype",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, Attribute(at::kHalf)}; }},
      {"aten._to_copy.default",
       [](Graph&, const V& x, const V&) -> Arguments {
         return {x,
                 Attribute(at::kDouble),
                 kDefault,
                 Attribute(c10::Device(c10::kCPU)),
                 kDefault,
                 Attribute(false),
                 Attribute(c10::MemoryFormat::Contiguous)};
       }},
      {"aten.clone.default",
       [](Graph&, const V& x, const V&) -> Arguments {
         return {x, Attribute(c10::MemoryFormat::ChannelsLast)};
       }},
      {"aten.permute.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, ints({0, 2, 3, 1})}; }},
      {"aten.expand.default",
       [](Graph& g, const V&, const V&) -> Arguments {
         return {weight(g, {1, 4}), ints({3, -1})};
       }},
      {"aten.repeat.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, ints({1, 2, 1, 1})}; }},
      {"aten.roll.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, ints({1, 2}), ints({2, 3})}; }},
      {"aten.flip.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, ints({3})}; }},
      {"aten.tril.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, Attribute(-1)}; }},
      {"aten.unbind.int", [](Graph&, const V& x, const V&) -> Arguments { return {x}; }},
      {"aten.chunk.default",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, Attribute(3), Attribute(2)}; }},
      {"aten.stack.default",
       [](Graph& g, const V& x, const V&) -> Arguments {
         return {VList{x, weight(g, {2, 3, 8, 8}), x}, Attribute(1)};
       }},
      {"aten.einsum.default",
       [](Graph& g, const V& x, const V&) -> Arguments {
         return {Attribute("bchw,wk->bhck"), VList{x, weight(g, {8, 5})}};
       }},
      {"aten.baddbmm.default",
       [](Graph& g, const V&, const V&) -> Arguments {
         return {weight(g, {3, 4}), weight(g, {2, 3, 5}), weight(g, {2, 5, 4}), Attribute(0.5),
                 Attribute(2)};
       }},
      {"aten.fft_rfft.default", [](Graph&, const V& x, const V&) -> Arguments { return {x}; }},
      {"aten.bucketize.Tensor",
       [](Graph& g, const V& x, const V&) -> Arguments {
         return {x, g.weight("edges", at::arange(-2, 3, at::kFloat))};
       }},
      {"aten.quantile.scalar",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, Attribute(0.3)}; }},
      {"aten.tensor_split.indices",
       [](Graph&, const V& x, const V&) -> Arguments { return {x, ints({1, 5}), Attribute(3)}; }},
  };
  return all;
}

TEST(Operators, WithArgumentsOfTheirOwn) {
  for (const Case& test_case : cases()) {
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 3, 8, 8}));
    const V n = graph.input("n", at::arange(2 * 3 * 8 * 8).remainder(8).view({2, 3, 8, 8}));
    for (const V& result : graph.call(test_case.op_type, test_case.arguments(graph, x, n))) {
      graph.output(result);
    }
    EXPECT_EQ(difference_from_eager(graph), "") << test_case;
  }
}

// Nobody can read such a result, and the graph does not list it.
TEST(Operators, WithResultsThatAreNoTensors) {
  const std::pair<const char*, std::vector<EagerArgument>> calls[] = {
      {"aten.result_type.Tensor", {V{"x"}, V{"y"}}},
      {"aten.is_same_size.default", {V{"x"}, V{"y"}}},
      {"aten.equal.default", {V{"x"}, V{"y"}}},
      // Four tensors and a number.
      {"aten._batch_norm_impl_index.default",
       {V{"x"}, V{"p_w"}, V{"p_w"}, V{"p_w"}, V{"p_w"}, Attribute(false), Attribute(0.1),
        Attribute(1e-5), Attribute(false)}},
  };
  for (const auto& [op_type, arguments] : calls) {
    SCOPED_TRACE(op_type);
    EagerGraph graph;
    const V x = graph.input("x", at::randn({2, 3}));
    const V y = graph.input("y", at::randn({2, 3}));
    graph.weight("w", at::ones({3}));
    for (const V& result : graph.call(op_type, arguments)) graph.output(result);
    const V sum = graph.call1("aten.add.Tensor", {x, y});
    graph.output(sum);
    EXPECT_EQ(difference_from_eager(graph), "");
    for (const bool trace : {true, false}) {
      ExecutionOptions options;
      options.trace = trace;
      const ExecutionPlan plan = compile(graph.ir, graph.weights, StateDict(), options);
      EXPECT_TRUE(same_bits(plan.run_checked(graph.inputs).back(), graph.value(sum)));
    }
    NodeRun run(graph.ir, graph.weights, graph.inputs);
    EXPECT_TRUE(same_bits(run.value(sum.name), graph.value(sum)));
  }
}

}  // namespace
}  // namespace torch_ir

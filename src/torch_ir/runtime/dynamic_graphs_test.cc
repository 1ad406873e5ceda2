// Plans of graphs with dynamic shapes, numbers between nodes, conditions and loops.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/graph/symbol_binder.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Named as its first output.
OpNode call(const std::string& op_type, std::vector<TensorMeta> inputs,
            std::vector<TensorMeta> outputs, AttributeMap attrs = {}) {
  const std::string name = outputs.empty() ? op_type : outputs[0].name;
  return node(name, op_type, std::move(inputs), std::move(outputs), std::move(attrs));
}

// x of 2 to 8 rows; returns x flattened, and how many elements that are.
IR flatten_graph() {
  IR ir;
  ir.graph_inputs = {dynamic("x", {"s0", "3"})};
  ir.range_constraints = {{"s0", 3, 8}};
  ir.nodes = {call("aten.sym_size.int", {dynamic("x", {"s0", "3"})},
                   {number("rows", "int64", "s0")}, {{"dim", 0}}),
              call("_operator.mul", {}, {number("count", "int64", "3*s0")},
                   {{"a", ValueRef{"rows"}}, {"b", 3}}),
              call("aten.view.default", {dynamic("x", {"s0", "3"})}, {dynamic("view", {"3*s0"})},
                   {{"size", Attribute::list({ValueRef{"count"}})}}),
              call("aten.mul.Tensor", {dynamic("view", {"3*s0"})}, {dynamic("scaled", {"3*s0"})},
                   {{"other", ValueRef{"rows"}}})};
  ir.graph_outputs = {dynamic("scaled", {"3*s0"}), number("count")};
  return ir;
}

TEST(DynamicGraphs, RunsEachSize) {
  const ExecutionPlan plan = compile(flatten_graph(), StateDict());
  for (const int64_t rows : {3, 5, 8}) {
    const at::Tensor x = at::rand({rows, 3});
    const std::vector<at::Tensor> outputs = plan.run_checked({x});
    EXPECT_TRUE(outputs[0].equal(x.view({-1}).mul(rows)));
    EXPECT_TRUE(outputs[1].equal(at::full({}, rows * 3, at::kLong)));
  }
}

TEST(DynamicGraphs, RefusesSizesOutOfRange) {
  const ExecutionPlan plan = compile(flatten_graph(), StateDict());
  EXPECT_THAT(
      [&] { (void)plan.run({at::rand({9, 3})}); },
      ThrowsMessage<ExecutionError>("s0 (Dimension 0 of input 'x') is 9, but must be at most 8."));
  EXPECT_THAT(
      [&] { (void)plan.run({at::rand({2, 3})}); },
      ThrowsMessage<ExecutionError>("s0 (Dimension 0 of input 'x') is 2, but must be at least 3."));
  EXPECT_THAT([&] { (void)plan.run({at::rand({4, 4})}); },
              ThrowsMessage<ExecutionError>("Input 'x' has shape [4, 4], expected [s0, 3]."));
}

// torch.export states a least size of 2 wherever it met another size than 0 and 1.
TEST(DynamicGraphs, TakesSizesBelowALeastSizeOfTwo) {
  IR ir = flatten_graph();
  ir.range_constraints = {{"s0", 2, 8}};
  EXPECT_EQ(compile(ir, StateDict()).run_checked({at::rand({1, 3})})[0].size(0), 3);
}

IR two_inputs(const std::string& size_of_a, const std::string& size_of_b) {
  IR ir;
  ir.graph_inputs = {dynamic("a", {size_of_a}), dynamic("b", {size_of_b})};
  ir.graph_outputs = ir.graph_inputs;
  return ir;
}

TEST(DynamicGraphs, ChecksSizesAgainstOneAnother) {
  const ExecutionPlan plan = compile(two_inputs("s0 + 1", "s0"), StateDict());
  EXPECT_NO_THROW((void)plan.run({at::rand({5}), at::rand({4})}));
  EXPECT_THAT([&] { (void)plan.run({at::rand({5}), at::rand({5})}); },
              ThrowsMessage<ExecutionError>("Dimension 0 of input 'a' is 5, expected s0 + 1 = 6."));
}

TEST(DynamicGraphs, SolvesForSymbolsInWhateverOrderTheyBecomeKnown) {
  IR ir;
  ir.graph_inputs = {dynamic("a", {"s0 + s1"}), dynamic("b", {"s1 + s2"}), dynamic("c", {"s2"})};
  ir.graph_outputs = ir.graph_inputs;
  ir.range_constraints = {{"s0", 3, 9}};
  const ExecutionPlan plan = compile(ir, StateDict());
  EXPECT_NO_THROW((void)plan.run({at::rand({7}), at::rand({5}), at::rand({1})}));
  EXPECT_THAT([&] { (void)plan.run({at::rand({6}), at::rand({5}), at::rand({1})}); },
              ThrowsMessage<ExecutionError>(HasSubstr("s0 is 2")));
}

TEST(DynamicGraphs, SolvesForASymbolThatNoSizeStandsForAlone) {
  const ExecutionPlan plan = compile(two_inputs("4*s0", "2*s0"), StateDict());
  EXPECT_NO_THROW((void)plan.run({at::rand({8}), at::rand({4})}));
  EXPECT_THAT([&] { (void)plan.run({at::rand({9}), at::rand({4})}); },
              ThrowsMessage<ExecutionError>("Dimension 0 of input 'a' is 9, expected 4*s0 = 8."));
  EXPECT_THAT([&] { (void)plan.run({at::rand({8}), at::rand({6})}); },
              ThrowsMessage<ExecutionError>("Dimension 0 of input 'b' is 6, expected 2*s0 = 4."));
}

TEST(DynamicGraphs, NamesAllSizesThatNoSymbolGives) {
  IR ir;
  ir.graph_inputs = {dynamic("a", {"4*s0"}), dynamic("b", {"2*s1"}), dynamic("c", {"3", "s2 + 1"}),
                     dynamic("d", {"s2"})};
  ir.graph_outputs = ir.graph_inputs;
  EXPECT_THAT(
      size_problems(resolve(ir), {at::rand({9}), at::rand({3}), at::rand({3, 5}), at::rand({5})}),
      ElementsAre("Dimension 0 of input 'a' is 9, which is not 4*s0 for any s0.",
                  "Dimension 0 of input 'b' is 3, which is not 2*s1 for any s1.",
                  "Dimension 1 of input 'c' is 5, expected s2 + 1 = 6."));
}

TEST(DynamicGraphs, ChecksGuardsInEachRun) {
  IR ir;
  ir.graph_inputs = {dynamic("x", {"4", "s0"}), number("n")};
  ir.graph_outputs = {dynamic("x", {"4", "s0"})};
  ir.guards = {"x.stride()[0] == x.size()[1] or x.size()[1] == 1", "n % 3 == 0"};
  const ExecutionPlan plan = compile(ir, StateDict());
  const auto run = [&](const at::Tensor& x, int64_t n) {
    (void)plan.run({x, at::full({}, n, at::kLong)});
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_NO_THROW(run(at::rand({4, 2}), 3));
    EXPECT_THAT([&] { run(at::rand({4, 2}), 4); },
                ThrowsMessage<ExecutionError>("Guard failed: n % 3 == 0, got 4"));
    EXPECT_THAT([&] { run(at::rand({2, 4}).t(), 4); },
                ThrowsMessage<ExecutionError>(
                    "2 problems with the inputs:\n"
                    "  Guard failed: x.stride()[0] == x.size()[1] or x.size()[1] == 1, got "
                    "x.stride()[0] = 1, x.size()[1] = 2\n"
                    "  Guard failed: n % 3 == 0, got 4"));
  }
}

TEST(DynamicGraphs, SaysWhichGuardsItDoesNotCheck) {
  IR ir = two_inputs("3", "3");
  ir.guards = {"L['a']._base.size()[0] != 3", "a.storage_offset() == 0", "b.size()[1] == 3",
               "a.size()[0] != 4"};
  EXPECT_THAT(SymbolBinder(resolve(ir)).unreadable_guards(),
              ElementsAre("L['a']._base.size()[0] != 3: the expression 'L['a']._base.size()[0] != "
                          "3' has a syntax error at character 2",
                          "a.storage_offset() == 0: unknown function 'a.storage_offset'",
                          "b.size()[1] == 3: unknown size 'b.size()[1]'"));
  ::testing::internal::CaptureStderr();
  EXPECT_NO_THROW((void)compile(ir, StateDict()).run({at::rand({3}), at::rand({3})}));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("Runs do not check 3 guards of the model: L['a']._base"));
  ir.guards = {"isinstance(" + std::string(10'000, 'a') + ")"};
  const std::string shown = "isinstance(" + std::string(89, 'a') + "...: ";
  EXPECT_THAT(SymbolBinder(resolve(ir)).unchecked_text(),
              testing::StartsWith("Runs do not check a guard of the model: " + shown));
}

// as_strided reads other elements of a contiguous input.
TEST(DynamicGraphs, LaysInputsOutAsTheGraphSays) {
  const at::Tensor x = at::rand({4, 3}).t();
  EagerGraph graph;
  const V sum = graph.call1("aten.add.Tensor", {graph.input("x", x), Attribute(1)});
  graph.output(graph.call1("aten.as_strided.default",
                           {sum, Attribute::list({3, 2}), Attribute::list({1, 3})}));
  const at::Tensor expected = (x + 1).as_strided({3, 2}, {1, 3});
  graph.ir.graph_inputs[0].strides = {1, 3};
  const ExecutionPlan plan = compile(graph.ir, StateDict());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(at::equal(plan.run({x.contiguous()})[0], expected));
    EXPECT_TRUE(at::equal(plan.run({x})[0], expected));
  }
  EXPECT_TRUE(at::equal(run_program({.program = graph.program(), .inputs = {x.contiguous()}})[0],
                        expected));
  graph.ir.graph_inputs[0].strides = {0, 1};
  EXPECT_THAT([&] { (void)compile(graph.ir, StateDict()).run({x}); },
              ThrowsMessage<ExecutionError>(
                  HasSubstr("Input 'x': strides [0, 1] of a tensor of shape [3, 4]: elements that "
                            "share memory have different values.")));
}

// Each symbol becomes known by the next one: linear, or it would not end.
TEST(DynamicGraphs, SolvesForManySymbols) {
  constexpr int64_t kSymbols = 20'000;
  IR ir;
  std::vector<at::Tensor> inputs;
  for (int64_t i = 0; i < kSymbols; ++i) {
    const bool is_last = i + 1 == kSymbols;
    const std::string size = is_last ? fmt::format("s{}", i) : fmt::format("s{} + s{}", i, i + 1);
    ir.graph_inputs.push_back(number(fmt::format("n{}", i), "int64", size));
    inputs.push_back(at::full({}, is_last ? 3 : 5, at::kLong));
  }
  const SymbolValues symbols = bind_symbols(resolve(ir), inputs);
  EXPECT_EQ(symbols.size(), static_cast<size_t>(kSymbols));
  EXPECT_EQ(symbols.at("s0"), 2);
}

TEST(DynamicGraphs, ChecksDynamicOutputsOfNodes) {
  IR ir = flatten_graph();
  for (TensorMeta* meta : {&ir.nodes[2].outputs[0], &ir.nodes[3].inputs[0]}) {
    meta->symbolic_shape = {"2*s0"};
  }
  const ExecutionPlan plan = compile(ir, StateDict());
  struct Warnings : c10::WarningHandler {
    void process(const c10::Warning& warning) override { messages.push_back(warning.msg()); }
    std::vector<std::string> messages;
  } warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  EXPECT_EQ(plan.run({at::rand({4, 3})})[0].numel(), 12);
  EXPECT_THAT(warnings.messages, testing::IsEmpty());
  EXPECT_EQ(plan.run_checked({at::rand({4, 3})})[0].numel(), 12);
  EXPECT_THAT(warnings.messages,
              ElementsAre(HasSubstr("node 'view' (aten.view.default): output 'view' is float32 "
                                    "[12], but the IR declares float32 [2*s0]")));
}

// Sizes that depend on data have no value until the node that makes them has run.
TEST(DynamicGraphs, BindsSizesThatDependOnData) {
  IR ir;
  ir.graph_inputs = {dynamic("x", {"4"})};
  ir.nodes = {
      call("aten.nonzero.default", {dynamic("x", {"4"})}, {dynamic("rows", {"u0", "1"}, "int64")}),
      call("aten.neg.default", {dynamic("rows", {"u0", "1"}, "int64")},
           {dynamic("neg", {"u0", "1"}, "int64")})};
  ir.graph_outputs = {dynamic("neg", {"u0", "1"}, "int64")};
  const ExecutionPlan plan = compile(ir, StateDict());
  EXPECT_EQ(plan.run_checked({at::arange(4).to(at::kFloat)})[0].size(0), 3);
  EXPECT_EQ(plan.run_checked({at::ones({4})})[0].size(0), 4);
}

TEST(DynamicGraphs, TakesNumbersAsInputs) {
  IR ir;
  ir.graph_inputs = {dynamic("x", {"2"}), number("n", "int64", "s0"), number("f", "float64")};
  ir.range_constraints = {{"s0", 0, 5}};
  ir.nodes = {call("aten.mul.Tensor", {dynamic("x", {"2"})}, {dynamic("mul", {"2"})},
                   {{"other", ValueRef{"n"}}}),
              call("aten.add.Tensor", {dynamic("mul", {"2"})}, {dynamic("add", {"2"})},
                   {{"other", ValueRef{"f"}}})};
  ir.graph_outputs = {dynamic("add", {"2"})};
  const ExecutionPlan plan = compile(ir, StateDict());
  const at::Tensor half = at::full({}, 0.5, at::kDouble);
  const auto run = [&](int64_t n) {
    return plan.run_checked({at::ones({2}), at::full({}, n, at::kLong), half});
  };
  EXPECT_TRUE(run(3)[0].equal(at::full({2}, 3.5f)));
  EXPECT_THAT([&] { run(6); },
              ThrowsMessage<ExecutionError>("s0 (Input 'n') is 6, but must be at most 5."));
}

TEST(DynamicGraphs, NumbersThatFailNameTheirNode) {
  IR ir;
  ir.graph_inputs = {number("n")};
  ir.nodes = {call("_operator.floordiv", {}, {number("q")}, {{"a", 1}, {"b", ValueRef{"n"}}})};
  ir.graph_outputs = {number("q")};
  const ExecutionPlan plan = compile(ir, StateDict());
  EXPECT_THAT([&] { (void)plan.run({at::full({}, 0, at::kLong)}); },
              ThrowsMessage<ExecutionError>(
                  "Node 'q' (_operator.floordiv) failed on inputs of shape (): division by zero"));
}

TEST(DynamicGraphs, FailedAssertionsFailTheRun) {
  IR ir;
  ir.graph_inputs = {number("n")};
  ir.nodes = {call("_operator.le", {}, {number("le", "bool")}, {{"a", ValueRef{"n"}}, {"b", 5}}),
              call("aten._assert_scalar.default", {}, {},
                   {{"self", ValueRef{"le"}}, {"assert_msg", "n must be at most 5"}})};
  ir.graph_outputs = {number("le", "bool")};
  const ExecutionPlan plan = compile(ir, StateDict());
  EXPECT_TRUE(plan.run({at::full({}, 5, at::kLong)})[0].equal(at::full({}, true, at::kBool)));
  EXPECT_THAT([&] { (void)plan.run({at::full({}, 6, at::kLong)}); },
              ThrowsMessage<ExecutionError>(HasSubstr("n must be at most 5")));
}

// --- Control flow ---

IRGraph branch(const std::string& op_type) {
  IRGraph graph;
  graph.graph_inputs = {dynamic("a", {"2"})};
  graph.nodes = {call(op_type, {dynamic("a", {"2"})}, {dynamic("r", {"2"})})};
  graph.graph_outputs = {dynamic("r", {"2"})};
  return graph;
}

IR cond_graph(TensorMeta pred) {
  IR ir;
  ir.graph_inputs = {pred, dynamic("x", {"2"})};
  OpNode cond = call("higher_order.cond", {}, {dynamic("y", {"2"})},
                     {{"_tensor_list_sizes", Attribute::list({1})}});
  if (pred.is_scalar) {
    cond.attrs.set("pred", ValueRef{pred.name});
  } else {
    cond.inputs.push_back(pred);
  }
  cond.inputs.push_back(dynamic("x", {"2"}));
  cond.graphs = {branch("aten.neg.default"), branch("aten.exp.default")};
  ir.nodes = {cond};
  ir.graph_outputs = {dynamic("y", {"2"})};
  return ir;
}

TEST(DynamicGraphs, ConditionsRunOneGraph) {
  const at::Tensor x = at::rand({2});
  for (const TensorMeta& pred : {dynamic("p", {}, "bool"), number("p", "bool")}) {
    const ExecutionPlan plan = compile(cond_graph(pred), StateDict());
    EXPECT_TRUE(plan.run_checked({at::full({}, true, at::kBool), x})[0].equal(x.neg()));
    EXPECT_TRUE(plan.run_checked({at::full({}, false, at::kBool), x})[0].equal(x.exp()));
  }
}

TEST(DynamicGraphs, FailuresInsideAGraphNameBothNodes) {
  IR ir = cond_graph(dynamic("p", {}, "bool"));
  ir.nodes[0].graphs[0].nodes[0] = call("aten.view.default", {dynamic("a", {"2"})},
                                        {dynamic("r", {"2"})}, {{"size", Attribute::list({3})}});
  const ExecutionPlan plan = compile(ir, StateDict());
  EXPECT_THAT([&] { (void)plan.run({at::full({}, true, at::kBool), at::rand({2})}); },
              ThrowsMessage<ExecutionError>(HasSubstr(
                  "Node 'y' (higher_order.cond) failed on inputs of shape [], [2]: Node 'r' "
                  "(aten.view.default) failed on inputs of shape [2]: shape '[3]' is invalid")));
}

// i, x = 0, x; while i < n: i, x = i + 1, x * 2
TEST(DynamicGraphs, LoopsRunUntilTheirConditionFails) {
  const TensorMeta i = dynamic("i", {}, "int64");
  const TensorMeta x = dynamic("x", {"2"});
  const TensorMeta n = dynamic("n", {}, "int64");
  IRGraph condition;
  condition.graph_inputs = {i, x, n};
  condition.nodes = {call("aten.lt.Tensor", {i, n}, {dynamic("lt", {}, "bool")})};
  condition.graph_outputs = {dynamic("lt", {}, "bool")};
  IRGraph body;
  body.graph_inputs = {i, x, n};
  body.nodes = {call("aten.add.Tensor", {i}, {dynamic("next", {}, "int64")}, {{"other", 1}}),
                call("aten.mul.Tensor", {x}, {dynamic("twice", {"2"})}, {{"other", 2}})};
  body.graph_outputs = {dynamic("next", {}, "int64"), dynamic("twice", {"2"})};
  IR ir;
  ir.graph_inputs = {i, x, n};
  OpNode loop = call("higher_order.while_loop", {i, x, n},
                     {dynamic("last", {}, "int64"), dynamic("result", {"2"})},
                     {{"_tensor_list_sizes", Attribute::list({2, 1})}});
  loop.graphs = {condition, body};
  ir.nodes = {loop};
  ir.graph_outputs = {dynamic("last", {}, "int64"), dynamic("result", {"2"})};
  const ExecutionPlan plan = compile(ir, StateDict());
  const auto run = [&](int64_t count) {
    return plan.run_checked(
        {at::full({}, 0, at::kLong), at::ones({2}), at::full({}, count, at::kLong)});
  };
  EXPECT_TRUE(run(5)[1].equal(at::full({2}, 32.f)));
  EXPECT_TRUE(run(5)[0].equal(at::full({}, 5, at::kLong)));
  EXPECT_TRUE(run(0)[1].equal(at::ones({2})));
}

// i = x; while i < 5: i = i * 2, from 0
TEST(DynamicGraphs, LoopsThatNeverEndFail) {
  const TensorMeta i = dynamic("i", {}, "int64");
  IRGraph condition;
  condition.graph_inputs = {i};
  condition.nodes = {call("aten.lt.Scalar", {i}, {dynamic("lt", {}, "bool")}, {{"other", 5}})};
  condition.graph_outputs = {dynamic("lt", {}, "bool")};
  IRGraph body;
  body.graph_inputs = {i};
  body.nodes = {call("aten.mul.Tensor", {i}, {dynamic("next", {}, "int64")}, {{"other", 2}})};
  body.graph_outputs = {dynamic("next", {}, "int64")};
  IR ir;
  ir.graph_inputs = {i};
  OpNode loop = call("higher_order.while_loop", {i}, {dynamic("last", {}, "int64")},
                     {{"_tensor_list_sizes", Attribute::list({1, 0})}});
  loop.graphs = {condition, body};
  ir.nodes = {loop};
  ir.graph_outputs = {dynamic("last", {}, "int64")};
  const ExecutionPlan plan = compile(ir, StateDict());
  EXPECT_TRUE(plan.run({at::full({}, 1, at::kLong)})[0].equal(at::full({}, 8, at::kLong)));
  EXPECT_THAT([&] { (void)plan.run({at::full({}, 0, at::kLong)}); },
              ThrowsMessage<ExecutionError>(
                  HasSubstr("infinite loop: after 1025 iterations its values repeat")));
}

// carried = h; for x in xs: carried, results = carried + x * w, carried * x
IR scan_graph() {
  const TensorMeta h = dynamic("h", {"2"});
  const TensorMeta x = dynamic("x", {"2"});
  const TensorMeta w = dynamic("w", {"2"});
  IRGraph body;
  body.graph_inputs = {h, x, w};
  body.nodes = {call("aten.mul.Tensor", {x, w}, {dynamic("xw", {"2"})}),
                call("aten.add.Tensor", {h, dynamic("xw", {"2"})}, {dynamic("next", {"2"})}),
                call("aten.mul.Tensor", {h, x}, {dynamic("hx", {"2"})})};
  body.graph_outputs = {dynamic("next", {"2"}), dynamic("hx", {"2"})};
  IR ir;
  ir.graph_inputs = {h, dynamic("xs", {"s0", "2"}), w};
  OpNode scan = call("higher_order.scan", ir.graph_inputs,
                     {dynamic("last", {"2"}), dynamic("results", {"s0", "2"})},
                     {{"_tensor_list_sizes", Attribute::list({1, 1, 1})}});
  scan.graphs = {body};
  ir.nodes = {scan};
  ir.graph_outputs = scan.outputs;
  return ir;
}

TEST(DynamicGraphs, ScansRunTheirBodyForEachSlice) {
  const ExecutionPlan plan = compile(scan_graph(), StateDict());
  for (const int64_t count : {1, 4}) {
    const at::Tensor xs = at::rand({2, count}).t();
    const at::Tensor w = at::rand({2});
    at::Tensor carried = at::rand({2});
    std::vector<at::Tensor> results;
    const std::vector<at::Tensor> found = plan.run_checked({carried, xs, w});
    for (const at::Tensor& x : xs.unbind()) {
      results.push_back(carried.mul(x));
      carried = carried.add(x.mul(w));
    }
    EXPECT_TRUE(found[0].equal(carried));
    EXPECT_TRUE(found[1].equal(at::stack(results)));
    EXPECT_TRUE(found[1].is_contiguous());
  }
  EXPECT_THAT([&] { (void)plan.run({at::rand({2}), at::rand({0, 2}), at::rand({2})}); },
              ThrowsMessage<ExecutionError>(HasSubstr("there is no slice to loop over")));
}

TEST(DynamicGraphs, LoopsOverSlicesAreChecked) {
  const auto problems_of = [](const std::string& op_type, std::vector<int64_t> sizes) {
    IR ir = scan_graph();
    ir.nodes[0].op_type = op_type;
    ir.nodes[0].attrs = {{"_tensor_list_sizes", Attribute::list(sizes)}};
    return find_problems(ir);
  };
  EXPECT_THAT(problems_of("higher_order.scan", {1, 1, 1}), ElementsAre());
  EXPECT_THAT(problems_of("higher_order.map_impl", {1, 2}), ElementsAre());
  EXPECT_THAT(problems_of("higher_order.scan", {3, 0, 0}),
              ElementsAre("node 'last' (higher_order.scan): the body returns 2 values, expected at "
                          "least 3, the number of carried values",
                          "node 'last' (higher_order.scan) has no tensor to loop over"));
}

// Made on a GPU, but for a size that it computes on the CPU.
TEST(DynamicGraphs, GraphsOfAGpuRunOnTheCpu) {
  const auto zeros = [](const std::string& name, const char* device) {
    return call("aten.zeros.default", {}, {dynamic(name, {"2"})},
                {{"size", Attribute::list({2})}, {"device", device}});
  };
  IR ir;
  ir.graph_inputs = {dynamic("x", {"2"})};
  ir.nodes = {
      zeros("a", "cuda:0"), zeros("b", "cpu"),
      call("aten.add.Tensor", {dynamic("x", {"2"}), dynamic("a", {"2"})}, {dynamic("sum", {"2"})}),
      call("aten.to.device", {dynamic("sum", {"2"})}, {dynamic("y", {"2"})},
           {{"device", "cuda:0"}, {"dtype", "float32"}})};
  ir.graph_outputs = {dynamic("y", {"2"})};
  struct Warnings : c10::WarningHandler {
    void process(const c10::Warning& warning) override { messages.push_back(warning.msg()); }
    std::vector<std::string> messages;
  } warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  const at::Tensor x = at::rand({2});
  EXPECT_TRUE(compile(ir, StateDict()).run_checked({x})[0].equal(x));
  EXPECT_THAT(warnings.messages, ElementsAre("The graph names the device cuda:0; it runs on cpu."));
}

TEST(DynamicGraphs, AFloatIsNoInteger) {
  IR ir;
  ir.graph_inputs = {number("n")};
  ir.nodes = {call("_operator.truediv", {}, {number("half")}, {{"a", ValueRef{"n"}}, {"b", 2}})};
  ir.graph_outputs = {number("half")};
  EXPECT_THAT([&] { (void)compile(ir, StateDict()).run_checked({at::full({}, 3, at::kLong)}); },
              ThrowsMessage<ExecutionError>(HasSubstr(
                  "node 'half' (_operator.truediv): output 'half' is a float, but the IR declares "
                  "int64")));
}

// --- What is refused before anything runs ---

TEST(DynamicGraphs, OperatorsThatTouchFilesAreRefused) {
  IR ir;
  ir.nodes = {call("aten.from_file.default", {}, {dynamic("f", {"1"})},
                   {{"filename", "never_made"}, {"shared", true}, {"size", 1}})};
  ir.graph_outputs = {dynamic("f", {"1"})};
  EXPECT_THAT([&] { (void)compile(ir, StateDict()); },
              ThrowsMessage<ExecutionError>("Operator 'aten.from_file.default' of node 'f' is "
                                            "refused: it maps a file, and may create one."));
}

TEST(DynamicGraphs, UnknownOperatorsAreRefusedWithBothVersions) {
  IR ir;
  ir.pytorch_version = "9.9.9";
  ir.nodes = {call("aten.not_yet.default", {}, {dynamic("f", {"1"})})};
  ir.graph_outputs = {dynamic("f", {"1"})};
  EXPECT_THAT([&] { (void)compile(ir, StateDict()); },
              ThrowsMessage<ExecutionError>(
                  HasSubstr("does not have it (the graph is of PyTorch 9.9.9); load the library")));
}

}  // namespace
}  // namespace torch_ir

// Plans of graphs with dynamic shapes, numbers between nodes, conditions and loops.

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/testing/warning_texts.h"
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

// Named as its first output.
OpNode call(const std::string& op_type, std::vector<TensorMeta> inputs,
            std::vector<TensorMeta> outputs, AttributeMap attrs = {}) {
  const std::string name = outputs.empty() ? op_type : outputs[0].name;
  return node(name, op_type, std::move(inputs), std::move(outputs), std::move(attrs));
}

// Returns what its last node makes.
IR graph_of(std::vector<TensorMeta> inputs, std::vector<OpNode> nodes) {
  IR ir;
  ir.graph_inputs = std::move(inputs);
  ir.graph_outputs = nodes.back().outputs;
  ir.nodes = std::move(nodes);
  return ir;
}

at::Tensor whole(int64_t number) { return at::full({}, number, at::kLong); }

// x of 3 to 8 rows; returns x flattened, times its rows.
IR flatten_graph() {
  const TensorMeta x = dynamic("x", {"s0", "3"});
  const TensorMeta view = dynamic("view", {"3*s0"});
  IR ir = graph_of(
      {x},
      {call("aten.sym_size.int", {x}, {number("rows", "int64", "s0")}, {{"dim", 0}}),
       call("_operator.mul", {}, {number("count", "int64", "3*s0")},
            {{"a", ValueRef{"rows"}}, {"b", 3}}),
       call("aten.view.default", {x}, {view}, {{"size", Attribute::list({ValueRef{"count"}})}}),
       call("aten.mul.Tensor", {view}, {dynamic("scaled", {"3*s0"})},
            {{"other", ValueRef{"rows"}}})});
  ir.range_constraints = {{"s0", 3, 8}};
  return ir;
}

TEST(DynamicGraphs, RefusesSizesOutOfRange) {
  const ExecutionPlan plan = compile(flatten_graph(), StateDict());
  EXPECT_EQ(run_error(plan, {at::rand({9, 3})}),
            "s0 (Dimension 0 of input 'x') is 9, but must be at most 8.");
  EXPECT_EQ(run_error(plan, {at::rand({2, 3})}),
            "s0 (Dimension 0 of input 'x') is 2, but must be at least 3.");
  EXPECT_EQ(run_error(plan, {at::rand({4, 4})}), "Input 'x' has shape [4, 4], expected [s0, 3].");
  // torch.export states a least size of 2 wherever it met another size than 0 and 1.
  IR ir = flatten_graph();
  ir.range_constraints = {{"s0", 2, 8}};
  EXPECT_EQ(compile(ir, StateDict()).run_checked({at::rand({1, 3})})[0].size(0), 3);
}

// The sizes of the inputs "a", "b" and so on, in the graph and in a run, and the problems.
TEST(DynamicGraphs, SolvesForSymbolsInWhateverOrderTheyBecomeKnown) {
  const struct {
    std::vector<std::string> declared;
    std::vector<int64_t> sizes;
    std::vector<std::string> problems;
  } cases[] = {
      {{"s0 + 1", "s0"}, {5, 4}, {}},
      {{"s0 + 1", "s0"}, {5, 5}, {"Dimension 0 of input 'a' is 5, expected s0 + 1 = 6."}},
      {{"s0 + s1", "s1 + s2", "s2"}, {7, 5, 1}, {}},
      {{"s0 + s1", "s1 + s2", "s2"}, {6, 5, 1}, {"s0 is 2, but must be at least 3."}},
      // No size is a symbol alone.
      {{"4*s0", "2*s0"}, {12, 6}, {}},
      {{"4*s0", "2*s0"}, {13, 6}, {"Dimension 0 of input 'a' is 13, expected 4*s0 = 12."}},
      {{"4*s0", "2*s0"}, {12, 8}, {"Dimension 0 of input 'b' is 8, expected 2*s0 = 6."}},
      {{"4*s0", "2*s1", "s2 + 1", "s2"},
       {9, 3, 5, 5},
       {"Dimension 0 of input 'a' is 9, which is not 4*s0 for any s0.",
        "Dimension 0 of input 'b' is 3, which is not 2*s1 for any s1.",
        "Dimension 0 of input 'c' is 5, expected s2 + 1 = 6."}},
  };
  for (const auto& [declared, sizes, problems] : cases) {
    IR ir;
    ir.range_constraints = {{"s0", 3, 9}};
    std::vector<at::Tensor> inputs;
    for (size_t i = 0; i < sizes.size(); ++i) {
      ir.graph_inputs.push_back(dynamic(std::string(1, "abcd"[i]), {declared[i]}));
      inputs.push_back(at::rand({sizes[i]}));
    }
    ir.graph_outputs = ir.graph_inputs;
    EXPECT_EQ(size_problems(resolve(ir), inputs), problems);
  }
}

TEST(DynamicGraphs, ChecksGuardsInEachRun) {
  IR ir;
  ir.graph_inputs = {dynamic("x", {"4", "s0"}), number("n")};
  ir.graph_outputs = {dynamic("x", {"4", "s0"})};
  ir.guards = {"x.stride()[0] == x.size()[1] or x.size()[1] == 1", "n % 3 == 0"};
  const ExecutionPlan plan = compile(ir, StateDict());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run_error(plan, {at::rand({4, 2}), whole(3)}), "no error");
    EXPECT_EQ(run_error(plan, {at::rand({4, 2}), whole(4)}), "Guard failed: n % 3 == 0, got 4");
    EXPECT_EQ(run_error(plan, {at::rand({2, 4}).t(), whole(4)}),
              "2 problems with the inputs:\n"
              "  Guard failed: x.stride()[0] == x.size()[1] or x.size()[1] == 1, got "
              "x.stride()[0] = 1, x.size()[1] = 2\n"
              "  Guard failed: n % 3 == 0, got 4");
  }
}

TEST(DynamicGraphs, SaysWhichGuardsItDoesNotCheck) {
  IR ir;
  ir.graph_inputs = ir.graph_outputs = {dynamic("a", {"3"}), dynamic("b", {"3"})};
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
  const V sum = graph.call1("aten.add.Tensor", {graph.input("x", x), 1});
  graph.output(graph.call1("aten.as_strided.default",
                           {sum, Attribute::list({3, 2}), Attribute::list({1, 3})}));
  const at::Tensor expected = (x + 1).as_strided({3, 2}, {1, 3});
  graph.ir.graph_inputs[0].strides = {1, 3};
  const ExecutionPlan plan = graph.plan();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(at::equal(plan.run({x.contiguous()})[0], expected));
    EXPECT_TRUE(at::equal(plan.run({x})[0], expected));
  }
  EXPECT_TRUE(at::equal(run_program({.program = graph.program(), .inputs = {x.contiguous()}})[0],
                        expected));
  graph.ir.graph_inputs[0].strides = {0, 1};
  EXPECT_THAT(
      run_error(graph.plan(), {x}),
      HasSubstr("Input 'x': strides [0, 1] of a tensor of shape [3, 4]: elements that share "
                "memory have different values."));
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
  WarningTexts warnings;
  EXPECT_EQ(plan.run({at::rand({4, 3})})[0].numel(), 12);
  EXPECT_THAT(warnings.texts, testing::IsEmpty());
  EXPECT_EQ(plan.run_checked({at::rand({4, 3})})[0].numel(), 12);
  EXPECT_THAT(warnings.texts,
              ElementsAre(HasSubstr("node 'view' (aten.view.default): output 'view' is float32 "
                                    "[12], but the IR declares float32 [2*s0]")));
}

TEST(DynamicGraphs, TakesNumbersAsInputs) {
  const TensorMeta x = dynamic("x", {"2"});
  const TensorMeta mul = dynamic("mul", {"2"});
  IR ir = graph_of(
      {x, number("n", "int64", "s0"), number("f", "float64")},
      {call("aten.mul.Tensor", {x}, {mul}, {{"other", ValueRef{"n"}}}),
       call("aten.add.Tensor", {mul}, {dynamic("add", {"2"})}, {{"other", ValueRef{"f"}}})});
  ir.range_constraints = {{"s0", 0, 5}};
  const ExecutionPlan plan = compile(ir, StateDict());
  const at::Tensor half = at::full({}, 0.5, at::kDouble);
  const auto run = [&](int64_t n) { return plan.run_checked({at::ones({2}), whole(n), half}); };
  EXPECT_TRUE(run(3)[0].equal(at::full({2}, 3.5f)));
  EXPECT_EQ(execution_error([&] { run(6); }), "s0 (Input 'n') is 6, but must be at most 5.");
}

TEST(DynamicGraphs, NumbersThatFailNameTheirNode) {
  const OpNode division =
      call("_operator.floordiv", {}, {number("q")}, {{"a", 1}, {"b", ValueRef{"n"}}});
  const ExecutionPlan plan = compile(graph_of({number("n")}, {division}), StateDict());
  EXPECT_EQ(run_error(plan, {whole(0)}),
            "Node 'q' (_operator.floordiv) failed on inputs of shape (): division by zero");
}

TEST(DynamicGraphs, FailedAssertionsFailTheRun) {
  const TensorMeta le = number("le", "bool");
  IR ir = graph_of({number("n")},
                   {call("_operator.le", {}, {le}, {{"a", ValueRef{"n"}}, {"b", 5}}),
                    call("aten._assert_scalar.default", {}, {},
                         {{"self", ValueRef{"le"}}, {"assert_msg", "n must be at most 5"}})});
  ir.graph_outputs = {le};
  const ExecutionPlan plan = compile(ir, StateDict());
  EXPECT_TRUE(plan.run({whole(5)})[0].equal(at::full({}, true, at::kBool)));
  EXPECT_THAT(run_error(plan, {whole(6)}), HasSubstr("n must be at most 5"));
}

// --- Control flow ---

TEST(DynamicGraphs, FailuresInsideAGraphNameBothNodes) {
  const TensorMeta x = dynamic("x", {"2"});
  const IRGraph branch = graph_of({x}, {call("aten.view.default", {x}, {dynamic("r", {"2"})},
                                             {{"size", Attribute::list({3})}})});
  const TensorMeta condition = dynamic("p", {}, "bool");
  IR ir = graph_of({condition, x}, {call("higher_order.cond", {condition, x}, {dynamic("y", {"2"})},
                                         {{"_tensor_list_sizes", Attribute::list({1})}})});
  ir.nodes[0].graphs = {branch, branch};
  const ExecutionPlan plan = compile(ir, StateDict());
  EXPECT_THAT(
      run_error(plan, {at::full({}, true, at::kBool), at::rand({2})}),
      HasSubstr("Node 'y' (higher_order.cond) failed on inputs of shape [], [2]: Node 'r' "
                "(aten.view.default) failed on inputs of shape [2]: shape '[3]' is invalid"));
}

// while i < 5: i = i * 2
TEST(DynamicGraphs, LoopsRunUntilTheirConditionFails) {
  const TensorMeta i = dynamic("i", {}, "int64");
  IR ir = graph_of({i}, {call("higher_order.while_loop", {i}, {dynamic("last", {}, "int64")},
                              {{"_tensor_list_sizes", Attribute::list({1, 0})}})});
  ir.nodes[0].graphs = {
      graph_of({i}, {call("aten.lt.Scalar", {i}, {dynamic("lt", {}, "bool")}, {{"other", 5}})}),
      graph_of({i},
               {call("aten.mul.Tensor", {i}, {dynamic("next", {}, "int64")}, {{"other", 2}})})};
  const ExecutionPlan plan = compile(ir, StateDict());
  for (const int64_t first : {1, 8}) {
    EXPECT_TRUE(plan.run({whole(first)})[0].equal(whole(8)));
  }
  EXPECT_THAT(run_error(plan, {whole(0)}),
              HasSubstr("infinite loop: after 1025 iterations its values repeat"));
}

// carried = h; for x in xs: carried, results = carried + x * w, carried * x
IR scan_graph() {
  const TensorMeta h = dynamic("h", {"2"});
  const TensorMeta x = dynamic("x", {"2"});
  const TensorMeta w = dynamic("w", {"2"});
  const TensorMeta xw = dynamic("xw", {"2"});
  const TensorMeta next = dynamic("next", {"2"});
  const TensorMeta hx = dynamic("hx", {"2"});
  IRGraph body = graph_of(
      {h, x, w}, {call("aten.mul.Tensor", {x, w}, {xw}), call("aten.add.Tensor", {h, xw}, {next}),
                  call("aten.mul.Tensor", {h, x}, {hx})});
  body.graph_outputs = {next, hx};
  const std::vector<TensorMeta> inputs = {h, dynamic("xs", {"s0", "2"}), w};
  IR ir = graph_of(inputs, {call("higher_order.scan", inputs,
                                 {dynamic("last", {"2"}), dynamic("results", {"s0", "2"})},
                                 {{"_tensor_list_sizes", Attribute::list({1, 1, 1})}})});
  ir.nodes[0].graphs = {body};
  return ir;
}

TEST(DynamicGraphs, ScansNeedASlice) {
  const ExecutionPlan plan = compile(scan_graph(), StateDict());
  // Results are contiguous, whatever the slices are.
  const at::Tensor xs = at::rand({2, 4}).t();
  EXPECT_TRUE(plan.run_checked({at::rand({2}), xs, at::rand({2})})[1].is_contiguous());
  EXPECT_THAT(run_error(plan, {at::rand({2}), at::rand({0, 2}), at::rand({2})}),
              HasSubstr("there is no slice to loop over"));
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
  const TensorMeta input = dynamic("x", {"2"});
  const TensorMeta sum = dynamic("sum", {"2"});
  const IR ir = graph_of({input}, {zeros("a", "cuda:0"), zeros("b", "cpu"),
                                   call("aten.add.Tensor", {input, dynamic("a", {"2"})}, {sum}),
                                   call("aten.to.device", {sum}, {dynamic("y", {"2"})},
                                        {{"device", "cuda:0"}, {"dtype", "float32"}})});
  WarningTexts warnings;
  const at::Tensor x = at::rand({2});
  EXPECT_TRUE(compile(ir, StateDict()).run_checked({x})[0].equal(x));
  EXPECT_THAT(warnings.texts, ElementsAre("The graph names the device cuda:0; it runs on cpu."));
}

TEST(DynamicGraphs, AFloatIsNoInteger) {
  const IR ir =
      graph_of({number("n")},
               {call("_operator.truediv", {}, {number("half")}, {{"a", ValueRef{"n"}}, {"b", 2}})});
  EXPECT_THAT(execution_error([&] { (void)compile(ir, StateDict()).run_checked({whole(3)}); }),
              HasSubstr("node 'half' (_operator.truediv): output 'half' is a float, but the IR "
                        "declares int64"));
}

// --- What is refused before anything runs ---

TEST(DynamicGraphs, OperatorsThatTouchFilesAreRefused) {
  const IR ir = graph_of({}, {call("aten.from_file.default", {}, {dynamic("f", {"1"})},
                                   {{"filename", "never_made"}, {"shared", true}, {"size", 1}})});
  EXPECT_EQ(execution_error([&] { (void)compile(ir, StateDict()); }),
            "Operator 'aten.from_file.default' of node 'f' is refused: it maps a file, and may "
            "create one.");
}

TEST(DynamicGraphs, UnknownOperatorsAreRefusedWithBothVersions) {
  IR ir = graph_of({}, {call("aten.not_yet.default", {}, {dynamic("f", {"1"})})});
  ir.pytorch_version = "9.9.9";
  EXPECT_THAT(execution_error([&] { (void)compile(ir, StateDict()); }),
              HasSubstr("does not have it (the graph is of PyTorch 9.9.9); load the library"));
}

}  // namespace
}  // namespace torch_ir

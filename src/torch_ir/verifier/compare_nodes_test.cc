#include "torch_ir/verifier/compare_nodes.h"

#include <gmock/gmock.h>

#include <map>
#include <stdexcept>

#include "torch_ir/ir/resolve.h"
#include "torch_ir/verifier/testing/tensors.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::FieldsAre;
using ::testing::IsEmpty;

using Values = std::vector<std::pair<std::string, at::Tensor>>;

TensorMeta meta(const std::string& name) {
  return {.name = name, .shape = {2}, .dtype = "float32"};
}

OpNode node(const std::string& name, const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs) {
  OpNode node{.name = name, .op_type = "test." + name, .inputs = {}, .outputs = {}, .attrs = {}};
  for (const std::string& input : inputs) node.inputs.push_back(meta(input));
  for (const std::string& output : outputs) node.outputs.push_back(meta(output));
  return node;
}

// Of the input "x".
Program make_program(std::vector<OpNode> nodes, const std::vector<std::string>& outputs) {
  IR ir;
  ir.graph_inputs = {meta("x")};
  ir.nodes = std::move(nodes);
  for (const std::string& output : outputs) ir.graph_outputs.push_back(meta(output));
  return resolve(ir);
}

// a = f(x), (b_0, b_1) = g(a), c = h(b_0). Nothing reads b_1, so it is not compared.
Program make_graph() {
  return make_program(
      {node("a", {"x"}, {"a"}), node("b", {"a"}, {"b_0", "b_1"}), node("c", {"b_0"}, {"c"})},
      {"c"});
}

at::Tensor value(double number) { return at::full({2}, number); }

// The tolerance decides.
NodeReport compare_with_model(const Program& graph, const ReferenceRun& reference,
                              const ActualValue& actual, const ToleranceRule& tolerance = {}) {
  Judge judge(Case().with(graph), {.criterion = {.reference = ReferenceKind::kModel}});
  return compare_nodes(graph, compared_values(graph), reference, actual, tolerance, judge,
                       /*has_failed=*/false);
}

NodeReport compare(const Program& graph, const Values& expected,
                   const std::map<std::string, at::Tensor>& actual,
                   const ToleranceRule& tolerance = {}) {
  return compare_with_model(
      graph,
      [&](const ValueObserver& observer) {
        for (const auto& [name, tensor] : expected) observer(name, tensor);
      },
      [&](const std::string& name) {
        const auto found = actual.find(name);
        return found == actual.end() ? at::Tensor() : found->second;
      },
      tolerance);
}

TEST(CompareNodes, NamesTheFirstValueOutsideTheTolerance) {
  const NodeReport report =
      compare(make_graph(), {{"x", value(0)}, {"a", value(1)}, {"b_0", value(2)}, {"c", value(3)}},
              {{"a", value(1 + 1e-6)}, {"b_0", value(2.5)}, {"c", value(13)}});
  EXPECT_EQ(report.num_compared, 3);
  EXPECT_EQ(report.num_mismatched, 2);
  EXPECT_EQ(report.num_skipped, 0);
  ASSERT_TRUE(report.first_divergence);
  EXPECT_EQ(report.first_divergence->node.index, 1);
  EXPECT_EQ(report.first_divergence->node.node, "b");
  EXPECT_EQ(report.first_divergence->node.op_type, "test.b");
  EXPECT_EQ(report.first_divergence->node.value, "b_0");
  EXPECT_EQ(report.first_divergence->actual.mean, 2.5);
  EXPECT_EQ(report.first_divergence->expected.mean, 2);
  const auto is_of = [](const char* value) { return Field(&ValueDetail::value, value); };
  EXPECT_THAT(report.worst, ElementsAre(is_of("c"), is_of("b_0"), is_of("a")));
}

TEST(CompareNodes, TellsTheErrorOfEachNode) {
  const NodeReport report =
      compare(make_graph(), {{"a", value(1)}, {"b_0", value(2)}, {"c", value(3)}},
              {{"a", value(1)}, {"b_0", value(2.5)}, {"c", at::full({4}, 3.0)}});
  EXPECT_THAT(report.errors,
              ElementsAre(FieldsAre(0, 0, std::nullopt), FieldsAre(1, 0.5, std::nullopt),
                          FieldsAre(2, kInf, std::nullopt)));
}

TEST(CompareNodes, TakesTheToleranceOfAnOutputForItsValue) {
  const Values expected = {{"a", value(1)}, {"b_0", value(1)}, {"c", value(1)}};
  const std::map<std::string, at::Tensor> actual = {
      {"a", value(1.1)}, {"b_0", value(1.1)}, {"c", value(1.1)}};
  ToleranceRule rule{.fixed = {.rtol = 0, .atol = 0.5}};
  EXPECT_EQ(compare(make_graph(), expected, actual, rule).num_mismatched, 0);
  rule.outputs[0] = {.rtol = 0, .atol = 0};
  const NodeReport report = compare(make_graph(), expected, actual, rule);
  EXPECT_EQ(report.num_mismatched, 1);
  EXPECT_EQ(report.first_divergence.value().node.value, "c");
  EXPECT_EQ(compare(make_graph(), expected, actual, {.by_dtype = true}).num_mismatched, 3);
}

TEST(CompareNodes, SaysWhyValuesWereNotCompared) {
  const NodeReport report = compare(make_graph(), {{"a", value(1)}, {"b_0", at::Tensor()}}, {});
  EXPECT_EQ(report.num_compared, 0);
  EXPECT_EQ(report.num_skipped, 3);
  EXPECT_THAT(report.skipped, ElementsAre(FieldsAre("a", "it was not returned"),
                                          FieldsAre("b_0", "None in the model"),
                                          FieldsAre("c", "the model does not report it")));
}

TEST(CompareNodes, NanIsAsRightAsTheModels) {
  const NodeReport report =
      compare(make_graph(), {{"a", value(1)}, {"b_0", value(kInf)}, {"c", value(kNan)}},
              {{"a", value(kNan)}, {"b_0", value(kInf)}, {"c", value(kNan)}});
  EXPECT_EQ(report.num_mismatched, 1);
  EXPECT_EQ(cause_text(report.first_divergence.value().node), "nan, expected 1");
}

TEST(CompareNodes, KeepsWhatItComparedWhenEitherSideThrows) {
  const auto reference = [](const ValueObserver& observer) {
    observer("a", value(1));
    observer("b_0", value(1));
    throw std::runtime_error("the model is gone");
  };
  NodeReport report =
      compare_with_model(make_graph(), reference, [](const std::string&) { return value(1); });
  EXPECT_EQ(report.num_compared, 2);
  EXPECT_EQ(report.error, "the model could not be run: the model is gone");
  EXPECT_THAT(report.skipped, IsEmpty());

  const auto actual = [](const std::string& name) {
    if (name != "a") throw std::runtime_error("out of chips");
    return value(1);
  };
  report = compare_with_model(make_graph(), reference, actual);
  EXPECT_EQ(report.num_compared, 1);
  EXPECT_EQ(report.error, "the graph could not be run: out of chips");
}

// Of a graph with one value.
NodeReport compare_one(double expected, const SeenValue& seen, const ToleranceRule& tolerance) {
  return compare_with_model(
      make_program({node("a", {}, {"a"})}, {}),
      [&](const ValueObserver& observer) { observer("a", value(expected)); },
      [&](const std::string&) { return seen; }, tolerance);
}

TEST(CompareNodes, AllowsHalfAStepOfAQuantisedValueAndTheEndsOfItsRange) {
  const auto compared = [](double expected, double actual, double step) {
    SeenValue seen = value(actual);
    seen.step = step;
    seen.low = -128 * step;
    seen.high = 127 * step;
    return compare_one(expected, seen, {});
  };
  const auto is_right = [&](double expected, double actual) {
    return compared(expected, actual, 0.5).num_mismatched == 0;
  };
  EXPECT_TRUE(is_right(1.24, 1));
  EXPECT_FALSE(is_right(1.26, 1));
  EXPECT_TRUE(is_right(1000, 63.5));
  EXPECT_FALSE(is_right(1000, 63));
  for (const double step : {1e30, 1e-30}) {
    const NodeReport report = compared(1, 0, step);
    EXPECT_EQ(report.num_not_judged, 1);
    ASSERT_EQ(report.not_judged.size(), 1);
    EXPECT_EQ(report.not_judged[0].reason, "its scale is so large or small that zeros would pass");
  }
  EXPECT_EQ(compared(0, 0, 1e-30).num_not_judged, 0);
}

TEST(CompareNodes, ComparesAValueByTheDtypeThatItWasHandedBackIn) {
  const auto mismatches = [](std::optional<c10::ScalarType> dtype) {
    SeenValue seen = value(1.001);
    seen.rounded_to = dtype;
    return compare_one(1, seen, {.by_dtype = true}).num_mismatched;
  };
  EXPECT_EQ(mismatches(c10::kBFloat16), 0);
  EXPECT_EQ(mismatches(std::nullopt), 1);
}

TEST(CompareNodes, KeepsTheWorstOfMany) {
  std::vector<OpNode> nodes;
  Values expected;
  std::map<std::string, at::Tensor> actual;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "n" + std::to_string(i);
    nodes.push_back(node(name, {}, {name}));
    expected.emplace_back(name, value(0));
    actual.emplace(name, value((i * 7) % 300));
  }
  const NodeReport report = compare(make_program(nodes, {}), expected, actual);
  EXPECT_EQ(report.num_compared, 300);
  EXPECT_EQ(report.num_mismatched, 299);
  ASSERT_EQ(report.worst.size(), kMaxDetails);
  for (size_t i = 0; i < kMaxDetails; ++i) {
    EXPECT_EQ(report.worst[i].comparison.max_diff, 299 - static_cast<double>(i));
  }
}

}  // namespace
}  // namespace torch_ir

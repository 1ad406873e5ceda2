#include "torch_ir/verifier/judge.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <gmock/gmock.h>

#include <map>
#include <tuple>

#include "torch_ir/verifier/arithmetic_report.h"
#include "torch_ir/verifier/compare_nodes.h"
#include "torch_ir/verifier/testing/graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using enum ReferenceKind;

constexpr Arithmetic kBF16 = Arithmetic::kBFloat16;

using ValuesByName = std::map<std::string, at::Tensor>;

at::Tensor bf16(const at::Tensor& tensor) { return tensor.to(at::kBFloat16).to(at::kFloat); }

// n0 = linear(x), n1 = gelu(n0), n2 = linear(n1), n3 = n2 + x.
struct Block {
  Block() {
    const V x = graph.input("x", at::randn({32, 64}));
    const V w0 = graph.weight("w0", at::randn({64, 64}).mul(0.125));
    const V w1 = graph.weight("w1", at::randn({64, 64}).mul(0.125));
    const V n0 = graph.call1("aten.linear.default", {x, w0});
    const V n1 = graph.call1("aten.gelu.default", {n0});
    const V n2 = graph.call1("aten.linear.default", {n1, w1});
    graph.output(graph.call1("aten.add.Tensor", {n2, x}));
  }

  // What a bfloat16 device returns; the value `faulty` is 2 % too large.
  ValuesByName run(const std::string& faulty = "", bool rounds_weights = true) const {
    const auto given = [&](const at::Tensor& t) { return rounds_weights ? bf16(t) : t; };
    ValuesByName values;
    const auto keep = [&](const std::string& name, const at::Tensor& value) {
      values[name] = bf16(name == faulty ? bf16(value).mul(1.02) : value);
      return values[name];
    };
    const at::Tensor in = given(graph.inputs[0]);
    const at::Tensor n0 = keep("n0", at::linear(in, given(graph.weights["w0"])));
    const at::Tensor n1 = keep("n1", at::gelu(n0));
    const at::Tensor n2 = keep("n2", at::linear(n1, given(graph.weights["w1"])));
    keep("n3", n2.add(in));
    return values;
  }

  std::map<std::string, Verdict> judge(const ValuesByName& values,
                                       std::vector<std::string> inside = {},
                                       std::vector<std::string>* exonerated = nullptr) const {
    Judge own(graph.as_case(), {.criterion = {.arithmetic = kBF16}, .inside = std::move(inside)});
    std::map<std::string, Verdict> errors;
    for (const auto& [name, value] : values) errors.emplace(name, own.judge(name, value));
    if (exonerated != nullptr) *exonerated = own.only_returned_wrong();
    return errors;
  }

  std::vector<std::string> wrong(const ValuesByName& values,
                                 std::vector<std::string>* exonerated = nullptr) const {
    std::vector<std::string> names;
    for (const auto& [name, error] : judge(values, {}, exonerated)) {
      EXPECT_EQ(error.not_judged, "");
      if (!error.is_right()) names.push_back(name);
    }
    return names;
  }

  EagerGraph graph;
};

TEST(JudgeTest, FindsNothingOnARightDevice) {
  const Block block;
  for (const auto& [name, error] : block.judge(block.run())) {
    EXPECT_TRUE(error.is_right()) << name << ": " << error.own.problem << error.not_judged;
    // It rounds as the eager lane does, bit for bit.
    EXPECT_EQ(error.own.rms_ratio, 0) << name;
  }
  EXPECT_THAT(block.wrong(block.run("", /*rounds_weights=*/false)), IsEmpty());
}

TEST(JudgeTest, CountsTheStepsOfAValueThatWasReturnedQuantised) {
  const Block block;
  const at::Tensor expected = at::linear(block.graph.inputs[0], block.graph.weights["w0"]);
  constexpr double kStep = 1.0 / 64;
  SeenValue seen = expected.div(kStep).round().mul(kStep);
  std::tie(seen.step, seen.low, seen.high) = std::tuple(kStep, -1000, 1000);
  EXPECT_EQ(Judge(block.graph.as_case(), {}).judge("n0", seen).steps.num_off(), 0);
  const at::Tensor elements = seen.tensor.view(-1);
  elements[0].add_(kStep);
  elements[1].sub_(kStep);
  elements[2].add_(3 * kStep);
  const Verdict verdict = Judge(block.graph.as_case(), {}).judge("n0", seen);
  EXPECT_FALSE(verdict.is_right());
  EXPECT_EQ(verdict.steps.num_off_by_one, 2);
  EXPECT_EQ(verdict.steps.num_off_by_more, 1);
}

TEST(JudgeTest, NamesOnlyTheNodeThatIsWrongOrTheOneThatHidesIt) {
  const Block block;
  auto values = block.run("n0");
  EXPECT_THAT(block.wrong(values), ElementsAre("n0"));
  // Then n1 holds both nodes.
  values.erase("n0");
  EXPECT_THAT(block.wrong(values), ElementsAre("n1"));
}

TEST(JudgeTest, ExoneratesValuesThatWereOnlyReturnedWrong) {
  const Block block;
  auto values = block.run();
  values["n0"] = at::zeros({32, 64});
  values["n1"] = at::ones({32, 64});
  values["n2"] = values["n2"].add(1);
  std::vector<std::string> exonerated;
  EXPECT_THAT(block.wrong(values, &exonerated), ElementsAre("n0", "n1", "n2"));
  EXPECT_THAT(exonerated, ElementsAre("n0", "n1", "n2"));
}

TEST(JudgeTest, NeverExoneratesWhatWasUsed) {
  const Block block;
  auto values = block.run("n1");
  // It reads a value that was returned wrong, and a wrong one.
  values["n0"] = at::zeros({32, 64});
  std::vector<std::string> exonerated;
  EXPECT_THAT(block.wrong(values, &exonerated), ElementsAre("n0", "n1"));
  EXPECT_THAT(exonerated, IsEmpty());
}

TEST(JudgeTest, KeepGroupsUnrounded) {
  const Block block;
  const at::Tensor in = bf16(block.graph.inputs[0]);
  const at::Tensor fused = at::linear(at::gelu(at::linear(in, bf16(block.graph.weights["w0"]))),
                                      bf16(block.graph.weights["w1"]));
  const ValuesByName values = {{"n2", bf16(fused)}, {"n3", bf16(bf16(fused).add(in))}};
  const auto in_group = block.judge(values, {"n0", "n1"});
  const auto alone = block.judge(values);
  EXPECT_EQ(in_group.at("n2").own.rms_ratio, 0);
  EXPECT_GT(alone.at("n2").own.rms_ratio, 0);
  EXPECT_LT(alone.at("n2").own.rms_ratio, 0.9);
}

// A linear layer of PT2E: n0 is x in int8, n4 the result in int8. A step of the product is 2.5 of
// n4.
TEST(JudgeTest, BiasesMayBeWholeNumbersOfSteps) {
  constexpr double kInputScale = 0.5;
  constexpr double kWeightScale = 0.1;
  constexpr double kOutputScale = 0.02;
  const at::Tensor weight = at::randn({4, 4}).mul(3).round().to(at::kChar);
  const at::Tensor bias = at::randn({4}).mul(0.3);
  EagerGraph graph;
  const V x = graph.input("x", at::randn({16, 4}));
  const V w = graph.weight("w", weight);
  const V n0 = in_int8(graph, "quantize", x, kInputScale);
  const V n1 = in_int8(graph, "dequantize", n0, kInputScale);
  const V n2 = in_int8(graph, "dequantize", w, kWeightScale);
  const V n3 = graph.call1("aten.linear.default", {n1, n2, graph.weight("b", bias)});
  graph.output(in_int8(graph, "quantize", n3, kOutputScale));

  const at::Tensor input = graph.inputs[0].to(at::kDouble).div(kInputScale).round();
  // n4 of hardware that adds the bias in steps of the product, and then `more` of them.
  const auto in_integers = [&](double more) {
    constexpr double kStep = kInputScale * kWeightScale;
    const at::Tensor sums = at::linear(input, weight.to(at::kDouble),
                                       bias.to(at::kDouble).div(kStep).round().add(more));
    return sums.mul(kStep).div(kOutputScale).round().clamp(-128, 127).to(at::kChar);
  };
  const auto problem = [&](const at::Tensor& n4) {
    Judge own(graph.as_case(), {});
    EXPECT_TRUE(own.judge("n0", input.to(at::kChar)).is_right());
    return own.judge("n4", n4).own.problem;
  };
  EXPECT_FALSE(at::equal(in_integers(0), graph.expected()[0]));
  EXPECT_EQ(problem(graph.expected()[0]), "");
  EXPECT_EQ(problem(in_integers(0)), "");
  for (const double more : {-1, 1}) {
    EXPECT_THAT(problem(in_integers(more)), HasSubstr(", which rounding does not explain"));
  }
}

// Rows of x times rows of w, each with a scale of its own.
TEST(JudgeTest, ProductsOfChannelsByChannelsHaveNoBiasesInSteps) {
  EagerGraph graph;
  const auto dequantized = [&](const std::string& name, int64_t channels) {
    return graph.call1("quantized_decomposed.dequantize_per_channel.default",
                       {graph.weight(name, at::ones({channels, 4}, at::kChar)),
                        graph.weight(name + "_scales", at::full({channels}, 0.5)),
                        graph.weight(name + "_zeros", at::zeros({channels}, at::kLong)), 0, -128,
                        127, Attribute(at::kChar)});
  };
  const V x = dequantized("x", 2);
  const V w = dequantized("w", 3);
  graph.output(graph.call1("aten.linear.default", {x, w, graph.weight("b", at::ones({3}))}));
  EXPECT_EQ(Judge(graph.as_case(), {}).judge("n2", graph.expected()[0]).not_judged, "");
}

// n0 = relu(x), n2 = n0 rounded to whole numbers and n4 = 1.6 * n2 rounded, in one group.
TEST(JudgeTest, ARoundingInsideAGroupMayBeTheOtherSideOfATie) {
  EagerGraph graph;
  const V x = graph.input("x", at::tensor({2.5, 3.2, 7.0}, at::kFloat));
  const V n1 = in_int8(graph, "dequantize", in_int8(graph, "quantize", x, 1), 1);
  graph.output(in_int8(graph, "quantize", graph.call1("aten.mul.Scalar", {n1, 1.6}), 1));
  const auto is_right = [&](std::vector<int64_t> steps) {
    Judge own(graph.as_case(), {});
    return own.judge("n3", at::tensor(steps, at::kLong).to(at::kChar)).is_right();
  };
  EXPECT_TRUE(is_right({3, 5, 11}));
  EXPECT_TRUE(is_right({5, 5, 11}));
  EXPECT_FALSE(is_right({3, 6, 11}));
  EXPECT_FALSE(is_right({6, 5, 11}));
  EXPECT_FALSE(is_right({2, 5, 11}));
}

// The mean of values that eager adds with rounding errors, and that is exactly a tie.
TEST(JudgeTest, AnElementMayBeThatOfEitherComputation) {
  EagerGraph graph;
  const V x = graph.input("x", at::full({2, 10}, 0.15F));
  const V mean = graph.call1("aten.mean.dim", {x, Attribute::list({int64_t{1}}), false});
  graph.output(in_int8(graph, "quantize", mean, 0.1));
  for (const int64_t step : {1, 2, 3}) {
    Judge own(graph.as_case(), {});
    const Verdict error = own.judge("n1", at::tensor({step, int64_t{2}}).to(at::kChar));
    EXPECT_EQ(error.is_right(), step != 3) << error.own.problem;
  }
}

TEST(JudgeTest, FollowWritesInPlace) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 8}));
  const V copy = graph.call1("aten.mul.Tensor", {x, x});
  const V view = graph.call1("aten.flatten.using_ints", {copy, 0, -1});
  graph.call1("aten.add_.Scalar", {view, 3.0});
  graph.output(graph.call1("aten.exp.default", {copy}));
  Judge own(graph.as_case(), {.criterion = {.arithmetic = kBF16}});
  const at::Tensor in = bf16(graph.inputs[0]);
  const at::Tensor square = bf16(in.mul(in));
  const at::Tensor sum = bf16(square.add(3));
  EXPECT_TRUE(own.judge("n0", square).is_right());
  EXPECT_TRUE(own.judge("n1", square.view({32})).is_right());
  EXPECT_TRUE(own.judge("n2", sum.view({32})).is_right());
  const Verdict last = own.judge("n3", bf16(sum.exp()));
  EXPECT_TRUE(last.is_right()) << last.own.problem << last.not_judged;
}

TEST(ReportOnArithmetic, SaysWhatIsLeft) {
  const EagerGraph graph = chain(at::randn({64, 64}), {{"aten.exp.default"}});
  const ArithmeticReport report = report_on_arithmetic(graph.as_case(), kBF16);
  EXPECT_EQ(report.problem, "");
  EXPECT_FALSE(report.first_lost);
  EXPECT_FALSE(report.outputs.at(0).is_lost);
  const at::Tensor device = bf16(bf16(graph.inputs[0]).exp());
  const ErrorComparison errors =
      compare_errors(device, device, graph.inputs[0].to(at::kDouble).exp());
  EXPECT_NEAR(report.outputs[0].signal_to_noise.value(), snr_of(errors.value_rms, errors.run.rms),
              1e-6);
}

std::string first_lost(const EagerGraph& graph, Arithmetic arithmetic) {
  const ArithmeticReport report = report_on_arithmetic(graph.as_case(), arithmetic);
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.outputs.at(0).is_lost, report.first_lost.has_value());
  if (!report.first_lost) return "";
  return lost_text(arithmetic, *report.first_lost,
                   [](const std::string& name) { return "`" + name + "`"; });
}

TEST(ReportOnArithmetic, NamesTheFirstInfinity) {
  // As a norm of large values: x^3 is infinite in float16, and the result 0.
  const auto norm = [](double scale) {
    return chain(at::full({1, 4}, scale), {{"aten.pow.Tensor_Scalar", {int64_t{3}}},
                                           {"aten.rsqrt.default"},
                                           {"aten.mul.Tensor", {V{"x"}}}});
  };
  const std::string infinity = "float16 cannot hold this model: first infinity ";
  EXPECT_EQ(first_lost(norm(100), Arithmetic::kFloat16), infinity + "at `n0`");
  EXPECT_EQ(first_lost(norm(100), kBF16), "");
  EXPECT_EQ(first_lost(norm(10), Arithmetic::kFloat16), "");
  EagerGraph graph;
  const V x = graph.input("x", at::ones({2}));
  graph.output(graph.call1("aten.mul.Tensor", {x, graph.weight("scale", at::full({2}, 1e5))}));
  EXPECT_EQ(first_lost(graph, Arithmetic::kFloat16), infinity + "in the weight or input `scale`");
}

TEST(ReportOnArithmetic, AcceptsTheInfinityOfAMask) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({2, 4}));
  const V mask = graph.weight("mask", at::tensor({0.0F, 0.0F, -3e38F, -1e9F}));
  const V masked = graph.call1("aten.add.Tensor", {x, mask});
  graph.output(graph.call1("aten._softmax.default", {masked, 1, false}));
  EXPECT_EQ(first_lost(graph, Arithmetic::kFloat16), "");
}

TEST(ReportOnArithmetic, NamesTheLossOfAllDigits) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({64}).mul(1e-3).add(1000));
  const V mean = graph.call1("aten.mean.default", {x});
  const V centred = graph.call1("aten.sub.Tensor", {x, mean});
  graph.output(graph.call1("aten.mul.Tensor", {centred, centred}));
  const ArithmeticReport report = report_on_arithmetic(graph.as_case(), kBF16);
  ASSERT_TRUE(report.first_lost) << report.problem;
  EXPECT_EQ(report.first_lost->place.value, "n1");
  EXPECT_EQ(report.first_lost->kind, LostValue::Kind::kDigits);
  EXPECT_EQ(report.losses.at(0).place.value, "n1");
}

TEST(JudgeTest, AnotherIndexIsRightBetweenValuesThatAreCloserThanTheirErrors) {
  const EagerGraph graph = chain(at::tensor({1.0F, 1.001F, 3.0F, 2.0F}).view({2, 2}),
                                 {{"aten.relu.default"}, {"aten.argmax.default", {1}}});
  const auto judge = [&](std::vector<int64_t> indices) {
    Judge own(graph.as_case(), {.criterion = {.arithmetic = kBF16}});
    own.judge("n0", bf16(graph.inputs[0]));
    return own.judge("n1", at::tensor(indices));
  };
  EXPECT_TRUE(judge({0, 0}).is_right());
  EXPECT_EQ(judge({0, 0}).num_other_choices, 0);
  EXPECT_TRUE(judge({1, 0}).is_right());
  EXPECT_EQ(judge({1, 0}).num_other_choices, 1);
  EXPECT_EQ(judge({0, 1}).own.problem,
            "index 1 at [1], expected 0: the values are 2 and 3, and their error is 0.0098");
  EXPECT_EQ(judge({0, 2}).own.problem, "index 2 at [1], expected 0");
}

// A value may cross a tie by its error, so few elements may be off by a step, not those of a value
// that is 0.2 % too large; in an arithmetic, whose errors are larger, at most half of them.
TEST(JudgeTest, FewElementsMayBeOffByAStep) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({64, 64}));
  graph.output(in_int8(graph, "quantize", x, 0.03125));
  const auto judge = [&](double factor, double more, std::optional<Arithmetic> arithmetic) {
    const at::Tensor steps = graph.inputs[0].mul(factor / 0.03125).round().add(more);
    Judge own(graph.as_case(), {.criterion = {.arithmetic = arithmetic}});
    return own.judge("n0", steps.clamp(-128, 127).to(at::kChar)).is_right();
  };
  EXPECT_TRUE(judge(1, 0, std::nullopt));
  EXPECT_FALSE(judge(1.002, 0, std::nullopt));
  EXPECT_TRUE(judge(1.002, 0, kBF16));
  EXPECT_FALSE(judge(1, 1, kBF16));
}

TEST(JudgeTest, WithoutAnArithmeticTheUnitIsThatOfTheDtype) {
  const EagerGraph graph = chain(at::randn({64, 64}).mul(1000), {{"aten.relu.default"}});
  const auto judge = [&](const at::Tensor& value, const Tolerance& tolerance = kExactTolerance) {
    return Judge(graph.as_case(), {}).judge("n0", value, tolerance);
  };
  const at::Tensor relu = graph.inputs[0].relu();
  EXPECT_EQ(judge(relu).own.problem, "");
  EXPECT_THAT(judge(relu.mul(1.00001)).own.problem, HasSubstr("its values are 0.001 % too large"));
  EXPECT_TRUE(judge(relu.mul(1.00001), {.rtol = 1e-4}).is_right());
  EXPECT_EQ(judge(at::ones({8, 4})).own.problem, "shape [8, 4], expected [64, 64]");
}

// Compares what a run returned with what the model made.
NodeReport compare_values(const EagerGraph& graph, const ValuesByName& expected,
                          const ValuesByName& returned, const ToleranceRule& tolerance,
                          const Criterion& criterion, bool has_failed = false) {
  const Case content = graph.as_case();
  std::vector<ValueId> values;
  for (const auto& [name, value] : expected) values.push_back(content.program->find(name).value());
  Judge judge(content, {.criterion = criterion});
  return compare_nodes(
      *content.program, values,
      [&](const ValueObserver& observer) {
        for (const auto& [name, value] : expected) observer(name, value);
      },
      [&](const std::string& name) { return returned.at(name); }, tolerance, judge, has_failed);
}

// What each criterion says of a value that is 0.1 % too large, of those computed from it, and of
// one that is a rounding away.
TEST(JudgedNodes, DecidesByItsCriterion) {
  const EagerGraph graph = chain(
      at::randn({64, 64}), {{"aten.tanh.default"}, {"aten.exp.default"}, {"aten.neg.default"}});
  const at::Tensor tanh = graph.inputs[0].tanh();
  const at::Tensor rounded = graph.inputs[0].to(at::kDouble).tanh().to(at::kFloat);
  const auto values = [](const at::Tensor& first) {
    return ValuesByName{{"n0", first}, {"n1", first.exp()}, {"n2", first.exp().neg()}};
  };
  const auto wrong = [&](const Criterion& criterion, double factor, double rtol) {
    return compare_values(graph, values(tanh), values(rounded * factor), {.fixed = {rtol, rtol}},
                          criterion)
        .num_mismatched;
  };
  EXPECT_EQ(wrong({kAuto}, 1.001, 1e-5), 1);
  EXPECT_EQ(wrong({kAuto}, 1.001, 1e-2), 0);
  EXPECT_EQ(wrong({kAuto}, 1, 0), 0);
  EXPECT_EQ(wrong({kFloat64}, 1.001, 1e-2), 1);
  EXPECT_EQ(wrong({kModel}, 1.001, 1e-5), 3);
  EXPECT_EQ(wrong({kModel}, 1 + 1e-6, 0), 3);
  EXPECT_EQ(wrong({kAuto, kBF16}, 1.02, 1), 1);
}

// Random numbers; in a graph that rounds, what follows may differ by steps.
TEST(JudgedNodes, LeavesToTheToleranceWhatTheLanesCannotJudge) {
  const auto judged = [](const Criterion& criterion, double error, bool rounds) {
    const EagerGraph graph =
        chain(at::ones({4}),
              {{"aten.rand_like.default"}, {rounds ? "aten.round.default" : "aten.relu.default"}});
    const at::Tensor drawn = at::full({4}, 0.5);
    const NodeReport report = compare_values(graph, {{"n0", drawn}}, {{"n0", drawn + error}},
                                             {.by_dtype = true}, criterion);
    EXPECT_EQ(report.num_compared, 1);
    return std::pair(report.num_mismatched, report.num_not_judged);
  };
  using Counts = std::pair<int64_t, int64_t>;
  for (const ReferenceKind kind : {kAuto, kFloat64}) {
    for (const bool rounds : {false, true}) {
      EXPECT_EQ(judged({kind}, 1e-6, rounds), Counts(0, 0));
      EXPECT_EQ(judged({kind}, 0.1, rounds), rounds ? Counts(0, 1) : Counts(1, 0));
    }
  }
  EXPECT_EQ(judged({kAuto, kBF16}, 1e-6, /*rounds=*/false), Counts(0, 0));
  EXPECT_EQ(judged({kAuto, kBF16}, 1e-2, /*rounds=*/false), Counts(0, 1));
}

// The next number is another one in float64, but within the tolerance of the eager lane's.
TEST(JudgedNodes, CountsWhatIsRightAfterAWrongValueWithoutBeingJudged) {
  const EagerGraph graph =
      chain(at::ones({4}), {{"aten.mul.Scalar", {2.0}}, {"aten.nextafter.default", {V{"x"}}}});
  const at::Tensor two = at::full({4}, 2.0);
  for (const ReferenceKind kind : {kAuto, kFloat64}) {
    const NodeReport report =
        compare_values(graph, {{"n0", two}, {"n1", two}}, {{"n0", two + 0.1}, {"n1", two + 0.1}},
                       {.by_dtype = true}, {kind});
    EXPECT_EQ(report.num_mismatched, 1);
    EXPECT_EQ(report.num_right_locally, 1);
    EXPECT_EQ(report.num_not_judged, 0);
  }
}

// A model that fills memory, of which a view is written first, and an executor with other garbage.
TEST(JudgedNodes, LeavesMemoryThatNothingHasWritten) {
  EagerGraph graph;
  const V x = graph.input("x", at::randn({4, 4}));
  const V n0 = graph.call1("aten.empty_like.default", {x});
  const V n1 = graph.call1("aten.select.int", {n0, 0, 1});
  graph.output(graph.call1("aten.fill_.Scalar", {n1, 1.0}));
  // Writes one row of four.
  graph.output(graph.call1("aten.index_fill_.int_Scalar",
                           {n0, 0, graph.weight("at", at::zeros({1}, at::kLong)), 3.0}));
  const auto values = [](double garbage, double first) {
    at::Tensor memory = at::full({4, 4}, garbage);
    ValuesByName all = {{"n0", memory.clone()}, {"n1", memory[1].clone()}};
    all["n2"] = memory[1].fill_(first).clone();
    memory[0].fill_(3);
    all["n3"] = memory.clone();
    return all;
  };
  for (const ReferenceKind kind : {kAuto, kFloat64, kModel}) {
    for (const double fill : {1.0, 2.0}) {
      const NodeReport report =
          compare_values(graph, values(std::numeric_limits<double>::quiet_NaN(), 1),
                         values(-7, fill), {.by_dtype = true}, {kind});
      EXPECT_EQ(report.num_compared, 2);
      EXPECT_EQ(report.num_skipped, 2);
      EXPECT_EQ(report.skipped[0].reason, "nothing has been written to its memory yet");
      EXPECT_EQ(report.num_mismatched, fill == 1 ? 0 : 1);
      const auto& first = report.first_divergence;
      EXPECT_EQ(first ? first->node.value : "n2", "n2");
    }
  }
}

// The graph adds 1, the model 2, and the executor is right about the graph.
TEST(JudgedNodes, NamesWhereTheGraphPartsFromTheModel) {
  const EagerGraph graph =
      chain(at::randn({8}), {{"aten.add.Scalar", {1.0}}, {"aten.mul.Scalar", {3.0}}});
  const auto values = [&](double added) {
    const at::Tensor sum = graph.inputs[0] + added;
    return ValuesByName{{"n0", sum}, {"n1", sum * 3}};
  };
  for (const std::optional<Arithmetic> arithmetic : {std::optional<Arithmetic>(), {kBF16}}) {
    const NodeReport report = compare_values(graph, values(2), values(1), {}, {kAuto, arithmetic});
    EXPECT_EQ(report.first_divergence.value().node.value, "n0");
  }
}

// The tolerance is absolute, and the fault is in a value so small that it hides it.
TEST(JudgedNodes, NamesWhatTheToleranceExcusesIfTheRunFailed) {
  const EagerGraph graph =
      chain(at::randn({64}), {{"aten.mul.Scalar", {1e-5}}, {"aten.mul.Scalar", {1e5}}});
  const at::Tensor small = graph.inputs[0] * 1e-5;
  const at::Tensor wrong = small * 1.01;
  for (const bool has_failed : {true, false}) {
    const NodeReport report =
        compare_values(graph, {{"n0", small}, {"n1", small * 1e5}},
                       {{"n0", wrong}, {"n1", wrong * 1e5}}, {}, {kAuto}, has_failed);
    EXPECT_EQ(report.num_right_locally, 1);
    const auto& first = report.first_divergence;
    EXPECT_EQ(first ? first->node.value : "", has_failed ? "n0" : "");
  }
}

}  // namespace
}  // namespace torch_ir

// OPERATORS.md, and its section of index.html.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/run_text.h"
#include "harness/report/testing/page_test_results.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string page_of(const std::vector<Result>& cases, const RunContext& context = {}) {
  return render_operators({.context = context, .cases = cases});
}

TEST(OperatorsPageTest, IsAScoreboardOfOperatorsAndDtypes) {
  Result wrong =
      make_failed_case("aten.neg.default", "float32", FailureKind::kOutputMismatch, "2 differ");
  wrong.name += "_wrong";
  wrong.metrics.max_diff = 0.5;
  wrong.own_error = OwnError{.rms_ratio = 3};
  Result unsupported = make_case("aten.sin.default", "bfloat16");
  unsupported.unsupported = "no sines here";
  Result on_host = make_case("aten.abs.default", "float32");
  on_host.executor = ExecutorReport{.num_nodes = 1, .nodes = {{"abs", {.place = "host"}}}};
  std::vector<Result> cases = {make_case("aten.abs.default", "bool"), on_host,
                               make_case("aten.neg.default", "float32"), wrong, unsupported};
  const std::string page = page_of(cases);
  EXPECT_THAT(page,
              StartsWith("# Operators\n\n❌ **3 of 5 cases passed (1 with nodes on the host), "
                         "1 differs, 1 unsupported**\n\nThis run covers 3 operators. Each "
                         "case is one call. It passes if its outputs are within its own "
                         "tolerance, or that of torch.testing.assert_close"));
  expect_in(page, {// Dtypes are in order of use, not in alphabetical order.
                   "## Pointwise\n\n"
                   "| Operator | float32 | bfloat16 | bool | Cases | Own&nbsp;error |\n"
                   "|---|--:|--:|--:|--:|--:|\n"
                   "| `aten.abs.default` | 1 |  | 1 | 2 |  |\n"
                   "| `aten.neg.default` | ❌ 1/2 |  |  | ❌ 1/2 | 3 |\n"
                   "| `aten.sin.default` |  | – |  | – |  |\n",
                   "| `aten.neg.default/float32/usual_wrong` |  | differs | 0.5 | 3 | 2 differ |\n",
                   "## Unsupported operators\n\n| Operator | Cases | Reason |\n"
                   "|---|--:|---|\n| `aten.sin.default` | 1 | no sines here |\n\n"
                   "## Passed on the host\n\n| Operator | Cases | Reason |\n|---|--:|---|\n"
                   "| `aten.abs.default` | 1 | 1 of 1 node on the host |\n"});
  EXPECT_THAT(page, Not(HasSubstr("## Calls in models")));
  // Without support, it is good.
  std::erase_if(cases, [](const Result& it) { return it.failure.has_value(); });
  EXPECT_THAT(page_of(cases),
              AllOf(HasSubstr("✅ **3 of 4 cases passed"), Not(HasSubstr("## Failing cases"))));
}

TEST(OperatorsPageTest, NamesSoManyFailuresAndCountsTheOthers) {
  std::vector<Result> cases;
  for (int i = 0; i < 203; ++i) {
    cases.push_back(make_failed_case("aten.op" + std::to_string(i) + ".default", "float32",
                                     FailureKind::kCrashed, "killed"));
  }
  EXPECT_THAT(page_of(cases), AllOf(HasSubstr("\n`results.json` lists 3 more.\n"),
                                    Not(HasSubstr("`aten.op200.default/float32/usual` |  |"))));
}

// A failed case of an edge case, or of ordinary values if it has no note.
Result make_edge(const std::string& op_type, const std::string& dtype, const std::string& variant,
                 const std::string& note, const std::string& message) {
  Result result = make_failed_case(op_type, dtype, FailureKind::kOutputMismatch, message);
  result.name = op_type + "/" + dtype + "/" + variant;
  result.description = note;
  if (message.empty()) result.failure.reset();
  return result;
}

std::vector<Result> faulty_suite() {
  std::vector<Result> cases;
  for (const std::string op_type : {"aten.abs.default", "aten.neg.default", "aten.sin.default"}) {
    const auto add = [&](const std::string& dtype, const std::string& message) {
      cases.push_back(make_edge(op_type, dtype, "denormal", "denormals", message));
    };
    cases.push_back(make_case(op_type, "float32"));
    add("float16", "output 0 '" + op_type + "': 20 of 36 elements mismatched (55.6 %)");
    add("float32", op_type == "aten.sin.default"
                       ? ""
                       : "output 0 'x': 4 of 36 elements mismatched (11 %): max abs. error 1");
  }
  // Its edge case is not a cause of its own.
  cases.push_back(
      make_failed_case("aten.sum.default", "float16", FailureKind::kOutputMismatch, "off"));
  cases.push_back(make_edge("aten.sum.default", "float16", "denormal", "denormals", "off"));
  cases.push_back(make_case("aten.sum.default", "float32"));
  for (Result& result : cases) {
    if (result.call->op_type == "aten.sum.default") result.categories = {"reduction"};
  }
  return cases;
}

TEST(OperatorsPageTest, GroupsFailuresByCause) {
  std::vector<Result> cases = faulty_suite();
  EXPECT_THAT(
      page_of(cases),
      HasSubstr(
          "## Failures by cause\n\nOperators that are wrong for ordinary values come first; their "
          "edge cases count there too.\n\n"
          "| Cause | Calls | In common | For example |\n"
          "|---|--:|---|---|\n"
          "| ordinary values, 1 edge case, off | 2 | in float16; aten.sum.default "
          "| `aten.sum.default/float16/usual` |\n"
          "| denormal (denormals), output 0 'aten.abs.default': 20 of 36 elements mismatched | 4 "
          "| in every dtype; 2 of 3 operators of pointwise | "
          "`aten.abs.default/float16/denormal` `aten.neg.default/float16/denormal` |\n"
          "| denormal (denormals), output 0 'aten.sin.default': 20 of 36 elements mismatched | 1 "
          "| in float16; aten.sin.default | `aten.sin.default/float16/denormal` |\n"));
  EXPECT_THAT(summary_of({}, {.selection = {.suite = Suite::kOperators}}, {}, cases),
              HasSubstr("elements mismatched | 4 | in every dtype"));
  // In a terminal, few are listed and many are grouped.
  EXPECT_THAT(cases_lines(cases), HasSubstr("  aten.sum.default/float16/usual  differs: off\n"));
  for (int i = 0; i < 40; ++i) {
    cases.push_back(make_edge("aten.op" + std::to_string(i), "float32", "empty", "none", "gone"));
  }
  EXPECT_THAT(cases_lines(cases),
              HasSubstr("\n  ordinary values, 1 edge case, off: 2 calls: in float16; "
                        "aten.sum.default; aten.sum.default/float16/usual\n"
                        "  empty (none), gone: 40 calls: in float32; 40 of 40 operators of "
                        "pointwise; aten.op0/float32/empty"));
}

TEST(OperatorsPageTest, CountsTheCallsOfEachModel) {
  Result shared = make_case("aten.relu.default", "float32");
  shared.categories = {"split"};
  shared.description = "dim=1";
  shared.call->occurrences = {{.model = "One", .node = "relu"},
                              {.model = "One", .node = "relu_1"},
                              {.model = "Other", .node = "relu"}};
  Result own =
      make_failed_case("aten.sin.default", "float32", FailureKind::kExecuteFailed, "broken");
  own.categories = {"split"};
  own.call->occurrences = {{.model = "Other", .node = "sin"}};
  EXPECT_THAT(page_of({shared, own}),
              HasSubstr("| Call | Attributes | Status | Max&nbsp;abs.&nbsp;error | "
                        "Own&nbsp;error | One | Other |\n"
                        "|---|---|---|--:|--:|--:|--:|\n"
                        "| `aten.relu.default/float32/usual` | dim=1 | ✅ | 0 |  | 2 | 1 |\n"
                        "| `aten.sin.default/float32/usual` |  | ❌ failed |  |  |  | 1 |\n"));
}

// All of these texts may come from files.
Result hostile_case() {
  const std::string text = "<b>|\n# `x` *y* [z](u)</b>";
  Result result = make_failed_case(text, text, FailureKind::kExecuteFailed, text);
  result.name = result.description = text;
  result.categories = {text};
  result.call->occurrences = {{.model = text, .node = text, .module = text, .source = text}};
  return result;
}

TEST(OperatorsPageTest, ShowsWhateverItIsCalledAsText) {
  Result unsupported = hostile_case();
  unsupported.unsupported = unsupported.name;
  const std::string page = page_of({hostile_case(), unsupported});
  std::string outside_code;
  bool is_code = false;
  for (size_t i = 0; i < page.size(); ++i) {
    // A code span of a text with backticks begins and ends with two.
    if (page.compare(i, 2, "``") == 0) is_code = !is_code, ++i;
    if (!is_code) outside_code += page[i];
  }
  EXPECT_THAT(outside_code, AllOf(Not(HasSubstr("<b>")), Not(HasSubstr("*y*")),
                                  Not(HasSubstr("[z](u)")), Not(HasSubstr("\n# `"))));
  EXPECT_THAT(outside_code, HasSubstr("\\*y\\*"));
}

TEST(OperatorsJsonTest, HasTheScoreboardInPlainText) {
  const std::string text = hostile_case().name;
  const json_fields::Json data = operators_json({hostile_case(), hostile_case()});
  EXPECT_EQ(data["verdict"], "0 of 2 cases passed, 2 failed");
  const json_fields::Json& parts = data["parts"];
  EXPECT_EQ(parts[1][0], "Failing cases");
  EXPECT_EQ(parts[1][1]["rows"][0][0], text);
  EXPECT_EQ(parts[2][0], text + ": 0 of 2 passed");
  EXPECT_EQ(parts[2][1]["rows"][0], json_fields::Json({text, "❌ 0/2", "❌ 0/2", ""}));
  EXPECT_EQ(parts[3][1]["heads"].back(), text);
  EXPECT_TRUE(operators_json({}).is_null());
}

TEST(SummaryTest, SaysHowManyCasesPassed) {
  const std::vector<Result> cases = {
      make_case("aten.abs.default", "bool"),
      make_failed_case("aten.sin.default", "float32", FailureKind::kOutputMismatch, "off")};
  const std::string both = summary_of({make_result()}, {.num_registered = 1}, {}, cases);
  EXPECT_THAT(both, StartsWith("# Summary\n\n❌ **1 of 2 cases passed, 1 differs**: see "
                               "[OPERATORS.md](OPERATORS.md).\n\n✅ **1 of 1 models passed**"));
  EXPECT_THAT(both, HasSubstr("## Causes\n\n| Cause | Calls | In common | For example |"));
  const std::string alone = summary_of({}, {.selection = {.suite = Suite::kOperators}}, {}, cases);
  EXPECT_THAT(alone, AllOf(HasSubstr("1 of 2 cases passed"), Not(HasSubstr("models passed")),
                           Not(HasSubstr("## Models"))));
}

}  // namespace
}  // namespace torch_ir

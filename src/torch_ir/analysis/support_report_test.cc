#include "torch_ir/analysis/support_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::FieldsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

// Graphs that call the operators a, b, ... of a namespace once each.
GraphOperators graph(const std::string& name, const std::string& letters) {
  GraphOperators result{.name = name, .operators = {}};
  for (const char letter : letters) {
    result.operators.emplace_back(std::string("my.") + letter + ".default", 1);
  }
  return result;
}

SupportedOperators list(const std::string& letters) {
  std::string text;
  for (const char letter : letters) text += std::string("my.") + letter + '\n';
  return SupportedOperators::parse(text, "list.txt");
}

SupportedOperators parse(const std::string& text) {
  return SupportedOperators::parse(text, "chip.txt");
}

TEST(SupportedOperatorsTest, HasTheOperatorsThatItNames) {
  const std::vector<std::string> overloads = {"aten.add.Tensor", "aten.add.Scalar"};
  const std::vector<std::string> others = {"aten.add_.Tensor", "aten.addmm.default"};
  const struct {
    const char* text;
    std::vector<std::string> has;
    std::vector<std::string> lacks;
  } lists[] = {
      {"aten.add.Tensor\naten.conv2d.default\n",
       {"aten.add.Tensor", "aten.conv2d.default"},
       {"aten.add.Scalar", "aten.add", "aten.add_.Tensor"}},
      // All overloads.
      {"aten.add", overloads, others},
      {"aten.add.*", overloads, others},
      // Names of two parts, and namespaces.
      {"higher_order.cond\n_operator.*\n",
       {"higher_order.cond", "_operator.add", "_operator.floordiv"},
       {"higher_order.while_loop", "math.floor"}},
      {"<built-in function getitem>", {"<built-in function getitem>"}, {}},
      // Blanks, comments and empty lines mean nothing.
      {"# the chip\r\n\r\n  aten.add.Tensor\t# sums\r\n#aten.mul.Tensor\n\naten.relu",
       {"aten.add.Tensor", "aten.relu.default"},
       {"aten.mul.Tensor"}},
      {"", {}, {"aten.add.Tensor"}},
      // As C++ and Python write them.
      {"aten::add.Tensor", {"aten.add.Tensor"}, {}},
      {"torch.ops.aten.add.Tensor", {"aten.add.Tensor"}, {}},
      {"aten::add", overloads, {}},
  };
  for (const auto& [text, has, lacks] : lists) {
    for (const std::string& name : has) EXPECT_TRUE(parse(text).contains(name)) << text << name;
    for (const std::string& name : lacks) EXPECT_FALSE(parse(text).contains(name)) << text << name;
  }
}

TEST(SupportedOperatorsTest, WhatIsNoNameIsAnErrorWithItsLine) {
  const auto refuses = [](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { parse(text); },
                testing::ThrowsMessage<Error>(
                    "chip.txt:" + message +
                    "; write NAMESPACE.NAME.OVERLOAD, such as aten.add.Tensor, or NAMESPACE.NAME "
                    "for all overloads"));
  };
  refuses("aten.add.Tensor\n\nconv2d\n", "3: invalid operator name 'conv2d'");
  for (const std::string line : {"aten.add.Tensor aten.mul.Tensor", "aten.add.Ten*",
                                 "aten..default", "aten.add.", "aten.2d.default", "*"}) {
    refuses(line, "1: invalid operator name '" + line + "'");
  }
  refuses("aten.add.\x1b[2J", "1: invalid operator name 'aten.add.\\x1b[2J'");
}

TEST(SupportedOperatorsTest, AListIsAFile) {
  const std::string path = ::testing::TempDir() + "supported_operators_test.txt";
  std::ofstream(path) << "aten.add.Tensor\nnothing\n";
  EXPECT_THAT([&] { SupportedOperators::load(path); },
              testing::ThrowsMessage<Error>(
                  testing::StartsWith(path + ":2: invalid operator name 'nothing'; ")));
  EXPECT_THAT(
      [&] { SupportedOperators::load(path + ".none"); },
      testing::ThrowsMessage<Error>("cannot open '" + path + ".none': No such file or directory"));
}

TEST(SupportReportTest, OperatorsThatRunOnTheHostAreNeverMissing) {
  const GraphOperators graph{.name = "a",
                             .operators = {{"aten._assert_scalar.default", 1},
                                           {"aten.sym_size.int", 2},
                                           {"aten.alias.default", 1},
                                           {"_operator.ge", 1},
                                           {"aten.item.default", 1},
                                           {"my.a.default", 1}}};
  const SupportReport report = supported({graph}, parse("my.a"));
  EXPECT_THAT(report.graphs[0].missing, ElementsAre(Pair("aten.item.default", 1)));
  EXPECT_EQ(report.graphs[0].num_supported_calls, 6);
}

TEST(SupportReportTest, MissingOperatorsAreSortedByGraphsThenCallsThenName) {
  GraphOperators often = graph("Often", "");
  often.operators = {{"my.z.default", 5}, {"my.y.default", 1}, {"my.x.default", 1}};
  const SupportReport report = supported({often, graph("Other", "y")}, list(""));
  EXPECT_THAT(report.missing,
              ElementsAre(FieldsAre("my.y.default", 2, 1, 2), FieldsAre("my.z.default", 1, 0, 5),
                          FieldsAre("my.x.default", 1, 0, 1)));
}

TEST(SupportReportTest, CountsTheGraphsThatLackNothingElse) {
  // c is in four graphs, but none of them runs with c alone.
  const SupportReport report =
      supported({graph("1", "cde"), graph("2", "cdf"), graph("3", "cef"), graph("4", "cdg"),
                 graph("5", "ax"), graph("6", "a"), graph("7", "b")},
                list("x"));
  EXPECT_THAT(report.missing.front(), FieldsAre("my.c.default", 4, 0, 4));
  EXPECT_THAT(report.missing, Contains(FieldsAre("my.a.default", 2, 2, 2)));
  EXPECT_THAT(report.missing, Contains(FieldsAre("my.b.default", 1, 1, 1)));
}

TEST(SupportReportTest, StepsUnlockMostGraphsPerOperator) {
  // No operator alone unlocks a graph but h. a and b unlock four; then c one, h one, d and e one.
  const SupportReport report = supported({graph("1", "ab"),
                                          graph("2", "ab"),
                                          graph("3", "abx"),
                                          graph("4", "ab"),
                                          graph("5", "abc"),
                                          graph("6", "bde"),
                                          graph("7", "h"),
                                          graph("8", "x"),
                                          {.name = "Broken", .operators = {}, .error = "no"}},
                                         list("x"));
  EXPECT_THAT(report.steps,
              ElementsAre(FieldsAre(ElementsAre("my.a.default", "my.b.default"), 4, 5),
                          FieldsAre(ElementsAre("my.c.default"), 1, 6),
                          FieldsAre(ElementsAre("my.h.default"), 1, 7),
                          FieldsAre(ElementsAre("my.d.default", "my.e.default"), 1, 8)));
  for (const MissingOperator& missing : report.missing) {
    EXPECT_EQ(missing.num_unlocked, missing.op_type == "my.h.default" ? 1 : 0);
  }
}

TEST(SupportReportTest, OperatorsInTheGraphsOfControlFlowCount) {
  Graph branch;
  branch.nodes = {{.name = "r", .target = "my.r.default", .arguments = {}}};
  Graph whole;
  whole.nodes = {{.name = "y", .target = "higher_order.cond", .arguments = {}}};
  whole.nodes[0].graphs = {branch, branch};
  const SupportReport report = supported({operators_of("Branches", whole)},
                                         SupportedOperators::parse("higher_order.cond", "list"));
  EXPECT_THAT(report.graphs[0].missing, ElementsAre(Pair("my.r.default", 2)));
  EXPECT_EQ(report.graphs[0].num_calls, 3);
}

TEST(SupportReportTest, AModelWithoutAGraphDoesNotRunAndLacksNoOperator) {
  const SupportReport report = supported(
      {{.name = "Broken", .operators = {}, .error = "no\nway"}, graph("Good", "a")}, list("a"));
  EXPECT_EQ(report.num_running, 1);
  EXPECT_FALSE(report.graphs[0].runs());
  EXPECT_THAT(report.missing, IsEmpty());
  EXPECT_THAT(to_text(report, "list.txt"),
              HasSubstr("Broken  no    0 of 0           no graph: no\\x0away\n"));
}

TEST(SupportReportTest, TextIsTwoTables) {
  GraphOperators second = graph("SecondModel", "");
  second.operators = {{"my.b.default", 3}, {"my.a.default", 2}, {"my.c.default", 1}};
  const SupportReport report =
      supported({graph("First", "a"), second, graph("Third", "b")}, list("a"));
  EXPECT_EQ(to_text(report, "list.txt"),
            R"(model        runs  calls supported  missing
First        yes   1 of 1           nothing
SecondModel  no    2 of 6           my.b.default (3 calls), my.c.default
Third        no    0 of 1           my.b.default

1 of 3 models run on the operators of list.txt.

missing operator  blocks  unlocks  calls
my.b.default      2       1        4
my.c.default      1       0        1

blocks: models that call this operator; unlocks: models that lack only this one

What unlocks most, each row after those above it:

unlocks  models that run  added operators
1        2 of 3           my.b.default
1        3 of 3           my.c.default
)");
}

TEST(SupportReportTest, TextIsShortWhereEverythingRunsAndLongListsAreCut) {
  EXPECT_EQ(to_text(supported({graph("First", "a")}, list("a")), "list.txt"),
            R"(model  runs  calls supported  missing
First  yes   1 of 1           nothing

1 of 1 models run on the operators of list.txt.
)");
  const std::string text = to_text(supported({graph("Long", "abcdefgh")}, list("")), "list.txt");
  EXPECT_THAT(text, HasSubstr("my.e.default and 3 more\n"));
  // What to add is said in full.
  EXPECT_THAT(text, HasSubstr("my.e.default, my.f.default, my.g.default, my.h.default\n"));
}

TEST(SupportReportTest, NamesFromFilesBreakNoLine) {
  GraphOperators odd = graph("a\nb", "");
  odd.operators = {{"x\x1b[2J.y.z", 1}};
  const SupportReport report = supported({odd}, list(""));
  EXPECT_THAT(to_text(report, "l\nist"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(to_text(report, "l\nist"), HasSubstr("operators of l\\x0aist."));
}

}  // namespace
}  // namespace torch_ir

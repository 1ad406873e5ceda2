#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/report/pages.h"
#include "harness/results/testing/test_results.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string xml_of(const std::vector<Result>& results, const RunContext& context = {},
                   const std::vector<Result>& cases = {}) {
  return to_junit_xml({.context = context, .results = results, .cases = cases});
}

TEST(JunitTest, APassedModelSaysWhatItPassedByAndWhatRanOnTheHost) {
  Result result = make_result();
  result.executor = ExecutorReport{.num_nodes = 2, .nodes = {{"relu", {.place = "host"}}}};
  EXPECT_EQ(xml_of({result}),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"torch-ir\" tests=\"1\" failures=\"0\" errors=\"0\">\n"
            "  <testsuite name=\"torch-ir\" tests=\"1\" failures=\"0\" errors=\"0\" "
            "skipped=\"0\">\n"
            "    <testcase classname=\"torch_ir.a\" name=\"Tiny\">\n"
            "      <properties><property name=\"category\" value=\"a\"/>"
            "<property name=\"category\" value=\"b_c\"/>"
            "<property name=\"passed_by\" value=\"tolerance\"/>"
            "<property name=\"on_host\" value=\"1 of 2 nodes on the host\"/></properties>\n"
            "    </testcase>\n"
            "  </testsuite>\n"
            "</testsuites>\n");
}

TEST(JunitTest, AFailureSaysWhatIsWrongAndHowToSeeIt) {
  Result result = make_mismatch();
  result.categories = {"conv"};
  result.failure->message = "output 0 <conv>: max abs. error 0.5\nmore";
  result.failure->output = "last words";
  ValueDetail value{
      .index = 0, .node = "conv2d", .op_type = "aten.conv2d.default", .value = "conv2d"};
  value.comparison.mismatch = "dtype <a>";
  result.nodes.emplace().first_divergence = Divergence{.node = value};
  result.reproducer = Reproducer{.command = "harness --ir ."};
  const std::string xml = xml_of({result}, {.settings = {.backend = "chip"}});
  EXPECT_THAT(xml, HasSubstr("tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\">"));
  EXPECT_THAT(
      xml,
      HasSubstr(
          "    <testcase classname=\"torch_ir.conv\" name=\"Off\">\n"
          "      <properties><property name=\"cause\" value=\"conv2d, dtype &lt;a&gt;\"/>"
          "<property name=\"category\" value=\"conv\"/></properties>\n"
          "      <failure type=\"output mismatch\" message=\"node 0, conv2d: dtype &lt;a&gt;\">"
          "node 0, conv2d: dtype &lt;a&gt;\n"
          "output 0 &lt;conv&gt;: max abs. error 0.5\nmore\n"
          "To reproduce it, run in repro/Off: harness --ir .\n"
          "harness stands for the program that links the backend.\n"
          "</failure>\n"
          "      <system-out>last words</system-out>\n"
          "    </testcase>\n"));
}

TEST(JunitTest, OnlyTheExpectedFailureIsSkipped) {
  Result result = make_known("rounds \"twice\"");
  EXPECT_THAT(xml_of({result}), AllOf(HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""),
                                      HasSubstr("<skipped message=\"fails as expected, output "
                                                "mismatch: rounds &quot;twice&quot;\"/>")));
  result.expected_failure->kind = FailureKind::kCrashed;
  EXPECT_THAT(xml_of({result}),
              AllOf(HasSubstr("failures=\"1\""),
                    HasSubstr("Expected a different failure: crashed: rounds \"twice\"\n")));
  Result unexpected = make_result();
  unexpected.expected_failure = result.expected_failure;
  EXPECT_THAT(
      xml_of({unexpected}),
      AllOf(HasSubstr("failures=\"1\" errors=\"0\" skipped=\"0\""),
            HasSubstr("<failure type=\"unexpected pass\" message=\"passed, but is expected to "
                      "fail\">It passed but is expected to fail (crashed: rounds \"twice\"): "
                      "remove the expectation from its registration.\n")));
}

TEST(JunitTest, CallsFollowTheModels) {
  const std::string op_type = "aten.abs.default";
  Result unsupported = make_case(op_type, "bool");
  unsupported.unsupported = "no \"abs\"";
  const std::string xml =
      xml_of({make_result()}, {},
             {make_case(op_type, "int64"), unsupported,
              make_failed_case(op_type, "float32", FailureKind::kTimedOut, "stopped <now>")});
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\">"));
  EXPECT_THAT(xml,
              HasSubstr("    <testcase classname=\"torch_ir.operators.pointwise\" "
                        "name=\"aten.abs.default/bool/usual\">\n"
                        "      <properties><property name=\"category\" value=\"pointwise\"/>"
                        "</properties>\n"
                        "      <skipped message=\"no &quot;abs&quot;\"/>\n"
                        "    </testcase>\n"
                        "    <testcase classname=\"torch_ir.operators.pointwise\" "
                        "name=\"aten.abs.default/float32/usual\">\n"
                        "      <properties><property name=\"cause\" value=\"abs, timed out in "));
}

// The XML as Python's parser reads it, one element per line: tag, attributes and text.
constexpr const char* kPythonProgram = R"python(
import sys, xml.etree.ElementTree as etree
for element in etree.parse(sys.argv[1]).iter():
    print(element.tag, sorted(element.attrib.items()), ascii((element.text or "").strip()))
)python";

std::string parse_with_python(const std::string& xml) {
  const std::string file = ::testing::TempDir() + "junit_test";
  write_file(file + ".xml", xml);
  write_file(file + ".py", kPythonProgram);
  const std::string command = fmt::format("python3 '{0}.py' '{0}.xml' > '{0}.txt' 2>&1", file);
  const int status = std::system(command.c_str());
  const std::string text = read_file(file + ".txt");
  EXPECT_EQ(status, 0) << text;
  return text;
}

TEST(JunitTest, IsXmlWhateverBytesItHolds) {
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "python3 is not on the PATH";
  std::string bytes = "]]>\ufffe\uffff\xed\xa0\x80";
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  Result broken = make_failure();
  broken.name = "Broken <&\"'>";
  broken.categories = {bytes};
  broken.failure->message = bytes;
  broken.failure->output = bytes + "</system-out>";
  Result call = make_failed_case(bytes, bytes, FailureKind::kExecuteFailed, bytes);
  call.categories = {bytes};
  const std::string elements =
      parse_with_python(xml_of({broken, make_result(), make_known(bytes)}, {}, {call}));
  EXPECT_THAT(elements, HasSubstr("testcase [('classname', 'torch_ir.]]>"));
  EXPECT_THAT(elements, HasSubstr("('name', 'Broken <&\"\\'>')]"));
  EXPECT_THAT(elements, HasSubstr("system-out [] ']]>\\\\xef\\\\xbf\\\\xbe"));
  EXPECT_THAT(elements, HasSubstr("skipped [('message', 'fails as expected, output mismatch: ]]>"));
}

}  // namespace
}  // namespace torch_ir

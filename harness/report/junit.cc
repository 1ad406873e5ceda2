#include <fmt/format.h>

#include "harness/report/finding.h"
#include "harness/report/run_text.h"

namespace torch_ir {
namespace {

std::string failure_element(std::string_view kind, const std::string& summary,
                            const std::string& text) {
  return fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                     xml_attribute(kind), xml_attribute(summary), xml_text(text));
}

std::string failed(const Result& result, const RunContext& context) {
  // An interrupted run may leave a model without a failure.
  const Failure failure = result.failure.value_or(Failure{.message = "did not finish"});
  const std::string finding = finding_of(result).text();
  std::string text = finding + '\n' + failure.message + '\n';
  if (result.expected_failure) {
    text += "Expected a different failure: " + expectation_text(*result.expected_failure) + '\n';
  }
  if (result.reproducer) {
    text += fmt::format("To reproduce it, run in repro/{}: {}\n", result.name,
                        result.reproducer->command);
    const std::string hint = reproducer_hint(result.name, context, std::identity());
    if (!hint.empty()) text += hint + '\n';
  }
  return failure_element(failure_kind_name(failure.kind), finding, text);
}

std::string unexpected_pass(const Result& result, const RunContext& context) {
  return failure_element(
      status_name(Status::kUnexpectedPass), "passed, but is expected to fail",
      fmt::format("It passed but is expected to fail ({}): remove the expectation from {}.\n",
                  expectation_text(*result.expected_failure),
                  expectation_place(result, context, std::identity())));
}

std::string skipped(const std::string& reason) {
  return fmt::format("      <skipped message=\"{}\"/>\n", xml_attribute(reason));
}

std::string property(std::string_view name, std::string_view value) {
  if (value.empty()) return "";
  return fmt::format("<property name=\"{}\" value=\"{}\"/>", name, xml_attribute(value));
}

std::string properties(const Result& result) {
  std::string all;
  if (!result.is_good()) all += property("cause", finding_of(result).what());
  for (const std::string& category : result.categories) all += property("category", category);
  if (result.passed()) {
    all += property("passed_by", basis_name(result.passed_by));
    all += property("on_host", host_text(result));
  }
  return all.empty() ? "" : fmt::format("      <properties>{}</properties>\n", all);
}

std::string outcome(const Result& result, const RunContext& context) {
  switch (result.status()) {
    case Status::kPassed:
      return "";
    case Status::kNotHeld:
      if (!result.is_good()) {
        return failure_element(status_name(Status::kNotHeld), result.reason(), result.reason());
      }
      return skipped(result.reason());
    case Status::kExtracted:
      return skipped("extracted and serialized, not run");
    case Status::kFailed:
      return failed(result, context);
    case Status::kExpectedFailure:
      return skipped("fails as expected, " + expectation_text(*result.expected_failure));
    case Status::kUnexpectedPass:
      return unexpected_pass(result, context);
    case Status::kUnsupported:
      return skipped(*result.unsupported);
  }
  __builtin_unreachable();
}

std::string test_case(const Result& result, const RunContext& context) {
  std::string content = properties(result) + outcome(result, context);
  if (result.failure && !result.failure->output.empty()) {
    content += fmt::format("      <system-out>{}</system-out>\n", xml_text(result.failure->output));
  }
  const std::string class_name =
      (result.call ? "torch_ir.operators." : "torch_ir.") + category_of(result);
  const std::string start = fmt::format("    <testcase classname=\"{}\" name=\"{}\"",
                                        xml_attribute(class_name), xml_attribute(result.name));
  if (content.empty()) return start + "/>\n";
  return fmt::format("{}>\n{}    </testcase>\n", start, content);
}

}  // namespace

std::string to_junit_xml(const RunRecord& run) {
  size_t failures = 0;
  size_t skipped = 0;
  std::string cases;
  for (const std::vector<Result>* all : {&run.results, &run.cases}) {
    for (const Result& result : *all) {
      const bool is_good = result.is_good();
      failures += is_good ? 0 : 1;
      const bool is_skipped = !result.passed() || result.status() == Status::kNotHeld;
      skipped += is_good && is_skipped ? 1 : 0;
      cases += test_case(result, run.context);
    }
  }
  const size_t errors = run.coverage.is_interrupted ? 1 : 0;
  if (errors > 0) {
    cases +=
        "    <testcase classname=\"torch_ir\" name=\"the whole run\">\n"
        "      <error type=\"interrupted\" message=\"interrupted before all tests finished\"/>\n"
        "    </testcase>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"torch-ir\" tests=\"{0}\" failures=\"{1}\" errors=\"{4}\">\n"
      "  <testsuite name=\"torch-ir\" tests=\"{0}\" failures=\"{1}\" errors=\"{4}\" "
      "skipped=\"{2}\">\n"
      "{3}"
      "  </testsuite>\n"
      "</testsuites>\n",
      run.results.size() + run.cases.size() + errors, failures, skipped, cases, errors);
}

}  // namespace torch_ir

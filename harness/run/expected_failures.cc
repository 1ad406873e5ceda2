#include "harness/run/expected_failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"

namespace torch_ir {
namespace {

std::string next_field(std::string_view& rest) {
  const size_t colon = rest.find(':');
  const std::string_view field = trimmed(rest.substr(0, colon));
  rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  return std::string(field);
}

void add_line(std::string_view line, const std::vector<std::string>& known,
              ExpectedFailures& failures) {
  const std::string name = next_field(line);
  const std::string kind = next_field(line);
  const std::string reason(trimmed(line));
  if (name.empty() || kind.empty() || reason.empty()) {
    throw Error("invalid line; expected NAME: KIND: REASON");
  }
  if (std::ranges::find(known, name) == known.end()) {
    throw Error("unknown name '" + printable(name) + "'" + suggest(name, known));
  }
  const ExpectedFailure failure{.kind = parse_failure_kind(printable(kind)), .reason = reason};
  if (!failures.emplace(name, failure).second) {
    throw Error("duplicate name '" + name + "'");
  }
}

}  // namespace

ExpectedFailures parse_expected_failures(std::string_view text, const std::string& file,
                                         const std::vector<std::string>& known) {
  ExpectedFailures failures;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string_view content = trimmed(line);
    if (content.empty() || content.starts_with('#')) continue;
    try {
      add_line(content, known, failures);
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", printable(file), number, error.what()));
    }
  }
  return failures;
}

ExpectedFailures read_expected_failures(const std::string& path,
                                        const std::vector<std::string>& known) {
  return parse_expected_failures(read_file(path), path, known);
}

}  // namespace torch_ir

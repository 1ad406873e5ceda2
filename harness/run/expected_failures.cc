#include "harness/run/expected_failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "harness/run/pattern_lines.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

using Entry = ExpectedFailures::Entry;

// The reason of entries that are added.
constexpr const char* kNewReason = "new";

Entry parse_line(const PatternLine& line, const std::vector<Entry>& earlier) {
  const size_t colon = std::min(line.content.find(':'), line.content.size());
  const std::string kind(trimmed(line.content.substr(0, colon)));
  Entry entry{.name = line.name, .comments = line.comments, .line = line.line};
  if (colon < line.content.size()) entry.failure.reason = trimmed(line.content.substr(colon + 1));
  if (entry.name.empty() || kind.empty() || entry.failure.reason.empty()) {
    throw Error("invalid line; expected NAME: KIND: REASON");
  }
  entry.failure.kind = parse_failure_kind(printable(kind));
  // What a pattern matches may fail in several ways.
  for (const Entry& other : earlier) {
    if (other.name != entry.name) continue;
    if (is_pattern(entry.name) && other.failure.kind != entry.failure.kind) continue;
    throw Error("duplicate name '" + printable(entry.name) + "'");
  }
  return entry;
}

}  // namespace

bool Entry::expects(const Result& result) const {
  return result.failure && result.failure->kind == failure.kind &&
         matches_pattern(name, result.name);
}

const Entry* ExpectedFailures::find(const Result& result) const {
  return find_line(entries, result.name,
                   [&](const Entry& pattern) { return pattern.expects(result); });
}

ExpectedFailures parse_expected_failures(std::string_view text, const std::string& file) {
  ExpectedFailures failures;
  failures.comments = read_pattern_lines(text, file, [&](const PatternLine& line) {
    failures.entries.push_back(parse_line(line, failures.entries));
  });
  return failures;
}

ExpectedFailures updated(const ExpectedFailures& failures,
                         const std::vector<const Result*>& results,
                         const std::vector<std::string>& known) {
  std::map<std::string_view, const Result*> by_name;
  for (const Result* result : results) by_name.emplace(result->name, result);
  const auto has_run = [&](const std::string& name) { return by_name.contains(name); };
  ExpectedFailures now{.comments = failures.comments};
  for (Entry entry : failures.entries) {
    if (is_pattern(entry.name)) {
      const bool has_more = std::ranges::any_of(known, [&](const std::string& name) {
        return !has_run(name) && matches_pattern(entry.name, name);
      });
      const bool fails = std::ranges::any_of(results, [&](const Result* result) {
        const bool lacks_support = entry.failure.kind == FailureKind::kUnsupported &&
                                   result->unsupported && matches_pattern(entry.name, result->name);
        return lacks_support || entry.expects(*result);
      });
      if (!has_more && !fails) continue;
    } else if (has_run(entry.name)) {
      const Result& result = *by_name.at(entry.name);
      if (!result.failure && !result.unsupported) continue;
      if (result.failure && result.failure->kind != entry.failure.kind) {
        entry.failure = {
            .kind = result.failure->kind,
            .reason = fmt::format("{}, was {}", kNewReason, expectation_text(entry.failure))};
      }
    }
    now.entries.push_back(std::move(entry));
  }
  for (const Result* result : results) {
    if (result->status() != Status::kFailed || !result->failure) continue;
    if (now.find(*result) != nullptr) continue;
    now.entries.push_back(
        {.name = result->name, .failure = {.kind = result->failure->kind, .reason = kNewReason}});
  }
  std::ranges::stable_sort(now.entries, {}, [](const Entry& entry) {
    return std::tuple(std::string_view(entry.name), entry.failure.kind);
  });
  return now;
}

std::string to_text(const ExpectedFailures& failures) {
  std::string text = failures.comments;
  for (const Entry& entry : failures.entries) {
    text += entry.comments + fmt::format("{}: {}\n", entry.name, expectation_text(entry.failure));
  }
  return text;
}

}  // namespace torch_ir

#include "harness/run/expected_failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"

namespace torch_ir {
namespace {

using Entry = ExpectedFailures::Entry;

std::string next_field(std::string_view& rest) {
  const size_t colon = rest.find(':');
  const std::string_view field = trimmed(rest.substr(0, colon));
  rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  return std::string(field);
}

Entry parse_line(std::string_view line, const std::vector<Entry>& earlier) {
  Entry entry{.name = next_field(line)};
  const std::string kind = next_field(line);
  entry.failure.reason = trimmed(line);
  if (entry.name.empty() || kind.empty() || entry.failure.reason.empty()) {
    throw Error("invalid line; expected NAME: KIND: REASON");
  }
  entry.failure.kind = parse_failure_kind(printable(kind));
  // What a pattern matches may fail in several ways.
  for (const Entry& other : earlier) {
    if (other.name != entry.name) continue;
    if (entry.is_pattern() && other.failure.kind != entry.failure.kind) continue;
    throw Error("duplicate name '" + printable(entry.name) + "'");
  }
  return entry;
}

}  // namespace

// Where the text after a `*` differs, that `*` takes one more character.
bool Entry::matches(std::string_view other) const {
  size_t at = 0;
  size_t star = std::string::npos;
  size_t resume = 0;
  for (size_t i = 0; i < other.size();) {
    if (at < name.size() && name[at] == '*') {
      star = at++;
      resume = i;
    } else if (at < name.size() && name[at] == other[i]) {
      ++at;
      ++i;
    } else if (star != std::string::npos) {
      at = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  return name.find_first_not_of('*', at) == std::string::npos;
}

bool Entry::expects(const Result& result) const {
  return result.failure && result.failure->kind == failure.kind && matches(result.name);
}

const Entry* ExpectedFailures::find(const Result& result) const {
  const auto exact = std::ranges::find(entries, result.name, &Entry::name);
  if (exact != entries.end()) return &*exact;
  const auto found = std::ranges::find_if(
      entries, [&](const Entry& entry) { return entry.is_pattern() && entry.expects(result); });
  return found == entries.end() ? nullptr : &*found;
}

ExpectedFailures parse_expected_failures(std::string_view text, const std::string& file) {
  ExpectedFailures failures;
  std::string comments;
  const auto end_block = [&] {
    if (!comments.empty()) failures.comments += std::exchange(comments, {}) + "\n";
  };
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string_view content = trimmed(line);
    if (content.empty()) end_block();
    if (content.starts_with('#')) comments += std::string(content) + "\n";
    if (content.empty() || content.starts_with('#')) continue;
    try {
      failures.entries.push_back(parse_line(content, failures.entries));
    } catch (const Error& error) {
      throw Error(fmt::format("{}:{}: {}", printable(file), number, error.what()));
    }
    failures.entries.back().comments = std::exchange(comments, {});
    failures.entries.back().line = number;
  }
  end_block();
  return failures;
}

void check_names(const ExpectedFailures& failures, const std::string& file,
                 const KnownNames& known) {
  for (const Entry& entry : failures.entries) {
    const std::string& name = entry.name;
    const auto is_it = [&](const std::string& other) { return entry.matches(other); };
    if (std::ranges::any_of(known.names, is_it)) continue;
    if (known.are_split && name.find_first_of("/*") != std::string::npos) continue;
    throw Error(fmt::format("{}:{}: {} '{}'{}", printable(file), entry.line,
                            entry.is_pattern() ? "no name matches" : "unknown name",
                            printable(name), suggest(name, known.names)));
  }
}

ExpectedFailures updated(const ExpectedFailures& failures,
                         const std::vector<const Result*>& results, const KnownNames& known) {
  std::map<std::string_view, const Result*> by_name;
  for (const Result* result : results) by_name.emplace(result->name, result);
  const auto has_run = [&](const std::string& name) { return by_name.contains(name); };
  ExpectedFailures now{.comments = failures.comments};
  for (Entry entry : failures.entries) {
    if (entry.is_pattern()) {
      const bool has_more = std::ranges::any_of(known.names, [&](const std::string& name) {
        return !has_run(name) && entry.matches(name);
      });
      const bool fails = std::ranges::any_of(
          results, [&](const Result* result) { return entry.expects(*result); });
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

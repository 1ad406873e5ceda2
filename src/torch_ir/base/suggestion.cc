#include "torch_ir/base/suggestion.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>

namespace torch_ir {
namespace {

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The optimal string alignment distance.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  std::iota(rows[0].begin(), rows[0].end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    rows[i][0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({changed, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

// The shortest of `known` that begin with `word`, or end with it after a dot: "aten.conv2d" for
// "aten.conv". Without overloads of these.
std::vector<std::string> completions(const std::string& word,
                                     const std::vector<std::string>& known) {
  constexpr size_t kMost = 5;
  std::vector<std::string> found;
  if (word.empty()) return found;
  const std::string part = lower_case(word);
  for (const std::string& candidate : known) {
    const std::string name = lower_case(candidate);
    if (name.starts_with(part) || name.ends_with("." + part)) found.push_back(candidate);
  }
  std::ranges::stable_sort(found, {}, &std::string::size);
  std::vector<std::string> shortest;
  for (const std::string& name : found) {
    const bool is_known = std::ranges::any_of(shortest, [&](const std::string& other) {
      return name == other || name.starts_with(other + ".");
    });
    if (!is_known && shortest.size() < kMost) shortest.push_back(name);
  }
  return shortest;
}

std::string question(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view separator = i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text.append(separator).append("'").append(names[i]).append("'");
  }
  return text.empty() ? "" : "; did you mean " + text + "?";
}

}  // namespace

std::string suggest(const std::string& word, const std::vector<std::string>& known) {
  if (const auto names = completions(word, known); !names.empty()) return question(names);
  const auto distance = [&](const std::string& candidate) {
    return edit_distance(lower_case(word), lower_case(candidate));
  };
  const auto nearest = std::ranges::min_element(known, {}, distance);
  const bool is_near =
      nearest != known.end() && distance(*nearest) <= std::max<size_t>(1, word.size() / 3);
  return is_near ? question({*nearest}) : "";
}

}  // namespace torch_ir

#include "torch_ir/base/suggestion.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace torch_ir {
namespace {

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// How many letters have to be added, taken away or changed to make one word of the other.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string suggest(const std::string& word, const std::vector<std::string>& known) {
  // Up to a third of the word may be wrong.
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  const std::string* best = nullptr;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(lower_case(word), lower_case(candidate));
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = &candidate;
  }
  return best == nullptr ? "" : "; did you mean '" + *best + "'?";
}

}  // namespace torch_ir

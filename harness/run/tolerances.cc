#include "harness/run/tolerances.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "harness/results/model_files.h"
#include "harness/run/pattern_lines.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

AgreedTolerance parse_line(const PatternLine& line, const std::string& file) {
  constexpr const char* kExpected =
      "expected NAME: rtol R atol A, or NAME: snr DB, or NAME: cosine C";
  AgreedTolerance agreed{.name = line.name, .line = line.line};
  agreed.threshold.place = fmt::format("{}:{}", file_name(file), line.line);
  std::map<std::string, double> figures;
  std::istringstream words(line.content);
  for (std::string word; words >> word;) {
    double value = 0;
    const bool is_known = word == "rtol" || word == "atol" || word == "snr" || word == "cosine";
    if (!is_known) throw Error(fmt::format("unknown word '{}'; {}", printable(word), kExpected));
    if (!(words >> value) || !(value >= 0)) {
      throw Error(fmt::format("'{}' needs a number, 0 or more", word));
    }
    if (!figures.emplace(word, value).second) throw Error(fmt::format("duplicate '{}'", word));
  }
  if (agreed.name.empty() || figures.empty())
    throw Error(fmt::format("invalid line; {}", kExpected));
  const bool has_tolerance = figures.contains("rtol") || figures.contains("atol");
  if (has_tolerance) agreed.tolerance = {.rtol = figures["rtol"], .atol = figures["atol"]};
  if (figures.contains("snr")) agreed.threshold.signal_to_noise = figures["snr"];
  if (figures.contains("cosine")) agreed.threshold.cosine_similarity = figures["cosine"];
  const bool has_threshold = agreed.threshold.signal_to_noise || agreed.threshold.cosine_similarity;
  if (has_tolerance && has_threshold) {
    throw Error("give either rtol and atol, or snr and cosine");
  }
  return agreed;
}

}  // namespace

void AgreedTolerance::apply(RunSettings& settings) const {
  settings.tolerance_wins = true;
  settings.criterion = {.reference = ReferenceKind::kModel, .agreed = threshold};
  if (tolerance) settings.tolerance = {.fixed = *tolerance};
}

const AgreedTolerance* AgreedTolerances::find(std::string_view name) const {
  return find_line(lines, name,
                   [&](const AgreedTolerance& it) { return matches_pattern(it.name, name); });
}

AgreedTolerances parse_tolerances(std::string_view text, const std::string& file) {
  AgreedTolerances agreed;
  read_pattern_lines(text, file, [&](const PatternLine& line) {
    if (std::ranges::find(agreed.lines, line.name, &AgreedTolerance::name) != agreed.lines.end()) {
      throw Error("duplicate name '" + printable(line.name) + "'");
    }
    agreed.lines.push_back(parse_line(line, file));
  });
  return agreed;
}

}  // namespace torch_ir

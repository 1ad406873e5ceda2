#include "harness/run/progress.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "harness/report/finding.h"
#include "harness/report/run_text.h"
#include "harness/results/result.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

constexpr size_t kBarWidth = 24;

// A narrower terminal has no room for the bar.
constexpr size_t kLeastWidthForBar = 60;

constexpr const char* kClearLine = "\r\x1b[K";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kYellow = "\x1b[33m";
constexpr const char* kNoColour = "\x1b[0m";

struct StatusText {
  const char* text;
  const char* colour;
};

// By Status.
constexpr std::array<StatusText, kStatuses.size()> kVerdicts = {{{"PASSED", kGreen},
                                                                 {"NOT HELD", kYellow},
                                                                 {"EXTRACTED", kGreen},
                                                                 {"FAILED", kRed},
                                                                 {"FAILED AS EXPECTED", kYellow},
                                                                 {"PASSED UNEXPECTEDLY", kRed},
                                                                 {"UNSUPPORTED", kYellow}}};

// The answer where no executor ran: "float16 can hold it, with an SNR of 62.7 dB; pow_1 in norm
// loses most (6.9 dB)". Empty otherwise.
std::string held_text(const Result& result) {
  const ArithmeticReport* report = result.arithmetic();
  if (report == nullptr || report->has_executor || !report->problem.empty()) return "";
  std::optional<double> least;
  for (const ArithmeticReport::Output& output : report->outputs) {
    if (!output.signal_to_noise) continue;
    least = std::min(least.value_or(*output.signal_to_noise), *output.signal_to_noise);
  }
  std::string text = fmt::format("{} can hold it", arithmetic_name(report->arithmetic));
  if (least) text += fmt::format(", with an SNR of {:.1f} dB", *least);
  if (report->losses.empty()) return text;
  const NodeLoss& first = report->losses.front();
  const std::string& module = first.place.module;
  return text + fmt::format("; {}{} loses most ({:.1f} dB)", printable(first.place.value),
                            module.empty() ? "" : " in " + printable(module), first.loss);
}

std::string details(const Result& result) {
  switch (result.status()) {
    case Status::kPassed:
      if (!result.nothing_compared().empty()) {
        return "nothing compared: " + result.nothing_compared();
      }
      if (const std::string held = held_text(result); !held.empty()) return held;
      return fmt::format("max abs. error {:.3g}, {}{}",
                         difference_metrics(result).max_diff.value_or(0),
                         basis_text(result.passed_by), host_text(result, ", but "));
    case Status::kExtracted: {
      const IRSummary figures = result.graph ? summarize(*result.graph) : result.summary->figures;
      return fmt::format("{}, {}, not run", counted(figures.num_nodes, "node"),
                         counted(figures.total_parameters, "parameter"));
    }
    case Status::kFailed:
      return finding_of(result).text();
    case Status::kExpectedFailure:
      return printable(expectation_text(*result.expected_failure));
    case Status::kUnexpectedPass:
      return "expected " + printable(expectation_text(*result.expected_failure));
    case Status::kNotHeld:
    case Status::kUnsupported:
      return result.reason();
  }
  __builtin_unreachable();
}

// "0:07", "12:34", "1:02:03".
std::string clock_text(std::chrono::seconds time) {
  const int64_t seconds = time.count();
  const int64_t minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{}:{:02}", minutes, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, seconds % 60);
}

std::string cut(const std::string& text, size_t width) {
  size_t end = 0;
  for (size_t i = 0; i < width && end < text.size(); ++i) {
    end += std::max<size_t>(1, first_character(std::string_view(text).substr(end)).length);
  }
  return text.substr(0, end);
}

}  // namespace

std::string result_line(const Result& result, bool has_colours, size_t name_width) {
  const StatusText& verdict = kVerdicts.at(static_cast<size_t>(result.status()));
  const std::string text =
      has_colours ? fmt::format("{}{}{}", verdict.colour, verdict.text, kNoColour) : verdict.text;
  return fmt::format("{:{}}  {}  {}", result.name, name_width, text, details(result));
}

std::string reproducer_line(const Result& result, const std::string& reports) {
  if (!result.reproducer) return "";
  return fmt::format("    reproducer: {} in {}/repro/{}\n",
                     counted(result.reproducer->num_nodes, "node"), printable(reports),
                     printable(result.name));
}

std::string finding_line(const Result& result) {
  const auto plain = [](const std::string& text) { return printable(text); };
  std::vector<std::string> findings;
  const bool was_returned_wrong = result.nodes && result.nodes->num_exonerated > 0;
  if (result.status() == Status::kFailed || was_returned_wrong) {
    if (!result.failure) findings.push_back(finding_of(result).text());
  }
  if (!result.failure && !result.varies.empty()) {
    findings.push_back("differs from run to run: " + printable(result.varies));
  }
  findings.push_back(result.state_not_compared());
  if (result.nodes) {
    findings.push_back(printable(not_judged_text(*result.nodes, plain)));
    findings.push_back(handed_back_text(*result.nodes, plain));
  }
  if (!result.failure) {
    for (const auto& it : result.not_tried) findings.push_back("not tried with " + printable(it));
  }
  std::erase(findings, "");
  return findings.empty() ? "" : fmt::format("    {}\n", fmt::join(findings, "; "));
}

Progress::Progress(size_t num_models, std::ostream* lines, std::ostream* bar,
                   ProgressOptions options)
    : num_models_(num_models),
      lines_(lines),
      bar_(bar),
      options_(std::move(options)),
      start_(options_.now()) {}

Progress::~Progress() { clear_bar(); }

void Progress::start(const std::string& model) {
  running_.push_back(model);
  draw_bar();
}

void Progress::judge(const Result& result) {
  *std::ranges::find(running_, result.name) += " (search for a reproducer)";
  print_verdict(result);
  draw_bar();
}

void Progress::finish(const Result& result) {
  const auto running = std::ranges::find_if(running_, [&](const std::string& shown) {
    return shown == result.name || shown.starts_with(result.name + " (");
  });
  const bool is_judged = *running != result.name;
  running_.erase(running);
  if (!is_judged) print_verdict(result);
  if (lines_ != nullptr) {
    clear_bar();
    *lines_ << reproducer_line(result, options_.reports);
    if (result.against) *lines_ << "    " << comparison_line(*result.against) << '\n';
    *lines_ << std::flush;
  }
  draw_bar();
}

void Progress::print_verdict(const Result& result) {
  ++num_finished_;
  if (!result.is_good()) ++num_bad_;
  if (lines_ == nullptr) return;
  clear_bar();
  const size_t width = fmt::formatted_size("{}", num_models_);
  *lines_ << fmt::format("[{:{}}/{}] ", num_finished_, width, num_models_)
          << result_line(result, options_.has_colours, options_.name_width) << '\n'
          << finding_line(result) << std::flush;
}

void Progress::tick() { draw_bar(); }

std::string Progress::bar_text() const {
  const auto width = static_cast<size_t>(std::max(options_.width(), 1));
  std::string text;
  if (width >= kLeastWidthForBar) {
    const size_t filled = num_models_ == 0 ? kBarWidth : kBarWidth * num_finished_ / num_models_;
    text = fmt::format("[{}{}] ", std::string(filled, '#'), std::string(kBarWidth - filled, '.'));
  }
  const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(options_.now() - start_);
  text += fmt::format("{}/{}{}  {}  {}", num_finished_, num_models_,
                      num_bad_ == 0 ? "" : fmt::format(", {} failed", num_bad_),
                      clock_text(elapsed), fmt::join(running_, ", "));
  // A line that fills the terminal may wrap, and then would not be cleared.
  return cut(text, width - 1);
}

void Progress::draw_bar() {
  if (bar_ == nullptr) return;
  std::string text = bar_text();
  if (text == drawn_) return;
  *bar_ << kClearLine << text << std::flush;
  drawn_ = std::move(text);
}

void Progress::clear_bar() {
  if (bar_ == nullptr || drawn_.empty()) return;
  *bar_ << kClearLine << std::flush;
  drawn_.clear();
}

}  // namespace torch_ir

#include "torch_ir/harness/progress.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace torch_ir {
namespace {

constexpr size_t kBarWidth = 24;

}  // namespace

std::string result_line(const ModelResult& result) {
  if (result.failure) {
    const std::string& message = result.failure->message;
    return fmt::format("{}  FAILED  in {}: {}", result.name, stage_name(result.failure->stage),
                       message.substr(0, message.find('\n')));
  }
  return fmt::format("{}  PASSED  max diff {:.3g}", result.name,
                     result.worst_trial()->verification.max_diff);
}

Progress::Progress(size_t num_models, std::ostream* lines, std::ostream* bar)
    : num_models_(num_models), lines_(lines), bar_(bar) {}

Progress::~Progress() { clear_bar(); }

void Progress::start(const std::string& model) {
  running_.push_back(model);
  draw_bar();
}

void Progress::finish(const ModelResult& result) {
  running_.erase(std::find(running_.begin(), running_.end(), result.name));
  ++num_finished_;
  if (result.failure) ++num_failed_;
  clear_bar();
  if (lines_ != nullptr) {
    *lines_ << fmt::format("[{}/{}] ", num_finished_, num_models_) << result_line(result)
            << std::endl;
  }
  draw_bar();
}

void Progress::draw_bar() {
  if (bar_ == nullptr) return;
  const size_t filled = num_models_ == 0 ? kBarWidth : kBarWidth * num_finished_ / num_models_;
  *bar_ << fmt::format("\r\x1b[K[{}{}] {}/{}{}  {}", std::string(filled, '#'),
                       std::string(kBarWidth - filled, '.'), num_finished_, num_models_,
                       num_failed_ == 0 ? "" : fmt::format(", {} failed", num_failed_),
                       fmt::join(running_, ", "))
        << std::flush;
}

void Progress::clear_bar() {
  if (bar_ != nullptr) *bar_ << "\r\x1b[K" << std::flush;
}

}  // namespace torch_ir

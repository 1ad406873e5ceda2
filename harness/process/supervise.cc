#include "harness/process/supervise.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "harness/process/child_process.h"
#include "torch_ir/libraries/load_library.h"

namespace torch_ir {
namespace {

volatile sig_atomic_t signal_came = 0;

void remember(int) { signal_came = 1; }

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

using Clock = std::chrono::steady_clock;

// A signal is noticed within this time.
constexpr auto kPatience = std::chrono::milliseconds(100);

// The interval of memory checks: short enough for a model that takes a gigabyte a second.
constexpr auto kMemoryPatience = std::chrono::milliseconds(20);

// The clock cannot hold longer times.
constexpr std::chrono::duration<double> kLongestTime(1e9);

constexpr auto kPause = std::chrono::milliseconds(2);

Clock::time_point after(std::chrono::duration<double> time) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::min(time, kLongestTime));
}

// Paths may have any bytes. A file whose name is not UTF-8 is not found, and only its request
// fails.
std::string text_of(const WorkJson& content) {
  return content.dump(-1, ' ', false, WorkJson::error_handler_t::replace);
}

class Slot {
 public:
  Slot(const Supervision& supervision, size_t number)
      : supervision_(supervision), number_(number) {}

  ChildProcess* process() { return process_.get(); }
  bool is_idle() const { return requests_.empty() && repeated_.empty(); }
  bool has_memory_limit() const { return !requests_.empty() && requests_.front().limits.memory; }
  Clock::time_point deadline() const {
    return requests_.empty() ? Clock::time_point::max() : std::min(deadline_, limits().deadline);
  }

  void fill() {
    while (requests_.size() < supervision_.requests_ahead &&
           num_sent_ < supervision_.requests_of_worker) {
      std::optional<WorkRequest> request = next();
      if (!request) break;
      if (!process_) start();
      process_->send(text_of(request->content));
      if (++num_sent_ == supervision_.requests_of_worker) process_->stop_sending();
      requests_.push_back(std::move(*request));
      if (requests_.size() == 1) begin();
    }
    // The worker will get no more requests.
    if (process_ && requests_.empty()) stop();
  }

  // `memory` is by process; empty if no request has a limit.
  void poll(const std::map<pid_t, int64_t>& memory) {
    if (!process_) return;
    process_->read_output();
    const std::optional<int> status = process_->poll();
    for (const std::string& line : process_->receive()) handle(line);
    if (requests_.empty()) return;
    const auto resident = memory.find(process_->id());
    if (status) {
      finish(*status);
    } else if (Clock::now() >= limits().deadline) {
      end({.kind = FailureKind::kTimedOut, .is_cut_off = true});
    } else if (Clock::now() >= deadline_) {
      end({.kind = FailureKind::kTimedOut,
           .description = fmt::format("exceeded the time limit of {:g} s", limits().time.count())});
    } else if (limits().memory && resident != memory.end() && resident->second > *limits().memory) {
      end({.kind = FailureKind::kOutOfMemory,
           .description = fmt::format("exceeded the memory limit of {:g} MB",
                                      static_cast<double>(*limits().memory) / 1e6)});
    }
  }

 private:
  const WorkLimits& limits() const { return requests_.front().limits; }

  std::optional<WorkRequest> next() {
    if (repeated_.empty()) return supervision_.next(number_);
    WorkRequest request = std::move(repeated_.front());
    repeated_.pop_front();
    return request;
  }

  void start() {
    process_ = std::make_unique<ChildProcess>(kWorkerFlag);
    WorkJson first = WorkJson::object();
    first[kTaskKey] = supervision_.task;
    first[kSetupKey] = supervision_.setup();
    first[kLibrariesKey] = loaded_libraries();
    process_->send(text_of(first));
    is_out_of_memory_ = false;
  }

  void begin() {
    deadline_ = limits().counts_from_news ? Clock::time_point::max() : after(limits().time);
  }

  void handle(const std::string& line) {
    const WorkJson message = WorkJson::parse(line, nullptr, /*allow_exceptions=*/false);
    // A model may write to the channel itself.
    if (!message.is_object() || message.empty() || requests_.empty()) return;
    const std::string& key = message.begin().key();
    const WorkJson& content = *message.begin();
    if (key == kOutputErrorKey) throw OutputError(content.get<std::string>());
    if (key == kInputErrorKey) throw InputError(content.get<std::string>());
    if (key == kOutOfMemoryKey) is_out_of_memory_ = true;
    if (key == kNewsKey) {
      if (deadline_ == Clock::time_point::max()) deadline_ = after(limits().time);
      supervision_.on_news(requests_.front().id, content);
    }
    if (key != kAnswerKey) return;
    if (requests_.size() == 1 && num_sent_ == supervision_.requests_of_worker) {
      // The end of the worker counts as well.
      last_answer_ = content;
      return;
    }
    const size_t id = requests_.front().id;
    requests_.pop_front();
    if (!requests_.empty()) begin();
    supervision_.on_answer(id, content, nullptr);
  }

  void finish(int status) {
    if (last_answer_ && status == 0) return answer(nullptr);
    end({.kind = is_out_of_memory_ ? FailureKind::kOutOfMemory : FailureKind::kCrashed,
         .description = describe_wait_status(status) + (status == 0 ? " before it finished" : "")});
  }

  void answer(const WorkEnd* bad_end) {
    const WorkJson content = std::move(*last_answer_);
    const size_t id = requests_.front().id;
    requests_.clear();
    stop();
    supervision_.on_answer(id, content, bad_end);
  }

  // Ends the current request; the next worker repeats those after it.
  void end(WorkEnd how) {
    process_->kill();
    how.output = process_->output();
    if (last_answer_) return answer(&how);
    const size_t id = requests_.front().id;
    requests_.pop_front();
    repeated_.insert(repeated_.begin(), std::move_iterator(requests_.begin()),
                     std::move_iterator(requests_.end()));
    requests_.clear();
    stop();
    supervision_.on_end(id, how);
  }

  void stop() {
    process_.reset();
    last_answer_.reset();
    num_sent_ = 0;
  }

  const Supervision& supervision_;
  const size_t number_;
  std::unique_ptr<ChildProcess> process_;
  // Sent but unanswered; the first is the current one, with its deadline.
  std::deque<WorkRequest> requests_;
  Clock::time_point deadline_;
  std::deque<WorkRequest> repeated_;
  size_t num_sent_ = 0;
  bool is_out_of_memory_ = false;
  std::optional<WorkJson> last_answer_;
};

void wait_for_news(std::vector<Slot>& slots, bool has_memory_limit) {
  Clock::time_point wake = Clock::now() + (has_memory_limit ? kMemoryPatience : kPatience);
  std::vector<pollfd> descriptors;
  for (Slot& slot : slots) {
    if (slot.process() == nullptr) continue;
    wake = std::min(wake, slot.deadline());
    for (const int descriptor : slot.process()->descriptors()) {
      // poll ignores negative descriptors.
      descriptors.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
    }
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now());
  ::poll(descriptors.data(), descriptors.size(), std::max<int>(0, static_cast<int>(left.count())));
}

}  // namespace

InterruptGuard::InterruptGuard() {
  signal_came = 0;
  // Without SA_RESTART, so that a signal ends waiting.
  struct sigaction action = {};
  action.sa_handler = remember;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &previous_[i]);
}

InterruptGuard::~InterruptGuard() {
  signal_came = 0;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &previous_[i], nullptr);
}

bool InterruptGuard::interrupted() { return signal_came != 0; }

void supervise(const Supervision& supervision) {
  std::vector<Slot> slots;
  for (size_t i = 0; i < supervision.jobs; ++i) slots.emplace_back(supervision, i);
  while (true) {
    for (Slot& slot : slots) slot.fill();
    if (std::ranges::all_of(slots, &Slot::is_idle)) return;
    const bool has_memory_limit = std::ranges::any_of(slots, &Slot::has_memory_limit);
    wait_for_news(slots, has_memory_limit);
    if (supervision.requests_ahead > 1) ::poll(nullptr, 0, static_cast<int>(kPause.count()));
    supervision.on_wait();
    std::map<pid_t, int64_t> memory;
    if (has_memory_limit) memory = resident_bytes();
    for (Slot& slot : slots) slot.poll(memory);
    if (InterruptGuard::interrupted()) return;
  }
}

}  // namespace torch_ir

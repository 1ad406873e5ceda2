#include "harness/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "harness/backend/command_backend.h"
#include "harness/backend/shell_command.h"
#include "harness/process/supervise.h"
#include "harness/results/run_context.h"
#include "harness/run/make_suite.h"
#include "harness/run/run_as_child.h"
#include "harness/run/run_candidate.h"
#include "harness/stages/stages.h"
#include "harness/stages/trials.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {

namespace {

namespace fs = std::filesystem;

// Starting a process takes as long as about a hundred calls.
constexpr size_t kLeastCallsOfWorker = 50;
constexpr size_t kMostCallsOfWorker = 1000;
constexpr size_t kCallsAhead = 16;

Result unstarted(const ModelSource& source) {
  Result result{.name = name_of(source)};
  if (const auto* files = std::get_if<ModelFiles>(&source)) {
    result.categories = {kImportedCategory};
    result.origin = as_typed(*files);
  } else if (const auto* single = std::get_if<CaseSource>(&source)) {
    const CaseInfo& info = single->info;
    result.description = info.note;
    result.categories = {info.category};
    result.call = CallInfo{info.op_type, info.dtype, info.occurrences};
  } else {
    const ModelSpec& spec = find_model(result.name).spec;
    result.description = spec.description;
    result.categories = spec.categories;
    result.expected_failure = spec.expected_failure;
  }
  return result;
}

// Whether the failure ends the process, so that it cannot report the failure.
bool ends_process(FailureKind kind) {
  return kind == FailureKind::kCrashed || kind == FailureKind::kTimedOut ||
         kind == FailureKind::kOutOfMemory;
}

std::string limit_flags(FailureKind kind, const RunOptions& options) {
  if (kind == FailureKind::kTimedOut) {
    return fmt::format(" --timeout {:g}", options.timeout.count());
  }
  if (kind == FailureKind::kOutOfMemory && options.memory_limit) {
    return fmt::format(" --memory-limit {:g}", static_cast<double>(*options.memory_limit) / 1e6);
  }
  return {};
}

// "2 intermediate values differ, 1 of them read only by nodes that are right".
std::string intermediates_text(const NodeReport& nodes) {
  const int64_t count = nodes.num_mismatched;
  const int64_t num_unknown = nodes.num_not_judged;
  std::string text =
      fmt::format("{} intermediate value{}", count, count == 1 ? " differs" : "s differ");
  if (nodes.num_exonerated > 0) {
    text += fmt::format(", {} of them read only by nodes that are right", nodes.num_exonerated);
  }
  if (num_unknown == 0) return text;
  return text + fmt::format("; {} {} not judged", num_unknown, num_unknown == 1 ? "was" : "were");
}

// A wrong value that other nodes have used fails a model, also if its outputs agree.
void fail_wrong_values(Result& result) {
  if (!result.passed() || !result.nodes) return;
  const Trial* worst = result.worst_trial();
  if (worst != nullptr && worst->verification.criterion.agreed) return;
  if (result.nodes->num_mismatched == result.nodes->num_exonerated) return;
  result.num_passed_stages = static_cast<size_t>(Stage::kVerify);
  result.failure =
      Failure{.kind = FailureKind::kOutputMismatch,
              .stage = Stage::kVerify,
              .message = "The outputs agree, but " + intermediates_text(*result.nodes)};
}

class Run {
 public:
  Run(const std::vector<ModelSource>& candidates, const RunOptions& options,
      const std::string& directory, const RunObserver& observer)
      : candidates_(candidates),
        options_(options),
        directory_(directory),
        observer_(observer),
        jobs_(candidates.size()) {}

  std::vector<Result> run() {
    const bool are_calls =
        !candidates_.empty() && std::holds_alternative<CaseSource>(candidates_.front());
    const auto jobs = static_cast<size_t>(std::max(1, options_.jobs));
    size_t requests_of_worker = 1;
    if (are_calls) {
      requests_of_worker =
          std::clamp(candidates_.size() / (4 * jobs), kLeastCallsOfWorker, kMostCallsOfWorker);
    }
    // A server ends with its worker.
    if (options_.settings.executor_is_server) requests_of_worker = SIZE_MAX;
    supervise({.task = kRunTask,
               .setup = [&] { return json_fields::write(options_.settings); },
               .jobs = jobs,
               .requests_of_worker = requests_of_worker,
               .requests_ahead = are_calls ? kCallsAhead : 1,
               .next = [&](size_t slot) { return next(slot); },
               .on_news = [&](size_t id, const WorkJson& news) { update(jobs_[id], news); },
               .on_answer = [&](size_t id, const WorkJson& answer,
                                const WorkEnd* end) { this->answer(id, answer, end); },
               .on_end = [&](size_t id, const WorkEnd& end) { this->end(id, end); },
               .on_wait = observer_.on_wait});
    for (size_t slot = 0; slot < jobs; ++slot) {
      std::error_code ignored;
      fs::remove_all(slot_directory(slot), ignored);
    }
    // What is judged counts, also if the search for its reproducer was interrupted.
    for (size_t id = 0; id < jobs_.size(); ++id) {
      Job& job = jobs_[id];
      if (!job.is_judged || job.is_done) continue;
      add_sentence(job.result.nodes->note, "The search for a reproducer was interrupted.");
      job.search ? finish_search(id) : finish(job);
    }
    std::vector<Result> results;
    for (Job& job : jobs_) {
      if (job.is_done) results.push_back(std::move(job.result));
    }
    return results;
  }

 private:
  struct Job {
    std::string directory = {};
    Result result = {};
    // Of the second process, which looks for a reproducer.
    std::optional<ReproducerSearch> search = std::nullopt;
    bool is_judged = false;
    bool is_done = false;
  };

  std::optional<WorkRequest> next(size_t slot) {
    if (!searches_.empty()) {
      WorkRequest request = std::move(searches_.front());
      searches_.pop_front();
      return request;
    }
    if (next_ == candidates_.size()) return std::nullopt;
    const size_t id = next_++;
    const ModelSource& source = candidates_[id];
    Job& job = jobs_[id];
    job.result = unstarted(source);
    job.directory = job.result.call ? slot_directory(slot) : directory_ + "/" + job.result.name;
    std::error_code error;
    fs::create_directories(job.directory, error);
    if (error) throw OutputError("cannot create '" + job.directory + "': " + error.message());
    observer_.on_start(job.result.name);
    const bool is_server = options_.settings.executor_is_server;
    return request(id, {.backend_directory = is_server ? slot_directory(slot) : job.directory});
  }

  // The folder of a worker that runs several candidates. No model has such a name.
  std::string slot_directory(size_t slot) const {
    return fmt::format("{}/.slot-{}", directory_, slot);
  }

  WorkRequest request(size_t id, RunRequest content) const {
    content.source = candidates_[id];
    content.directory = jobs_[id].directory;
    const AgreedTolerance* agreed = options_.tolerances.find(name_of(candidates_[id]));
    if (agreed != nullptr) content.agreed = *agreed;
    // The second process limits its search itself, and needs additional time. It runs a part beside
    // the model, and each may need the whole memory limit.
    const int factor = content.reproduces ? 2 : 1;
    WorkLimits limits{.time = factor * options_.timeout};
    if (options_.memory_limit) limits.memory = factor * *options_.memory_limit;
    return {.id = id, .content = json_fields::write(content), .limits = limits};
  }

  void update(Job& job, const WorkJson& news) {
    if (news.is_number()) {
      job.result.num_passed_stages = news.get<size_t>();
      return;
    }
    Result& known = job.result;
    Result now;
    try {
      if (job.search) return json_fields::read(news, *job.search);
      json_fields::read(news, now);
    } catch (const json_fields::Problem&) {
      // A model may write to the channel itself.
      return;
    }
    now.name = known.name;
    now.description = known.description;
    now.categories = known.categories;
    now.origin = known.origin;
    now.call = known.call;
    now.expected_failure = known.expected_failure;
    known = std::move(now);
    if (known.is_searching && known.nodes) tell_verdict(job);
  }

  // The search for a reproducer may take longer than the run.
  void tell_verdict(Job& job) {
    if (job.is_judged) return;
    job.is_judged = true;
    Result judged = job.result;
    settle(judged);
    observer_.on_judged(judged);
  }

  void settle(Result& result) const {
    fail_wrong_values(result);
    const auto* expected = options_.expected_failures.find(result);
    if (expected != nullptr) result.expected_failure = expected->failure;
  }

  void answer(size_t id, const WorkJson& answer, const WorkEnd* end) {
    Job& job = jobs_[id];
    update(job, answer);
    if (job.search) return finish_search(id);
    if (end != nullptr && !job.result.call && !job.result.nodes) {
      job.result.nodes.emplace().error = end_text(job, *end);
    }
    conclude(id);
  }

  std::string end_text(const Job& job, const WorkEnd& end) const {
    const bool hangs = end.kind == FailureKind::kTimedOut;
    const std::string description =
        end.description + (hangs && options_.settings.executor_is_server ? kServerHint : "");
    if (!job.result.call) return "The process of the model " + description + ".";
    const std::string printed = last_lines(without_folder(end.output, job.directory));
    const bool has_crashed = end.kind == FailureKind::kCrashed;
    return "The process of the case " + description +
           (printed.empty() || !has_crashed ? "" : "; it printed: " + printed);
  }

  // Completes the result that the process reported before it ended.
  void end(size_t id, const WorkEnd& end) {
    Job& job = jobs_[id];
    Result& result = job.result;
    const std::string message = end_text(job, end);
    if (job.search) {
      add_sentence(job.search->note,
                   "The search for a smaller part could not be completed: " + message);
      return finish_search(id);
    }
    const bool is_done =
        result.failure || result.unsupported ||
        result.num_passed_stages > static_cast<size_t>(options_.settings.last_stage);
    if (is_done) {
      // Only the explanation and later parts can be missing.
      if (result.against) {
        result.against->error = message;
      } else if (!result.nodes) {
        result.nodes.emplace().error = message;
      } else if (result.failure && !result.reproducer) {
        add_sentence(result.nodes->note,
                     "The search for a reproducer could not be completed: " + message);
      }
      return conclude(id);
    }
    const Stage stage = kStages.at(result.num_passed_stages);
    result.failure = Failure{.kind = end.kind, .stage = stage, .message = message};
    if (!result.call) {
      if (stage >= Stage::kExecute) result.nodes.emplace().error = message;
      result.failure->message = with_trial(message, result.current_trial_name);
      result.failure->output = without_folder(end.output, job.directory);
    }
    conclude(id);
  }

  // If the graph ended its process, a second process looks for a reproducer.
  void conclude(size_t id) {
    Job& job = jobs_[id];
    const auto& failure = job.result.failure;
    const bool has_ended_process = !job.result.call && failure &&
                                   failure->stage == Stage::kExecute && ends_process(failure->kind);
    if (!has_ended_process || options_.settings.search_seconds == 0) return finish(job);
    if (!job.result.nodes) job.result.nodes.emplace().error = failure->message;
    tell_verdict(job);
    job.search.emplace();
    const EndedProcess ended{.trial = job.result.current_trial,
                             .kind = failure->kind,
                             .timeout = options_.timeout.count(),
                             .memory_limit = options_.memory_limit};
    searches_.push_back(request(id, {.reproduces = ended}));
  }

  void finish_search(size_t id) {
    Job& job = jobs_[id];
    Result& result = job.result;
    result.reproducer = std::move(job.search->reproducer);
    add_sentence(result.nodes->note, job.search->note);
    if (result.reproducer) {
      result.reproducer->command += limit_flags(result.failure->kind, options_);
      result.reproducer->message = result.failure->message;
    } else {
      add_sentence(result.nodes->note, "The reproducer could not be written.");
    }
    finish(job);
  }

  void finish(Job& job) {
    job.result.is_searching = false;
    settle(job.result);
    const std::string graph = job.directory + kGraphFile;
    if (!job.result.call && fs::exists(graph)) job.result.graph = load_ir(graph);
    observer_.on_finish(job.result, job.directory);
    job.result.drop_graph();
    job.is_done = true;
    if (job.result.call) return;
    std::error_code ignored;
    fs::remove_all(job.directory, ignored);
  }

  const std::vector<ModelSource>& candidates_;
  const RunOptions& options_;
  const std::string& directory_;
  const RunObserver& observer_;
  std::vector<Job> jobs_;
  size_t next_ = 0;
  std::deque<WorkRequest> searches_;
};

}  // namespace

std::vector<Result> run_candidates(const std::vector<ModelSource>& candidates,
                                   const RunOptions& options, const std::string& directory,
                                   const RunObserver& observer) {
  return Run(candidates, options, directory, observer).run();
}

std::optional<int> run_as_child(int argc, char** argv) {
  return run_as_worker(
      argc, argv,
      {{kRunTask, run_task}, {kPartTask, run_part_task}, {kSuiteTask, make_suite_task}});
}

}  // namespace torch_ir

#include "harness/run/runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/divergence/part_process.h"
#include "harness/process/child_process.h"
#include "harness/process/interrupt.h"
#include "harness/results/graph_picture.h"
#include "harness/results/result_json.h"
#include "harness/results/run_context.h"
#include "harness/run/run_model.h"
#include "harness/stages/candidate.h"
#include "harness/stages/child_main.h"
#include "harness/stages/stages.h"
#include "harness/stages/trials.h"
#include "harness/suite/make_suite.h"
#include "harness/suite/run_cases.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/subprocess.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The argument that makes a program a child: with the folder of its request and its files.
constexpr std::string_view kChildFlag = "--run-model-in=";
constexpr const char* kRequestFile = "/request.json";
constexpr const char* kResultFile = "/result.json";
constexpr const char* kGraphFile = "/graph.json";

// How long a signal may go unnoticed.
constexpr auto kPatience = std::chrono::milliseconds(100);

// The same where nothing tells of the end of a child.
constexpr auto kSilentPatience = std::chrono::milliseconds(2);

// How often memory is looked at, where it has a limit: often enough for a model that takes a
// gigabyte a second.
constexpr auto kMemoryPatience = std::chrono::milliseconds(20);

// Longer ones are more than the clock can hold.
constexpr std::chrono::duration<double> kLongestTimeout(1e9);

Clock::time_point deadline_after(std::chrono::duration<double> timeout) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::min(timeout, kLongestTimeout));
}

// What is known of a model before it runs.
ModelResult unstarted(const ModelSource& source) {
  if (const auto* files = std::get_if<ModelFiles>(&source)) {
    return {.name = files->name, .categories = {kImportedCategory}, .origin = origin_of(*files)};
  }
  const RegisteredModel& model = find_model(name_of(source));
  return {.name = model.name,
          .description = model.spec.description,
          .categories = model.spec.categories,
          .expected_failure = model.spec.expected_failure};
}

ModelResult unstarted(const ModelSource& source, const ExpectedFailures& expected_failures) {
  ModelResult result = unstarted(source);
  const auto expected = expected_failures.find(result.name);
  if (expected != expected_failures.end()) result.expected_failure = expected->second;
  return result;
}

// `settings` with the tolerances that the model has registered.
RunSettings settings_of(const ModelSource& source, RunSettings settings) {
  if (std::holds_alternative<ModelFiles>(source) || settings.tolerance_wins) return settings;
  const ModelSpec& spec = find_model(name_of(source)).spec;
  if (spec.tolerance) settings.tolerance = {.fixed = *spec.tolerance};
  settings.tolerance.outputs = spec.output_tolerances;
  return settings;
}

// Whether such a failure is the end of a process, which then can say nothing of it.
bool ends_process(FailureKind kind) {
  return kind == FailureKind::kCrashed || kind == FailureKind::kTimedOut ||
         kind == FailureKind::kOutOfMemory;
}

void add_sentence(std::string& text, const std::string& sentence) {
  text += (text.empty() ? "" : " ") + sentence;
}

ModelResult read_result(const std::string& directory) {
  ModelResult result = model_result_from_json(read_file(directory + kResultFile));
  if (fs::exists(directory + kGraphFile)) result.graph = load_ir(directory + kGraphFile);
  return result;
}

// The limit that such an end has to do with, for a command that shows it again.
std::string limit_flags(FailureKind kind, const RunOptions& options) {
  if (kind == FailureKind::kTimedOut) {
    return fmt::format(" --timeout {:g}", options.timeout.count());
  }
  if (kind == FailureKind::kOutOfMemory && options.memory_limit) {
    return fmt::format(" --memory-limit {:g}", static_cast<double>(*options.memory_limit) / 1e6);
  }
  return {};
}

class Job {
 public:
  Job(size_t index, const ModelSource& model, const RunOptions& options, std::string directory)
      : index_(index),
        directory_(std::move(directory)),
        request_{.source = model, .settings = options.settings} {
    write_file(directory_ + kResultFile, to_json(unstarted(model, options.expected_failures)));
    start(options);
  }

  size_t index() const { return index_; }
  const std::string& directory() const { return directory_; }
  Clock::time_point deadline() const { return deadline_; }
  ChildProcess& process() { return *process_; }

  // The result, once there is one.
  std::optional<ModelResult> poll(const RunOptions& options) {
    process_->read_output();
    if (const std::optional<int> status = process_->poll()) {
      return conclude(finish(*status), options);
    }
    if (Clock::now() < deadline_) return std::nullopt;
    process_->kill();
    return conclude(
        unfinished(FailureKind::kTimedOut, fmt::format("was stopped after {:g} s, the time limit",
                                                       options.timeout.count())),
        options);
  }

  // The result of a process that keeps `resident` bytes, when these are too many.
  std::optional<ModelResult> limit_memory(int64_t resident, const RunOptions& options) {
    // The second process runs the model beside a part, which may take all of the limit by itself.
    const int64_t most = ended_ ? 2 * *options.memory_limit : *options.memory_limit;
    if (resident <= most) return std::nullopt;
    process_->kill();
    return conclude(
        unfinished(FailureKind::kOutOfMemory,
                   fmt::format("was stopped with more than {:g} MB in memory, the memory limit",
                               static_cast<double>(most) / 1e6)),
        options);
  }

 private:
  void start(const RunOptions& options) {
    write_file(directory_ + kRequestFile, to_json(request_));
    // The second process bounds its search itself, and needs time around it.
    deadline_ = deadline_after(request_.reproduces ? 2 * options.timeout : options.timeout);
    process_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{std::string(kChildFlag) + directory_});
  }

  // `result` of the process that has ended, or of the first one with the reproducer that the second
  // one left. Where the graph ended its process, which therefore could look for no reproducer, a
  // second one is started, and nothing is returned yet.
  std::optional<ModelResult> conclude(ModelResult result, const RunOptions& options) {
    if (ended_) {
      ended_->reproducer = std::move(result.reproducer);
      if (result.nodes) {
        add_sentence(ended_->nodes->note, result.nodes->note);
        if (!result.nodes->error.empty()) {
          add_sentence(ended_->nodes->note,
                       "The search for a smaller part came to no end: " + result.nodes->error);
        }
      }
      if (ended_->reproducer) {
        ended_->reproducer->command += limit_flags(ended_->failure->kind, options);
        ended_->reproducer->message = ended_->failure->message;
      } else {
        add_sentence(ended_->nodes->note, "No reproducer could be written.");
      }
      return std::move(ended_);
    }
    const bool has_ended_process = result.failure && result.failure->stage == Stage::kExecute &&
                                   ends_process(result.failure->kind);
    if (!has_ended_process) return result;
    request_.reproduces = EndedProcess{.trial = result.current_trial,
                                       .kind = result.failure->kind,
                                       .timeout = options.timeout.count(),
                                       .memory_limit = options.memory_limit};
    ended_ = std::move(result);
    if (!ended_->nodes) ended_->nodes.emplace().error = ended_->failure->message;
    start(options);
    return std::nullopt;
  }

  bool is_done(const ModelResult& result) const {
    return request_.reproduces || result.failure ||
           result.num_passed_stages > static_cast<size_t>(request_.settings.last_stage);
  }

  ModelResult finish(int status) const {
    rethrow_output_error(status, process_->output());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      ModelResult result = read_result(directory_);
      if (is_done(result)) return result;
    }
    return unfinished(kind_of_crash(process_->output()),
                      describe_wait_status(status) + (status == 0 ? ", unfinished" : ""));
  }

  // What the process left, which ended before it was done.
  ModelResult unfinished(FailureKind kind, const std::string& end) const {
    ModelResult result = read_result(directory_);
    const std::string message = "The process of the model " + end + ".";
    if (is_done(result)) {
      // All that may be missing is an explanation.
      if (!result.nodes || request_.reproduces) {
        result.nodes.emplace().error = message;
      } else if (result.failure && !result.reproducer) {
        add_sentence(result.nodes->note, "The search for a reproducer came to no end: " + message);
      }
      return result;
    }
    const Stage stage = kStages.at(result.num_passed_stages);
    if (stage >= Stage::kExecute) result.nodes.emplace().error = message;
    result.failure = Failure{.kind = kind,
                             .stage = stage,
                             .message = with_trial(message, result.current_trial),
                             .output = without_folder(process_->output(), directory_)};
    return result;
  }

  size_t index_;
  std::string directory_;
  RunRequest request_;
  Clock::time_point deadline_;
  std::unique_ptr<ChildProcess> process_;
  // What came of the first process, while the second one runs.
  std::optional<ModelResult> ended_;
};

// Sleeps until a child has something to tell, or a deadline comes.
void wait_for_news(std::list<Job>& jobs, const RunOptions& options) {
  Clock::time_point wake = Clock::now() + (options.memory_limit ? kMemoryPatience : kPatience);
  std::vector<pollfd> descriptors;
  for (Job& job : jobs) {
    wake = std::min(wake, job.deadline());
    const ChildProcess& process = job.process();
    for (const int descriptor : {process.output_descriptor(), process.exit_descriptor()}) {
      // Negative ones are left out.
      descriptors.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
    }
    const bool is_silent = process.output_descriptor() < 0 && process.exit_descriptor() < 0;
    if (is_silent) wake = std::min(wake, Clock::now() + kSilentPatience);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now());
  ::poll(descriptors.data(), descriptors.size(), std::max<int>(0, static_cast<int>(left.count())));
}

// Here, where it is done for several models at once. Without a picture the parent says why.
void draw(const std::string& directory) {
  const GraphPicture picture = draw_graph(read_result(directory));
  if (!picture.svg.empty()) {
    write_output([&] { write_file(directory + "/" + kPictureFile, picture.svg); });
  }
}

void run_request(const std::string& directory) {
  const RunRequest request = run_request_from_json(read_file(directory + kRequestFile));
  const auto save = [&](const ModelResult& result) {
    write_output([&] { write_file(directory + kResultFile, to_json(result)); });
  };
  const RunSettings settings = settings_of(request.source, request.settings);
  const std::unique_ptr<Candidate> candidate = make_candidate(request.source, settings.seed);
  ModelResult result = model_result_from_json(read_file(directory + kResultFile));
  if (request.reproduces) {
    return save(
        reproduce(*candidate, std::move(result), settings, *request.reproduces, directory, save));
  }
  save(run_model(*candidate, std::move(result), settings, directory, save));
  if (settings.last_stage == Stage::kVerify) draw(directory);
}

}  // namespace

ModelResults run_models(const std::vector<ModelSource>& models, const RunOptions& options,
                        const std::string& directory, const RunObserver& observer) {
  ModelResults results(directory);
  std::list<Job> jobs;
  size_t next = 0;
  while (next < models.size() || !jobs.empty()) {
    while (next < models.size() && jobs.size() < static_cast<size_t>(std::max(1, options.jobs))) {
      const std::string job_directory = directory + "/" + name_of(models[next]);
      std::error_code error;
      fs::create_directories(job_directory, error);
      if (error) throw OutputError("cannot make '" + job_directory + "': " + error.message());
      observer.on_start(name_of(models[next]));
      jobs.emplace_back(next, models[next], options, job_directory);
      ++next;
    }
    wait_for_news(jobs, options);
    observer.on_wait();
    if (InterruptGuard::interrupted()) break;
    std::map<pid_t, int64_t> memory;
    if (options.memory_limit) memory = resident_bytes();
    for (auto job = jobs.begin(); job != jobs.end();) {
      std::optional<ModelResult> result = job->poll(options);
      if (!result && options.memory_limit) {
        result = job->limit_memory(memory[job->process().id()], options);
      }
      if (!result) {
        ++job;
        continue;
      }
      observer.on_finish(*result, job->directory());
      std::error_code ignored;
      fs::remove_all(job->directory(), ignored);
      results.add(std::move(*result), job->index());
      job = jobs.erase(job);
    }
  }
  return results;
}

std::optional<int> run_as_child(int argc, char** argv) {
  if (const auto status = run_cases_as_child(argc, argv)) return status;
  if (const auto status = make_suite_as_child(argc, argv)) return status;
  if (const auto status = run_part_as_child(argc, argv)) return status;
  if (argc != 2 || !std::string_view(argv[1]).starts_with(kChildFlag)) return std::nullopt;
  return child_main([&] { run_request(argv[1] + kChildFlag.size()); });
}

}  // namespace torch_ir

#include "torch_ir/harness/runner.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <list>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "torch_ir/base/file.h"
#include "torch_ir/harness/candidate.h"
#include "torch_ir/harness/child_process.h"
#include "torch_ir/harness/interrupt.h"
#include "torch_ir/harness/result_json.h"
#include "torch_ir/harness/run_model.h"
#include "torch_ir/harness/stages.h"
#include "torch_ir/models/registry.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The argument that makes a program a child: with the folder of its request and its files.
constexpr std::string_view kChildFlag = "--run-model-in=";
constexpr const char* kRequestFile = "/request.json";
constexpr const char* kResultFile = "/result.json";

// A child tells this apart from all that a model can do to it.
constexpr int kOutputErrorStatus = EX_IOERR;

// How long a signal, or the end of a child that left its output open, may go unnoticed.
constexpr auto kPatience = std::chrono::milliseconds(100);

RegisteredModel find_model(const std::string& name) {
  for (RegisteredModel& model : list_models()) {
    if (model.name == name) return model;
  }
  throw Error("no model is registered as '" + name + "'");
}

// Longer ones are more than the clock can hold.
constexpr std::chrono::duration<double> kLongestTimeout(1e9);

Clock::time_point deadline_after(std::chrono::duration<double> timeout) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::min(timeout, kLongestTimeout));
}

// What is known of a model before it runs.
ModelResult unstarted(const ModelSource& source) {
  if (const auto* archive = std::get_if<Archive>(&source)) {
    return {.name = archive->name,
            .categories = {kImportedCategory},
            .origin = Origin{.archive = file_name(archive->path),
                             .inputs = file_name(archive->inputs),
                             .expected = file_name(archive->expected)}};
  }
  const RegisteredModel model = find_model(name_of(source));
  return {.name = model.name,
          .description = model.spec.description,
          .categories = model.spec.categories};
}

std::unique_ptr<Candidate> make_candidate(const ModelSource& source, uint64_t seed) {
  if (const auto* archive = std::get_if<Archive>(&source)) return make_candidate(*archive);
  return make_candidate(find_model(name_of(source)), seed);
}

class Job {
 public:
  Job(size_t index, const ModelSource& model, const RunOptions& options, std::string directory)
      : index_(index),
        directory_(std::move(directory)),
        deadline_(deadline_after(options.timeout)) {
    write_file(directory_ + kRequestFile,
               to_json(RunRequest{.source = model, .settings = options.settings}));
    write_file(directory_ + kResultFile, to_json(unstarted(model)));
    process_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{std::string(kChildFlag) + directory_});
  }

  size_t index() const { return index_; }
  const std::string& directory() const { return directory_; }
  Clock::time_point deadline() const { return deadline_; }
  ChildProcess& process() { return *process_; }

  // The result, once there is one.
  std::optional<ModelResult> poll(const RunOptions& options) {
    process_->read_output();
    if (const std::optional<int> status = process_->poll()) return finish(*status);
    if (Clock::now() < deadline_) return std::nullopt;
    process_->kill();
    char limit[32];
    std::snprintf(limit, sizeof(limit), "%g", options.timeout.count());
    return unfinished("was stopped after " + std::string(limit) + " s, the time limit");
  }

 private:
  ModelResult read_result() const {
    return model_result_from_json(read_file(directory_ + kResultFile));
  }

  ModelResult finish(int status) const {
    if (WIFEXITED(status) && WEXITSTATUS(status) == kOutputErrorStatus) {
      const std::string& output = process_->output();
      throw OutputError(output.substr(output.rfind('\n') + 1));
    }
    ModelResult result = read_result();
    if (result.passed() || result.failure) return result;
    return unfinished(describe_wait_status(status) + (WIFEXITED(status) ? ", unfinished" : ""));
  }

  ModelResult unfinished(const std::string& end) const {
    ModelResult result = read_result();
    const Stage stage = kStages.at(std::min(result.num_passed_stages, kStages.size() - 1));
    result.failure = Failure{.stage = stage,
                             .message = "The process of the model " + end + ".",
                             .output = process_->output()};
    return result;
  }

  size_t index_;
  std::string directory_;
  Clock::time_point deadline_;
  std::unique_ptr<ChildProcess> process_;
};

// Sleeps until a child has something to tell, or a deadline comes.
void wait_for_news(std::list<Job>& jobs) {
  Clock::time_point wake = Clock::now() + kPatience;
  std::vector<pollfd> descriptors;
  for (Job& job : jobs) {
    wake = std::min(wake, job.deadline());
    descriptors.push_back({.fd = job.process().descriptor(), .events = POLLIN, .revents = 0});
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now());
  ::poll(descriptors.data(), descriptors.size(), std::max<int>(0, static_cast<int>(left.count())));
}

void run_request(const std::string& directory) {
  const RunRequest request = run_request_from_json(read_file(directory + kRequestFile));
  const auto save = [&](const ModelResult& result) {
    try {
      write_file(directory + kResultFile, to_json(result));
    } catch (const Error& error) {
      throw OutputError(error.what());
    }
  };
  const std::unique_ptr<Candidate> candidate =
      make_candidate(request.source, request.settings.seed);
  save(run_model(*candidate, unstarted(request.source), request.settings, directory, save));
}

}  // namespace

std::vector<ModelResult> run_models(const std::vector<ModelSource>& models,
                                    const RunOptions& options, const std::string& directory,
                                    const RunObserver& observer) {
  std::vector<ModelResult> results(models.size());
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
    wait_for_news(jobs);
    if (InterruptGuard::interrupted()) throw Interrupted("interrupted");
    for (auto job = jobs.begin(); job != jobs.end();) {
      std::optional<ModelResult> result = job->poll(options);
      if (!result) {
        ++job;
        continue;
      }
      observer.on_finish(*result, job->directory());
      results[job->index()] = std::move(*result);
      job = jobs.erase(job);
    }
  }
  return results;
}

std::optional<int> run_as_child(int argc, char** argv) {
  if (argc != 2 || !std::string_view(argv[1]).starts_with(kChildFlag)) return std::nullopt;
  // Nobody wants the result when the parent is gone.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    run_request(argv[1] + kChildFlag.size());
    return 0;
  } catch (const OutputError& error) {
    // The last line is the parent's to read.
    std::fprintf(stderr, "\n%s", error.what());
    return kOutputErrorStatus;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EX_SOFTWARE;
  }
}

}  // namespace torch_ir

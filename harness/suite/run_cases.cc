#include "harness/suite/run_cases.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/backend/shell_command.h"
#include "harness/process/child_process.h"
#include "harness/process/interrupt.h"
#include "harness/results/case_fields.h"
#include "harness/results/result_fields.h"
#include "harness/stages/child_main.h"
#include "harness/stages/stages.h"
#include "harness/suite/run_case.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/subprocess.h"

namespace torch_ir {

// What a child is to do.
struct CaseRequest {
  RunSettings settings = {};
  std::vector<CaseSource> cases = {};
};

template <class Visit>
void fields(const Visit& visit, CaseSource& source) {
  visit.required("name", source.info.name);
  visit("folder", source.folder);
}

template <class Visit>
void fields(const Visit& visit, CaseRequest& request) {
  visit.required("settings", request.settings);
  visit.required("cases", request.cases);
}

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using json_fields::Json;

// The argument that makes a program a child: with the folder of its request and its results.
constexpr std::string_view kCasesFlag = "--run-cases-in=";
constexpr const char* kCaseRequestFile = "/request.json";
// A line a case.
constexpr const char* kCaseResultsFile = "/results.jsonl";

// How often results are looked for.
constexpr auto kPatience = std::chrono::milliseconds(20);

// A process takes about so many cases: its start costs as much as some tens of them.
constexpr size_t kCasesOfProcess = 256;

std::string line_of(const CaseResult& result) {
  return json_fields::write(result).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// --- The child ---

void run_requested(const std::string& directory) {
  CaseRequest request;
  json_fields::parse(read_file(directory + kCaseRequestFile),
                     [&](const Json& json) { json_fields::read(json, request); });
  at::set_num_threads(request.settings.threads);
  const std::unique_ptr<Backend> backend = open_backend(request.settings, directory);
  std::ofstream results(directory + kCaseResultsFile, std::ios::app);
  for (const CaseSource& source : request.cases) {
    results << line_of(run_case(source, *backend, request.settings)) << std::flush;
    if (!results) throw OutputError("cannot write '" + directory + kCaseResultsFile + "'");
  }
}

// --- The parent ---

// Cases in a row, and the process that runs them.
class CaseWorker {
 public:
  CaseWorker(std::span<const CaseSource> cases, std::span<std::optional<CaseResult>> results,
             const CaseRunOptions& options, std::string directory)
      : cases_(cases), results_(results), options_(options), directory_(std::move(directory)) {
    std::error_code error;
    fs::create_directories(directory_, error);
    if (error) throw OutputError("cannot make '" + directory_ + "': " + error.message());
    start();
  }

  ~CaseWorker() {
    process_.reset();
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

  size_t num_done() const { return num_done_; }
  bool is_done() const { return num_done_ == cases_.size(); }
  ChildProcess& process() { return *process_; }

  // Takes the results that are there, and goes on behind a case that ended its process.
  void poll(const std::map<pid_t, int64_t>& memory) {
    process_->read_output();
    const std::optional<int> status = process_->poll();
    read_results();
    if (is_done()) return;
    if (status) {
      rethrow_output_error(*status, process_->output());
      const bool is_memory = kind_of_crash(process_->output()) == FailureKind::kOutOfMemory;
      return give_up(is_memory ? CaseStatus::kOutOfMemory : CaseStatus::kCrashed,
                     describe_wait_status(*status) + printed());
    }
    if (Clock::now() - last_news_ > options_.timeout) {
      return give_up(CaseStatus::kTimedOut, fmt::format("was stopped after {:g} s, the time limit",
                                                        options_.timeout.count()));
    }
    const auto resident = memory.find(process_->id());
    if (options_.memory_limit && resident != memory.end() &&
        resident->second > *options_.memory_limit) {
      give_up(CaseStatus::kOutOfMemory,
              fmt::format("was stopped with more than {:g} MB in memory, the memory limit",
                          static_cast<double>(*options_.memory_limit) / 1e6));
    }
  }

 private:
  void start() {
    const std::span<const CaseSource> rest = cases_.subspan(num_done_);
    CaseRequest request{.settings = options_.settings, .cases = {rest.begin(), rest.end()}};
    write_output([&] {
      write_file(directory_ + kCaseRequestFile, json_fields::write(request).dump());
      write_file(directory_ + kCaseResultsFile, "");
    });
    num_read_ = 0;
    last_news_ = Clock::now();
    process_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{std::string(kCasesFlag) + directory_});
  }

  void read_results() {
    std::ifstream file(directory_ + kCaseResultsFile);
    file.seekg(static_cast<std::streamoff>(num_read_));
    for (std::string line; std::getline(file, line) && !file.eof();) {
      num_read_ += line.size() + 1;
      CaseResult result;
      json_fields::parse(line, [&](const Json& json) { json_fields::read(json, result); });
      finish(std::move(result));
    }
  }

  void finish(CaseResult result) {
    result.info = cases_[num_done_].info;
    results_[num_done_] = std::move(result);
    ++num_done_;
    last_news_ = Clock::now();
  }

  // On the case that ended its process, or has to.
  void give_up(CaseStatus status, const std::string& end) {
    process_->kill();
    finish({.status = status, .message = "The process of the case " + end});
    if (!is_done()) start();
  }

  // "; it printed: Segmentation fault"
  std::string printed() const {
    const std::string lines = without_folder(last_lines(process_->output()), directory_);
    return lines.empty() ? "" : "; it printed: " + lines;
  }

  std::span<const CaseSource> cases_;
  std::span<std::optional<CaseResult>> results_;
  const CaseRunOptions& options_;
  const std::string directory_;
  size_t num_done_ = 0;
  size_t num_read_ = 0;
  Clock::time_point last_news_;
  std::unique_ptr<ChildProcess> process_;
};

void wait_for_news(std::list<CaseWorker>& workers) {
  std::vector<pollfd> descriptors;
  for (CaseWorker& worker : workers) {
    const int descriptor = worker.process().exit_descriptor();
    descriptors.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  }
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(kPatience.count()));
}

}  // namespace

std::vector<CaseResult> run_cases(const std::vector<CaseSource>& cases,
                                  const CaseRunOptions& options, const std::string& directory,
                                  const std::function<void(size_t)>& on_progress) {
  std::vector<std::optional<CaseResult>> results(cases.size());
  const auto jobs = static_cast<size_t>(std::max(1, options.jobs));
  const size_t share = std::clamp<size_t>(cases.size() / (4 * jobs), 1, kCasesOfProcess);
  std::list<CaseWorker> workers;
  size_t next = 0;
  size_t num_done = 0;
  while (next < cases.size() || !workers.empty()) {
    while (next < cases.size() && workers.size() < jobs) {
      const size_t count = std::min(share, cases.size() - next);
      workers.emplace_back(std::span(cases).subspan(next, count),
                           std::span(results).subspan(next, count), options,
                           fmt::format("{}/cases-{}", directory, next));
      next += count;
    }
    wait_for_news(workers);
    if (InterruptGuard::interrupted()) break;
    std::map<pid_t, int64_t> memory;
    if (options.memory_limit) memory = resident_bytes();
    size_t num_running = 0;
    for (auto worker = workers.begin(); worker != workers.end();) {
      worker->poll(memory);
      if (worker->is_done()) {
        num_done += worker->num_done();
        worker = workers.erase(worker);
      } else {
        num_running += worker->num_done();
        ++worker;
      }
    }
    on_progress(num_done + num_running);
  }
  workers.clear();
  std::vector<CaseResult> finished;
  for (std::optional<CaseResult>& result : results) {
    if (result) finished.push_back(std::move(*result));
  }
  return finished;
}

std::optional<int> run_cases_as_child(int argc, char** argv) {
  if (argc != 2 || !std::string_view(argv[1]).starts_with(kCasesFlag)) return std::nullopt;
  return child_main([&] { run_requested(argv[1] + kCasesFlag.size()); });
}

}  // namespace torch_ir

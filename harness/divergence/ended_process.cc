#include "harness/divergence/ended_process.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "harness/backend/open_backend.h"
#include "harness/process/supervise.h"
#include "harness/results/result_fields.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Divisors of the time limit, for the whole graph and for a part; bisection tries about ten parts.
constexpr double kWholeGraphDivisor = 3;
constexpr double kPartDivisor = 20;
// The part that was found runs once more for longer, since it may only be slow to start.
constexpr double kLastRunDivisor = 5;
// Adds this share of the limit for it; the process of the search has twice the limit.
constexpr double kLastDelayDivisor = 2;

// Longer than any run, but within the range of the clock.
constexpr Seconds kLongest(1e8);

const char* verb_of(FailureKind kind) {
  if (kind == FailureKind::kTimedOut) return "hang";
  return kind == FailureKind::kOutOfMemory ? "run out of memory" : "crash the same way";
}

// Whether a part ended as the whole graph did.
bool ends_alike(const WorkEnd& part, const WorkEnd& whole) {
  const bool is_crash = whole.kind == FailureKind::kCrashed;
  return !part.is_cut_off && part.kind == whole.kind &&
         (!is_crash || part.description == whole.description);
}

constexpr const char* kRunSuffix = ".run";

// Runs the reproducer in `directory` in a process of its own. Returns nothing if the graph
// finished, even with an error, or did not begin. Throws OutputError.
std::optional<WorkEnd> run_part(const std::string& directory, const RunSettings& settings,
                                const WorkLimits& limits) {
  // If this fails, the next write reports why.
  std::error_code error;
  fs::remove_all(directory + kRunSuffix, error);
  std::optional<WorkRequest> request =
      WorkRequest{.content = {{"directory", directory}, {"settings", json_fields::write(settings)}},
                  .limits = limits};
  bool has_begun = false;
  std::optional<WorkEnd> end;
  supervise({.task = kPartTask,
             .next = [&](size_t) { return std::exchange(request, std::nullopt); },
             .on_news = [&](size_t, const WorkJson&) { has_begun = true; },
             .on_answer =
                 [&](size_t, const WorkJson& is_out_of_memory, const WorkEnd*) {
                   if (is_out_of_memory) end = WorkEnd{.kind = FailureKind::kOutOfMemory};
                 },
             .on_end =
                 [&](size_t, const WorkEnd& how) {
                   // If the process ends before the graph begins, the graph did not end it.
                   const bool is_of_graph = has_begun || how.kind != FailureKind::kCrashed;
                   if (how.is_cut_off || is_of_graph) end = how;
                 }});
  return end;
}

class EndSearch {
 public:
  EndSearch(const ExplainedRun& run, const EndedProcess& ended)
      : run_(run),
        ended_(ended),
        whole_(run.directory + "/repro"),
        part_(run.directory + "/part"),
        found_(run.directory + "/found"),
        budget_(std::min({Seconds(ended.timeout), kLongest, Seconds(run.settings.search_seconds)})),
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(budget_)) {}

  ReproducerSearch write_whole() {
    return whole_graph_reproducer(run_.graph_case, run_.settings, /*message=*/"", whole_);
  }

  ReproducerSearch find_part() {
    const std::optional<WorkEnd> end = run_part(whole_, run_.settings, limits(kWholeGraphDivisor));
    if (!end || end->is_cut_off || end->kind != ended_.kind) {
      const std::string problem =
          end && end->is_cut_off
              ? fmt::format("The graph, run by itself, was not loaded or did not end within {:g} s",
                            budget_.count())
              : fmt::format("The graph did not {} again when it ran by itself",
                            verb_of(ended_.kind));
      return {.note = problem + ", so no smaller part was searched for."};
    }
    ExplainedRun ended_run = run_;
    ended_run.directory = found_;
    ended_run.groups = groups();
    const ExplainedGraph graph(ended_run);
    ReproducerSearch search = find_reproducer(
        {.graph = graph,
         .check = [&](const Case& part, const RunSettings&) { return this->check(*end, part); },
         .ended_process = true,
         .should_stop = [this] { return Clock::now() >= deadline_; }});
    if (search.reproducer && ended_.kind == FailureKind::kTimedOut) {
      const std::string doubt = doubt_of_hang();
      if (!doubt.empty()) search = {.note = doubt};
    }
    if (search.reproducer) replace_whole();
    if (!search.note.empty()) search.note += ". ";
    search.note += bounds_text();
    return search;
  }

 private:
  // The time counts from when the graph begins to run.
  WorkLimits limits(double num_hangs) const {
    const bool hangs = ended_.kind == FailureKind::kTimedOut;
    return {.time = hangs ? budget_ / num_hangs : kLongest,
            .counts_from_news = true,
            .deadline = deadline_,
            .memory = ended_.memory_limit};
  }

  // The groups that a command wrote before its process ended; none if they are incomplete.
  std::vector<NodeGroup> groups() const {
    if (run_.settings.executor.empty()) return {};
    try {
      std::vector<NodeGroup> groups = open_backend(run_.settings, whole_ + kRunSuffix)->groups();
      group_nodes(run_.program(), memory_of(run_.graph_case), groups);
      return groups;
    } catch (const Error&) {
      return {};
    }
  }

  std::optional<GraphFailure> check(const WorkEnd& wanted, Case part) const {
    std::error_code error;
    fs::remove_all(part_, error);
    if (error) throw OutputError("cannot remove '" + part_ + "': " + error.message());
    part.expected.clear();
    try {
      write_reproducer(part, run_.settings, part_);
    } catch (const WeightError&) {
      // A file cannot hold the values.
      return std::nullopt;
    }
    const std::optional<WorkEnd> end = run_part(part_, run_.settings, limits(kPartDivisor));
    if (!end || !ends_alike(*end, wanted)) return std::nullopt;
    GraphFailure failure{.threw = true};
    const Program& program = *part.program;
    if (!program.outputs.empty()) failure.output = program[program.outputs.back()].name;
    return failure;
  }

  // Why the part that was found may not hang; empty if it still hangs.
  std::string doubt_of_hang() const {
    WorkLimits limits = this->limits(kLastRunDivisor);
    limits.deadline += std::chrono::duration_cast<Clock::duration>(budget_ / kLastDelayDivisor);
    const std::optional<WorkEnd> end = run_part(found_, run_.settings, limits);
    if (end && !end->is_cut_off && end->kind == FailureKind::kTimedOut) return "";
    return fmt::format("The part that was found was not seen to run for {:g} s",
                       limits.time.count());
  }

  void replace_whole() const {
    std::error_code error;
    fs::remove_all(whole_, error);
    fs::rename(found_, whole_, error);
    if (error) throw OutputError("cannot make '" + whole_ + "': " + error.message());
  }

  std::string bounds_text() const {
    std::string text = fmt::format(
        "Each part of the graph was tried in its own process, for at most {:g} s in total",
        budget_.count());
    if (ended_.kind == FailureKind::kTimedOut) {
      text += fmt::format("; a part that had not ended after {:g} s counted as hanging",
                          (budget_ / kPartDivisor).count());
    }
    return text + ".";
  }

  const ExplainedRun& run_;
  const EndedProcess& ended_;
  const std::string whole_;
  const std::string part_;
  const std::string found_;
  const Seconds budget_;
  const Clock::time_point deadline_;
};

}  // namespace

DoRequest run_part_task(const WorkJson& /*setup*/) {
  // Answers whether the part ran out of memory, if the process survives.
  return [](const WorkJson& request, const TellNews& tell) -> WorkJson {
    const std::string directory = request.at("directory");
    RunSettings settings;
    json_fields::read(request.at("settings"), settings);
    const Case part = load_case(directory);
    at::set_num_threads(settings.threads);
    const std::unique_ptr<Backend> backend = open_backend(settings, directory + kRunSuffix);
    at::manual_seed(settings.seed);
    tell("begun");
    const AllocationWatch memory;
    try {
      backend->run(part);
    } catch (const OutputError&) {
      throw;
    } catch (const std::exception& error) {
      return failure_kind(Stage::kExecute, error, memory) == FailureKind::kOutOfMemory;
    }
    return false;
  };
}

ReproducerSearch reproduce_end(Candidate& candidate, RunSettings settings,
                               const EndedProcess& ended, const std::string& directory,
                               const std::function<void(const ReproducerSearch&)>& on_whole) {
  at::set_num_threads(settings.threads);
  const int trial = ended.trial / settings.steps;
  Case graph_case = Case().with(serialize(candidate.extract(), directory + "/ir.json"));
  if (!settings.tolerance_wins) candidate.set_tolerance(settings.tolerance);
  graph_case.weights = candidate.weights();
  if (trial >= candidate.num_given()) candidate.choose_trials(settings);
  graph_case.inputs = candidate.inputs(trial);
  const ExplainedRun run{.candidate = candidate,
                         .graph_case = graph_case,
                         .settings = settings,
                         .directory = directory,
                         .trial = trial};
  EndSearch search(run, ended);
  ReproducerSearch whole = search.write_whole();
  if (!whole.reproducer) return whole;
  whole.reproducer->trial = candidate.trial_name(trial);
  on_whole(whole);
  ReproducerSearch part;
  if (const auto error = error_of([&] { part = search.find_part(); })) {
    part.note = "The search for a smaller part ended with an error: " + *error;
  }
  if (!part.reproducer) part.reproducer = whole.reproducer;
  part.reproducer->trial = whole.reproducer->trial;
  return part;
}

}  // namespace torch_ir

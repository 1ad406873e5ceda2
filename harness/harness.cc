#include "harness/harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include "harness/process/supervise.h"
#include "harness/report/report_files.h"
#include "harness/report/run_text.h"
#include "harness/results/results_file.h"
#include "harness/run/expected_failures.h"
#include "harness/run/pattern_lines.h"
#include "harness/select_candidates.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/file_names.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

// The reports of this run might replace a reproducer that it reads.
void check_apart(const Selected& selected, const std::string& output) {
  for (const ModelSource& model : selected.models) {
    const auto* files = std::get_if<ModelFiles>(&model);
    if (files == nullptr) continue;
    const std::vector<std::string> parts = parts_below(output, files->path);
    const bool is_replaced =
        parts.size() == 2 ? parts[0] == "ir"
                          : parts.size() > 2 && parts[0] == "repro" && parts[1] == files->name;
    if (!is_replaced) continue;
    throw Error(flag_of(files->format) + ": the reports would replace '" + printable(files->path) +
                "'; choose another --output");
  }
}

// One list may serve several runs, so it may name what this run does not select: models, cases, and
// files beside those of the run.
std::vector<std::string> known_names(const HarnessOptions& options, const Selected& selected) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  for (const Scale scale : {Scale::kTest, Scale::kFull}) {
    for (const RegisteredModel& model : list_models(scale)) names.push_back(model.name);
  }
  for (const OperatorCase& it : list_operator_cases()) names.push_back(it.name());
  for (const ModelSource& it : selected.models) names.push_back(name_of(it));
  for (const ModelFiles& files : options.coverage.files) {
    for (const auto& entry : fs::directory_iterator(fs::absolute(files.path).parent_path())) {
      names.push_back(file_name_of(entry.path().stem().string()));
    }
    if (files.format != FileFormat::kGraph || !is_suite(files.path)) continue;
    for (CaseInfo& it : read_suite(files.path)) names.push_back(std::move(it.name));
  }
  return names;
}

// The list of --expected-failures and, with --write-expected-failures, the one that replaces it.
struct FailureList {
  ExpectedFailures old = {};
  std::vector<std::string> known = {};
  std::optional<AtomicFile> file = std::nullopt;

  FailureList(const HarnessOptions& options, const Selected& selected) {
    const std::string& written = options.written_failures;
    std::string path = options.context.expected_failures;
    // The reasons in a file that is written again stay.
    if (path.empty() && std::filesystem::is_regular_file(written)) path = written;
    if (!path.empty()) {
      old = parse_expected_failures(read_file(path), path);
      known = known_names(options, selected);
      check_spelling(old.entries, path, known);
    }
    if (!written.empty()) file.emplace(written);
  }

  void write(const RunRecord& run) {
    if (!file) return;
    std::vector<const Result*> results;
    for (const auto* some : {&run.results, &run.cases}) {
      for (const Result& result : *some) results.push_back(&result);
    }
    file->write(to_text(updated(old, results, known)));
    file->commit();
  }
};

// The columns for names of models in a terminal; longer names overflow.
size_t name_width(const std::vector<std::string>& names) {
  constexpr size_t kWidest = 32;
  size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  return std::min(width, kWidest);
}

RunContext page_context(const HarnessOptions& options) {
  RunContext context = options.context;
  context.settings = options.run.settings;
  context.environment = environment();
  for (std::string* path : {&context.expected_failures, &context.baseline, &context.output}) {
    *path = typed_path(*path);
  }
  for (std::string& path : context.libraries) path = typed_path(path);
  return context;
}

std::string interrupted_text(const RunRecord& record, const Selected& selected) {
  if (record.results.empty() && record.cases.empty()) {
    return fmt::format("interrupted before any {} finished; reports unchanged",
                       selected.models.empty() ? "case" : "model");
  }
  const auto text = [](size_t num_finished, size_t num_planned, const char* noun) {
    return fmt::format("interrupted; the reports cover the {} of {} {} that finished", num_finished,
                       num_planned, noun);
  };
  return record.results.size() == selected.models.size() && !selected.cases.empty()
             ? text(record.cases.size(), selected.cases.size(), "cases")
             : text(record.results.size(), selected.models.size(), "models");
}

// Where a model failed, each of its calls may be at fault, also one that equals another.
std::vector<SuiteProblem> split(Selected& selected, const std::vector<Result>& results,
                                const HarnessOptions& options, const std::string& directory) {
  SuiteRequest request{.output = directory + "/split",
                       .content = "models",
                       .candidates = selected.models,
                       .is_split = true,
                       .may_lack_candidates = true};
  // A model that the executor failed to run is split into single calls.
  const auto is_grouped = [&](const Result& result) {
    const bool has_run = !result.failure || result.failure->stage > Stage::kExecute;
    return has_run && result.nodes && !result.nodes->groups.empty() &&
           !runs_plans(options.run.settings);
  };
  for (const Result& result : results) {
    if (result.failure) request.keeps_equal.push_back(result.name);
    if (is_grouped(result)) request.keeps_groups.push_back(result.name);
  }
  MadeSuite suite = make_suite(request, options.run);
  std::ranges::move(cases_in(request.output), std::back_inserter(selected.cases));
  return std::move(suite.problems);
}

// Results and expected failures are keyed by name.
void check_names(const std::vector<ModelSource>& cases) {
  std::set<std::string> names;
  for (const ModelSource& it : cases) {
    if (names.insert(name_of(it)).second) continue;
    throw Error("duplicate case '" + printable(name_of(it)) + "'; run the suites one by one");
  }
}

std::vector<Result> run_cases(const std::vector<ModelSource>& cases, const RunOptions& options,
                              const std::string& directory, const HarnessStreams& streams) {
  if (cases.empty()) return {};
  size_t num_done = 0;
  const RunObserver observer{
      .on_finish = [&](Result&, const std::string&) { ++num_done; },
      .on_wait =
          [&] {
            if (streams.bar == nullptr) return;
            *streams.bar << fmt::format("\r{} of {} cases", num_done, cases.size()) << std::flush;
          }};
  std::vector<Result> results = run_candidates(cases, options, directory, observer);
  if (streams.bar != nullptr) *streams.bar << "\r\x1b[K";
  if (streams.lines != nullptr) *streams.lines << cases_lines(results);
  return results;
}

// Drops what was good in an earlier run: models only if their calls were, too.
void keep_bad(std::vector<ModelSource>& sources, const std::vector<Result>& before,
              const std::vector<Result>& calls, bool requires_support) {
  const auto is_good = [&](const Result& result) {
    return result.is_good() && !(requires_support && result.unsupported);
  };
  std::set<std::string> with_bad_calls;
  for (const Result& result : calls) {
    if (is_good(result)) continue;
    for (const CaseOccurrence& call : result.call->occurrences) with_bad_calls.insert(call.model);
  }
  std::erase_if(sources, [&](const ModelSource& source) {
    const auto known = std::ranges::find(before, name_of(source), &Result::name);
    return known != before.end() && is_good(*known) && !with_bad_calls.contains(name_of(source));
  });
}

// The results of an earlier run, brought up to date.
void merge(std::vector<Result> before, std::vector<Result>& now) {
  for (Result& result : now) {
    const auto known = std::ranges::find(before, result.name, &Result::name);
    (known == before.end() ? before.emplace_back() : *known) = std::move(result);
  }
  now = std::move(before);
}

}  // namespace

bool HarnessRun::is_good() const {
  return all_good(results) && all_good(cases) && not_split.empty() &&
         !(baseline && baseline->is_worse());
}

HarnessRun run_harness(const HarnessOptions& options, const HarnessStreams& streams) {
  Selected selected = select_candidates(options);
  if (options.rerun) {
    const RunRecord& before = *options.rerun;
    const bool requires_support = options.run.settings.requires_support;
    keep_bad(selected.models, before.results, before.cases, requires_support);
    keep_bad(selected.cases, before.cases, {}, requires_support);
  }
  check_apart(selected, options.context.output);
  RunOptions run_options = options.run;
  FailureList failures(options, selected);
  if (!options.context.expected_failures.empty()) run_options.expected_failures = failures.old;
  if (!options.context.tolerances.empty()) {
    const std::string& file = options.context.tolerances;
    run_options.tolerances = parse_tolerances(read_file(file), file);
    check_spelling(run_options.tolerances.lines, file, known_names(options, selected));
  }
  std::optional<RunRecord> baseline;
  if (!options.context.baseline.empty()) baseline = read_run_record(options.context.baseline);
  RunRecord record{.coverage = selected.coverage, .context = page_context(options)};
  NodeChangesOf changes;

  // Pages with calls are written once these have run.
  std::map<std::string, IR> graphs;
  const InterruptGuard interrupt_guard;
  const std::vector<std::string> names = names_of(selected.models);
  const ReportFiles files(options.context.output, names);
  ProgressOptions progress_options = streams.progress;
  progress_options.name_width = name_width(names);
  Progress progress(selected.models.size(), streams.lines, streams.bar, progress_options);
  const RunObserver observer{
      .on_start = [&](const std::string& model) { progress.start(model); },
      .on_judged = [&](const Result& result) { progress.judge(result); },
      .on_finish =
          [&](Result& result, const std::string& directory) {
            if (baseline) {
              changes[result.name].graph =
                  graph_changes(*baseline, options.context.baseline, result);
            }
            files.write_model(result, directory, record.context);
            if (options.coverage.is_split && result.graph)
              graphs.emplace(result.name, *result.graph);
            progress.finish(result);
          },
      .on_wait = [&] { progress.tick(); },
  };
  check_names(selected.cases);
  record.results = run_candidates(selected.models, run_options, files.work_directory(), observer);
  std::vector<SuiteProblem> not_split;
  bool has_all_cases = true;
  if (options.coverage.is_split) {
    try {
      not_split = split(selected, record.results, options, files.work_directory());
      check_names(selected.cases);
    } catch (const Interrupted&) {
      // Models may have finished.
      has_all_cases = false;
    }
  }
  if (!InterruptGuard::interrupted()) {
    record.cases = run_cases(selected.cases, run_options, files.work_directory(), streams);
  }
  for (Result& result : record.results) {
    const auto graph = graphs.find(result.name);
    if (graph == graphs.end() || record.cases.empty()) continue;
    result.graph = std::move(graph->second);
    files.write_calls(result, record.context, record.cases);
    result.drop_graph();
  }
  record.coverage.is_interrupted = !has_all_cases || record.cases.size() != selected.cases.size() ||
                                   record.results.size() != selected.models.size();
  if (record.coverage.is_interrupted && record.results.empty() && record.cases.empty()) {
    throw Interrupted(interrupted_text(record, selected));
  }
  std::vector<std::string> finished;
  for (const Result& result : record.results) finished.push_back(result.name);
  const std::string interrupted = interrupted_text(record, selected);
  if (options.rerun) {
    std::vector<Result> cases = options.rerun->cases;
    // Calls of models that ran again are those of now.
    std::erase_if(cases, [&](const Result& result) {
      const std::vector<CaseOccurrence>& calls = result.call->occurrences;
      return !calls.empty() && std::ranges::all_of(calls, [&](const CaseOccurrence& call) {
        return std::ranges::find(finished, call.model) != finished.end();
      });
    });
    merge(options.rerun->results, record.results);
    merge(std::move(cases), record.cases);
  }
  HarnessRun run;
  if (baseline) run.baseline = compare_with_baseline(*baseline, record, std::move(changes));
  if (options.summary) files.write_run(record, run.baseline ? &*run.baseline : nullptr);
  files.finish(finished, options.summary);
  if (record.coverage.is_interrupted) throw Interrupted(interrupted);
  run.not_split = unsplit_lines(not_split);
  failures.write(record);
  if (streams.lines != nullptr) {
    for (const std::string& line : run.not_split) *streams.lines << line << '\n';
  }
  run.results = std::move(record.results);
  run.cases = std::move(record.cases);
  return run;
}

}  // namespace torch_ir

#include "harness/run/make_suite.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "harness/backend/open_backend.h"
#include "harness/process/supervise.h"
#include "harness/results/result_fields.h"
#include "harness/stages/candidate.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/cases/split.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/registry/registry.h"

namespace torch_ir {

struct SuiteSetup {
  std::string folder = {};
  bool is_split = false;
  std::vector<std::string> keeps_groups = {};
  std::vector<std::string> keeps_equal = {};
  RunSettings settings = {};
  std::vector<CaseInfo> cases = {};
  std::vector<std::string> keys = {};
};

struct SuiteAnswer {
  std::string problem = {};
  // The calls that a split leaves out, as a message.
  std::string left_out = {};
  std::vector<CaseInfo> cases = {};
  std::vector<std::string> keys = {};
};

TORCH_IR_FIELDS(SuiteSetup, folder, is_split, keeps_groups, keeps_equal, settings, cases, keys)
TORCH_IR_FIELDS(SuiteAnswer, problem, left_out, cases, keys)

namespace {

// Workers are replaced after this many candidates, because their memory may grow.
constexpr size_t kCandidatesOfWorker = 1000;
constexpr size_t kCandidatesAhead = 16;

SuiteCase case_of(const ModelSource& source, Candidate& candidate) {
  CaseInfo info{.name = name_of(source), .op_type = "model"};
  if (const auto* name = std::get_if<std::string>(&source)) {
    const ModelSpec& spec = find_model(*name).spec;
    info.category = spec.categories.front();
    info.note = spec.description;
    info.tolerance = spec.tolerance;
  } else {
    info.category = kImportedCategory;
  }
  Case content = first_trial(candidate);
  content.expected = candidate.expected(0, content.inputs);
  // The model may have written to those it had.
  content.weights = candidate.weights();
  const std::vector<ValueId> inputs = content.program->user_inputs();
  if (!inputs.empty()) info.dtype = dtype_name((*content.program)[inputs.front()].dtype);
  return {std::move(info), std::move(content)};
}

class SuiteWork {
 public:
  explicit SuiteWork(const WorkJson& setup) {
    json_fields::read(setup, setup_);
    if (setup_.is_split) splitter_ = Splitter(setup_.cases, setup_.keys);
    at::set_num_threads(setup_.settings.threads);
  }

  WorkJson operator()(const WorkJson& content, const TellNews& /*tell*/) {
    ModelSource source;
    json_fields::read(content, source);
    SuiteAnswer answer;
    try {
      if (const auto* call = std::get_if<CaseSource>(&source)) {
        answer.cases = {add(make_suite_case(find_operator_case(call->info.name)))};
      } else {
        const std::unique_ptr<Candidate> candidate = make_candidate(source, setup_.settings);
        if (!setup_.is_split) answer.cases = {add(case_of(source, *candidate))};
        if (setup_.is_split) answer.left_out = split(name_of(source), *candidate);
      }
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      answer.problem = headline(error.what());
    }
    if (setup_.is_split) answer.cases = splitter_.cases();
    if (setup_.is_split) answer.keys = splitter_.keys();
    return json_fields::write(answer);
  }

 private:
  CaseInfo add(const SuiteCase& suite_case) {
    write_case(suite_case, setup_.folder);
    return suite_case.info;
  }
  std::string split(const std::string& name, Candidate& candidate) {
    SplitModel model{.name = name, .content = first_trial(candidate)};
    model.source_lines = candidate.source_lines();
    const auto is_in = [&](const std::vector<std::string>& names) {
      return std::ranges::find(names, name) != names.end();
    };
    model.keeps_equal = is_in(setup_.keeps_equal);
    if (is_in(setup_.keeps_groups)) {
      if (!backend_) backend_ = open_backend(setup_.settings, setup_.folder);
      at::manual_seed(setup_.settings.seed);
      run_grouped(*backend_, model.content, model.groups);
    }
    return splitter_.add(model, [&](const SuiteCase& suite_case) { add(suite_case); });
  }

  SuiteSetup setup_;
  // Made for the first model whose groups are needed. Its files are not part of the suite.
  std::shared_ptr<Backend> backend_;
  Splitter splitter_;
};

}  // namespace

MadeSuite make_suite(const SuiteRequest& request, const RunOptions& options) {
  SuiteWriter writer(request.output, request.content);
  SuiteSetup setup{.folder = writer.unfinished(),
                   .is_split = request.is_split,
                   .keeps_groups = request.keeps_groups,
                   .keeps_equal = request.keeps_equal,
                   .settings = options.settings};
  MadeSuite suite;
  const auto add_problem = [&](size_t id, const std::string& message, bool is_partial = false) {
    suite.problems.push_back({name_of(request.candidates[id]), message, is_partial});
  };
  size_t next = 0;
  supervise(
      {.task = kSuiteTask,
       // A new worker gets the cases of the workers before it.
       .setup = [&] { return json_fields::write(setup); },
       .requests_of_worker = kCandidatesOfWorker,
       .requests_ahead = kCandidatesAhead,
       .next = [&](size_t) -> std::optional<WorkRequest> {
         if (next == request.candidates.size()) return std::nullopt;
         const size_t id = next++;
         return WorkRequest{.id = id,
                            .content = json_fields::write(request.candidates[id]),
                            .limits = {.time = options.timeout, .memory = options.memory_limit}};
       },
       .on_answer =
           [&](size_t id, const WorkJson& content, const WorkEnd*) {
             SuiteAnswer answer;
             json_fields::read(content, answer);
             if (!answer.problem.empty()) add_problem(id, answer.problem);
             if (!answer.left_out.empty()) add_problem(id, answer.left_out, /*is_partial=*/true);
             if (request.is_split) setup.cases.clear();
             std::ranges::move(answer.cases, std::back_inserter(setup.cases));
             setup.keys = std::move(answer.keys);
           },
       .on_end = [&](size_t id,
                     const WorkEnd& end) { add_problem(id, "its process " + end.description); }});
  if (InterruptGuard::interrupted()) throw Interrupted("interrupted; no suite was written");
  suite.num_cases = setup.cases.size();
  if (!request.may_lack_candidates) {
    const auto failed = std::ranges::find(suite.problems, false, &SuiteProblem::is_partial);
    if (failed != suite.problems.end()) {
      throw Error(fmt::format("cannot write '{}': {}", printable(failed->name),
                              printable(failed->message)));
    }
    if (setup.cases.empty()) return suite;
  }
  writer.finish(setup.cases);
  return suite;
}

DoRequest make_suite_task(const WorkJson& setup) { return SuiteWork(setup); }

}  // namespace torch_ir

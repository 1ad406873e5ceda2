#include "harness/suite/make_suite.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "harness/backend/shell_command.h"
#include "harness/process/child_process.h"
#include "harness/process/interrupt.h"
#include "harness/results/result_fields.h"
#include "harness/stages/candidate.h"
#include "harness/stages/child_main.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/subprocess.h"
#include "torch_ir/base/work_directory.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/cases/split.h"

namespace torch_ir {

template <class Visit>
void fields(const Visit& visit, SuiteRequest& request) {
  visit.required("output", request.output);
  visit.required("what", request.what);
  visit("operator_cases", request.operator_cases);
  visit("models", request.models);
  visit("is_split", request.is_split);
  visit("seed", request.seed);
}

template <class Visit>
void fields(const Visit& visit, SuiteProblem& problem) {
  visit.required("model", problem.model);
  visit.required("message", problem.message);
}

namespace {

namespace fs = std::filesystem;
using json_fields::Json;

constexpr std::string_view kSuiteFlag = "--make-suite-in=";
constexpr const char* kSuiteRequestFile = "/request.json";
constexpr const char* kProblemsFile = "/problems.json";

constexpr auto kSuitePatience = 100;

// --- The child ---

GraphCase case_of_model(const ModelSource& source, Candidate& candidate) {
  GraphCase graph_case{.info = {.name = name_of(source), .op_type = "model"}};
  if (const auto* name = std::get_if<std::string>(&source)) {
    const ModelSpec& spec = find_model(*name).spec;
    graph_case.info.category = spec.categories.front();
    graph_case.info.note = spec.description;
    graph_case.info.tolerance = spec.tolerance;
  } else {
    graph_case.info.category = kImportedCategory;
  }
  graph_case.ir = candidate.extract();
  graph_case.weights = candidate.weights();
  graph_case.inputs = candidate.inputs(0);
  graph_case.expected = candidate.expected(graph_case.inputs);
  if (!graph_case.inputs.empty()) graph_case.info.dtype = graph_case.ir.graph_inputs.front().dtype;
  return graph_case;
}

// Writes a suite of what the request is about.
class SuiteMaker {
 public:
  explicit SuiteMaker(const SuiteRequest& request)
      : request_(request), writer_(request.output, request.what) {}

  std::vector<SuiteProblem> make() {
    for (const std::string& name : request_.operator_cases) add_operator_case(name);
    for (const ModelSource& model : request_.models) {
      try {
        const std::unique_ptr<Candidate> candidate = make_candidate(model, request_.seed);
        request_.is_split ? split(model, *candidate) : add(case_of_model(model, *candidate));
      } catch (const std::exception& error) {
        problems_.push_back({name_of(model), headline(error.what())});
      }
    }
    infos_.insert(infos_.end(), splitter_.cases().begin(), splitter_.cases().end());
    writer_.finish(infos_);
    return std::move(problems_);
  }

 private:
  void add(const GraphCase& graph_case) {
    writer_.add(graph_case);
    infos_.push_back(graph_case.info);
  }

  void add_operator_case(const std::string& name) {
    add(make_graph_case(find_operator_case(name)));
  }

  void split(const ModelSource& source, Candidate& candidate) {
    const IR ir = candidate.extract();
    splitter_.add({.name = name_of(source),
                   .ir = &ir,
                   .weights = &candidate.weights(),
                   .inputs = candidate.inputs(0),
                   .origins = candidate.origins()},
                  [&](const GraphCase& graph_case) { writer_.add(graph_case); });
  }

  const SuiteRequest& request_;
  SuiteWriter writer_;
  Splitter splitter_;
  std::vector<CaseInfo> infos_;
  std::vector<SuiteProblem> problems_;
};

void make_requested(const std::string& directory) {
  SuiteRequest request;
  json_fields::parse(read_file(directory + kSuiteRequestFile),
                     [&](const Json& json) { json_fields::read(json, request); });
  at::set_num_threads(1);
  const std::vector<SuiteProblem> problems = SuiteMaker(request).make();
  const Json json = json_fields::write(problems);
  write_file(directory + kProblemsFile, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::vector<SuiteProblem> make_suite(const SuiteRequest& request, const std::string& directory) {
  const std::string files = directory + "/suite";
  std::error_code error;
  fs::create_directories(files, error);
  if (error) throw OutputError("cannot make '" + files + "': " + error.message());
  check_suite_folder(request.output);
  // The child, which may be killed at any moment, writes here; this process does the rest.
  const WorkDirectory unfinished(request.output);
  SuiteRequest childs = request;
  childs.output = (unfinished.path() / "suite").string();
  write_output([&] { write_file(files + kSuiteRequestFile, json_fields::write(childs).dump()); });
  ChildProcess process({std::string(kSuiteFlag) + files});
  std::optional<int> status;
  while (!(status = process.poll())) {
    if (InterruptGuard::interrupted()) throw Interrupted("interrupted; the suite is not written");
    process.read_output();
    pollfd news{.fd = process.exit_descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&news, 1, kSuitePatience);
  }
  process.read_output();
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0) {
    const std::string& output = process.output();
    const bool has_said_why = WIFEXITED(*status) && !output.empty();
    throw Error(has_said_why ? headline(output)
                             : "the process that makes the cases " + describe_wait_status(*status));
  }
  std::vector<SuiteProblem> problems;
  json_fields::parse(read_file(files + kProblemsFile),
                     [&](const Json& json) { json_fields::read(json, problems); });
  fs::remove_all(files, error);
  replace_suite(childs.output, request.output);
  return problems;
}

std::optional<int> make_suite_as_child(int argc, char** argv) {
  if (argc != 2 || !std::string_view(argv[1]).starts_with(kSuiteFlag)) return std::nullopt;
  return child_main([&] { make_requested(argv[1] + kSuiteFlag.size()); });
}

}  // namespace torch_ir

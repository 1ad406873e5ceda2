#include "torch_ir/cases/case_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/file_names.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/case_fields.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/verifier/lanes.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using json_fields::Json;
using json_fields::write;

constexpr const char* kCaseInfo = "case.json";
constexpr const char* kSuiteFile = "suite.json";
constexpr const char* kReadme = "README.md";
constexpr const char* kCases = "cases";
constexpr const char* kFormat = "torch-ir suite";
constexpr int kSuiteVersion = 1;

constexpr const char* kReadmeText = R"(# Cases of {}

This suite has {}. Each is a folder in `cases/` with a graph, its inputs and its expected outputs.

- `ir.json`: the graph; operators have their ATen names
- `weights.safetensors` (only if it has weights), `inputs.safetensors`, `expected.safetensors`: tensors by name
- `case.json`: operator, category, dtype, a note on special cases, and the tolerance of each output

An output passes if |actual - expected| <= atol + rtol * |expected| for each element, and if NaN and infinities are where they are expected.
`"float64_distance"` is the error of PyTorch's own result against float64: max |x - r| / max |r|.
`"strides"` lists the inputs that are not contiguous. `"compare"` says how outputs are compared:
{}
`suite.json` lists all cases. `harness --ir` on this folder runs them; `score_suite.py` in torch-ir's examples scores an executor.
)";

// How the outputs are compared: everything that CaseInfo lacks.
Json judgement_json(const SuiteCase& suite_case) {
  const ToleranceRule rule = tolerance_of(suite_case.info);
  const Case& content = suite_case.content;
  const Program& program = *content.program;
  const std::vector<at::Tensor>& expected = content.expected;
  const std::vector<std::optional<double>> distances = float64_distances(content);
  Json outputs = Json::object();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].defined()) continue;
    Json& json = outputs[program[program.outputs[i]].name];
    json = write(tolerance_for(rule, i, expected[i].scalar_type()));
    json["float64_distance"] = distances[i] ? Json(*distances[i]) : Json();
  }
  Json strides = Json::object();
  const std::vector<ValueId> ids = program.user_inputs();
  for (size_t i = 0; i < ids.size(); ++i) {
    const at::Tensor& input = content.inputs[i];
    if (!input.is_contiguous()) strides[program[ids[i]].name] = input.strides().vec();
  }
  return {{"outputs", std::move(outputs)}, {"strides", std::move(strides)}};
}

// Longer names are invalid, and would fill the socket to a worker.
constexpr size_t kMaxNameBytes = 1000;

void check_info(const CaseInfo& info) {
  if (info.name.size() > kMaxNameBytes) {
    throw SerializationError(fmt::format("the name of a case has {} bytes; at most {} are allowed",
                                         info.name.size(), kMaxNameBytes));
  }
  const Tolerance tolerance = info.tolerance.value_or(Tolerance());
  for (const double value : {tolerance.rtol, tolerance.atol}) {
    if (value >= 0 && !std::isinf(value)) continue;
    throw SerializationError(
        fmt::format("tolerance: expected a number of 0 or more, got {}", value));
  }
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class Read>
auto read_json(const std::string& path, const Read& read) {
  const std::string text = read_file(path);
  try {
    return json_fields::parse(text, read);
  } catch (const Error& error) {
    throw SerializationError(printable(path) + ": " + error.what());
  }
}

std::string properties_text(const std::vector<CaseInfo>& infos) {
  std::set<CaseProperty> properties;
  for (const CaseInfo& info : infos) properties.insert(info.property);
  std::string text;
  for (const CaseProperty property : properties) {
    text += fmt::format("\n- `{}`: {}", property_name(property), property_description(property));
  }
  return text + "\n";
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Error("cannot create '" + path.string() + "': " + error.message());
}

bool is_of_suite(const fs::path& path, bool is_folder) {
  constexpr std::array kCaseFiles = {kCaseGraph, kCaseWeights, kCaseInputs, kCaseExpected,
                                     kCaseInfo};
  const std::string top = path.begin()->string();
  if (top == kCases) {
    return is_folder || std::ranges::find(kCaseFiles, path.filename()) != kCaseFiles.end();
  }
  return !is_folder && (path == kSuiteFile || path == kReadme);
}

// Removes cases that are not in `infos` from the unfinished suite `directory`: those of a model
// that did not finish.
void remove_others(const std::string& directory, const std::vector<CaseInfo>& infos) {
  std::set<fs::path> known;
  for (const CaseInfo& info : infos) known.insert(case_folder(directory, info.name));
  std::vector<fs::path> others;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(directory) / kCases)) {
    const fs::path folder = entry.path().parent_path();
    if (entry.is_regular_file() && !known.contains(folder)) others.push_back(folder);
  }
  for (const fs::path& folder : others) fs::remove_all(folder);
}

// A property describes one call, and may need its arguments.
void check_property(const CaseInfo& info, const Graph& graph) {
  if (info.property == CaseProperty::kValues) return;
  if (graph.nodes.size() == 1 && graph.nodes.front().target == info.op_type) return;
  throw SerializationError(fmt::format("compare: '{}' requires a graph of one node, a call of '{}'",
                                       property_name(info.property), printable(info.op_type)));
}

bool has_suite_format(const std::string& directory) {
  try {
    read_suite(directory);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void check_suite_folder(const std::string& directory) {
  std::error_code error;
  if (!fs::exists(directory, error)) return;
  if (!fs::is_directory(directory, error)) throw Error("'" + directory + "' is not a folder");
  remove_stale_work_directories(directory);
  const bool was_suite = is_suite(directory) && has_suite_format(directory);
  for (fs::recursive_directory_iterator entry(directory), end; entry != end; ++entry) {
    const fs::path path = entry->path().lexically_relative(directory);
    if (is_in_work_directory(path.string())) {
      entry.disable_recursion_pending();
      continue;
    }
    const bool is_folder = entry->is_directory() && !entry->is_symlink();
    if (was_suite && is_of_suite(path, is_folder)) continue;
    throw Error(fmt::format("'{}' holds '{}', which is not part of a suite; use an empty folder",
                            directory, printable(path.string())));
  }
}

}  // namespace

void save_case(const Case& graph_case, const std::string& folder, WeightsFile weights) {
  make_folder(folder);
  save_tensors(graph_case, folder, weights);
  save_ir(to_ir(*graph_case.program), folder + "/" + kCaseGraph);
}

void save_tensors(const Case& graph_case, const std::string& folder, WeightsFile weights) {
  const Program& program = *graph_case.program;
  const auto is_known = [&](const GraphInput& input) {
    return input.kind == InputKind::kUserInput || find_weight(graph_case, input) != nullptr;
  };
  if (std::ranges::all_of(program.inputs, is_known)) check_storable(graph_case);
  const auto save = [&](const char* name, const StateDict& tensors) {
    save_weights_safetensors(tensors, folder + "/" + name);
  };
  const bool saves_weights = weights == WeightsFile::kAlways ||
                             (weights == WeightsFile::kIfAny && !graph_case.weights.is_empty());
  if (saves_weights) save(kCaseWeights, graph_case.weights);
  const std::vector<ValueId> ids = program.user_inputs();
  if (graph_case.inputs.size() == ids.size()) {
    StateDict inputs;
    for (size_t i = 0; i < ids.size(); ++i) {
      inputs.insert(program[ids[i]].name, graph_case.inputs[i]);
    }
    save(kCaseInputs, inputs);
  }
  if (graph_case.expected.size() == program.outputs.size()) {
    save(kCaseExpected, outputs_by_name(program, graph_case.expected));
  }
}

Case load_case(const std::string& folder) {
  const auto path = [&](const char* name) { return folder + "/" + name; };
  const auto is_there = [&](const char* name) {
    std::error_code error;
    return fs::exists(path(name), error);
  };
  const IR ir = load_ir(path(kCaseGraph));
  Case content = Case().with(resolve(ir));
  if (is_there(kCaseWeights)) content.weights = load_weights(path(kCaseWeights));
  content.inputs = read_inputs(path(kCaseInputs), ir);
  if (is_there(kCaseExpected)) {
    content.expected = read_expected(path(kCaseExpected), *content.program);
  }
  return content;
}

SuiteWriter::SuiteWriter(std::string directory, std::string source)
    : directory_(std::move(directory)), source_(std::move(source)) {
  check_suite_folder(directory_);
  unfinished_.emplace(directory_);
}

std::string SuiteWriter::unfinished() const { return unfinished_->path().string(); }

void write_case(const SuiteCase& suite_case, const std::string& directory) {
  const std::string folder = case_folder(directory, suite_case.info.name);
  std::error_code error;
  // Left by a process that ended early.
  fs::remove_all(folder, error);
  save_case(suite_case.content, folder);
  write_file(folder + "/" + kCaseInfo, text_of(judgement_json(suite_case)));
}

void SuiteWriter::finish(const std::vector<CaseInfo>& infos) {
  const std::string from = unfinished();
  make_folder(fs::path(from) / kCases);
  remove_others(from, infos);
  Json cases = Json::array();
  std::set<std::string> folders;
  for (const CaseInfo& info : infos) {
    cases.push_back(write(info));
    const std::string path = case_folder(from, info.name) + "/" + kCaseInfo;
    if (!folders.insert(path).second) {
      throw Error("duplicate case folder '" + printable(info.name) + "'");
    }
    Json json = cases.back();
    json.update(Json::parse(read_file(path)));
    write_file(path, text_of(json));
  }
  write_file(from + "/" + kReadme,
             fmt::format(kReadmeText, source_, infos.size(), properties_text(infos)));
  write_file(from + "/" + kSuiteFile, text_of({{"format", kFormat},
                                               {"version", kSuiteVersion},
                                               {"of", source_},
                                               {"cases", std::move(cases)}}));
  move_files(from, directory_, {std::string(kCases) + "/", kReadme, kSuiteFile});
}

bool is_suite(const std::string& directory) {
  std::error_code error;
  return fs::is_regular_file(fs::path(directory) / kSuiteFile, error);
}

std::vector<CaseInfo> read_suite(const std::string& directory) {
  return read_json(directory + "/" + kSuiteFile, [](const Json& json) {
    const json_fields::Reader visit{json};
    std::string format;
    int64_t version = 0;
    visit("format", format);
    visit("version", version);
    if (format != kFormat || version != kSuiteVersion) {
      throw SerializationError("not a suite of cases that this program can read");
    }
    std::vector<CaseInfo> cases;
    visit.required("cases", cases);
    std::unordered_set<std::string> names;
    for (const CaseInfo& info : cases) {
      check_info(info);
      if (!names.insert(info.name).second) {
        throw SerializationError("duplicate case '" + printable(info.name) + "'");
      }
    }
    return cases;
  });
}

std::string case_folder(const std::string& directory, std::string_view name) {
  fs::path folder = fs::path(directory) / kCases;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    folder /= file_name_of(std::string_view(name).substr(begin, end - begin));
    begin = end + 1;
  }
  return folder.string();
}

SuiteCase read_case(const std::string& folder) {
  Case content = load_case(folder);
  if (content.expected.size() != content.program->outputs.size()) {
    throw Error(printable(folder) + ": missing " + kCaseExpected);
  }
  const std::vector<ValueId> ids = content.program->user_inputs();
  CaseInfo info = read_json(folder + "/" + kCaseInfo, [&](const Json& json) {
    std::vector<std::pair<std::string, std::vector<int64_t>>> all_strides;
    json_fields::Reader{json}.required("strides", all_strides);
    for (const auto& [name, strides] : all_strides) {
      const auto id = std::ranges::find_if(
          ids, [&](ValueId input) { return (*content.program)[input].name == name; });
      const auto index = static_cast<size_t>(id - ids.begin());
      if (index >= content.inputs.size()) {
        throw SerializationError("strides: unknown input '" + printable(name) + "'");
      }
      at::Tensor& input = content.inputs[index];
      input = strided_copy(input, strides);
    }
    CaseInfo read;
    json_fields::read(json, read);
    check_info(read);
    check_property(read, *content.program);
    return read;
  });
  return {std::move(info), std::move(content)};
}

}  // namespace torch_ir

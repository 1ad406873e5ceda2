#include "harness/backend/command_backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "harness/backend/open_backend.h"
#include "harness/results/result_fields.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/runtime/graph/symbol_binder.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {

// A server's answer to a request (executor_protocol.md).
struct ServerAnswer {
  std::string status = {};
  std::string message = {};
  std::vector<std::pair<std::string, ExecutorNode>> nodes = {};
};

template <class Visit>
void fields(const Visit& visit, ServerAnswer& value) {
  visit.required("status", value.status);
  TORCH_IR_VISIT(message, nodes)
}

// groups_format.md.
template <class Visit>
void fields(const Visit& visit, ValueForm& value) {
  visit.required("name", value.name);
  TORCH_IR_VISIT(permutation, padding, dtype, scale, zero_point)
}

template <class Visit>
void fields(const Visit& visit, NodeGroup& group) {
  visit.required("name", group.name);
  visit.required("nodes", group.nodes);
  visit("values", group.values);
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "executor";
constexpr int kUnsupportedStatus = 3;
constexpr size_t kMostShown = 200;

constexpr const char* kFileNames[] = {"ir",      "weights",       "inputs",
                                      "outputs", "intermediates", "groups"};

constexpr const char* kOk = "ok";
constexpr const char* kUnsupported = "unsupported";
constexpr const char* kError = "error";

CommandTemplate parse_command(const std::string& command) {
  std::vector<std::string> placeholders = {"ir", "weights", "inputs", "outputs"};
  const auto has = [&](const char* placeholder) {
    return command.find(placeholder) != command.npos;
  };
  if (has("{intermediates}")) placeholders.push_back("intermediates");
  if (has("{groups}")) placeholders.push_back("groups");
  return CommandTemplate(command, placeholders);
}

// With the constants.
StateDict read_weights(const Case& graph_case) {
  StateDict result;
  for (const GraphInput& input : graph_case.program->inputs) {
    if (input.kind == InputKind::kUserInput || result.contains(input.target)) continue;
    const at::Tensor* tensor = find_weight(graph_case, input);
    if (tensor == nullptr) {
      throw ExecutionError(
          fmt::format("weight '{}' of the graph is neither in the state dict nor a constant",
                      printable(input.target)));
    }
    result.insert(input.target, *tensor);
  }
  return result;
}

// ": out of memory", "; it printed: a | b"
std::string printed_text(const CommandEnd& end) {
  const std::string message = last_lines(end.message);
  if (!message.empty()) return ": " + message;
  const std::string lines = last_lines(end.output);
  return lines.empty() ? "; it printed nothing" : "; it printed: " + lines;
}

// Throws InputError, which ends the run, if the command itself was not found: the exit status of
// the shell, or of Python, and what they then print. A word alone may have meant a backend.
void check_started(const std::string& command, const CommandEnd& end) {
  const std::string lines = last_lines(end.output);
  const bool is_of_shell = end.exit_status == 126 || end.exit_status == 127;
  const char* said = is_of_shell ? "/bin/sh: " : ": can't open file ";
  if ((!is_of_shell && end.exit_status != 2) || lines.find(said) == lines.npos) return;
  if (command.find_first_of("/ {") == command.npos) {
    throw InputError(
        fmt::format("no program or C++ backend '{}'; {}", printable(command), known_backends()));
  }
  throw InputError(fmt::format("cannot start the executor '{}': {}", printable(command), lines));
}

StateDict read_tensors(const std::string& path, const std::string& name, const CommandEnd& end) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw ExecutionError(fmt::format("The executor {} but wrote no file {}{}", end.description,
                                     name, printed_text(end)));
  }
  try {
    return load_weights_safetensors(path);
  } catch (const WeightError& problem) {
    throw ExecutionError(fmt::format("Cannot read {} of the executor: {}", name, problem.what()));
  }
}

std::string suggestion_text(const std::string& name, const std::vector<std::string>& known) {
  const std::string suggestion = printable(suggest(name, known));
  return suggestion.empty() ? "; the graph has " + few_names(known) : suggestion;
}

ServerAnswer parse_answer(const std::string& text) {
  const auto answer = json_fields::parse_as<ServerAnswer>(text);
  const std::vector<std::string> known = {kOk, kUnsupported, kError};
  if (std::ranges::find(known, answer.status) == known.end()) {
    throw Error(fmt::format("unknown status '{}'; expected one of: {}", printable(answer.status),
                            fmt::join(known, ", ")));
  }
  return answer;
}

// Returns nothing if the answer has no nodes.
std::optional<ExecutorReport> report_of(const ServerAnswer& answer, const Graph& graph) {
  if (answer.nodes.empty()) return std::nullopt;
  ExecutorReport report{.num_nodes = std::ssize(graph.nodes)};
  std::map<std::string, ExecutorNode> reported(answer.nodes.begin(), answer.nodes.end());
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    names.push_back(node.name);
    auto found = reported.extract(node.name);
    if (found.empty()) continue;
    found.mapped().op_type = node.target;
    report.nodes.emplace_back(node.name, std::move(found.mapped()));
  }
  if (reported.empty()) return report;
  const std::string& name = reported.begin()->first;
  throw Error(fmt::format("unknown node '{}'{}", printable(name), suggestion_text(name, names)));
}

std::vector<at::Tensor> outputs_of(const StateDict& file, const Case& graph_case) {
  const Program& program = *graph_case.program;
  SymbolValues symbols = bind_symbols(program, graph_case.inputs);
  std::vector<at::Tensor> outputs;
  std::vector<std::string> names;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const Value& value = program[program.outputs[i]];
    const at::Tensor* tensor = find_output(file, program, i);
    if (std::ranges::find(names, value.name) == names.end()) names.push_back(value.name);
    if (tensor == nullptr && program.find_mutation(i) != nullptr) {
      // State that is not returned is not compared.
      outputs.emplace_back();
      continue;
    }
    if (tensor == nullptr) {
      throw ExecutionError(
          fmt::format("Missing output '{}' ({}) of the executor; {{outputs}} has {}.",
                      printable(value.name), dtype_and_shape(value), few_names(file.keys())));
    }
    if (tensor->scalar_type() != value.dtype || !has_shape(*tensor, value, symbols)) {
      throw ExecutionError(fmt::format("The executor wrote output '{}' as {}; expected {}.",
                                       printable(value.name), dtype_and_shape(*tensor),
                                       dtype_and_shape(value)));
    }
    outputs.push_back(*tensor);
  }
  for (const std::string& name : unknown_outputs(file, program)) {
    throw ExecutionError(fmt::format("Unexpected output '{}' in {{outputs}} of the executor{}",
                                     printable(name), suggestion_text(name, names)));
  }
  return outputs;
}

// The file is mapped, so only the values that are asked for are read.
class FileValues : public NodeValues {
 public:
  FileValues(StateDict file, const Graph& graph) : file_(std::move(file)) {
    const auto ids = graph.ids();
    for (const std::string& name : file_.keys()) {
      const auto id = ids.find(name);
      if (id == ids.end() || !graph[id->second].producer) unknown_.push_back(name);
    }
    std::ranges::sort(unknown_);
  }

  at::Tensor next(const std::string& name) override {
    const at::Tensor* tensor = file_.find(name);
    return tensor == nullptr ? at::Tensor() : *tensor;
  }

  std::vector<std::string> unknown() const override { return unknown_; }

 private:
  StateDict file_;
  std::vector<std::string> unknown_;
};

class CommandBackend : public Backend {
 public:
  CommandBackend(const RunSettings& settings, const std::string& directory)
      : command_(settings.executor),
        template_(parse_command(command_)),
        has_intermediates_(settings.executor_intermediates),
        directory_(fs::absolute(directory) / kFolder) {}

  ~CommandBackend() override {
    std::error_code error;
    fs::remove_all(directory_, error);
  }

  std::vector<at::Tensor> run(const Case& graph_case) override {
    const CommandEnd end = run_command(graph_case);
    return outputs_of(read_tensors(path("outputs"), "{outputs}", end), graph_case);
  }

  std::unique_ptr<NodeValues> values(const Case& graph_case) override {
    if (!has_intermediates_) return nullptr;
    const CommandEnd end = run_command(graph_case);
    // A server may lack these values.
    std::error_code error;
    if (is_server() && !fs::exists(path("intermediates"), error)) return nullptr;
    return std::make_unique<FileValues>(read_tensors(path("intermediates"), "{intermediates}", end),
                                        *graph_case.program);
  }

  std::optional<ExecutorReport> last_report() const override { return report_; }

  std::vector<NodeGroup> groups() const override {
    std::error_code error;
    if (!fs::exists(path("groups"), error)) return {};
    try {
      return json_fields::parse(read_file(path("groups")), [](const json_fields::Json& json) {
        std::vector<NodeGroup> groups;
        json_fields::Reader{json}.required("groups", groups);
        return groups;
      });
    } catch (const SerializationError& problem) {
      throw Error(std::string("{groups} cannot be read: ") + problem.what());
    }
  }

 private:
  std::string path(const std::string& name) const {
    const bool is_json = name == "ir" || name == "groups";
    return (directory_ / (name + (is_json ? ".json" : ".safetensors"))).string();
  }

  CommandEnd run_command(const Case& graph_case) {
    // Removed, not overwritten: the files of the last run may still be mapped, and a failed run
    // must not leave them.
    std::error_code ignored;
    for (const char* name : {"outputs", "intermediates", "groups"}) fs::remove(path(name), ignored);
    write_files(graph_case);
    CommandEnd end = is_server() ? ask_server(*graph_case.program) : run_once();
    check_started(command_, end);
    // Before the output is cut, because part of a path could not be recognized.
    for (std::string* text : {&end.output, &end.message, &end.description}) {
      *text = without_folder(std::move(*text), directory_.parent_path().string());
    }
    if (end.succeeded) return end;
    if (end.is_unsupported) {
      throw ExecutionError(kNotSupported,
                           "The executor does not support the graph" + printed_text(end));
    }
    throw CommandFailure(fmt::format("The executor {}{}", end.description, printed_text(end)), end);
  }

  CommandEnd run_once() const {
    std::map<std::string, std::string> paths;
    for (const char* name : kFileNames) paths[name] = path(name);
    CommandEnd end = run_shell_command(template_.fill(paths), user_path(""));
    end.is_unsupported = end.exit_status == kUnsupportedStatus;
    return end;
  }

  // Ends a server that gives no valid answer; the next request starts another.
  CommandEnd ask_server(const Program& program) {
    nlohmann::ordered_json request = {{"name", program.model_name}};
    for (const std::string name : kFileNames) {
      if (name != "intermediates" || has_intermediates_) request[name] = path(name);
    }
    report_.reset();
    if (!server_) server_ = std::make_unique<ShellServer>(template_.fill({}), user_path(""));
    CommandEnd end;
    const std::optional<std::string> text =
        server_->ask(request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), end);
    try {
      if (text) apply(parse_answer(*text), program, end);
    } catch (const Error& error) {
      const std::string shown = without_folder(*text, directory_.parent_path().string());
      end.description = fmt::format("gave the invalid answer '{}': {}",
                                    printable(shown.substr(0, kMostShown)), error.what());
      server_.reset();
    }
    if (!text) server_.reset();
    // The program may be meant to run once for each graph.
    if (end.exit_status) end.description += kServerHint;
    return end;
  }

  void apply(const ServerAnswer& answer, const Program& program, CommandEnd& end) {
    report_ = report_of(answer, program);
    end.succeeded = answer.status == kOk;
    end.is_unsupported = answer.status == kUnsupported;
    end.description =
        answer.status == kError ? "answered with an error" : "answered " + answer.status;
    end.message = answer.message;
  }

  void write_files(const Case& graph_case) {
    const size_t num_inputs = graph_case.program->user_inputs().size();
    if (graph_case.inputs.size() != num_inputs) {
      throw ExecutionError(fmt::format("wrong number of inputs: {}, expected {}",
                                       graph_case.inputs.size(), num_inputs));
    }
    Case own = graph_case;
    own.weights = read_weights(graph_case);
    own.expected.clear();
    const bool has_weights = weights_ && has_same_tensors(*weights_, own.weights);
    weights_.reset();
    write_output([&] {
      save_case(own, directory_.string(), has_weights ? WeightsFile::kNever : WeightsFile::kAlways);
    });
    weights_ = std::move(own.weights);
  }

  bool is_server() const { return !template_.has_placeholders(); }

  std::string command_;
  CommandTemplate template_;
  bool has_intermediates_;
  fs::path directory_;
  std::optional<StateDict> weights_;
  std::unique_ptr<ShellServer> server_;
  std::optional<ExecutorReport> report_;
};

}  // namespace

bool has_same_tensors(const StateDict& a, const StateDict& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.key() == y.key() && x.value().is_same(y.value());
  });
}

bool is_executor_server(const std::string& command) {
  if (command.empty()) throw Error("--executor: missing command");
  try {
    return !parse_command(command).has_placeholders();
  } catch (const Error& error) {
    throw Error(std::string("--executor: ") + error.what());
  }
}

std::unique_ptr<Backend> make_command_backend(const RunSettings& settings,
                                              const std::string& directory) {
  return std::make_unique<CommandBackend>(settings, directory);
}

}  // namespace torch_ir

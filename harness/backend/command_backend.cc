#include "harness/backend/command_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/backend/shell_command.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/executor/graph/symbol_binder.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "executor";
constexpr size_t kMaxNames = 8;
constexpr int kUnsupportedStatus = 3;

CommandTemplate parse_command(const std::string& command, bool has_intermediates) {
  std::vector<std::string> placeholders = {"ir", "weights", "inputs", "outputs"};
  if (has_intermediates) {
    placeholders.push_back("intermediates");
  } else if (command.find("{intermediates}") != std::string::npos) {
    throw Error("the command has {intermediates}: give --executor-intermediates too");
  }
  return CommandTemplate(command, placeholders);
}

// "float32 [1, 10]"
std::string type_text(const TensorMeta& meta) { return meta.dtype + " " + shape_list_text(meta); }

std::string type_text(const at::Tensor& tensor) {
  return type_text(TensorMeta{
      .name = "", .shape = tensor.sizes().vec(), .dtype = dtype_name(tensor.scalar_type())});
}

// "'a', 'b' and 7 more", "nothing"
std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable(names[i]));
  }
  if (names.size() > kMaxNames) text += fmt::format(" and {} more", names.size() - kMaxNames);
  return names.empty() ? "nothing" : text;
}

std::vector<std::string> names_of(const std::vector<TensorMeta>& values) {
  std::vector<std::string> names;
  for (const TensorMeta& value : values) {
    if (std::ranges::find(names, value.name) == names.end()) names.push_back(value.name);
  }
  return names;
}

StateDict weights_for(const IR& ir, const StateDict& weights) {
  StateDict result;
  for (const TensorMeta& weight : ir.weights) {
    if (result.contains(weight.name)) continue;
    if (const at::Tensor* tensor = weights.find(weight.name)) {
      result.insert(weight.name, *tensor);
    } else if (!ir.constants.contains(weight.name)) {
      throw ExecutionError(
          fmt::format("weight '{}' of the graph is neither in the state dict nor "
                      "a constant",
                      printable(weight.name)));
    }
  }
  return result;
}

StateDict inputs_for(const IR& ir, const std::vector<at::Tensor>& inputs) {
  if (inputs.size() != ir.graph_inputs.size()) {
    throw ExecutionError(fmt::format("{} input(s) for a graph that takes {}", inputs.size(),
                                     ir.graph_inputs.size()));
  }
  StateDict result;
  for (size_t i = 0; i < inputs.size(); ++i) result.insert(ir.graph_inputs[i].name, inputs[i]);
  return result;
}

bool are_same(const StateDict& a, const StateDict& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.key() == y.key() && x.value().is_same(y.value());
  });
}

// "; it printed: a | b"
std::string printed_text(const CommandEnd& end) {
  const std::string lines = last_lines(end.output);
  return lines.empty() ? "; it printed nothing" : "; it printed: " + lines;
}

StateDict read_tensors(const std::string& path, const std::string& name, const CommandEnd& end) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw ExecutionError(fmt::format("The executor {} and wrote no file {}{}", end.description,
                                     name, printed_text(end)));
  }
  try {
    return load_weights_safetensors(path);
  } catch (const WeightError& problem) {
    throw ExecutionError(
        fmt::format("What the executor wrote as {} can not be read: {}", name, problem.what()));
  }
}

[[noreturn]] void fail_unknown(const std::string& name, const std::vector<std::string>& known,
                               const std::string& file, const std::string& what) {
  const std::string suggestion = printable(suggest(name, known));
  throw ExecutionError(fmt::format(
      "The executor wrote '{}' into {}, but the graph has no such {}{}", printable(name), file,
      what, suggestion.empty() ? "; it has " + names_text(known) : suggestion));
}

std::vector<at::Tensor> outputs_of(const StateDict& file, const IR& ir, SymbolValues symbols) {
  const std::vector<std::string> names = names_of(ir.graph_outputs);
  std::vector<at::Tensor> outputs;
  for (const TensorMeta& meta : ir.graph_outputs) {
    const at::Tensor* tensor = file.find(meta.name);
    if (tensor == nullptr) {
      throw ExecutionError(
          fmt::format("The executor wrote no output '{}' ({}); {{outputs}} has {}.",
                      printable(meta.name), type_text(meta), names_text(file.keys())));
    }
    const bool fits =
        dtype_name(tensor->scalar_type()) == meta.dtype && has_shape(*tensor, meta, symbols);
    if (!fits) {
      throw ExecutionError(fmt::format("The executor wrote output '{}' as {}, expected {}.",
                                       printable(meta.name), type_text(*tensor), type_text(meta)));
    }
    outputs.push_back(*tensor);
  }
  for (const std::string& name : file.keys()) {
    if (std::ranges::find(names, name) == names.end()) {
      fail_unknown(name, names, "{outputs}", "output");
    }
  }
  return outputs;
}

// The file is mapped, so values that nobody asks for are not read.
class FileValues : public NodeValues {
 public:
  FileValues(StateDict file, const IR& ir) : file_(std::move(file)) {
    std::vector<std::string> known;
    for (const OpNode& node : ir.nodes) {
      for (const TensorMeta& output : node.outputs) known.push_back(output.name);
    }
    std::ranges::sort(known);
    for (const std::string& name : file_.keys()) {
      if (!std::ranges::binary_search(known, name)) {
        fail_unknown(name, known, "{intermediates}", "value");
      }
    }
  }

  at::Tensor next(const std::string& name) override {
    const at::Tensor* tensor = file_.find(name);
    return tensor == nullptr ? at::Tensor() : *tensor;
  }

 private:
  StateDict file_;
};

class CommandBackend : public Backend {
 public:
  explicit CommandBackend(const BackendOptions& options)
      : command_(parse_command(options.command, options.command_has_intermediates)),
        has_intermediates_(options.command_has_intermediates),
        directory_(fs::absolute(options.directory) / kFolder) {}

  ~CommandBackend() override {
    std::error_code error;
    fs::remove_all(directory_, error);
  }

  std::vector<at::Tensor> run(const IR& ir, const StateDict& weights,
                              const std::vector<at::Tensor>& inputs) override {
    const CommandEnd end = run_command(ir, weights, inputs);
    const StateDict file = read_tensors(path("outputs"), "{outputs}", end);
    return outputs_of(file, ir, bind_symbols(ir, inputs));
  }

  std::unique_ptr<NodeValues> values(const IR& ir, const StateDict& weights,
                                     const std::vector<at::Tensor>& inputs) override {
    if (!has_intermediates_) return nullptr;
    const CommandEnd end = run_command(ir, weights, inputs);
    return std::make_unique<FileValues>(read_tensors(path("intermediates"), "{intermediates}", end),
                                        ir);
  }

 private:
  std::string path(const std::string& name) const {
    return (directory_ / (name + (name == "ir" ? ".json" : ".safetensors"))).string();
  }

  CommandEnd run_command(const IR& ir, const StateDict& weights,
                         const std::vector<at::Tensor>& inputs) {
    write_files(ir, weights_for(ir, weights), inputs_for(ir, inputs));
    std::map<std::string, std::string> paths;
    for (const char* name : {"ir", "weights", "inputs", "outputs", "intermediates"}) {
      paths[name] = path(name);
    }
    CommandEnd end = run_shell_command(command_.fill(paths), user_path(""));
    // First, before the output is cut: part of a path could not be recognized.
    end.output = without_folder(std::move(end.output), directory_.parent_path().string());
    if (end.succeeded) return end;
    if (end.exit_status == kUnsupportedStatus) {
      throw ExecutionError(kNotSupported,
                           "The executor does not support the graph" + printed_text(end));
    }
    throw CommandFailure(fmt::format("The executor {}{}", end.description, printed_text(end)), end);
  }

  void write_files(const IR& ir, StateDict weights, const StateDict& inputs) {
    std::error_code error;
    fs::create_directories(directory_, error);
    if (error) {
      throw OutputError(fmt::format("cannot make '{}': {}", directory_.string(), error.message()));
    }
    // The last run's files may still be mapped.
    for (const char* name : {"outputs", "intermediates"}) fs::remove(path(name), error);
    write_output([&] {
      save_ir(ir, path("ir"));
      save_weights_safetensors(inputs, path("inputs"));
      if (!weights_ || !are_same(*weights_, weights)) {
        weights_.reset();
        save_weights_safetensors(weights, path("weights"));
        weights_ = std::move(weights);
      }
    });
  }

  CommandTemplate command_;
  bool has_intermediates_;
  fs::path directory_;
  std::optional<StateDict> weights_;
};

}  // namespace

void check_executor_command(const std::string& command, bool has_intermediates) {
  try {
    parse_command(command, has_intermediates);
  } catch (const Error& error) {
    throw Error(std::string("--executor: ") + error.what());
  }
}

std::unique_ptr<Backend> make_command_backend(const BackendOptions& options) {
  return std::make_unique<CommandBackend>(options);
}

}  // namespace torch_ir

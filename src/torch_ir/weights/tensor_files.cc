#include "torch_ir/weights/tensor_files.h"

#include <ATen/ops/eq.h>
#include <ATen/ops/item.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

// "'a', 'b', 'c', ... and 7 more"; "nothing" for none.
std::string list_names(const std::vector<std::string>& names) {
  constexpr size_t kMaxNames = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMaxNames); ++i) {
    text += (i == 0 ? "'" : ", '") + printable(names[i]) + "'";
  }
  if (names.size() > kMaxNames)
    text += " and " + std::to_string(names.size() - kMaxNames) + " more";
  return names.empty() ? "nothing" : text;
}

std::vector<std::string> names_of(const std::vector<TensorMeta>& values) {
  std::vector<std::string> names;
  for (const TensorMeta& value : values) names.push_back(value.name);
  return names;
}

const at::Tensor& get(const StateDict& file, const std::string& path, const char* what,
                      const std::string& name) {
  if (const at::Tensor* tensor = file.find(name)) return *tensor;
  throw Error(path + ": no tensor for the graph's " + what + " '" + printable(name) +
              "'; the file has " + list_names(file.keys()));
}

[[noreturn]] void fail_unknown(const std::string& path, const char* what, const std::string& name,
                               const std::vector<TensorMeta>& values) {
  throw Error(path + ": the graph has no " + what + " '" + printable(name) + "'; its " + what +
              "s are " + list_names(names_of(values)));
}

// An input that the graph was traced with has to be what it was then.
void check_constant_input(const std::string& path, const std::string& name,
                          const at::Tensor& tensor, const Attribute& value) {
  std::optional<c10::Scalar> number;
  if (const auto* boolean = value.get_if<bool>()) number = *boolean;
  if (const auto* integer = value.get_if<int64_t>()) number = *integer;
  if (const auto* floating = value.get_if<double>()) number = *floating;
  const bool is_same = number && tensor.dim() == 0 && tensor.eq(*number).item<bool>();
  if (is_same) return;
  std::ostringstream text;
  text << value;
  throw Error(path + ": input '" + printable(name) + "' is fixed in the graph, to " +
              printable(text.str()) + "; export the model again for another value");
}

// The names of a graph output in a file: its own and, for the new value of a buffer or an input,
// those of what it updates.
std::vector<std::string> names_in_file(const TensorMeta& output, const IR& ir) {
  std::vector<std::string> names = {output.name};
  if (output.mutates.empty()) return names;
  const auto is_output = [&](const std::string& name) {
    return std::ranges::find(ir.graph_outputs, name, &TensorMeta::name) != ir.graph_outputs.end();
  };
  const std::string* target = ir.weight_name_mapping.find(output.mutates);
  if (target != nullptr && !is_output(*target)) names.push_back(*target);
  if (!is_output(output.mutates)) names.push_back(output.mutates);
  return names;
}

}  // namespace

std::vector<at::Tensor> read_inputs(const std::string& path, const IR& ir) {
  const StateDict file = load_weights(path);
  const std::vector<std::string> names = names_of(ir.graph_inputs);
  for (const auto& item : file) {
    if (std::ranges::find(names, item.key()) != names.end()) continue;
    const Attribute* constant = ir.constant_inputs.find(item.key());
    if (constant == nullptr) fail_unknown(path, "input", item.key(), ir.graph_inputs);
    check_constant_input(path, item.key(), item.value(), *constant);
  }
  std::vector<at::Tensor> tensors;
  for (const std::string& name : names) tensors.push_back(get(file, path, "input", name));
  return tensors;
}

std::vector<at::Tensor> read_expected(const std::string& path, const IR& ir) {
  const StateDict file = load_weights(path);
  std::vector<std::string> known;
  for (const TensorMeta& output : ir.graph_outputs) {
    std::ranges::copy(names_in_file(output, ir), std::back_inserter(known));
  }
  for (const std::string& name : file.keys()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    fail_unknown(path, "output", name, ir.graph_outputs);
  }
  std::vector<at::Tensor> tensors;
  for (const TensorMeta& output : ir.graph_outputs) {
    const std::vector<std::string> names = names_in_file(output, ir);
    const auto found =
        std::ranges::find_if(names, [&](const auto& name) { return file.contains(name); });
    const bool may_be_absent = found == names.end() && !output.mutates.empty();
    tensors.push_back(may_be_absent
                          ? at::Tensor()
                          : get(file, path, "output", found == names.end() ? output.name : *found));
  }
  return tensors;
}

void write_outputs(const std::string& path, const IR& ir, const std::vector<at::Tensor>& outputs) {
  StateDict file;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<std::string> names = names_in_file(ir.graph_outputs[i], ir);
    names.resize(std::min<size_t>(names.size(), 2));
    for (const std::string& name : names) {
      if (!file.contains(name)) file.insert(name, outputs[i]);
    }
  }
  save_weights_safetensors(file, path);
}

}  // namespace torch_ir

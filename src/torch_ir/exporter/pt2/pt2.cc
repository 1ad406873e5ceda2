#include "torch_ir/exporter/pt2/pt2.h"

#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/archive.h"
#include "torch_ir/exporter/pt2/read_program.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/weights/torch_file.h"

namespace torch_ir {
namespace {

constexpr const char* kInputAdvice = "give inputs with --inputs FILE.safetensors";

template <class Read>
auto as_export_error(Read read) {
  try {
    return read();
  } catch (const ExportError&) {
    throw;
  } catch (const Error& error) {
    throw ExportError(error, error.what());
  }
}

template <class Read>
auto about(const std::string& place, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw ExportError(error, place + ": " + error.what());
  }
}

std::string program_of(const Pt2Archive& archive) {
  return archive.zip.name() + ": " + printable(archive.program);
}

JsonValue read_json(const Pt2Archive& archive) {
  const ByteRange bytes = archive.zip.read(archive.program);
  return about(program_of(archive), [&] { return parse_json(bytes.text()); });
}

using Pointer = PickleValue::Pointer;

// The depth of a PickleValue limits the recursion.
void flatten(Pointer value, std::vector<Pointer>& leaves) {
  if (const auto* tuple = value->get_if<PickleValue::Tuple>()) {
    for (const Pointer item : tuple->items) flatten(item, leaves);
  } else if (const auto* list = value->get_if<PickleValue::List>()) {
    for (const Pointer item : list->items) flatten(item, leaves);
  } else if (const auto* dict = value->get_if<PickleValue::Dict>()) {
    for (const auto& [key, item] : dict->items) flatten(item, leaves);
  } else {
    leaves.push_back(value);
  }
}

void flatten_keywords(Pointer kwargs, const std::vector<std::string>& keywords,
                      std::vector<Pointer>& leaves) {
  const auto* dict = kwargs->get_if<PickleValue::Dict>();
  const bool is_complete = dict != nullptr && keywords.size() == dict->items.size() &&
                           std::ranges::all_of(keywords, [&](const auto& name) {
                             return kwargs->find(name) != nullptr;
                           });
  if (!is_complete) return flatten(kwargs, leaves);
  for (const std::string& name : keywords) flatten(kwargs->find(name), leaves);
}

// Keyword arguments come in the order of `keywords`, if it has them all.
std::vector<Pointer> flatten_inputs(const PickleValue& inputs,
                                    const std::vector<std::string>& keywords) {
  const auto* pair = inputs.get_if<PickleValue::Tuple>();
  if (pair == nullptr || pair->items.size() != 2) {
    throw ExportError(
        fmt::format("the example inputs are {}, not a pair of args and kwargs", inputs.kind()));
  }
  std::vector<Pointer> leaves;
  flatten(pair->items[0], leaves);
  flatten_keywords(pair->items[1], keywords, leaves);
  return leaves;
}

std::optional<std::string> find_text(const JsonValue& root, const char* place) {
  const JsonValue::json_pointer pointer(place);
  if (!root.contains(pointer) || !root.at(pointer).is_string()) return std::nullopt;
  return root.at(pointer).get<std::string>();
}

// The names of the keyword arguments in the model's order; empty if the archive does not say. The
// input specification is a JSON text, [1, SPEC], where SPEC is a tuple of a tuple and a dict, whose
// context is its keys, again as JSON.
std::vector<std::string> read_keywords(const JsonValue& root) {
  const auto in_spec = find_text(root, "/graph_module/module_call_graph/0/signature/in_spec");
  try {
    const auto context =
        in_spec ? find_text(parse_json(*in_spec), "/1/children_spec/1/context") : std::nullopt;
    if (context) return as_list_of(parse_json(*context), Place(), as_string);
  } catch (const SerializationError&) {
    // Treat an unreadable specification as missing.
  }
  return {};
}

// Numbers become tensors; other objects are undefined.
at::Tensor as_tensor(const PickleValue& value) {
  if (const auto* tensor = value.get_if<at::Tensor>()) return *tensor;
  if (const auto* flag = value.get_if<bool>()) return at::scalar_tensor(*flag, at::kBool);
  if (const auto* number = value.get_if<int64_t>()) return at::scalar_tensor(*number, at::kLong);
  if (const auto* number = value.get_if<double>()) return at::scalar_tensor(*number, at::kDouble);
  return {};
}

std::vector<PortSpec> read_user_inputs(const JsonValue& root) {
  const Place place;
  const ObjectReader module(ObjectReader(root, place).get("graph_module"), place);
  std::vector<PortSpec> inputs = module.get("signature", read_signature).inputs;
  std::erase_if(inputs, [](const PortSpec& input) {
    return input.role == PortSpec::Role::kToken || input.kind != InputKind::kUserInput;
  });
  return inputs;
}

// Maps `inputs`, a pickled (args, kwargs), to the graph inputs of the model in `root`. Flattens
// tuples, lists and dicts in the order of torch.utils._pytree; numbers become tensors without
// dimensions.
StateDict name_example_inputs(const PickleValue& inputs, const JsonValue& root) {
  const std::vector<PortSpec> specs = read_user_inputs(root);
  const std::vector<Pointer> leaves = flatten_inputs(inputs, read_keywords(root));
  if (leaves.size() != specs.size()) {
    throw ExportError(fmt::format("wrong number of example inputs: {}, expected {}", leaves.size(),
                                  specs.size()));
  }
  StateDict named("Input");
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (specs[i].role == PortSpec::Role::kFixed) continue;
    const at::Tensor tensor = as_tensor(*leaves[i]);
    if (!tensor.defined()) {
      throw ExportError(fmt::format("the example input '{}' is {}, neither a tensor nor a number",
                                    printable(specs[i].name), leaves[i]->kind()));
    }
    if (named.contains(specs[i].name)) {
      throw ExportError(fmt::format("duplicate input '{}'", printable(specs[i].name)));
    }
    named.insert(specs[i].name, tensor);
  }
  return named;
}

std::optional<StateDict> read_example_inputs(const Pt2Archive& archive, const JsonValue& root) {
  if (!archive.example_inputs) return std::nullopt;
  const ByteRange bytes = archive.zip.read(*archive.example_inputs);
  if (bytes.size == 0) return std::nullopt;
  const std::string entry = archive.zip.name() + ": " + printable(*archive.example_inputs);
  const PickleDocument document = load_torch_file(bytes, entry);
  if (document->is_none()) return std::nullopt;
  return about(entry, [&] { return name_example_inputs(*document, root); });
}

Pt2Examples examples_of(const std::string& path, const Pt2Archive& archive, const JsonValue& root) {
  try {
    if (auto inputs = read_example_inputs(archive, root)) return {path, *std::move(inputs)};
    return {.archive = path, .problem = path + ": the archive has no example inputs"};
  } catch (const Error& error) {
    return {.archive = path, .problem = error.what()};
  }
}

Pt2Model read_model(const std::string& path, const std::string& program, WeightBytes bytes) {
  Pt2Archive archive = open_pt2_archive(path, program);
  archive.bytes = bytes;
  const JsonValue root = read_json(archive);
  const std::string stem = std::filesystem::path(path).stem().string();
  Pt2Model model{about(program_of(archive), [&] { return read_program(root, stem); })};
  repair_known_faults(model.program);
  const Payload weights = open_payload(archive, archive.weights);
  const Payload constants = open_payload(archive, archive.constants);
  model.weights = take_weights(path, weights, constants, model.program);
  model.examples = examples_of(path, archive, root);
  if (model.examples.problem.empty()) {
    set_input_strides(model.program, model.examples.for_graph(model.program));
  }
  return model;
}

}  // namespace

bool is_pt2_archive(const std::string& path) { return looks_like_zip(map_file(path).text()); }

Pt2Model read_pt2(const std::string& path, const std::string& program, WeightBytes bytes) {
  return as_export_error([&] { return read_model(path, program, bytes); });
}

void check_have_values(const std::string& path, const StateDict& weights) {
  std::vector<std::string> names;
  for (const auto& weight : weights) {
    if (weight.value().is_meta()) names.push_back(weight.key());
  }
  if (names.empty()) return;
  constexpr size_t kMaxNames = 3;
  throw Error(
      fmt::format("{}: the archive has no values for {} of {} weights ({}); give them with "
                  "--weights FILE",
                  path, names.size(), weights.size(), quoted_list(names, kMaxNames)));
}

std::optional<StateDict> read_pt2_example_inputs(const std::string& path,
                                                 const std::string& program) {
  return as_export_error([&] {
    const Pt2Archive archive = open_pt2_archive(path, program);
    return read_example_inputs(archive, read_json(archive));
  });
}

std::vector<at::Tensor> Pt2Examples::for_graph(const Graph& graph) const {
  if (!problem.empty()) throw Error(problem + "; " + kInputAdvice);
  std::vector<at::Tensor> tensors;
  for (const ValueId id : graph.user_inputs()) {
    const at::Tensor* tensor = inputs.find(graph[id].name);
    if (tensor == nullptr) {
      throw Error(archive + ": the archive has no example of the input '" +
                  printable(graph[id].name) + "'; " + kInputAdvice);
    }
    tensors.push_back(*tensor);
  }
  return tensors;
}

}  // namespace torch_ir

#include "torch_ir/exporter/pt2/pt2.h"

#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/archive.h"
#include "torch_ir/exporter/pt2/archive_values.h"
#include "torch_ir/exporter/pt2/read_program.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/ir/strided_copy.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/weights/torch_file.h"

namespace torch_ir {
namespace {

constexpr const char* kInputAdvice =
    "give inputs with --inputs FILE.safetensors, or for harness in NAME.inputs.safetensors beside "
    "it";

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

struct Leaf {
  Pointer value;
  // Its indices in lists: "_0".
  std::string place;
};

// The depth of a PickleValue limits the recursion.
void flatten(Pointer value, const std::string& place, std::vector<Leaf>& leaves) {
  if (const auto* tuple = value->get_if<PickleValue::Tuple>()) {
    for (const Pointer item : tuple->items) flatten(item, place, leaves);
  } else if (const auto* list = value->get_if<PickleValue::List>()) {
    size_t index = 0;
    for (const Pointer item : list->items) {
      flatten(item, fmt::format("{}_{}", place, index++), leaves);
    }
  } else if (const auto* dict = value->get_if<PickleValue::Dict>()) {
    for (const auto& [key, item] : dict->items) flatten(item, place, leaves);
  } else if (value->is_foreign()) {
    std::vector<Leaf> parts;
    for (const Pointer part : value->get_if<PickleValue::Unsupported>()->parts) {
      flatten(part, place, parts);
    }
    // An object may hold a tensor under several names.
    std::unordered_set<Pointer> known;
    std::ranges::copy_if(parts, std::back_inserter(leaves), [&](const Leaf& part) {
      return part.value->is_tensor() && known.insert(part.value).second;
    });
  } else {
    leaves.push_back({value, place});
  }
}

void flatten_keywords(Pointer kwargs, const std::vector<std::string>& keywords,
                      std::vector<Leaf>& leaves) {
  const auto* dict = kwargs->get_if<PickleValue::Dict>();
  const bool is_complete = dict != nullptr && keywords.size() == dict->items.size() &&
                           std::ranges::all_of(keywords, [&](const auto& name) {
                             return kwargs->find(name) != nullptr;
                           });
  if (!is_complete) return flatten(kwargs, "", leaves);
  for (const std::string& name : keywords) flatten(kwargs->find(name), "", leaves);
}

// Keyword arguments come in the order of `keywords`, if it has them all.
std::vector<Leaf> flatten_inputs(const PickleValue& inputs,
                                 const std::vector<std::string>& keywords) {
  const auto* pair = inputs.get_if<PickleValue::Tuple>();
  if (pair == nullptr || pair->items.size() != 2) {
    throw ExportError(
        fmt::format("the example inputs are {}, not a pair of args and kwargs", inputs.kind()));
  }
  std::vector<Leaf> leaves;
  flatten(pair->items[0], "", leaves);
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

std::vector<PortSpec> read_user_inputs(const ObjectReader& module) {
  std::vector<PortSpec> inputs = module.get("signature", read_signature).inputs;
  std::erase_if(inputs, [](const PortSpec& input) {
    return input.role == PortSpec::Role::kToken || input.kind != InputKind::kUserInput;
  });
  return inputs;
}

// Orders the tensors of `leaves` where only the class of an object knows their order: each input
// is the first that is left with its shape and dtype, and with its place at the end of the name if
// there is such a one. Those left over come last.
std::vector<Leaf> order_tensors(std::vector<Leaf> leaves, const std::vector<PortSpec>& specs,
                                const ObjectReader& module) {
  const ObjectReader graph(module.get("graph"), module.place().key("graph"));
  const ObjectReader values(graph.get("tensor_values"), graph.place().key("tensor_values"));
  std::erase_if(leaves, [](const Leaf& leaf) { return !leaf.value->is_tensor(); });
  auto next = leaves.begin();
  for (const PortSpec& spec : specs) {
    if (spec.role == PortSpec::Role::kFixed) {
      next = leaves.insert(next, Leaf()) + 1;
      continue;
    }
    const Value declared = values.get(spec.name, read_tensor_meta);
    const auto fits = [&](const Leaf& leaf) {
      const auto* tensor = leaf.value->get_if<at::Tensor>();
      return tensor != nullptr && describe_difference(*tensor, declared).empty();
    };
    auto found = std::find_if(next, leaves.end(), [&](const Leaf& leaf) {
      return spec.name.ends_with(leaf.place) && fits(leaf);
    });
    if (found == leaves.end()) found = std::find_if(next, leaves.end(), fits);
    if (found == leaves.end()) {
      throw ExportError(fmt::format("no tensor fits the input '{}' ({})", printable(spec.name),
                                    dtype_and_shape(declared)));
    }
    std::rotate(next, found, found + 1);
    ++next;
  }
  return leaves;
}

// Maps `inputs`, a pickled (args, kwargs), to the graph inputs of the model in `root`. Flattens
// tuples, lists and dicts in the order of torch.utils._pytree; numbers become tensors without
// dimensions.
StateDict name_example_inputs(const PickleValue& inputs, const JsonValue& root) {
  const Place place;
  const ObjectReader module(ObjectReader(root, place).get("graph_module"),
                            place.key("graph_module"));
  const std::vector<PortSpec> specs = read_user_inputs(module);
  std::vector<Leaf> leaves = flatten_inputs(inputs, read_keywords(root));
  if (const PickleValue* object = find_foreign(inputs)) {
    leaves = about(fmt::format("the example inputs hold {}", object->kind()),
                   [&] { return order_tensors(leaves, specs, module); });
  }
  if (leaves.size() != specs.size()) {
    throw ExportError(fmt::format("wrong number of example inputs: {}, expected {}", leaves.size(),
                                  specs.size()));
  }
  StateDict named("Input");
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (specs[i].role == PortSpec::Role::kFixed) continue;
    const at::Tensor tensor = as_tensor(*leaves[i].value);
    if (!tensor.defined()) {
      throw ExportError(fmt::format("the example input '{}' is {}, neither a tensor nor a number",
                                    printable(specs[i].name), leaves[i].value->kind()));
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
  const PickleDocument document = load_torch_file(bytes, entry, ForeignNames::kOpened);
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
                  "--weights FILE, or for harness in NAME.weights.safetensors beside it",
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

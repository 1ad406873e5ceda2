#include "torch_ir/exporter/pt2/example_inputs.h"

#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/json_fields.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/exporter/pt2/signature.h"

namespace torch_ir {
namespace {

using Pointer = PickleValue::Pointer;

// As deep as a PickleValue may be.
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

// The member `index` of a list, or null.
JsonValue* item(JsonValue* value, size_t index) {
  const auto* list = value == nullptr ? nullptr : value->get_if<JsonValue::List>();
  return list == nullptr || index >= list->size() ? nullptr : &(*list)[index];
}

JsonValue* member(JsonValue* value, std::string_view key) {
  if (value == nullptr || value->get_if<JsonValue::Object>() == nullptr) return nullptr;
  return Fields(*value, Place()).find(key);
}

const std::string* text(JsonValue* value) {
  return value == nullptr ? nullptr : value->get_if<std::string>();
}

// The leaves of `inputs`. Keyword arguments come in the order that `keywords` has, where it has
// them all.
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

// The names of the keyword arguments in the order in which the model expects them; empty where the
// archive does not say. The specification of the inputs is a JSON text of its own, [1, SPEC], and
// SPEC a tuple of a tuple and a dict, whose context are its keys, once more as JSON.
std::vector<std::string> read_keywords(JsonValue& root) {
  JsonValue* calls = member(member(&root, "graph_module"), "module_call_graph");
  const std::string* in_spec = text(member(member(item(calls, 0), "signature"), "in_spec"));
  if (in_spec == nullptr) return {};
  std::vector<std::string> names;
  try {
    const JsonValue spec = parse_json(*in_spec);
    JsonValue* kwargs = item(member(item(&spec, 1), "children_spec"), 1);
    const std::string* context = text(member(kwargs, "context"));
    if (context == nullptr) return {};
    const JsonValue keys = parse_json(*context);
    const auto* list = keys.get_if<JsonValue::List>();
    if (list == nullptr) return {};
    for (JsonValue& key : *list) {
      const std::string* name = text(&key);
      if (name == nullptr) return {};
      names.push_back(*name);
    }
  } catch (const SerializationError&) {
    return {};
  }
  return names;
}

// A tensor, or a number as one; undefined for all else.
at::Tensor as_tensor(const PickleValue& value) {
  if (const auto* tensor = value.get_if<at::Tensor>()) return *tensor;
  if (const auto* flag = value.get_if<bool>()) return at::scalar_tensor(*flag, at::kBool);
  if (const auto* number = value.get_if<int64_t>()) return at::scalar_tensor(*number, at::kLong);
  if (const auto* number = value.get_if<double>()) return at::scalar_tensor(*number, at::kDouble);
  return {};
}

// One for each argument of the model, fixed ones among them.
std::vector<InputSpec> read_user_inputs(JsonValue& root) {
  const Place place;
  const Place module_place = place.key("graph_module");
  const Fields module(Fields(root, place).get("graph_module"), module_place);
  std::vector<InputSpec> inputs = module.read("signature", read_signature).inputs;
  std::erase_if(inputs, [](const InputSpec& input) {
    return input.role == InputSpec::Role::kToken || input.kind != InputKind::kUserInput;
  });
  return inputs;
}

constexpr const char* kInputAdvice = "give inputs with --inputs FILE.safetensors";

StateDict read_examples(const std::string& path) {
  std::optional<StateDict> examples;
  try {
    examples = read_pt2_example_inputs(path);
  } catch (const Error& error) {
    throw Error(std::string(error.what()) + "; " + kInputAdvice);
  }
  if (!examples) throw Error(path + ": the archive has no example inputs; " + kInputAdvice);
  return *std::move(examples);
}

}  // namespace

StateDict name_example_inputs(const PickleValue& inputs, JsonValue root) {
  const std::vector<InputSpec> specs = read_user_inputs(root);
  const std::vector<Pointer> leaves = flatten_inputs(inputs, read_keywords(root));
  if (leaves.size() != specs.size()) {
    throw ExportError(fmt::format("there are {} example inputs, but the model has {} inputs",
                                  leaves.size(), specs.size()));
  }
  StateDict named("Input");
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (specs[i].role == InputSpec::Role::kFixed) continue;
    const at::Tensor tensor = as_tensor(*leaves[i]);
    if (!tensor.defined()) {
      throw ExportError(fmt::format("the example input '{}' is {}, neither a tensor nor a number",
                                    printable(specs[i].name), leaves[i]->kind()));
    }
    if (named.contains(specs[i].name)) {
      throw ExportError(fmt::format("there are two inputs called '{}'", printable(specs[i].name)));
    }
    named.insert(specs[i].name, tensor);
  }
  return named;
}

std::vector<at::Tensor> example_graph_inputs(const std::string& path, const IR& ir) {
  const StateDict examples = read_examples(path);
  std::vector<at::Tensor> tensors;
  for (const TensorMeta& input : ir.graph_inputs) {
    const at::Tensor* tensor = examples.find(input.name);
    if (tensor == nullptr) {
      throw Error(path + ": the archive has no example for the input '" + printable(input.name) +
                  "'; " + kInputAdvice);
    }
    tensors.push_back(*tensor);
  }
  return tensors;
}

}  // namespace torch_ir

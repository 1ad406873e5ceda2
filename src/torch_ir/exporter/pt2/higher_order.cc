#include <fmt/format.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/graph_reader.h"
#include "torch_ir/ir/builtin_operators.h"

namespace torch_ir {
namespace {

void check_count(const char* what, size_t found, const char* of_graph, size_t expected) {
  if (expected == found) return;
  throw ExportError(fmt::format("wrong number of {}: {}, expected {} for the {} of the graph", what,
                                found, expected, of_graph));
}

}  // namespace

template <class Use>
auto GraphReader::with_graph(const Call& call, size_t index, const Use& use) const {
  return call[index].get("arg", [&](const JsonValue& json, const Place& place) {
    const TaggedValue graph = as_tagged(json, place);
    if (graph.tag == "as_graph") {
      return ObjectReader(graph.value, place.key("as_graph")).get("graph", use);
    }
    throw ExportError(fmt::format("argument {} must be a graph", index));
  });
}

void GraphReader::inline_graph(const Call& call, size_t index, size_t first,
                               const std::optional<Autocast>& autocast) {
  with_graph(call, index, [&](const JsonValue& graph, const Place& place) {
    std::vector<Operand> operands;
    for (size_t i = first; i < call.size(); ++i) {
      // Options are keywords, or a dict.
      const bool is_option = !call[i].get_or("name", std::string(), as_string).empty() ||
                             call[i].get("arg", as_tagged).tag == "as_string_to_argument";
      if (is_option) continue;
      const std::vector<Operand> given = read_list(call, i);
      operands.insert(operands.end(), given.begin(), given.end());
    }
    GraphReader inner(graph, place, GraphNames::kRenamed, builder_, autocast);
    check_count("operands", operands.size(), "inputs", inner.inputs_.size());
    check_count("outputs", call.outputs.size(), "outputs", inner.outputs_.size());
    // Name the values that the graph makes for `call` after its outputs right away.
    for (size_t i = 0; i < inner.outputs_.size(); ++i) {
      const std::string* made = referred_name(inner.outputs_[i]);
      if (made == nullptr || !call.outputs[i]) continue;
      inner.wishes_.emplace(*made, new_name(*call.outputs[i]));
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (const std::string* name = referred_name(inner.inputs_[i])) inner.bind(*name, operands[i]);
    }
    inner.read_nodes();
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      if (call.outputs[i]) bind(*call.outputs[i], inner.resolve(inner.outputs_[i]));
    }
  });
}

template <class T>
T GraphReader::read_fixed(const Call& call, size_t index, const char* expected) const {
  const Operand operand = read(call, index);
  const auto* attribute = std::get_if<Attribute>(&operand);
  const T* value = attribute == nullptr ? nullptr : attribute->get_if<T>();
  if (value != nullptr) return *value;
  throw ExportError(fmt::format("argument {} must be {}", index, expected));
}

bool GraphReader::has_tensors_on(const std::string& device, const Call& call, size_t index) const {
  return with_graph(call, index, [&](const JsonValue& graph, const Place& place) {
    const Place values = place.key("tensor_values");
    for (const auto& [name, meta] :
         as_object(ObjectReader(graph, place).get("tensor_values"), values)) {
      if (read_device_type(ObjectReader(meta, values.key(name))) == device) return true;
    }
    return false;
  });
}

// For other devices than the CPU, torch.autocast does nothing to tensors that are not there.
std::optional<Autocast> GraphReader::autocast_of(const Call& call) const {
  const std::string device = read_fixed<std::string>(call, 0, "a device");
  const bool is_cpu = device == "cpu";
  const c10::DeviceType type = is_cpu ? c10::kCPU : c10::kCUDA;
  if (!is_cpu && !has_tensors_on(device, call, 4)) return autocast_;
  if (!read_fixed<bool>(call, 2, "a boolean")) {
    return autocast_ && autocast_->device != type ? autocast_ : std::nullopt;
  }
  if (!is_cpu && device != "cuda") {
    throw ExportError(kNotSupported,
                      fmt::format("torch.autocast of the device '{}' is not supported; "
                                  "export the model on the CPU or a CUDA device",
                                  printable(device)));
  }
  if (read(call, 1) != Operand(Attribute())) {
    return Autocast{type, read_fixed<c10::ScalarType>(call, 1, "a dtype")};
  }
  // The default of Python.
  return Autocast{type, is_cpu ? c10::kBFloat16 : c10::kHalf};
}

void GraphReader::inline_with_effects(const Call& call) {
  Call inner = call;
  inner.target = call[1].get("arg", [](const JsonValue& json, const Place& place) {
    const TaggedValue target = as_tagged(json, place);
    if (target.tag == "as_operator") return as_string(target.value, place.key("as_operator"));
    throw ExportError("argument 1 must be an operator");
  });
  // Otherwise each level would keep a copy of the outputs left.
  if (inner.target == call.target) throw ExportError("with_effects calls itself");
  inner.first += 2;
  if (call.outputs.empty()) throw ExportError("missing token among the outputs");
  inner.outputs.erase(inner.outputs.begin());
  if (call.outputs[0]) bind(*call.outputs[0], Attribute());
  add(inner);
}

ValueList GraphReader::values_among(const std::vector<Operand>& operands) const {
  ValueList values;
  for (const Operand& operand : operands) {
    if (const auto id = builder_.value_of(operand)) values.emplace_back(*id);
  }
  return values;
}

// Reads a graph of a control flow operator. Fixed inputs stay fixed inside; a fixed output becomes
// a value if the operator has one there.
Graph GraphReader::read_branch(const Call& call, size_t index, const std::vector<Operand>& operands,
                               bool returns_outputs) const {
  return with_graph(call, index, [&](const JsonValue& graph, const Place& place) {
    GraphBuilder builder;
    GraphReader branch(graph, place, GraphNames::kKept, builder, autocast_);
    check_count("operands", operands.size(), "inputs", branch.inputs_.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      const std::string* name = referred_name(branch.inputs_[i]);
      if (name == nullptr) continue;
      if (builder_.value_of(operands[i])) {
        branch.add_input(InputKind::kUserInput, *name);
      } else {
        branch.bind(*name, operands[i]);
      }
    }
    branch.read_nodes();
    if (returns_outputs) {
      check_count("outputs", call.outputs.size(), "outputs", branch.outputs_.size());
    }
    for (size_t i = 0; i < branch.outputs_.size(); ++i) {
      const Operand output = branch.resolve(branch.outputs_[i]);
      if (returns_outputs && !call.outputs[i]) continue;
      const auto id = builder.value_of(output);
      builder.add_output(id ? *id : builder.add_number("output", std::get<Attribute>(output)));
    }
    return builder.take();
  });
}

void GraphReader::add_cond(const Call& call) {
  const Operand condition = read(call, 0);
  const std::vector<Operand> operands = read_list(call, 3);
  Node node{.name = {},
            .target = std::string(kCond),
            .arguments = {{"pred", condition}, {"operands", values_among(operands)}}};
  for (const size_t index : {1, 2}) {
    node.graphs.push_back(read_branch(call, index, operands, true));
  }
  add_node(call, std::move(node));
}

void GraphReader::add_while_loop(const Call& call) {
  std::vector<Operand> operands = read_list(call, 2);
  const std::vector<Operand> additional = read_list(call, 3);
  // Carried values change between iterations, even if they begin fixed.
  for (Operand& operand : operands) {
    if (builder_.value_of(operand)) continue;
    operand = builder_.add_number(call.name + "_carried", std::get<Attribute>(operand));
  }
  Node node{.name = {},
            .target = std::string(kWhileLoop),
            .arguments = {{"carried_inputs", values_among(operands)},
                          {"additional_inputs", values_among(additional)}}};
  operands.insert(operands.end(), additional.begin(), additional.end());
  node.graphs.push_back(read_branch(call, 0, operands, false));
  node.graphs.push_back(read_branch(call, 1, operands, true));
  add_node(call, std::move(node));
}

// The body comes first, then a list for each argument of the schema.
void GraphReader::add_loop_over_slices(const Call& call) {
  Node node;
  node.target = op_type_of_target(call.target);
  const auto& schema = find_builtin_schema(node.target)->arguments();
  if (call.size() != schema.size() + 1) {
    throw ExportError(kNotSupported,
                      fmt::format("wrong number of arguments: {}, expected {}; export the model "
                                  "with PyTorch 2.7 or later",
                                  call.size(), schema.size() + 1));
  }
  std::vector<Operand> operands;
  for (size_t i = 0; i < schema.size(); ++i) {
    const std::vector<Operand> given = read_list(call, i + 1);
    node.arguments.push_back({schema[i].name(), values_among(given)});
    operands.insert(operands.end(), given.begin(), given.end());
  }
  node.graphs.push_back(read_branch(call, 0, operands, true));
  add_node(call, std::move(node));
}

Graph GraphReader::read_inner_graph(const JsonValue& graph, const Place& place) const {
  GraphBuilder builder;
  GraphReader inner(graph, place, GraphNames::kKept, builder, autocast_);
  for (const Attribute& input : inner.inputs_) {
    if (const std::string* name = referred_name(input)) {
      inner.add_input(InputKind::kUserInput, *name);
    }
  }
  inner.read_nodes();
  for (const Attribute& output : inner.outputs_) builder.add_output(inner.resolve(output));
  return builder.take();
}

void GraphReader::add_unnamed(const std::string& name, const JsonValue& value, const Place& place,
                              Node& node) {
  const TaggedValue argument = as_tagged(value, place);
  const Place inside = place.key(argument.tag);
  const bool is_dict = argument.tag == "as_string_to_argument";
  const bool is_nested = argument.tag == "as_nested_tensors";
  const auto operand_of = [this](const std::string& of) { return find(of); };
  if ((is_dict || is_nested) && !is_higher_order(node.target)) {
    node.arguments.push_back({name, read_argument(value, place, operand_of)});
  }
  if (argument.tag == "as_graph") {
    const auto read = [&](const JsonValue& graph, const Place& at) {
      return read_inner_graph(graph, at);
    };
    node.graphs.push_back(ObjectReader(argument.value, inside).get("graph", read));
  } else if (argument.tag == "as_operator") {
    node.arguments.push_back(
        {name, Attribute(op_type_of_target(as_string(argument.value, inside)))});
  } else if (is_dict) {
    for (const auto& [key, inner] : as_object(argument.value, inside)) {
      add_unnamed(name + "." + key, inner, inside.key(key), node);
    }
  } else if (is_nested) {
    const JsonValue::array_t& lists = as_list(argument.value, inside);
    for (size_t i = 0; i < lists.size(); ++i) {
      for (const std::string& item : as_list_of(lists[i], inside.item(i), read_name)) {
        node.arguments.push_back({fmt::format("{}.{}", name, i), find(item)});
      }
    }
  } else {
    const Operand operand = read_argument(value, place, operand_of);
    const auto* list = std::get_if<ValueList>(&operand);
    if (list == nullptr) node.arguments.push_back({name, operand});
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto& item = (*list)[i];
      if (item) node.arguments.push_back({fmt::format("{}.{}", name, i), *item});
    }
  }
}

void GraphReader::add_without_schema(const Call& call) {
  Node node;
  node.target = op_type_of_target(call.target);
  for (size_t i = 0; i < call.size(); ++i) {
    const std::string given = call[i].get_or("name", std::string(), as_string);
    call[i].get("arg", [&](const JsonValue& value, const Place& place) {
      add_unnamed(given.empty() ? fmt::format("arg{}", i) : given, value, place, node);
    });
  }
  add_node(call, std::move(node));
}

}  // namespace torch_ir

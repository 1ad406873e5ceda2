#include "torch_ir/exporter/pt2/read_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/graph_reader.h"
#include "torch_ir/runtime/graph/state.h"

namespace torch_ir {
namespace {

// The name of an input in messages, and the key of its target, by InputKind.
struct KindNames {
  const char* text;
  const char* key;
};
constexpr KindNames kKindNames[] = {
    {"user input", "user_input_name"},
    {"parameter", "parameter_name"},
    {"buffer", "buffer_name"},
    {"constant", "tensor_constant_name"},
};

const KindNames& names_of(InputKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

using Role = PortSpec::Role;

PortSpec user_value(const ObjectReader& fields) {
  Attribute value = fields.get("arg", read_port);
  if (const std::string* name = referred_name(value)) return {Role::kValue, *name};
  return {Role::kFixed, {}, {}, {}, std::move(value)};
}

PortSpec constant_input(const ObjectReader& fields) {
  Attribute value = fields.get("value", read_port);
  if (referred_name(value) != nullptr) {
    fields.place().fail("a constant input has no fixed value");
  }
  return {Role::kFixed, fields.get("name", as_string), {}, {}, std::move(value)};
}

template <Role kRole>
PortSpec named(const ObjectReader& fields) {
  return {kRole, fields.get("arg", read_name)};
}

template <Role kRole, InputKind kKind>
PortSpec with_target(const ObjectReader& fields) {
  return {kRole, fields.get("arg", read_name), kKind, fields.get(names_of(kKind).key, as_string)};
}

// Nodes do not take it by its name: their arguments say what it is.
PortSpec custom_object(const ObjectReader& fields) {
  return {Role::kFixed,
          fields.get("custom_obj_name", as_string),
          InputKind::kConstant,
          {},
          fields.get("arg", [](const JsonValue& object, const Place& place) {
            return read_port(JsonValue::object({{"as_custom_obj", object}}), place);
          })};
}

PortSpec gradient(const ObjectReader& fields) {
  fields.place().refuse(
      "gradients among the outputs are not supported; export the model for inference");
}

struct SpecReader {
  std::string_view kind;
  PortSpec (*read)(const ObjectReader&);
};

constexpr SpecReader kInputReaders[] = {
    {"user_input", user_value},
    {"constant_input", constant_input},
    {"parameter", with_target<Role::kValue, InputKind::kParameter>},
    {"buffer", with_target<Role::kValue, InputKind::kBuffer>},
    {"tensor_constant", with_target<Role::kValue, InputKind::kConstant>},
    {"token", named<Role::kToken>},
    {"custom_obj", custom_object},
};

constexpr SpecReader kOutputReaders[] = {
    {"user_output", user_value},
    {"loss_output", named<Role::kValue>},
    {"buffer_mutation", with_target<Role::kMutation, InputKind::kBuffer>},
    {"parameter_mutation", with_target<Role::kMutation, InputKind::kParameter>},
    {"user_input_mutation", with_target<Role::kMutation, InputKind::kUserInput>},
    {"token", named<Role::kToken>},
    {"gradient_to_parameter", gradient},
    {"gradient_to_user_input", gradient},
};

std::vector<PortSpec> read_specs(const ObjectReader& signature, std::string_view key,
                                 std::span<const SpecReader> readers) {
  return signature.get_list(key, [&](const JsonValue& item, const Place& place) {
    const TaggedValue spec = as_tagged(item, place);
    const auto reader = std::ranges::find(readers, spec.tag, &SpecReader::kind);
    if (reader == readers.end()) place.fail(fmt::format("unknown kind '{}'", printable(spec.tag)));
    return reader->read(ObjectReader(spec.value, place.key(reader->kind)));
  });
}

// The version of torch/_export/serde/schema.py that is read here; minor versions only add to it.
constexpr int64_t kSchemaMajor = 8;
constexpr int64_t kSchemaMinor = 20;

void check_version(const ObjectReader& root) {
  const Place place = root.place().key("schema_version");
  const ObjectReader version(root.get("schema_version"), place);
  const int64_t major = version.get("major", as_integer);
  const int64_t minor = version.get("minor", as_integer);
  if (major == kSchemaMajor) return;
  throw ExportError(
      kNotSupported,
      fmt::format(
          "unsupported schema version {}.{}: this program reads version {}.{}; export the model "
          "with a PyTorch that writes {}.x (2.6 and later)",
          major, minor, kSchemaMajor, kSchemaMinor, kSchemaMajor));
}

// No limit is null, or a number at the end of the 64 bits.
std::optional<int64_t> read_limit(const JsonValue* value, const Place& place) {
  if (value == nullptr || value->is_number_unsigned()) return std::nullopt;
  const int64_t limit = as_integer(*value, place);
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max() - 1;
  if (limit >= kHighest || limit <= -kHighest) return std::nullopt;
  return limit;
}

std::vector<SymbolRange> read_ranges(const ObjectReader& root) {
  std::vector<SymbolRange> ranges;
  const JsonValue* table = root.find("range_constraints");
  if (table == nullptr) return ranges;
  const Place place = root.place().key("range_constraints");
  for (const auto& [expression, value] : as_object(*table, place)) {
    const Place item = place.key(expression);
    const ObjectReader limits(value, item);
    SymbolRange range{expression, read_limit(limits.find("min_val"), item.key("min_val")),
                      read_limit(limits.find("max_val"), item.key("max_val"))};
    if (range.min || range.max) ranges.push_back(std::move(range));
  }
  return ranges;
}

void check_count(const char* what, size_t specs, size_t found) {
  if (specs == found) return;
  throw ExportError(fmt::format("wrong number of {}s in the graph: {}; the signature has {}", what,
                                found, specs));
}

// Signature and graph must agree on the name of an input or output.
void check_name(const char* what, const std::string& in_signature, const Attribute& port) {
  const std::string* in_graph = referred_name(port);
  if (in_graph != nullptr && *in_graph == in_signature) return;
  throw ExportError(fmt::format("an {} is '{}' in the signature, but {} in the graph", what,
                                printable(in_signature),
                                in_graph == nullptr ? "fixed" : "'" + printable(*in_graph) + "'"));
}

class ProgramReader {
 public:
  ProgramReader(const JsonValue& graph, const Place& place, const Signature& signature)
      : signature_(signature), graph_(graph, place, GraphNames::kKept, builder_) {}

  Program read() {
    check_count("input", signature_.inputs.size(), graph_.inputs().size());
    check_count("output", signature_.outputs.size(), graph_.outputs().size());
    for (size_t i = 0; i < graph_.inputs().size(); ++i) add_input(i);
    graph_.read_nodes();
    for (size_t i = 0; i < graph_.outputs().size(); ++i) add_output(i);
    static_cast<Graph&>(program_) = builder_.take();
    // The last component of the class of the model: "ResNet".
    program_.model_name = graph_.root_class().substr(graph_.root_class().rfind('.') + 1);
    return std::move(program_);
  }

 private:
  void add_input(size_t index) {
    const PortSpec& spec = signature_.inputs[index];
    if (spec.role == PortSpec::Role::kFixed) {
      const std::string name = spec.name.empty() ? fmt::format("arg{}", index) : spec.name;
      program_.constant_inputs.set(name, spec.value);
      return;
    }
    check_name("input", spec.name, graph_.inputs()[index]);
    if (spec.role == PortSpec::Role::kToken) return graph_.bind(spec.name, Attribute());
    graph_.add_input(spec.kind, spec.name, spec.target);
  }

  void add_output(size_t index) {
    const PortSpec& spec = signature_.outputs[index];
    if (spec.role == PortSpec::Role::kToken) return;
    const Attribute& port = graph_.outputs()[index];
    if (!spec.name.empty()) check_name("output", spec.name, port);
    const Operand output = graph_.resolve(port);
    const auto id = builder_.value_of(output);
    if (!id) return builder_.add_output(output);
    if (spec.role == PortSpec::Role::kMutation) {
      program_.mutations.push_back({builder_.graph().outputs.size(), find_mutated(spec)});
      builder_.add_output(*id);
    } else {
      builder_.add_output(named(*id, *referred_name(port)));
    }
  }

  ValueId find_mutated(const PortSpec& output) const {
    const Graph& graph = builder_.graph();
    for (const GraphInput& input : graph.inputs) {
      if (input.kind != output.kind) continue;
      const bool is_user_input = input.kind == InputKind::kUserInput;
      if ((is_user_input ? graph[input.value].name : input.target) == output.target) {
        return input.value;
      }
    }
    throw ExportError(
        fmt::format("the output '{}' is the new value of the {} '{}', which is not an input",
                    printable(output.name), names_of(output.kind).text, printable(output.target)));
  }

  // Gives `value` the archive's name for it, by which callers know the output. It may have another
  // if an inlined wrapper returned an operand.
  ValueId named(ValueId value, const std::string& name) {
    Value alias = builder_.graph()[value];
    if (alias.name == name || alias.is_scalar) return value;
    if (const auto known = builder_.find(name)) return *known;
    alias.name = name;
    return builder_.add_value("aten.alias.default", {{"self", value}}, std::move(alias));
  }

  const Signature& signature_;
  GraphBuilder builder_;
  GraphReader graph_;
  Program program_;
};

// "aten.lstm.input" returns (output, h_n, c_n); its argument hx is [h_0, c_0].
void repair_lstm_states(const Node& node, Graph& graph) {
  const Argument* argument = node.find("hx");
  const auto* states = argument == nullptr ? nullptr : std::get_if<ValueList>(&argument->value);
  if (states == nullptr) return;
  for (size_t i = 0; i < states->size() && i + 1 < node.outputs.size(); ++i) {
    if (!(*states)[i]) continue;
    const Value& initial = graph[*(*states)[i]];
    Value& final = graph[node.outputs[i + 1]];
    final.shape = initial.shape;
    final.symbolic_shape = initial.symbolic_shape;
  }
}

}  // namespace

Signature read_signature(const JsonValue& value, const Place& place) {
  const ObjectReader fields(value, place);
  return {read_specs(fields, "input_specs", kInputReaders),
          read_specs(fields, "output_specs", kOutputReaders)};
}

Program read_program(const JsonValue& value, const std::string& model_name) {
  const Place place;
  const ObjectReader root(value, place);
  check_version(root);
  const Place module_place = place.key("graph_module");
  const ObjectReader module(root.get("graph_module"), module_place);
  const Signature signature = module.get("signature", read_signature);
  Program program = ProgramReader(module.get("graph"), module_place.key("graph"), signature).read();
  if (program.model_name.empty()) program.model_name = model_name;
  const std::string version = root.get_or("torch_version", std::string(), as_string);
  program.torch_version = version.substr(0, version.find('+'));
  program.range_constraints = read_ranges(root);
  if (root.find("guards_code") != nullptr) {
    program.guards = find_guards(root.get_list("guards_code", as_string), signature, program);
  }
  set_uses(program);
  add_state(program);
  return program;
}

void repair_known_faults(Graph& graph) {
  for (Node& node : graph.nodes) {
    if (node.target == "aten.lstm.input") repair_lstm_states(node, graph);
    for (Graph& inner : node.graphs) repair_known_faults(inner);
  }
}

}  // namespace torch_ir

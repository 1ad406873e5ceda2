#include "torch_ir/exporter/pt2/read_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/lower_graph.h"
#include "torch_ir/exporter/pt2/signature.h"
#include "torch_ir/ir/json_reader.h"

namespace torch_ir {
namespace {

// The version of torch/_export/serde/schema.py that is read here; later minor versions add to it.
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
      fmt::format("the archive has version {}.{} of the schema, and version {}.{} is read here; "
                  "export the model "
                  "with a PyTorch that writes {}.x (2.6 and later)",
                  major, minor, kSchemaMajor, kSchemaMinor, kSchemaMajor));
}

// "2.13.0" of "2.13.0+cpu".
std::string read_torch_version(const ObjectReader& root) {
  const std::string text = root.get_or("torch_version", std::string(), as_string);
  return text.substr(0, text.find('+'));
}

// A limit that is none is null, or a number at the end of the 64 bits.
std::optional<int64_t> read_limit(const JsonValue* value, const Place& place) {
  if (value == nullptr || value->is_number_unsigned()) return std::nullopt;
  const int64_t limit = as_integer(*value, place);
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max() - 1;
  if (limit >= kHighest || limit <= -kHighest) return std::nullopt;
  return limit;
}

// Conditions on the inputs as Python text, which Python evaluates. Shapes and ranges, which a run
// checks, say most of it; the text itself is not understood here.
void check_guards(const ObjectReader& root) {
  if (root.find("guards_code") != nullptr) root.get_list("guards_code", as_string);
}

std::vector<SymbolRange> read_ranges(const ObjectReader& root) {
  std::vector<SymbolRange> ranges;
  const JsonValue* table = root.find("range_constraints");
  if (table == nullptr) return ranges;
  const Place place = root.place().key("range_constraints");
  for (const auto& [expression, value] : as_object(*table, place)) {
    const std::string shown = printable(expression);
    const Place item = place.key(shown);
    const ObjectReader limits(value, item);
    SymbolRange range{expression, read_limit(limits.find("min_val"), item.key("min_val")),
                      read_limit(limits.find("max_val"), item.key("max_val"))};
    if (range.min || range.max) ranges.push_back(std::move(range));
  }
  return ranges;
}

void check_count(const char* what, size_t specs, size_t found) {
  if (specs == found) return;
  throw ExportError(
      fmt::format("the graph has {} {}s, but the signature has {}", found, what, specs));
}

// What the signature calls an input or output has to be what the graph calls it.
void check_name(const char* what, const std::string& in_signature, const SerializedValue& port) {
  const std::string* in_graph = referred_name(port);
  if (in_graph != nullptr && *in_graph == in_signature) return;
  throw ExportError(fmt::format("an {} is '{}' in the signature, but {} in the graph", what,
                                printable(in_signature),
                                in_graph == nullptr ? "fixed" : "'" + printable(*in_graph) + "'"));
}

class ProgramReader {
 public:
  ProgramReader(const SerializedGraph& graph, const Signature& signature)
      : graph_(graph), signature_(signature), scope_(graph, Scope::Names::kKept) {}

  ExportedProgram read() {
    check_count("input", signature_.inputs.size(), graph_.inputs.size());
    check_count("output", signature_.outputs.size(), graph_.outputs.size());
    reserve_names(graph_, builder_);
    for (size_t i = 0; i < graph_.inputs.size(); ++i) add_input(i);
    lower_nodes({scope_, builder_});
    for (size_t i = 0; i < graph_.outputs.size(); ++i) add_output(i);
    ExportedProgram program;
    static_cast<ExportedGraph&>(program) = builder_.take();
    program.mutations = std::move(mutations_);
    program.constant_inputs = std::move(constant_inputs_);
    return program;
  }

 private:
  void add_input(size_t index) {
    const InputSpec& spec = signature_.inputs[index];
    if (spec.role == InputSpec::Role::kFixed) {
      const std::string name = spec.name.empty() ? fmt::format("arg{}", index) : spec.name;
      constant_inputs_.set(name, spec.value);
      return;
    }
    check_name("input", spec.name, graph_.inputs[index]);
    if (spec.role == InputSpec::Role::kToken) {
      scope_.bind(spec.name, Attribute());
    } else {
      builder_.add_input(spec.kind, spec.name, spec.target, scope_.meta(spec.name));
      scope_.bind(spec.name, ValueRef{spec.name});
    }
  }

  void add_output(size_t index) {
    const OutputSpec& spec = signature_.outputs[index];
    if (spec.role == OutputSpec::Role::kToken) return;
    const SerializedValue& port = graph_.outputs[index];
    if (!spec.name.empty()) check_name("output", spec.name, port);
    const Attribute output = scope_.resolve_one(port, "an output");
    const auto* ref = output.get_if<ValueRef>();
    if (ref == nullptr) {
      builder_.add_output(output);
    } else if (spec.role == OutputSpec::Role::kMutation) {
      mutations_.push_back({builder_.graph().outputs.size(), find_mutated(spec, signature_)});
      builder_.add_output(ref->name);
    } else {
      builder_.add_output(named(ref->name, *referred_name(port)));
    }
  }

  // `value` under the name that the archive has for it, by which callers know the output. They
  // differ where a wrapper that was inlined returned what it was given.
  std::string named(const std::string& value, const std::string& name) {
    const ValueMeta meta = *builder_.find(value);
    if (value == name || meta.is_scalar) return value;
    if (builder_.find(name) == nullptr) {
      builder_.add_node({name, "aten.alias.default", {{"self", ValueRef{value}}}, {name}}, {meta});
    }
    return name;
  }

  const SerializedGraph& graph_;
  const Signature& signature_;
  Scope scope_;
  GraphBuilder builder_;
  std::vector<ExportedMutation> mutations_;
  AttributeMap constant_inputs_;
};

// The last component of the class of the model: "ResNet".
std::string find_model_name(const SerializedGraph& graph) {
  for (const SerializedNode& node : graph.nodes) {
    if (!node.root_class.empty()) return node.root_class.substr(node.root_class.rfind('.') + 1);
  }
  return {};
}

// "aten.lstm.input" returns (output, h_n, c_n); its argument hx is [h_0, c_0].
void repair_lstm_states(const ExportedNode& node, ExportedGraph& graph) {
  const auto argument = std::ranges::find(node.arguments, "hx", &ExportedArgument::name);
  if (argument == node.arguments.end()) return;
  const auto* states = std::get_if<ValueList>(&argument->value);
  if (states == nullptr) return;
  for (size_t i = 0; i < states->size() && i + 1 < node.outputs.size(); ++i) {
    const auto initial = (*states)[i] ? graph.values.find((*states)[i]->name) : graph.values.end();
    const auto final = graph.values.find(node.outputs[i + 1]);
    if (initial == graph.values.end() || final == graph.values.end()) continue;
    final->second.shape = initial->second.shape;
    final->second.symbolic_shape = initial->second.symbolic_shape;
  }
}

}  // namespace

ExportedProgram read_program(JsonValue value, const std::string& model_name) {
  const Place place;
  const ObjectReader root(value, place);
  check_version(root);
  check_guards(root);
  const Place module_place = place.key("graph_module");
  const ObjectReader module(root.get("graph_module"), module_place);
  const SerializedGraph graph = module.get("graph", read_graph);
  const Signature signature = module.get("signature", read_signature);
  check_targets(graph);
  ExportedProgram program = ProgramReader(graph, signature).read();
  program.model_name = find_model_name(graph);
  if (program.model_name.empty()) program.model_name = model_name;
  program.torch_version = read_torch_version(root);
  program.range_constraints = read_ranges(root);
  return program;
}

void repair_known_faults(ExportedGraph& graph) {
  for (ExportedNode& node : graph.nodes) {
    if (node.target == "aten.lstm.input") repair_lstm_states(node, graph);
    for (ExportedGraph& inner : node.graphs) repair_known_faults(inner);
  }
}

}  // namespace torch_ir

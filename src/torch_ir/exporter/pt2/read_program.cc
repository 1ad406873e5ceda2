#include "torch_ir/exporter/pt2/read_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/json_fields.h"
#include "torch_ir/exporter/pt2/lower_graph.h"
#include "torch_ir/exporter/pt2/read_graph.h"
#include "torch_ir/exporter/pt2/signature.h"
#include "torch_ir/exporter/pt2/targets.h"

namespace torch_ir {
namespace {

// The version of torch/_export/serde/schema.py that is read here; later minor versions add to it.
constexpr int64_t kSchemaMajor = 8;
constexpr int64_t kSchemaMinor = 20;

void check_version(const Fields& root) {
  const Place place = root.place().key("schema_version");
  const Fields version(root.get("schema_version"), place);
  const int64_t major = as_integer(version.get("major"), place.key("major"));
  const int64_t minor = as_integer(version.get("minor"), place.key("minor"));
  if (major == kSchemaMajor) return;
  throw ExportError(
      kNotSupported,
      fmt::format("the archive has version {}.{} of the schema, and version {}.{} is read here; "
                  "export the model "
                  "with a PyTorch that writes {}.x (2.6 and later)",
                  major, minor, kSchemaMajor, kSchemaMinor, kSchemaMajor));
}

// "2.13.0" of "2.13.0+cpu".
std::string read_torch_version(const Fields& root) {
  const JsonValue* version = root.find("torch_version");
  if (version == nullptr) return {};
  const std::string& text = read_string(*version, root.place().key("torch_version"));
  return text.substr(0, text.find('+'));
}

// A limit that is none is null, or a number at the end of the 64 bits.
std::optional<int64_t> read_limit(const JsonValue* value, const Place& place) {
  if (value == nullptr || value->get_if<uint64_t>() != nullptr) return std::nullopt;
  const int64_t limit = as_integer(*value, place);
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max() - 1;
  if (limit >= kHighest || limit <= -kHighest) return std::nullopt;
  return limit;
}

// Conditions on the inputs as Python text, which Python evaluates. Shapes and ranges, which a run
// checks, say most of it; the text itself is not understood here.
void check_guards(const Fields& root) {
  const JsonValue* guards = root.find("guards_code");
  if (guards == nullptr) return;
  const Place place = root.place().key("guards_code");
  const JsonValue::List& items = read_list(*guards, place);
  for (size_t i = 0; i < items.size(); ++i) read_string(items[i], place.item(i));
}

std::vector<SymbolRange> read_ranges(const Fields& root) {
  std::vector<SymbolRange> ranges;
  const JsonValue* table = root.find("range_constraints");
  if (table == nullptr) return ranges;
  const Place place = root.place().key("range_constraints");
  for (const auto& [expression, value] : read_object(*table, place)) {
    const std::string shown = printable(expression);
    const Place item = place.key(shown);
    const Fields limits(value, item);
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

const std::string* port_name(const SerializedPort& port) {
  const auto* ref = std::get_if<ValueRef>(&port);
  return ref == nullptr ? nullptr : &ref->name;
}

// What the signature calls an input or output has to be what the graph calls it.
void check_name(const char* what, const std::string& in_signature, const SerializedPort& port) {
  const std::string* in_graph = port_name(port);
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
    const SerializedPort& port = graph_.outputs[index];
    if (!spec.name.empty()) check_name("output", spec.name, port);
    const Operand output = resolve(port);
    if (const auto* fixed = std::get_if<Attribute>(&output)) {
      builder_.add_output(*fixed);
    } else if (spec.role == OutputSpec::Role::kMutation) {
      mutations_.push_back({builder_.graph().outputs.size(), find_mutated(spec, signature_)});
      builder_.add_output(std::get<ValueRef>(output).name);
    } else {
      builder_.add_output(named(std::get<ValueRef>(output).name, *port_name(port)));
    }
  }

  Operand resolve(const SerializedPort& port) const {
    if (const std::string* name = port_name(port)) return scope_.find(*name);
    if (const auto* fixed = std::get_if<Attribute>(&port)) return *fixed;
    throw ExportError(kNotSupported, fmt::format("{} as an output is not supported",
                                                 std::get<UnsupportedArgument>(port).what));
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

}  // namespace

ExportedProgram read_program(const JsonValue& value, const std::string& model_name) {
  const Place place;
  const Fields root(value, place);
  check_version(root);
  check_guards(root);
  const Place module_place = place.key("graph_module");
  const Fields module(root.get("graph_module"), module_place);
  const SerializedGraph graph = read_graph(module.get("graph"), module_place.key("graph"));
  const Signature signature =
      read_signature(module.get("signature"), module_place.key("signature"));
  check_targets(graph);
  ExportedProgram program = ProgramReader(graph, signature).read();
  program.model_name = find_model_name(graph);
  if (program.model_name.empty()) program.model_name = model_name;
  program.torch_version = read_torch_version(root);
  program.range_constraints = read_ranges(root);
  return program;
}

}  // namespace torch_ir

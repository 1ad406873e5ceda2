#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/json_constants.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {
namespace {

struct AttributeToJson {
  JsonValue operator()(std::monostate) const { return nullptr; }
  JsonValue operator()(bool value) const { return value; }
  JsonValue operator()(int64_t value) const { return value; }
  JsonValue operator()(double value) const { return value; }
  JsonValue operator()(std::complex<double> value) const {
    return JsonValue::array({value.real(), value.imag()});
  }
  JsonValue operator()(const std::string& value) const { return value; }
  JsonValue operator()(c10::ScalarType value) const { return dtype_name(value); }
  JsonValue operator()(c10::Layout value) const { return layout_name(value); }
  JsonValue operator()(c10::MemoryFormat value) const { return memory_format_name(value); }
  JsonValue operator()(c10::Device value) const { return value.str(); }
  JsonValue operator()(const ValueRef& value) const {
    return JsonValue::object({{"value", value.name}});
  }
  JsonValue operator()(const Attribute::List& items) const;
};

JsonValue to_json(const Attribute& attribute) {
  return std::visit(AttributeToJson(), attribute.value());
}

// A list of what `convert` makes of each of `items`.
template <class Items, class Convert>
JsonValue to_list(const Items& items, const Convert& convert) {
  JsonValue::array_t list;
  list.reserve(items.size());
  for (const auto& item : items) list.push_back(convert(item));
  return list;
}

JsonValue AttributeToJson::operator()(const Attribute::List& items) const {
  return to_list(items, [](const Attribute& item) { return to_json(item); });
}

// An object whose members come one by one. It has room for all of them, as one that grows copies
// what it has.
class ObjectWriter {
 public:
  explicit ObjectWriter(size_t max_size) { members_.reserve(max_size); }

  void add(std::string_view key, JsonValue value) { members_.emplace_back(key, std::move(value)); }
  // Only where it says something.
  void add_text(std::string_view key, const std::string& text) {
    if (!text.empty()) add(key, text);
  }
  JsonValue take() { return std::move(members_); }

 private:
  JsonValue::object_t members_;
};

JsonValue to_json(const AttributeMap& attributes) {
  ObjectWriter out(attributes.size());
  for (const auto& [name, value] : attributes) out.add(name, to_json(value));
  return out.take();
}

JsonValue to_json(const TensorMeta& tensor) {
  ObjectWriter out(9);
  out.add("name", tensor.name);
  JsonValue shape = tensor.shape;
  for (size_t i = 0; i < tensor.symbolic_shape.size(); ++i) {
    if (!tensor.symbolic_shape[i].empty()) shape[i] = tensor.symbolic_shape[i];
  }
  out.add("shape", std::move(shape));
  out.add("dtype", tensor.dtype);
  if (tensor.producer_node) out.add("producer_node", *tensor.producer_node);
  if (tensor.producer_node || tensor.producer_output_idx != 0) {
    out.add("producer_output_idx", tensor.producer_output_idx);
  }
  out.add_text("arg", tensor.arg);
  if (tensor.is_scalar) out.add("scalar", true);
  out.add_text("expression", tensor.expression);
  out.add_text("mutates", tensor.mutates);
  return out.take();
}

JsonValue to_json(const std::vector<TensorMeta>& tensors) {
  return to_list(tensors, [](const TensorMeta& tensor) { return to_json(tensor); });
}

void add_signature(const Graph& graph, ObjectWriter& out) {
  out.add("graph_inputs", to_json(graph.graph_inputs));
  out.add("graph_outputs", to_json(graph.graph_outputs));
  if (graph.constant_outputs.empty()) return;
  out.add("constant_outputs", to_list(graph.constant_outputs, [](const ConstantOutput& output) {
            return JsonValue{{"index", output.index}, {"value", to_json(output.value)}};
          }));
}

JsonValue to_json(const std::vector<OpNode>& nodes);

JsonValue to_json(const Graph& graph) {
  ObjectWriter out(4);
  add_signature(graph, out);
  out.add("nodes", to_json(graph.nodes));
  return out.take();
}

JsonValue to_json(const OpNode& node) {
  ObjectWriter out(6);
  out.add("name", node.name);
  out.add("op_type", node.op_type);
  out.add("inputs", to_json(node.inputs));
  out.add("outputs", to_json(node.outputs));
  out.add("attrs", to_json(node.attrs));
  if (!node.graphs.empty()) {
    out.add("graphs", to_list(node.graphs, [](const Graph& graph) { return to_json(graph); }));
  }
  return out.take();
}

JsonValue to_json(const std::vector<OpNode>& nodes) {
  return to_list(nodes, [](const OpNode& node) { return to_json(node); });
}

JsonValue to_json(const std::vector<SymbolRange>& ranges) {
  const auto limit = [](std::optional<int64_t> it) { return it ? JsonValue(*it) : JsonValue(); };
  ObjectWriter out(ranges.size());
  for (const SymbolRange& range : ranges) {
    out.add(range.expression, JsonValue::array({limit(range.min), limit(range.max)}));
  }
  return out.take();
}

JsonValue to_json(const IR& ir) {
  ObjectWriter out(12);
  if (format_version(ir) != 1) out.add("format_version", format_version(ir));
  out.add("model_name", ir.model_name);
  out.add("pytorch_version", ir.pytorch_version);
  add_signature(ir, out);
  out.add("weights", to_json(ir.weights));
  ObjectWriter mapping(ir.weight_name_mapping.size());
  for (const auto& item : ir.weight_name_mapping) mapping.add(item.key(), item.value());
  out.add("weight_name_mapping", mapping.take());
  if (!ir.constant_inputs.empty()) out.add("constant_inputs", to_json(ir.constant_inputs));
  if (!ir.range_constraints.empty()) out.add("range_constraints", to_json(ir.range_constraints));
  out.add("nodes", to_json(ir.nodes));
  if (!ir.constants.is_empty()) {
    ObjectWriter constants(ir.constants.size());
    for (const auto& item : ir.constants) {
      constants.add(item.key(), constant_to_json(item.key(), item.value()));
    }
    out.add("constants", constants.take());
  }
  return out.take();
}

// --- The version ---

bool is_version_1(const TensorMeta& tensor) {
  return !is_dynamic(tensor) && !tensor.is_scalar && tensor.mutates.empty();
}

bool are_version_1(const std::vector<TensorMeta>& tensors) {
  return std::ranges::all_of(tensors,
                             [](const TensorMeta& tensor) { return is_version_1(tensor); });
}

bool is_version_1(const OpNode& node) {
  return are_version_1(node.inputs) && are_version_1(node.outputs) && node.graphs.empty() &&
         std::ranges::all_of(node.attrs,
                             [](const auto& item) { return value_refs(item.second).empty(); });
}

}  // namespace

int64_t format_version(const IR& ir) {
  const bool is_first =
      are_version_1(ir.graph_inputs) && are_version_1(ir.graph_outputs) &&
      ir.constant_outputs.empty() && ir.constant_inputs.empty() && ir.range_constraints.empty() &&
      std::ranges::all_of(ir.nodes, [](const OpNode& node) { return is_version_1(node); });
  return is_first ? 1 : 2;
}

std::string serialize_ir(const IR& ir) { return python_json(to_json(ir)); }

}  // namespace torch_ir

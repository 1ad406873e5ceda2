#include <algorithm>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/json_constants.h"
#include "torch_ir/ir/json_writer.h"

namespace torch_ir {
namespace {

struct AttributeWriter {
  JsonWriter& writer;

  void operator()(std::monostate) const { writer.null(); }
  void operator()(bool value) const { writer.boolean(value); }
  void operator()(int64_t value) const { writer.integer(value); }
  void operator()(double value) const { writer.floating(value); }
  void operator()(std::complex<double> value) const {
    writer.begin_list();
    writer.floating(value.real());
    writer.floating(value.imag());
    writer.end_list();
  }
  void operator()(const std::string& value) const { writer.string(value); }
  void operator()(c10::ScalarType value) const { writer.string(dtype_name(value)); }
  void operator()(c10::Layout value) const { writer.string(layout_name(value)); }
  void operator()(c10::MemoryFormat value) const { writer.string(memory_format_name(value)); }
  void operator()(c10::Device value) const { writer.string(value.str()); }
  void operator()(const ValueRef& value) const {
    writer.begin_object();
    writer.key("value");
    writer.string(value.name);
    writer.end_object();
  }
  void operator()(const Attribute::List& items) const {
    writer.begin_list();
    for (const Attribute& item : items) std::visit(*this, item.value());
    writer.end_list();
  }
};

void write_shape(const TensorMeta& tensor, JsonWriter& writer) {
  writer.begin_list();
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const bool is_symbolic = !tensor.symbolic_shape.empty() && !tensor.symbolic_shape[i].empty();
    if (is_symbolic) {
      writer.string(tensor.symbolic_shape[i]);
    } else {
      writer.integer(tensor.shape[i]);
    }
  }
  writer.end_list();
}

// A member that is there only where it says something.
void write_text(std::string_view key, const std::string& text, JsonWriter& writer) {
  if (text.empty()) return;
  writer.key(key);
  writer.string(text);
}

void write_tensor(const TensorMeta& tensor, JsonWriter& writer) {
  writer.begin_object();
  writer.key("name");
  writer.string(tensor.name);
  writer.key("shape");
  write_shape(tensor, writer);
  writer.key("dtype");
  writer.string(tensor.dtype);
  if (tensor.producer_node) {
    writer.key("producer_node");
    writer.string(*tensor.producer_node);
  }
  if (tensor.producer_node || tensor.producer_output_idx != 0) {
    writer.key("producer_output_idx");
    writer.integer(tensor.producer_output_idx);
  }
  write_text("arg", tensor.arg, writer);
  if (tensor.is_scalar) {
    writer.key("scalar");
    writer.boolean(true);
  }
  write_text("expression", tensor.expression, writer);
  write_text("mutates", tensor.mutates, writer);
  writer.end_object();
}

void write_tensors(std::string_view key, const std::vector<TensorMeta>& tensors,
                   JsonWriter& writer) {
  writer.key(key);
  writer.begin_list();
  for (const TensorMeta& tensor : tensors) write_tensor(tensor, writer);
  writer.end_list();
}

void write_attributes(std::string_view key, const AttributeMap& attributes, JsonWriter& writer) {
  writer.key(key);
  writer.begin_object();
  for (const auto& [name, value] : attributes) {
    writer.key(name);
    std::visit(AttributeWriter{writer}, value.value());
  }
  writer.end_object();
}

void write_signature(const Graph& graph, JsonWriter& writer) {
  write_tensors("graph_inputs", graph.graph_inputs, writer);
  write_tensors("graph_outputs", graph.graph_outputs, writer);
  if (graph.constant_outputs.empty()) return;
  writer.key("constant_outputs");
  writer.begin_list();
  for (const ConstantOutput& output : graph.constant_outputs) {
    writer.begin_object();
    writer.key("index");
    writer.integer(output.index);
    writer.key("value");
    std::visit(AttributeWriter{writer}, output.value.value());
    writer.end_object();
  }
  writer.end_list();
}

void write_nodes(const std::vector<OpNode>& nodes, JsonWriter& writer);

void write_node(const OpNode& node, JsonWriter& writer) {
  writer.begin_object();
  writer.key("name");
  writer.string(node.name);
  writer.key("op_type");
  writer.string(node.op_type);
  write_tensors("inputs", node.inputs, writer);
  write_tensors("outputs", node.outputs, writer);
  write_attributes("attrs", node.attrs, writer);
  if (!node.graphs.empty()) {
    writer.key("graphs");
    writer.begin_list();
    for (const Graph& graph : node.graphs) {
      writer.begin_object();
      write_signature(graph, writer);
      write_nodes(graph.nodes, writer);
      writer.end_object();
    }
    writer.end_list();
  }
  writer.end_object();
}

void write_nodes(const std::vector<OpNode>& nodes, JsonWriter& writer) {
  writer.key("nodes");
  writer.begin_list();
  for (const OpNode& node : nodes) write_node(node, writer);
  writer.end_list();
}

void write_range_constraints(const std::vector<SymbolRange>& ranges, JsonWriter& writer) {
  if (ranges.empty()) return;
  const auto write_limit = [&](const std::optional<int64_t>& limit) {
    if (limit) {
      writer.integer(*limit);
    } else {
      writer.null();
    }
  };
  writer.key("range_constraints");
  writer.begin_object();
  for (const SymbolRange& range : ranges) {
    writer.key(range.expression);
    writer.begin_list();
    write_limit(range.min);
    write_limit(range.max);
    writer.end_list();
  }
  writer.end_object();
}

void write_ir(const IR& ir, JsonWriter& writer) {
  writer.begin_object();
  if (format_version(ir) != 1) {
    writer.key("format_version");
    writer.integer(format_version(ir));
  }
  writer.key("model_name");
  writer.string(ir.model_name);
  writer.key("pytorch_version");
  writer.string(ir.pytorch_version);
  write_signature(ir, writer);
  write_tensors("weights", ir.weights, writer);
  writer.key("weight_name_mapping");
  writer.begin_object();
  for (const auto& item : ir.weight_name_mapping) {
    writer.key(item.key());
    writer.string(item.value());
  }
  writer.end_object();
  if (!ir.constant_inputs.empty()) {
    write_attributes("constant_inputs", ir.constant_inputs, writer);
  }
  write_range_constraints(ir.range_constraints, writer);
  write_nodes(ir.nodes, writer);
  if (!ir.constants.is_empty()) {
    writer.key("constants");
    writer.begin_object();
    for (const auto& item : ir.constants) {
      writer.key(item.key());
      write_constant(item.key(), item.value(), writer);
    }
    writer.end_object();
  }
  writer.end_object();
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

std::string serialize_ir(const IR& ir) {
  JsonWriter writer;
  write_ir(ir, writer);
  return writer.take();
}

}  // namespace torch_ir

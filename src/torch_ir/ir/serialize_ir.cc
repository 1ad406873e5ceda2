#include <algorithm>
#include <array>
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
    writer.list(std::array{value.real(), value.imag()},
                [&](double part) { writer.floating(part); });
  }
  void operator()(const std::string& value) const { writer.string(value); }
  void operator()(c10::ScalarType value) const { writer.string(dtype_name(value)); }
  void operator()(c10::Layout value) const { writer.string(layout_name(value)); }
  void operator()(c10::MemoryFormat value) const { writer.string(memory_format_name(value)); }
  void operator()(c10::Device value) const { writer.string(value.str()); }
  void operator()(const ValueRef& value) const {
    writer.begin_object();
    writer.key("value").string(value.name);
    writer.end_object();
  }
  void operator()(const Attribute::List& items) const {
    writer.list(items, [&](const Attribute& item) { std::visit(*this, item.value()); });
  }
};

class IRWriter {
 public:
  std::string write(const IR& ir) && {
    out_.begin_object();
    if (format_version(ir) != 1) out_.key("format_version").integer(format_version(ir));
    out_.key("model_name").string(ir.model_name);
    out_.key("pytorch_version").string(ir.pytorch_version);
    write_signature(ir);
    write_tensors("weights", ir.weights);
    out_.key("weight_name_mapping").begin_object();
    for (const auto& item : ir.weight_name_mapping) out_.key(item.key()).string(item.value());
    out_.end_object();
    if (!ir.constant_inputs.empty()) write_attributes("constant_inputs", ir.constant_inputs);
    write_range_constraints(ir.range_constraints);
    write_nodes(ir.nodes);
    write_constants(ir.constants);
    out_.end_object();
    return out_.take();
  }

 private:
  void write_attribute(const Attribute& attribute) {
    std::visit(AttributeWriter{out_}, attribute.value());
  }

  void write_attributes(std::string_view key, const AttributeMap& attributes) {
    out_.key(key).begin_object();
    for (const auto& [name, value] : attributes) {
      out_.key(name);
      write_attribute(value);
    }
    out_.end_object();
  }

  void write_shape(const TensorMeta& tensor) {
    out_.begin_list();
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      const bool is_symbolic = !tensor.symbolic_shape.empty() && !tensor.symbolic_shape[i].empty();
      if (is_symbolic) {
        out_.string(tensor.symbolic_shape[i]);
      } else {
        out_.integer(tensor.shape[i]);
      }
    }
    out_.end_list();
  }

  // A member that is there only where it says something.
  void write_text(std::string_view key, const std::string& text) {
    if (!text.empty()) out_.key(key).string(text);
  }

  void write_tensor(const TensorMeta& tensor) {
    out_.begin_object();
    out_.key("name").string(tensor.name);
    out_.key("shape");
    write_shape(tensor);
    out_.key("dtype").string(tensor.dtype);
    if (tensor.producer_node) out_.key("producer_node").string(*tensor.producer_node);
    if (tensor.producer_node || tensor.producer_output_idx != 0) {
      out_.key("producer_output_idx").integer(tensor.producer_output_idx);
    }
    write_text("arg", tensor.arg);
    if (tensor.is_scalar) out_.key("scalar").boolean(true);
    write_text("expression", tensor.expression);
    write_text("mutates", tensor.mutates);
    out_.end_object();
  }

  void write_tensors(std::string_view key, const std::vector<TensorMeta>& tensors) {
    out_.key(key).list(tensors, [&](const TensorMeta& tensor) { write_tensor(tensor); });
  }

  void write_signature(const Graph& graph) {
    write_tensors("graph_inputs", graph.graph_inputs);
    write_tensors("graph_outputs", graph.graph_outputs);
    if (graph.constant_outputs.empty()) return;
    out_.key("constant_outputs").list(graph.constant_outputs, [&](const ConstantOutput& output) {
      out_.begin_object();
      out_.key("index").integer(output.index);
      out_.key("value");
      write_attribute(output.value);
      out_.end_object();
    });
  }

  void write_nodes(const std::vector<OpNode>& nodes) {
    out_.key("nodes").list(nodes, [&](const OpNode& node) { write_node(node); });
  }

  void write_node(const OpNode& node) {
    out_.begin_object();
    out_.key("name").string(node.name);
    out_.key("op_type").string(node.op_type);
    write_tensors("inputs", node.inputs);
    write_tensors("outputs", node.outputs);
    write_attributes("attrs", node.attrs);
    if (!node.graphs.empty()) {
      out_.key("graphs").list(node.graphs, [&](const Graph& graph) {
        out_.begin_object();
        write_signature(graph);
        write_nodes(graph.nodes);
        out_.end_object();
      });
    }
    out_.end_object();
  }

  void write_range_constraints(const std::vector<SymbolRange>& ranges) {
    if (ranges.empty()) return;
    out_.key("range_constraints").begin_object();
    for (const SymbolRange& range : ranges) {
      out_.key(range.expression).list(std::array{range.min, range.max}, [&](const auto& limit) {
        limit ? out_.integer(*limit) : out_.null();
      });
    }
    out_.end_object();
  }

  void write_constants(const StateDict& constants) {
    if (constants.is_empty()) return;
    out_.key("constants").begin_object();
    for (const auto& item : constants) {
      out_.key(item.key());
      write_constant(item.key(), item.value(), out_);
    }
    out_.end_object();
  }

  JsonWriter out_;
};

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

std::string serialize_ir(const IR& ir) { return IRWriter().write(ir); }

}  // namespace torch_ir

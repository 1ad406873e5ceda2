#include "torch_ir/exporter/pt2/graph_builder.h"

#include <fmt/format.h>

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// A number is what no operator changes.
constexpr const char* kIdentityOfNumbers = "_operator.pos";

ValueMeta number_meta(const Attribute& value) {
  ValueMeta meta;
  meta.is_scalar = true;
  if (value.get_if<bool>() != nullptr) {
    meta.dtype = c10::ScalarType::Bool;
  } else if (value.get_if<double>() != nullptr) {
    meta.dtype = c10::ScalarType::Double;
  } else if (value.get_if<int64_t>() != nullptr) {
    meta.dtype = c10::ScalarType::Long;
  } else {
    throw ExportError(
        kNotSupported,
        "a control flow operator is given a value that is neither a tensor nor a number");
  }
  return meta;
}

}  // namespace

std::string GraphBuilder::new_name(const std::string& wanted) {
  if (taken_.insert(wanted).second) return wanted;
  int& number = next_number_[wanted];
  for (;;) {
    std::string name = fmt::format("{}_{}", wanted, ++number);
    if (taken_.insert(name).second) return name;
  }
}

void GraphBuilder::add_input(InputKind kind, const std::string& name, const std::string& target,
                             const ValueMeta& meta) {
  define(name, meta);
  producers_.insert(name);
  graph_.inputs.push_back({kind, name, target});
}

void GraphBuilder::add_node(ExportedNode node, const std::vector<ValueMeta>& metas) {
  if (!producers_.insert(node.name).second) {
    throw ExportError(
        fmt::format("there are two nodes or inputs called '{}'", printable(node.name)));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) define(node.outputs[i], metas[i]);
  node.origin = origin_;
  graph_.nodes.push_back(std::move(node));
}

std::string GraphBuilder::add_value(const std::string& wanted, const std::string& target,
                                    std::vector<ExportedArgument> arguments,
                                    const ValueMeta& meta) {
  const std::string name = new_name(wanted);
  add_node({name, target, std::move(arguments), {name}}, {meta});
  return name;
}

std::string GraphBuilder::add_number(const std::string& wanted, const Attribute& value) {
  return add_value(wanted, kIdentityOfNumbers, {{"a", value}}, number_meta(value));
}

void GraphBuilder::add_output(const Attribute& value) {
  const size_t index = graph_.outputs.size() + graph_.constant_outputs.size();
  graph_.constant_outputs.push_back({static_cast<int64_t>(index), value});
}

const ValueMeta* GraphBuilder::find(const std::string& name) const {
  const auto value = graph_.values.find(name);
  return value == graph_.values.end() ? nullptr : &value->second;
}

void GraphBuilder::define(const std::string& name, const ValueMeta& meta) {
  taken_.insert(name);
  if (!graph_.values.emplace(name, meta).second) {
    throw ExportError(fmt::format("there are two values called '{}'", printable(name)));
  }
}

}  // namespace torch_ir

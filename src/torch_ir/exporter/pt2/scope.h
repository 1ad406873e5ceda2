// Names of one archive graph, and what they stand for in the graph that is being built.
//
// The outermost graph keeps its names. A graph that is inlined has its own ones, which may be the
// same as others around it: its inputs stand for the operands, the rest is named anew.
#pragma once

#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/exporter/pt2/graph_builder.h"
#include "torch_ir/exporter/pt2/serialized_graph.h"

namespace torch_ir {

// A value of the graph that is being built, or fixed.
using Operand = std::variant<ValueRef, Attribute>;

class Scope {
 public:
  enum class Names { kKept, kRenamed };

  // `graph` must outlive the scope.
  Scope(const SerializedGraph& graph, Names names) : graph_(graph), names_(names) {}

  const SerializedGraph& graph() const { return graph_; }

  // From now on `name` stands for `operand`. Throws ExportError when it stands for something
  // already.
  void bind(const std::string& name, Operand operand);
  // What the value called `name` is to be called when it is made; the first wish counts.
  void wish(const std::string& name, const std::string& wanted) { wishes_.emplace(name, wanted); }
  // What the value or node called `name` will be called in the graph that `builder` builds.
  std::string new_name(const std::string& name, GraphBuilder& builder) const;

  // What `name` stands for. Throws ExportError when nothing before has made it.
  const Operand& find(const std::string& name) const;
  // What the archive says about the value. Throws ExportError when it says nothing.
  const ValueMeta& meta(const std::string& name) const;

  Attribute resolve(const Attribute& attribute) const;
  // What an argument stands for that may be one value. Throws ExportError for lists, graphs and
  // operators.
  Operand resolve_one(const SerializedValue& value) const;
  // The members of a list of values: tensors, numbers or both.
  std::vector<Operand> resolve_list(const SerializedValue& value) const;

 private:
  const SerializedGraph& graph_;
  Names names_;
  std::unordered_map<std::string, Operand> operands_;
  std::unordered_map<std::string, std::string> wishes_;
};

}  // namespace torch_ir

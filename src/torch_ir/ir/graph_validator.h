// GraphValidator: what is wrong with the nodes and values of one graph.
//
// Used by validate.cc: once for the IR, which first declares its placeholders and weights, and by
// itself for the graphs of control flow nodes.
#pragma once

#include <c10/util/FunctionRef.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/name_index.h"

namespace torch_ir {

// What one part of a graph says about a value, against how it is declared: "has shape [1], but is
// made with shape [2]". Nothing when they agree.
std::optional<std::string> disagreement(const TensorMeta& use, const TensorMeta& declaration);

class GraphValidator {
 public:
  // Problems are appended to `problems`, each behind `prefix`. `graph` must outlive the validator.
  GraphValidator(const Graph& graph, std::string prefix, std::vector<std::string>& problems)
      : graph_(graph), prefix_(std::move(prefix)), problems_(problems) {}

  // Adds a problem, as one line whatever the names in it are.
  template <class... Args>
  void report(fmt::format_string<Args...> format, Args&&... args) {
    add_problem(fmt::format(format, std::forward<Args>(args)...));
  }

  // Checks a declaration by itself; `what` says what it is, when that is needed.
  void check_meta(const TensorMeta& meta, c10::function_ref<std::string()> what);
  // Makes `name` a value that nodes can use, declared as `meta` says (null: not to be compared).
  // False when there is one of that name.
  bool declare(std::string_view name, const TensorMeta* meta);
  // Makes `weight` known under its own name, for uses of names that nothing else has.
  bool declare_weight(const TensorMeta& weight);

  // Declares the inputs; before anything else.
  void check_inputs();
  // Everything else.
  void check_nodes_and_outputs();

 private:
  // What a name stands for so far. Many, so kept small.
  struct Name {
    // Of a value that nodes can use; null when it is not to be compared.
    const TensorMeta* declaration = nullptr;
    // Of what `producer_node` can name: the declarations of a node's outputs, or of a graph input.
    const TensorMeta* outputs = nullptr;
    uint32_t num_outputs = 0;
    bool is_value = false;
    bool is_producer = false;
  };
  // An operator that this process knows.
  struct Operator {
    explicit Operator(const c10::FunctionSchema& known);

    const c10::FunctionSchema& schema;
    OperatorBinder binder;
    bool returns_list;
  };
  // A place where a value is used: an input of a node, or, without a node, an output of the graph.
  struct Use {
    const TensorMeta& tensor;
    const OpNode* node;
  };

  void add_problem(const std::string& problem);
  void check_input_sizes(const TensorMeta& input);
  static std::string text(const Use& use);
  Name& name_entry(std::string_view name);
  const Name* find_name(std::string_view name) const;
  bool add_producer(std::string_view name, const TensorMeta* outputs, size_t num_outputs);
  const OpNode* node_called(std::string_view name);
  const OpNode* maker_of(std::string_view output);
  void index_nodes();
  void check_node(size_t index);
  void check_use(const Use& use);
  const TensorMeta* find_produced(const Use& use);
  const TensorMeta* find_named(const Use& use);
  void check_output(const TensorMeta& output);
  void check_constant_outputs();
  void check_operator(const OpNode& node);
  void check_references(const OpNode& node);
  void check_arguments(const OpNode& node, Operator& op);
  void check_num_outputs(const OpNode& node, const Operator& op);
  void check_getitem(const OpNode& node);
  void check_graphs(const OpNode& node);
  void check_cond(const OpNode& node);
  void check_while_loop(const OpNode& node);
  void check_carried(const OpNode& node, const char* what, const std::vector<TensorMeta>& given,
                     size_t first, const std::vector<TensorMeta>& expected);
  Operator* find_operator(const std::string& op_type);

  const Graph& graph_;
  std::string prefix_;
  std::vector<std::string>& problems_;
  std::unordered_map<std::string_view, const TensorMeta*> weights_;
  // What nodes can use so far.
  NameIndex name_index_;
  std::vector<Name> names_;
  // By op_type; empty for those that this process does not know.
  std::unordered_map<std::string_view, std::optional<Operator>> operators_;
  // All nodes, by their names and by those of their outputs, once a problem asks for them.
  bool is_indexed_ = false;
  std::unordered_map<std::string_view, const OpNode*> node_names_;
  std::unordered_map<std::string_view, const OpNode*> maker_of_output_;
};

}  // namespace torch_ir

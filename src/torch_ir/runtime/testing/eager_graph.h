// EagerGraph: for tests, an IR recorded while its operators run eagerly.
//
// Each call runs at once, by the dispatcher, on values given by the test, and becomes a node, so
// that tests can compare the plan of the IR with eager results bit for bit.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/runtime/execution_plan.h"
// For same_bits, which tests compare with.
#include "torch_ir/ir/attribute.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/runtime/graph/memory_overlap.h"

namespace torch_ir {

struct V {
  std::string name;
};
using VList = std::vector<std::optional<V>>;

// An argument: the default, a value, a list of values, or an attribute.
using EagerArgument = std::variant<std::monostate, V, VList, Attribute>;

class EagerGraph {
 public:
  V input(const std::string& name, const at::Tensor& tensor);
  // Its placeholder is "p_" and the name.
  V weight(const std::string& name, const at::Tensor& tensor);

  // Calls the operator with the arguments of its schema; missing ones at the end take their
  // defaults. The nodes are named "n0", "n1", ...
  std::vector<V> call(const std::string& op_type, std::vector<EagerArgument> arguments);
  V call1(const std::string& op_type, std::vector<EagerArgument> arguments);

  void output(const V& value);

  const at::Tensor& value(const V& value) const { return values_.at(value.name); }
  std::vector<at::Tensor> expected() const;

  // That of `ir`.
  std::shared_ptr<const Program> program() const;
  // Compiles it.
  ExecutionPlan plan(const ExecutionOptions& options = {}) const {
    return compile(ir, weights, StateDict(), options);
  }
  // Without expected outputs.
  Case as_case() const { return {.program = program(), .weights = weights, .inputs = inputs}; }

  // The graph with its weights and inputs, as the test gave them, whatever the calls wrote.
  IR ir;
  StateDict weights = StateDict();
  std::vector<at::Tensor> inputs;

 private:
  void define(const TensorMeta& meta, const at::Tensor& tensor);

  std::unordered_map<std::string, at::Tensor> values_;
  std::unordered_map<std::string, TensorMeta> metas_;
};

// One linear layer, of the input "x" [2, 4], "linear.weight" [3, 4] and "linear.bias" [3].
EagerGraph linear_graph();

// The message of the ExecutionError that `action`, or a run, throws; "no error" if it throws none.
std::string execution_error(const std::function<void()>& action);
std::string run_error(const ExecutionPlan& plan, const std::vector<at::Tensor>& inputs);

// Compiles and runs `graph` twice. Reports differences from eager, and changed inputs or weights.
std::string difference_from_eager(const EagerGraph& graph);

ExecutionPlan fast_plan(const EagerGraph& graph);

std::vector<std::string> calls_at_fast(const EagerGraph& graph);

// Reports the fault of the output at `index`, which is not within 1e-4 of eager; empty if it is
// acceptable.
using SecondJudge =
    std::function<std::string(const std::vector<at::Tensor>& outputs, size_t index)>;

// Runs three times: the first run traces, the others replay on the same memory. Reports outputs
// with another layout than eager's, or neither within 1e-4 of it nor accepted by `judge`.
std::string difference_at_fast(const EagerGraph& graph, const SecondJudge& judge = nullptr);

}  // namespace torch_ir

// Lanes: two walks through a program, side by side, with which the values of a run are compared.
//
// `exact` computes each node in float64. `eager` calls its operator, and rounds as an arithmetic
// does. Both take over what the run returned, so that what follows starts from what the run had.
// Other values stay the lanes' own; only decisions (steps, indices, masks, jumps) of the exact lane
// are the eager lane's, since float64 may decide otherwise, and all that follows would differ.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "torch_ir/runtime/graph/lowered_graph.h"
#include "torch_ir/runtime/interpreter/run.h"
#include "torch_ir/verifier/arithmetic.h"
#include "torch_ir/verifier/float64_graph.h"

namespace torch_ir {

// One walk. A copy goes on by itself: what the graph writes to is copied too.
class Lane {
 public:
  // `is_wide`: the graph is in float64. Throws as NodeRun.
  Lane(const Case& graph_case, bool is_wide);
  Lane(const Lane& other);
  Lane(Lane&&) = default;
  Lane& operator=(const Lane&) = delete;
  Lane& operator=(Lane&&) = default;
  ~Lane() = default;

  const LoweredGraph& graph() const { return *graph_; }
  size_t next_node() const { return run_->next_step(); }
  void advance();
  // Goes past the next node as if it had made `values`, None in place of numbers.
  void skip(const std::vector<c10::IValue>& values) { run_->skip(values); }

  // A value of the last node, an input or constant, or, at the end, an output; numbers as tensors.
  // Undefined for None.
  at::Tensor value(ValueId id) const;

  // Replaces a value of the last node, keeping its dtype. Numbers stay as they are, and so do
  // values of another shape in memory that the graph writes to.
  void replace(ValueId id, const at::Tensor& value);

 private:
  std::shared_ptr<const LoweredGraph> graph_;
  bool is_wide_;
  std::unique_ptr<StepRun> run_;
};

class Lanes {
 public:
  // `inside` are the names of the values inside groups, which the eager lane does not round.
  Lanes(const Float64Case& exact, const Case& eager, std::optional<Arithmetic> arithmetic,
        const std::vector<std::string>& inside);

  size_t next_node() const { return eager_.next_node(); }
  // Computes the next node. The exact lane does so only when it is asked for a value, or when the
  // run did not return the eager lane's, bit for bit.
  void advance();
  // Ends the last node: values that were not taken over are rounded, and decisions are made equal.
  // advance() does so first.
  void settle();

  // As Lane::value.
  at::Tensor exact(ValueId id);
  at::Tensor eager(ValueId id) const { return eager_.value(id); }
  // Both go on with a value of the last node, or only the eager lane does.
  void take_over(ValueId id, const at::Tensor& returned);
  void replace_eager(ValueId id, const at::Tensor& value) { eager_.replace(id, value); }

  // Why the exact lane says nothing about a value: a node that it could not compute, or that draws
  // random numbers, and no returned value since. Empty if it does.
  std::string doubt(ValueId id) const;

  // The greatest magnitude among the values that one of the last node was made of, as far as the
  // run has not returned them, and those that these were made of.
  double greatest_below(ValueId id);

  // If the last node rounds or picks indices: what it read, in the eager lane; the first of it in
  // float64; and the greatest difference between both.
  const std::vector<at::Tensor>& read() const { return read_; }
  const at::Tensor& exact_source() const { return exact_source_; }
  double source_error() const;

 private:
  const Program& program() const { return *eager_.graph().program; }
  void compute_exact();
  void skip_exact();
  bool can_skip_exact() const;
  bool returned_as_eager(const Node& node) const;
  void make_equal(const Node& node, ValueId output);
  std::string doubt_of(const Node& node) const;

  std::shared_ptr<const std::map<size_t, std::string>> obstacles_;
  std::optional<Arithmetic> arithmetic_;
  std::vector<bool> is_inside_;
  Lane exact_;
  Lane eager_;
  // Of the last node.
  bool is_settled_ = true;
  bool is_pending_ = false;
  std::string obstacle_;
  std::unordered_set<ValueId> returned_;
  // Those that were the eager lane's, bit for bit.
  std::unordered_set<ValueId> equal_;
  std::vector<at::Tensor> read_;
  at::Tensor exact_source_;
  // By ValueId: the doubts, and the greatest magnitude of a value, and if it was not returned, of
  // those below it.
  std::vector<std::string> doubts_;
  std::vector<double> greatest_;
};

// The greatest finite magnitude; 0 without any, and of whole numbers, whose size makes no rounding.
double greatest_finite(const at::Tensor& tensor);

// The greatest error of each expected output of the case against the exact lane, over the greatest
// value; nothing where that lane says nothing. Never throws.
std::vector<std::optional<double>> float64_distances(const Case& graph_case);

}  // namespace torch_ir

// Float64Run: computes the values of a graph in float64, and tells which of them cannot be
// compared.
//
// Each node of the widened graph (in_float64) calls its operator through the dispatcher. If a graph
// makes decisions by floating-point values (an index, a mask, a rounding), float64 may decide
// otherwise, and all later values then differ. To detect this, the original graph runs too, unless
// no node decides.
//
// While a run advances, the default dtype of this process is float64.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/typeid.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "torch_ir/runtime/graph/case.h"

namespace torch_ir {

// float64 for floating-point dtypes, complex128 for complex ones. Others stay unchanged, also
// float8, whose values are steps like those of int8 (rounding.h).
c10::ScalarType in_float64(c10::ScalarType dtype);

// Changes the dtypes of values, weights, constants and arguments, also in the graphs of control
// flow. Casts to smaller dtypes thus disappear, which leaves the arithmetic that the graph means.
// Throws Error, naming the node, if float64 would mean something else: bits reinterpreted as
// another dtype, quantized values, results that are properties of the dtype.
Program in_float64(const Program& program);

// Keeps strides and shared memory. Throws Error if tensors share memory under several dtypes.
// Tensors that need no conversion are not copied.
std::vector<at::Tensor> in_float64(const std::vector<at::Tensor>& tensors);

// The graph in float64 with its tensors, without expected outputs. Throws Error also if the weights
// are too large.
Case in_float64(const Case& graph_case);

// Makes new floating-point tensors float64 unless a dtype is given.
class DefaultDtypeGuard {
 public:
  DefaultDtypeGuard();
  ~DefaultDtypeGuard();
  DefaultDtypeGuard(const DefaultDtypeGuard&) = delete;
  DefaultDtypeGuard& operator=(const DefaultDtypeGuard&) = delete;

 private:
  const caffe2::TypeMeta before_;
};

class Float64Run {
 public:
  // Never throws: a failure becomes a doubt about all values.
  explicit Float64Run(const Case& graph_case);
  ~Float64Run();
  Float64Run(const Float64Run&) = delete;
  Float64Run& operator=(const Float64Run&) = delete;

  // As NodeRun::value, but undefined instead of throwing.
  at::Tensor value(const std::string& name);

  // The outputs of the graph, after running it to its end; empty on failure.
  std::vector<at::Tensor> outputs();

  // Why a value, or a graph input, must not be compared, one line: "node 'argmax'
  // (aten.argmax.default) decides differently in float64". Empty if it may. Call value() first.
  std::string doubt(const std::string& name) const;

  // Whether the only reason is a node that rounds differently in float64 (rounding.h), so that a
  // right value may be some steps away from eager's.
  bool may_round_otherwise(const std::string& name) const;

 private:
  struct State;
  // The result of `get`; empty if the run has failed, or fails in it.
  template <class Result>
  Result unless_failed(const std::function<Result(State&)>& get);

  std::unique_ptr<State> state_;
  // Why there is no run, or why it failed.
  std::string failure_;
};

}  // namespace torch_ir

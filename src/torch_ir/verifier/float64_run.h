// Float64Run: the values of a graph in float64, and where they can not be compared.
//
// For those who ask how far a result is from what the arithmetic means. Each node calls its
// operator through the dispatcher, on in_float64 of the graph. Where a graph decides by floating
// point values (an index, a mask, a rounding), float64 may decide otherwise, and everything behind
// is then another computation: a run of the graph as it is goes beside and tells. It is left out
// where no node decides.
//
// While a run advances, the default dtype of this process is float64.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

// --- Graphs and tensors as they would be if all of them were computed in float64 ---
//
// Dtypes are all that changes: every float16, bfloat16 and float32 becomes float64, complex numbers
// complex128, in values, weights, constants and dtype arguments, also of the graphs of control
// flow. Integers and booleans stay what they are. Casts down to a smaller dtype are so taken out:
// what is left is the arithmetic that the graph means.

// float64 for floating point, complex128 for complex numbers, others as they are.
c10::ScalarType in_float64(c10::ScalarType dtype);

// Throws Error, naming the node, where float64 would mean something else: bits taken for another
// dtype, quantized values, results that are properties of the dtype.
IR in_float64(const IR& ir);

// With the strides of the originals; those that share memory share it still. Throws Error where
// they share it under several dtypes. Tensors that need no conversion are not copied.
std::vector<at::Tensor> in_float64(const std::vector<at::Tensor>& tensors);

class Float64Run {
 public:
  // Throws nothing: what stands in the way is a doubt about all values. `ir` outlives the run;
  // weights are found as in compile.
  Float64Run(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs);
  ~Float64Run();
  Float64Run(const Float64Run&) = delete;
  Float64Run& operator=(const Float64Run&) = delete;

  // As NodeRun::value, but throws nothing. Undefined where there is none.
  at::Tensor value(const std::string& name);

  // What the graph gives, after a run to its end; empty where that failed.
  std::vector<at::Tensor> outputs();

  // Why what is there of a value, a graph input included, must not be compared with, one line:
  // "node 'argmax' (aten.argmax.default) decides otherwise in float64". Empty where it may. To be
  // asked for after the value.
  std::string doubt(const std::string& name) const;

 private:
  struct State;
  // What `get` gives; empty where the run has failed, or fails in it.
  template <class Result>
  Result unless_failed(const std::function<Result(State&)>& get);

  std::unique_ptr<State> state_;
  // Why there is no run, or how it ended.
  std::string failure_;
};

}  // namespace torch_ir

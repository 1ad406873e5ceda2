// Makes graphs for the tests of verdicts.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/runtime/testing/eager_graph.h"
#include "torch_ir/verifier/testing/tensors.h"

namespace torch_ir {

struct ChainedCall {
  std::string op_type;
  // Its arguments after the first.
  std::vector<EagerArgument> others = {};
};

// Of the input "x": each call gets the value of the one before it, and the last makes the output.
inline EagerGraph chain(const at::Tensor& x, const std::vector<ChainedCall>& calls) {
  EagerGraph graph;
  V value = graph.input("x", x);
  for (const ChainedCall& call : calls) {
    std::vector<EagerArgument> arguments = {value};
    arguments.insert(arguments.end(), call.others.begin(), call.others.end());
    value = graph.call1(call.op_type, arguments);
  }
  graph.output(value);
  return graph;
}

// `direction`: "quantize" or "dequantize".
inline V in_int8(EagerGraph& graph, const std::string& direction, const V& value, double scale,
                 int64_t zero_point = 0) {
  return graph.call1("quantized_decomposed." + direction + "_per_tensor.default",
                     {value, Attribute(scale), Attribute(zero_point), Attribute(-128),
                      Attribute(127), Attribute(at::kChar)});
}

}  // namespace torch_ir

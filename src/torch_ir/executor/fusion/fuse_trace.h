// fuse_trace: what the optimization level `fast` does to a trace, with oneDNN.
//
// Calls of operators become calls of oneDNN's primitives: convolutions and linear layers with
// weights that are packed beforehand, with the batch norm, additions and activations after them in
// one call, and what lies between them in the layouts that they are fastest with. In a trace all
// shapes are known and all constants are there. What oneDNN does not have, or not faster, stays as
// it is. Called by Replays, before memory is planned, where running_level is fast.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

// Weights that were folded or packed, shared by the traces of one plan.
class PackedWeights {
 public:
  // What `make` gave when it was first asked for `key`. The addresses of `sources` are part of the
  // key, so they are kept.
  at::Tensor find_or_make(const std::string& key, const std::vector<at::Tensor>& sources,
                          const std::function<at::Tensor()>& make);

  // Lets go of what no trace has any more.
  void forget_unused();

 private:
  struct Entry {
    std::vector<at::Tensor> sources;
    at::Tensor packed;
  };
  std::unordered_map<std::string, Entry> entries_;
};

void fuse_trace(Trace& trace, PackedWeights& weights);

}  // namespace torch_ir

// fuse_trace: optimizes a trace with oneDNN and kernels of our own, for the optimization level
// `fast`.
//
// Convolutions and linear layers get prepacked weights and absorb the batch norms, additions and
// activations after them; calls between them keep the layouts that they are fastest with. Calls
// that neither makes faster stay as they are. Replays calls it before memory is
// planned.
#pragma once

#include <ATen/core/Tensor.h>

#include <exception>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/runtime/trace/trace.h"

namespace torch_ir {

class PackedWeights {
 public:
  // Returns what `make` gave for the first call with `key`. Keeps `sources`, as their addresses are
  // part of the key.
  at::Tensor find_or_make(const std::string& key, const std::vector<at::Tensor>& sources,
                          const std::function<at::Tensor()>& make);

  // Drops weights that no trace uses any more.
  void forget_unused();

 private:
  struct Entry {
    std::vector<at::Tensor> sources;
    at::Tensor packed;
  };
  std::unordered_map<std::string, Entry> entries_;
};

// Thrown by a call that meets values for which only eager's arithmetic is right: NaN, infinities
// and numbers above 2^40.
struct NeedsExact : std::exception {};

void fuse_trace(Trace& trace, PackedWeights& weights);

}  // namespace torch_ir

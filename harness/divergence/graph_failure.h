// GraphFailure: how a graph, or a part of one, fails, and the check that says it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

// How a graph fails.
struct GraphFailure {
  // The first output that is wrong, and its tolerance; for an error, the last output.
  std::string output = {};
  Tolerance tolerance = {};
  // One line.
  std::string message = {};
  // Whether it is an error, and not a wrong value.
  bool threw = false;
  // How an executor's command ended that failed: "exited with status 3".
  std::string command_end = {};
};

// Runs a graph, or a part of one, and says how it fails. Outputs of which `expected` says nothing,
// undefined or empty as it may be, are not compared.
using GraphCheck = std::function<std::optional<GraphFailure>(
    const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
    const std::vector<at::Tensor>& expected, const RunSettings& settings)>;

// By `backend`, in this process, with the seed of the settings; outputs are compared by their
// tolerance, or by float64 where that is the reference. Throws OutputError only.
GraphCheck check_on(Backend& backend);

}  // namespace torch_ir

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/executor/interpreter/step.h"

namespace torch_ir {
namespace {

bool decides_true(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().item<bool>();
  if (value.isBool()) return value.toBool();
  throw ExecutionError("a bool has to decide, not " + value.tagKind());
}

void run_cond(const std::vector<LoweredGraph>& graphs, Stack& stack, GraphRunner run_graph) {
  const bool is_true = decides_true(stack.at(0));
  // A copy, so that a failure can still say what the arguments were.
  Stack operands(stack.begin() + 1, stack.end());
  stack = run_graph(graphs[is_true ? 0 : 1], std::move(operands));
}

bool same_bits(const c10::IValue& a, const c10::IValue& b) {
  if (a.isTensor() != b.isTensor()) return false;
  if (!a.isTensor()) return a == b;
  const at::Tensor& left = a.toTensor();
  const at::Tensor& right = b.toTensor();
  if (left.scalar_type() != right.scalar_type() || left.sizes() != right.sizes()) return false;
  const at::Tensor left_bytes = left.contiguous();
  const at::Tensor right_bytes = right.contiguous();
  return left_bytes.nbytes() == 0 ||
         std::memcmp(left_bytes.const_data_ptr(), right_bytes.const_data_ptr(),
                     left_bytes.nbytes()) == 0;
}

// Notices that a loop is where it was before, and so never ends. Keeps the values of an iteration
// whose number is a power of two and compares those that follow with them (Brent's algorithm).
class CycleDetector {
 public:
  void check(const Stack& carried) {
    if (++iteration_ < kFirst) return;
    const bool is_at_power = (iteration_ & (iteration_ - 1)) == 0;
    if (!is_at_power && std::ranges::equal(carried, kept_, same_bits)) {
      throw ExecutionError("the loop never ends: after " + std::to_string(iteration_) +
                           " iterations its values are what they were before");
    }
    if (is_at_power) kept_ = carried;
  }

 private:
  // Shorter loops are not worth the comparisons.
  static constexpr uint64_t kFirst = 1024;
  uint64_t iteration_ = 0;
  Stack kept_;
};

void run_while_loop(const std::vector<LoweredGraph>& graphs, Stack& stack, GraphRunner run_graph) {
  const LoweredGraph& condition = graphs[0];
  const LoweredGraph& body = graphs[1];
  const size_t num_carried = body.outputs.size();
  CycleDetector cycles;
  while (decides_true(run_graph(condition, stack).at(0))) {
    Stack carried = run_graph(body, stack);
    cycles.check(carried);
    std::ranges::move(carried, stack.begin());
  }
  stack.resize(num_carried);
}

}  // namespace

void run_control_flow(const ControlFlowCall& call, Stack& stack, GraphRunner run_graph) {
  const auto run = call.kind == ControlFlow::kCond ? run_cond : run_while_loop;
  run(call.graphs, stack, run_graph);
}

}  // namespace torch_ir

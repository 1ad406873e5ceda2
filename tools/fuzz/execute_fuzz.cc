// Any text that parses as an IR is either rejected, or runs with weights and inputs as it declares
// them: twice, once traced and once replayed, at either level.
#include <ATen/ops/arange.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "tools/fuzz/fuzzing.h"
#include "torch_ir/base/error.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/execution_plan.h"

namespace {

using torch_ir::StateDict;
using torch_ir::TensorMeta;

// Limits of a tensor made here, and of one allocation by a graph.
constexpr int64_t kMaxElements = 1 << 14;
constexpr size_t kMaxBytes = size_t{64} << 20;

// Simulates a machine with little memory, so that large valid allocations are not findings.
class SmallMemory : public c10::Allocator {
 public:
  explicit SmallMemory(c10::Allocator* memory) : memory_(memory) {}

  c10::DataPtr allocate(size_t size) override {
    TORCH_CHECK(size <= kMaxBytes, "not enough memory for ", size, " bytes");
    return memory_->allocate(size);
  }
  c10::DeleterFnPtr raw_deleter() const override { return memory_->raw_deleter(); }
  void copy_data(void* target, const void* source, size_t size) const override {
    memory_->copy_data(target, source, size);
  }

 private:
  c10::Allocator* memory_;
};

// Small numbers, which are also valid indices.
at::Tensor make_tensor(const TensorMeta& meta) {
  constexpr int64_t kSize = 3;
  std::vector<int64_t> shape = meta.shape;
  std::ranges::replace(shape, torch_ir::kDynamicSize, kSize);
  int64_t num_elements = 1;
  for (const int64_t size : shape) {
    if (size > kMaxElements || (num_elements *= std::max<int64_t>(size, 1)) > kMaxElements) {
      throw torch_ir::Error("too large for the fuzz test");
    }
  }
  if (std::ranges::count(shape, 0) > 0) num_elements = 0;
  const auto dtype = torch_ir::find_dtype(meta.dtype);
  try {
    return at::arange(num_elements).remainder(kSize).reshape(shape).to(*dtype);
  } catch (const c10::Error&) {
    throw torch_ir::Error("cannot make numbers of this dtype");
  }
}

void run(const torch_ir::IR& ir, torch_ir::Optimization optimization) {
  torch_ir::validate_ir(ir);
  StateDict weights;
  for (const TensorMeta& weight : ir.weights) {
    if (!ir.constants.contains(weight.name)) weights.insert(weight.name, make_tensor(weight));
  }
  std::vector<at::Tensor> inputs;
  for (const TensorMeta& input : ir.graph_inputs) inputs.push_back(make_tensor(input));
  torch_ir::ExecutionOptions options;
  options.optimization = optimization;
  const torch_ir::ExecutionPlan plan = torch_ir::compile(ir, weights, StateDict(), options);
  (void)plan.run(inputs);
  (void)plan.run(inputs);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Before all other allocations, until the end of the process.
  c10::SetCPUAllocator(new SmallMemory(c10::GetCPUAllocator()), /*priority=*/100);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  torch_ir::expect_result_or_error([&] {
    const torch_ir::IR ir = torch_ir::deserialize_ir(torch_ir::input_text(data, size));
    using torch_ir::Optimization;
    run(ir, size % 2 == 0 ? Optimization::kExact : Optimization::kFast);
  });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return torch_ir::mutate_input(data, size, max_size, seed, torch_ir::mutate_json);
}

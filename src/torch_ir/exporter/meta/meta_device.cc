#include "torch_ir/exporter/meta/meta_device.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "torch_ir/exporter/meta/meta_kernels.h"
#include "torch_ir/operators/dispatch_mode.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

thread_local int num_active_guards = 0;

class MetaDeviceMode : public DispatchMode {
 public:
  void call(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) override {
    const c10::FunctionSchema& schema = op.schema();
    const std::optional<int> index = schema.argumentIndexWithName("device");
    if (!index) return op.callBoxed(stack);
    c10::IValue& device =
        torch::jit::peek(*stack, static_cast<size_t>(*index), schema.arguments().size());
    if (std::ranges::any_of(schema.arguments(), holds_tensors, &c10::Argument::type)) {
      return call_conversion(op, stack, device);
    }
    if (device.isNone()) {
      device = c10::Device(c10::kMeta);
      return op.callBoxed(stack);
    }
    op.callBoxed(stack);
    if (stack->back().isTensor()) explicit_tensors_.push_back(stack->back().toTensor());
  }

 private:
  // torch::tensor(...) fills a tensor on an explicit CPU device, then moves it to the requested
  // device, by default the CPU. That last step goes to meta here.
  void call_conversion(const c10::OperatorHandle& op, torch::jit::Stack* stack,
                       c10::IValue& device) {
    const c10::IValue& self = torch::jit::peek(*stack, 0, op.schema().arguments().size());
    if (op.schema().name() == "aten::to" && self.isTensor()) {
      const auto made_here = std::ranges::find_if(explicit_tensors_, [&](const at::Tensor& tensor) {
        return tensor.is_same(self.toTensor());
      });
      if (made_here != explicit_tensors_.end()) {
        explicit_tensors_.erase(made_here);
        device = c10::Device(c10::kMeta);
      }
    }
    op.callBoxed(stack);
  }

  std::vector<at::Tensor> explicit_tensors_;
};

}  // namespace

struct MetaDeviceGuard::State {
  MetaDeviceMode mode;
  DispatchModeGuard guard{mode};
};

MetaDeviceGuard::MetaDeviceGuard() {
  register_meta_kernels();
  state_ = std::make_unique<State>();
  ++num_active_guards;
}

MetaDeviceGuard::~MetaDeviceGuard() { --num_active_guards; }

bool MetaDeviceGuard::is_active() { return num_active_guards > 0; }

}  // namespace torch_ir

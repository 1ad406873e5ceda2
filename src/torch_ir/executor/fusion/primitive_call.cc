#include "torch_ir/executor/fusion/primitive_call.h"

#include <utility>
#include <vector>

namespace torch_ir {
namespace {

class PrimitiveKernel final : public PreparedKernel {
 public:
  PrimitiveKernel(const onednn::Primitive& primitive, const KernelCall& call)
      : execution_(primitive.bind()) {
    for (const c10::IValue& argument : call.arguments) inputs_.push_back(argument.toTensor());
    output_ = call.outputs[0];
    for (size_t i = 0; i < inputs_.size(); ++i) set_input(i);
    set_output();
    if (call.outputs.size() > 1) {
      execution_->set_scratchpad(call.outputs[1].mutable_data_ptr());
    }
  }

  void run() override { execution_->run(); }

  void on_moved(const c10::StorageImpl* storage) override {
    const auto lies_there = [storage](const at::Tensor& tensor) {
      return tensor.storage().unsafeGetStorageImpl() == storage;
    };
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (lies_there(inputs_[i])) set_input(i);
    }
    if (lies_there(output_)) set_output();
  }

 private:
  void set_input(size_t index) { execution_->set_input(index, inputs_[index].const_data_ptr()); }
  void set_output() { execution_->set_output(output_.mutable_data_ptr()); }

  std::unique_ptr<onednn::Execution> execution_;
  std::vector<at::Tensor> inputs_;
  at::Tensor output_;
};

}  // namespace

std::unique_ptr<PreparedKernel> PrimitiveCall::prepare(const KernelCall& call) const {
  return std::make_unique<PrimitiveKernel>(*primitive_, call);
}

}  // namespace torch_ir

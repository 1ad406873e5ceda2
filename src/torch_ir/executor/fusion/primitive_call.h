// The call of a primitive, as a trace has it.
#pragma once

#include <memory>
#include <string>

#include "torch_ir/executor/onednn/primitive.h"
#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

// Its arguments are the primitive's inputs, its outputs that of the primitive and the scratchpad,
// if it has one.
class PrimitiveCall final : public FusedCall {
 public:
  explicit PrimitiveCall(onednn::PrimitivePtr primitive) : primitive_(std::move(primitive)) {}

  std::string name() const override { return "onednn::" + primitive_->name(); }
  std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) const override;

 private:
  onednn::PrimitivePtr primitive_;
};

}  // namespace torch_ir

#include <ATen/ops/_addmm_activation_native.h>
#include <ATen/ops/addmm_native.h>
#include <ATen/ops/addmv_native.h>
#include <ATen/ops/baddbmm_native.h>
#include <ATen/ops/bmm_native.h>
#include <ATen/ops/linalg_cross_native.h>
#include <ATen/ops/mm_native.h>
#include <ATen/ops/tril_native.h>
#include <ATen/ops/triu_native.h>

#include "torch_ir/executor/kernels/copying.h"
#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/gemm.h"
#include "torch_ir/executor/kernels/structured.h"

namespace torch_ir {
namespace {

std::unique_ptr<PreparedKernel> prepare_addmm(const KernelCall& call) {
  if (auto kernel = prepare_addmm_with_blas(call)) return kernel;
  return Structured<at::native::structured_addmm_out_cpu>::prepare(call);
}

std::unique_ptr<PreparedKernel> prepare_mm(const KernelCall& call) {
  if (auto kernel = prepare_mm_with_blas(call)) return kernel;
  return Structured<at::native::structured_mm_out_cpu>::prepare(call);
}

// `meta` copies what is added to the result, which has to be done in every run.
class Baddbmm final : public PreparedKernel {
 public:
  static std::unique_ptr<PreparedKernel> prepare(const KernelCall& call) {
    const at::Tensor& self = call.arguments[0].toTensor();
    const at::Tensor& result = call.outputs[0];
    std::unique_ptr<PreparedKernel> copy;
    if (!self.is_same(result)) copy = prepare_copy(call, result, self.expand(result.sizes()));
    auto product = Structured<at::native::structured_baddbmm_out_cpu>::prepare(call);
    if (product == nullptr || (copy == nullptr && !self.is_same(result))) return nullptr;
    return std::make_unique<Baddbmm>(std::move(copy), std::move(product));
  }

  Baddbmm(std::unique_ptr<PreparedKernel> copy, std::unique_ptr<PreparedKernel> product)
      : copy_(std::move(copy)), product_(std::move(product)) {}

  void run() override {
    if (copy_ != nullptr) copy_->run();
    product_->run();
  }

  void on_moved(const c10::StorageImpl* storage) override {
    if (copy_ != nullptr) copy_->on_moved(storage);
    product_->on_moved(storage);
  }

 private:
  std::unique_ptr<PreparedKernel> copy_;
  std::unique_ptr<PreparedKernel> product_;
};

constexpr KernelEntry kMatrixKernels[] = {
    {"aten::_addmm_activation",
     &Structured<at::native::structured_addmm_activation_out_cpu>::prepare},
    {"aten::addmm", &prepare_addmm},
    {"aten::addmv", &Structured<at::native::structured_addmv_out_cpu>::prepare},
    {"aten::baddbmm", &Baddbmm::prepare},
    {"aten::bmm", &Structured<at::native::structured_bmm_out_cpu>::prepare},
    {"aten::linalg_cross", &Structured<at::native::structured_linalg_cross_out>::prepare},
    {"aten::mm", &prepare_mm},
    {"aten::tril", &Structured<at::native::structured_tril_cpu>::prepare},
    {"aten::triu", &Structured<at::native::structured_triu_cpu>::prepare},
};

}  // namespace

KernelTable matrix_kernels() { return kMatrixKernels; }

}  // namespace torch_ir

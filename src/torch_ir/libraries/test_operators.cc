// A third-party library of operators, which tests load with --load-library.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tanh.h>
#include <torch/library.h>

namespace {

at::Tensor foo(const at::Tensor& x, double scale) { return at::tanh(x).mul(scale); }

at::Tensor foo_meta(const at::Tensor& x, double /*scale*/) { return at::empty_like(x); }

}  // namespace

TORCH_LIBRARY(myvendor, library) { library.def("foo(Tensor x, float scale) -> Tensor"); }
TORCH_LIBRARY_IMPL(myvendor, CPU, library) { library.impl("foo", foo); }
TORCH_LIBRARY_IMPL(myvendor, Meta, library) { library.impl("foo", foo_meta); }

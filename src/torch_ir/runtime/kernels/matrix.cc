#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <optional>

#include "torch_ir/runtime/kernels/families.h"
#include "torch_ir/runtime/kernels/structured.h"
#include "torch_ir/runtime/threads/threads.h"

// LibTorch links BLAS, but some builds hide it.
extern "C" {
__attribute__((weak)) void sgemm_(const char* transa, const char* transb, const int* m,
                                  const int* n, const int* k, const float* alpha, const float* a,
                                  const int* lda, const float* b, const int* ldb, const float* beta,
                                  float* c, const int* ldc);
__attribute__((weak)) void dgemm_(const char* transa, const char* transb, const int* m,
                                  const int* n, const int* k, const double* alpha, const double* a,
                                  const int* lda, const double* b, const int* ldb,
                                  const double* beta, double* c, const int* ldc);
}

namespace torch_ir {
namespace {

template <class Number>
constexpr auto kGemm = nullptr;
template <>
constexpr auto kGemm<float> = &sgemm_;
template <>
constexpr auto kGemm<double> = &dgemm_;

struct Operand {
  bool is_transposed;
  int64_t leading;
};

// C = A B in column-major order. If the rows of the result are contiguous, C is its transpose, and
// A and B are those of the operands, exchanged.
struct Product {
  char transposed_a;
  char transposed_b;
  int m;
  int n;
  int k;
  int leading_a;
  int leading_b;
  int leading_c;
  bool is_exchanged;
};

// Whether the columns of `matrix` are contiguous; of one column, the stride means nothing.
bool has_columns(const at::Tensor& matrix) {
  return matrix.stride(0) == 1 && (matrix.size(1) == 1 || matrix.stride(1) >= matrix.size(0));
}

// Nothing for a matrix that ATen copies before it multiplies.
std::optional<Operand> operand(const at::Tensor& matrix) {
  if (matrix.stride(0) == 1 && matrix.stride(1) >= std::max<int64_t>(1, matrix.size(0))) {
    return Operand{false, matrix.stride(1)};
  }
  if (matrix.stride(1) == 1 && matrix.stride(0) >= std::max<int64_t>(1, matrix.size(1))) {
    return Operand{true, matrix.stride(0)};
  }
  return std::nullopt;
}

bool fits_int(std::initializer_list<int64_t> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](int64_t number) { return number <= INT_MAX; });
}

// Chooses as at::native::addmm_out_cpu does, because BLAS's results depend on it.
std::optional<Product> plan_product(const at::Tensor& result, const at::Tensor& first,
                                    const at::Tensor& second) {
  const int64_t k = first.size(1);
  if (result.numel() == 0 || k == 0) return std::nullopt;
  const bool is_exchanged = !has_columns(result);
  const at::Tensor c = is_exchanged ? result.t() : result;
  if (!has_columns(c)) return std::nullopt;
  auto a = operand(is_exchanged ? second.t() : first);
  auto b = operand(is_exchanged ? first.t() : second);
  if (!a || !b) return std::nullopt;
  const int64_t m = c.size(0);
  const int64_t n = c.size(1);
  // The leading dimension of one column means nothing, and may be too small for BLAS.
  const int64_t leading_c = n == 1 ? m : c.stride(1);
  if (a->is_transposed ? m == 1 : k == 1) a->leading = a->is_transposed ? k : m;
  if (b->is_transposed ? k == 1 : n == 1) b->leading = b->is_transposed ? n : k;
  if (!fits_int({m, n, k, a->leading, b->leading, leading_c}) ||
      leading_c < std::max<int64_t>(1, m)) {
    return std::nullopt;
  }
  return Product{.transposed_a = a->is_transposed ? 't' : 'n',
                 .transposed_b = b->is_transposed ? 't' : 'n',
                 .m = static_cast<int>(m),
                 .n = static_cast<int>(n),
                 .k = static_cast<int>(k),
                 .leading_a = static_cast<int>(a->leading),
                 .leading_b = static_cast<int>(b->leading),
                 .leading_c = static_cast<int>(leading_c),
                 .is_exchanged = is_exchanged};
}

// Copies a matrix, whose rows are contiguous and may all be the same one, to a contiguous one.
template <class Number>
void copy_rows(const at::Tensor& matrix, Number* to) {
  const auto* from = static_cast<const Number*>(matrix.const_data_ptr());
  const int64_t columns = matrix.size(1);
  const size_t row_bytes = static_cast<size_t>(columns) * sizeof(Number);
  const int64_t row_stride = matrix.stride(0);
  const int64_t grain = std::max<int64_t>(1, at::internal::GRAIN_SIZE / columns);
  parallel_for(matrix.size(0), grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      std::memcpy(to + row * columns, from + row * row_stride, row_bytes);
    }
  });
}

bool is_plain(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.dim() == 2 && tensor.scalar_type() == dtype && tensor.device().is_cpu() &&
         tensor.layout() == c10::kStrided && !tensor.is_neg();
}

// Copies `addend` to the result first, if it is defined.
template <class Number>
std::unique_ptr<PreparedKernel> prepare(const at::Tensor& result, const at::Tensor& first,
                                        const at::Tensor& second, const at::Scalar& alpha,
                                        const at::Scalar& beta, const at::Tensor& addend) {
  if (kGemm<Number> == nullptr) return nullptr;
  const auto product = plan_product(result, first, second);
  if (!product) return nullptr;
  return make_kernel([it = *product, a = product->is_exchanged ? second : first,
                      b = product->is_exchanged ? first : second, c = result,
                      alpha = alpha.to<Number>(), beta = beta.to<Number>(), addend] {
    auto* to = static_cast<Number*>(c.mutable_data_ptr());
    if (addend.defined()) copy_rows(addend, to);
    kGemm<Number>(&it.transposed_a, &it.transposed_b, &it.m, &it.n, &it.k, &alpha,
                  static_cast<const Number*>(a.const_data_ptr()), &it.leading_a,
                  static_cast<const Number*>(b.const_data_ptr()), &it.leading_b, &beta, to,
                  &it.leading_c);
  });
}

std::unique_ptr<PreparedKernel> prepare_for_dtype(const at::Tensor& result, const at::Tensor& first,
                                                  const at::Tensor& second, const at::Scalar& alpha,
                                                  const at::Scalar& beta,
                                                  const at::Tensor& addend) {
  const at::ScalarType dtype = result.scalar_type();
  if (!is_plain(result, dtype) || !is_plain(first, dtype) || !is_plain(second, dtype) ||
      first.size(0) != result.size(0) || second.size(1) != result.size(1) ||
      first.size(1) != second.size(0)) {
    return nullptr;
  }
  if (dtype == at::kDouble) return prepare<double>(result, first, second, alpha, beta, addend);
  // At lower precision ATen uses oneDNN.
  const bool is_exact =
      at::globalContext().float32MatmulPrecision() == at::Float32MatmulPrecision::HIGHEST;
  if (dtype != at::kFloat || !is_exact) return nullptr;
  return prepare<float>(result, first, second, alpha, beta, addend);
}

// `self` in the shape of the result, without a copy; undefined if its rows cannot be copied as they
// are.
at::Tensor addend_for(const at::Tensor& result, const at::Tensor& self) {
  const bool has_rows = self.dtype() == result.dtype() && result.is_contiguous() &&
                        self.is_contiguous() && !self.is_neg();
  const bool is_row = self.dim() >= 1 && self.dim() <= 2 && self.numel() == result.size(1) &&
                      self.size(-1) == result.size(1);
  const bool fits = self.sizes() == result.sizes() || is_row;
  return has_rows && fits ? self.expand_as(result) : at::Tensor();
}

constexpr KernelEntry kMatrixKernels[] = {
    {"aten::addmm",
     kEither<&prepare_addmm_with_blas, kStructured<at::native::structured_addmm_out_cpu>>},
    {"aten::bmm", kStructured<at::native::structured_bmm_out_cpu>},
    {"aten::mm", kEither<&prepare_mm_with_blas, kStructured<at::native::structured_mm_out_cpu>>},
};

}  // namespace

std::unique_ptr<PreparedKernel> prepare_addmm_with_blas(const KernelCall& call) {
  const at::Tensor& result = call.outputs[0];
  const at::Tensor& self = call.arguments[0].toTensor();
  const at::Scalar beta = call.arguments[3].toScalar();
  const at::Scalar alpha = call.arguments[4].toScalar();
  if (beta.isComplex() || alpha.isComplex() || result.dim() != 2) return nullptr;
  at::Tensor addend;
  if (beta.toDouble() != 0.0 && !self.is_same(result)) {
    addend = addend_for(result, self);
    if (!addend.defined()) return nullptr;
  }
  return prepare_for_dtype(result, call.arguments[1].toTensor(), call.arguments[2].toTensor(),
                           alpha, beta, addend);
}

std::unique_ptr<PreparedKernel> prepare_mm_with_blas(const KernelCall& call) {
  return prepare_for_dtype(call.outputs[0], call.arguments[0].toTensor(),
                           call.arguments[1].toTensor(), /*alpha=*/1, /*beta=*/0, {});
}

KernelTable matrix_kernels() { return kMatrixKernels; }

}  // namespace torch_ir

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "torch_ir/exporter/meta/meta_cases.h"

namespace torch_ir {
namespace {

using at::Tensor;

MetaCases matrices() {
  const Tensor square = floats({2, 4, 4});
  const Tensor positive = at::matmul(square, square.mT()) + at::eye(4);
  const Tensor heads = floats({2, 3, 5, 8});
  return {
      META_CASE("Addbmm", at::addbmm(a, b, c),
                {floats({4, 5}), floats({2, 4, 3}), floats({2, 3, 5})}),
      META_CASE("Baddbmm", at::baddbmm(a, b, c),
                {floats({5}), floats({2, 4, 3}), floats({2, 3, 5})}),
      META_CASE("Addmm", at::addmm(a, b, c), {floats({5}), floats({4, 3}), floats({3, 5})}),
      META_CASE("AddmmTransposed", at::addmm(a, b, c),
                {floats({5}), floats({4, 3}), floats({5, 3}).t()}),
      META_CASE("Linear", at::linear(a, b, c), {floats({2, 3, 4}), floats({5, 4}), floats({5})}),
      META_CASE("Bilinear", at::bilinear(a, b, c),
                {floats({2, 3}), floats({2, 4}), floats({5, 3, 4})}),
      META_CASE("Matmul", at::matmul(a, b), {floats({2, 3, 4, 5}), floats({5, 6})}),
      META_CASE("Einsum", at::einsum("bij,bjk->bik", {a, b}),
                {floats({2, 4, 3}), floats({2, 3, 5})}),
      META_CASE("Cdist", at::cdist(a, b), {floats({2, 4, 3}), floats({5, 3})}),
      META_CASE("CdistL1", at::cdist(a, b, 1), {floats({2, 4, 3}), floats({2, 5, 3})}),
      META_CASE("Pdist", at::pdist(a), {floats({4, 3})}),
      META_CASE("Cholesky", at::cholesky(a), {positive}),
      META_CASE("CholeskyInverse", at::cholesky_inverse(a), {positive}),
      META_CASE("LinalgCholesky", at::linalg_cholesky(a), {positive}),
      META_CASE("Inverse", at::linalg_inv(a), {positive}),
      META_CASE("Solve", at::linalg_solve(a, b), {positive, floats({2, 4, 3})}),
      META_CASE("SolveTriangular", at::linalg_solve_triangular(a, b, true),
                {positive, floats({2, 4, 3})}),
      META_CASE("Lstsq", at::linalg_lstsq(a, b), {positive, floats({2, 4, 3})}),
      META_CASE("Svd", at::linalg_svd(a, false), {square}),
      META_CASE("Qr", at::linalg_qr(a), {square}),
      META_CASE("Eigh", at::linalg_eigh(a), {positive}),
      META_CASE("Eig", at::linalg_eig(a), {square}),
      META_CASE("MatrixExp", at::linalg_matrix_exp(a), {square}),
      META_CASE("MatrixExpTransposed", at::linalg_matrix_exp(a), {square.mT()}),
      META_CASE("Geqrf", at::geqrf(a), {square}),
      META_CASE("Ormqr", at::ormqr(a, b, c), {square, floats({2, 4}), floats({2, 4, 3})}),
      META_CASE("Attention", at::scaled_dot_product_attention(a, b, b),
                {heads, floats({2, 3, 7, 8})}),
      META_CASE("AttentionCausal", at::scaled_dot_product_attention(a, a, a, {}, 0, true), {heads}),
      META_CASE("AttentionMask", at::scaled_dot_product_attention(a, a, a, b),
                {heads, floats({5, 5})}),
      META_CASE("AttentionBoolMask", at::scaled_dot_product_attention(a, a, a, b),
                {heads, at::ones({5, 5}, at::kBool)}),
      META_CASE("AttentionTransposed", at::scaled_dot_product_attention(a, a, a),
                {floats({2, 5, 3, 8}).transpose(1, 2)}),
      META_CASE("AttentionTransposedView",
                at::scaled_dot_product_attention(a, a, a).transpose(1, 2).view({2, 5, 24}),
                {floats({2, 5, 3, 8}).transpose(1, 2)}),
      META_CASE("AttentionPermuted", at::scaled_dot_product_attention(a, a, a),
                {floats({8, 5, 2, 3}).permute({2, 3, 1, 0})}),
      META_CASE("AttentionHeadSizes", at::scaled_dot_product_attention(a, a, b),
                {heads, floats({2, 3, 5, 6})}),
      META_CASE("AttentionDropout", at::scaled_dot_product_attention(a, a, a, {}, 0.5),
                {floats({2, 5, 3, 8}).transpose(1, 2)}),
      META_CASE("AttentionNoHeads", at::scaled_dot_product_attention(a, a, a), {floats({2, 5, 8})}),
      META_CASE("AttentionBFloat16", at::scaled_dot_product_attention(a, a, a),
                {heads.to(at::kBFloat16)}),
      META_CASE("AttentionGrouped",
                at::scaled_dot_product_attention(a, b, b, {}, 0, false, {}, true),
                {floats({2, 6, 5, 8}), floats({2, 3, 5, 8})}),
      META_CASE("FlashAttention", at::_scaled_dot_product_flash_attention_for_cpu(a, a, a),
                {heads}),
      META_CASE("FlashAttentionBFloat16", at::_scaled_dot_product_flash_attention_for_cpu(a, a, a),
                {heads.to(at::kBFloat16)}),
      META_CASE("FftReal", at::fft_rfft(a), {floats({2, 8})}),
      META_CASE("FftInverse", at::fft_irfft(a), {at::complex(floats({2, 5}), floats({2, 5}))}),
      META_CASE("Fft2", at::fft_fft2(a), {floats({2, 8, 6})}),
      META_CASE("Stft", at::stft(a, 8, 4, 8, b, false, true, true), {floats({2, 32}), floats({8})}),
  };
}
INSTANTIATE_META_CASES(Matrix, matrices);

MetaCases recurrences() {
  const Tensor steps = floats({5, 2, 3});
  const Tensor h = floats({1, 2, 4});
  const Tensor w = floats({16, 3});
  const Tensor u = floats({16, 4});
  return {
      META_CASE("Lstm", at::lstm(a, {b, b}, {c, d, e, e}, true, 1, 0, false, false, false),
                {steps, h, w, u, floats({16})}),
      META_CASE("LstmNoBias", at::lstm(a, {b, b}, {c, d}, false, 1, 0, false, false, true),
                {floats({2, 5, 3}), h, w, u}),
      META_CASE("Gru", at::gru(a, b, {c, d, e, e}, true, 1, 0, false, false, false),
                {steps, h, floats({12, 3}), floats({12, 4}), floats({12})}),
      META_CASE("RnnTanh", at::rnn_tanh(a, b, {c, d, e, e}, true, 1, 0, false, false, false),
                {steps, h, floats({4, 3}), floats({4, 4}), floats({4})}),
      META_CASE("LstmCell", at::lstm_cell(a, {b, b}, c, d, e, e),
                {floats({2, 3}), floats({2, 4}), w, u, floats({16})}),
      META_CASE("GruCell", at::gru_cell(a, b, c, d, e, e),
                {floats({2, 3}), floats({2, 4}), floats({12, 3}), floats({12, 4}), floats({12})}),
  };
}
INSTANTIATE_META_CASES(Recurrence, recurrences);

}  // namespace
}  // namespace torch_ir

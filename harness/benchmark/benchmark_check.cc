#include "harness/benchmark/benchmark_check.h"

#include <cstring>
#include <sstream>

#include "torch_ir/verifier/compare.h"

namespace torch_ir {
namespace {

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  const at::Tensor x = a.contiguous();
  const at::Tensor y = b.contiguous();
  return x.numel() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

}  // namespace

std::string disagreement(const std::vector<at::Tensor>& outputs,
                         const std::vector<at::Tensor>& expected, Agreement agreement) {
  if (outputs.size() != expected.size()) {
    return std::to_string(outputs.size()) + " outputs, and eager has " +
           std::to_string(expected.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tolerance tolerance =
        tolerance_for({.fixed = {.rtol = 1e-4, .atol = 1e-4}}, i, expected[i].scalar_type());
    const TensorComparison comparison = compare_tensors(outputs[i], expected[i], tolerance);
    const bool agrees =
        agreement == Agreement::kBits ? same_bits(outputs[i], expected[i]) : comparison.is_close;
    if (agrees) continue;
    std::ostringstream text;
    text << "output " << i << " is not eager's"
         << (agreement == Agreement::kBits ? " bit for bit: " : ": ") << comparison;
    return text.str();
  }
  return "";
}

}  // namespace torch_ir

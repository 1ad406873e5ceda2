// Tensors for tests of kernels, and calls of operators with them. Each call is prepared, run three
// times on changing data after its tensors are gone, and compared bit for bit with the dispatcher.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/runtime/kernels/families.h"

namespace torch_ir {

enum class Layout { kContiguous, kTransposed, kChannelsLast, kSliced, kExpanded };
constexpr Layout kLayouts[] = {Layout::kContiguous, Layout::kTransposed, Layout::kChannelsLast,
                               Layout::kSliced, Layout::kExpanded};

// Any value of the dtype (zeros of both signs, infinities, NaNs with and without payload), or
// numbers that fewer operators refuse or map to NaN.
enum class Values { kAny, kFinite, kPositive };

inline constexpr at::ScalarType kFloats[] = {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16};
inline constexpr at::ScalarType kAllDtypes[] = {
    at::kFloat, at::kDouble, at::kHalf, at::kBFloat16,     at::kLong,         at::kInt,
    at::kByte,  at::kChar,   at::kBool, at::kComplexFloat, at::kComplexDouble};

at::Tensor make_tensor(at::ScalarType dtype, const std::vector<int64_t>& sizes,
                       Layout layout = Layout::kContiguous, Values values = Values::kAny);

at::Tensor make_indices(const std::vector<int64_t>& sizes, int64_t limit,
                        at::ScalarType dtype = at::kLong);

// A tensor of no dimensions that counts as a number in type promotion.
at::Tensor make_wrapped_number(const at::Scalar& number);

// Runs cases of one table, and checks that each of its kernels took some.
class CaseRunner {
 public:
  // The dispatcher refuses the call, or the kernel refuses or takes it.
  enum class Outcome { kNotACase, kRefused, kTaken };

  explicit CaseRunner(KernelTable table) : table_(table) {}

  // Missing arguments take the schema's defaults. With `is_used`, compares only those results.
  Outcome run(const std::string& op, std::vector<c10::IValue> arguments,
              const std::vector<bool>& is_used = {});

  // As `run`, but fails unless the kernel takes, or refuses, the call.
  void run_taken(const std::string& op, const std::vector<c10::IValue>& arguments);
  void run_refused(const std::string& op, const std::vector<c10::IValue>& arguments);

  void expect_all_taken() const;

 private:
  KernelTable table_;
  std::set<std::string, std::less<>> taken_;
  std::string refusal_;
};

// Calls `op` with tensors of all dtypes and layouts, then the arguments `more`. A second tensor
// holds `values`.
void run_with_one_tensor(CaseRunner& runner, const std::string& op,
                         const std::vector<c10::IValue>& more = {});
void run_with_two_tensors(CaseRunner& runner, const std::string& op,
                          const std::vector<c10::IValue>& more = {}, Values values = Values::kAny);

}  // namespace torch_ir

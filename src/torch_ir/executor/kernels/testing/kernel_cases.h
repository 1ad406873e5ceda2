// Tensors for the tests of kernels, and calls of operators with them: each is prepared, run three
// times on changing data, and compared bit for bit with what the dispatcher gives. The call that a
// kernel was prepared for, and its tensors, are gone by then; only their memory is still there.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/executor/kernels/families.h"

namespace torch_ir {

// Tensors of all dtypes and layouts, with all that a dtype can hold.

enum class Layout { kContiguous, kTransposed, kChannelsLast, kSliced, kExpanded };
constexpr Layout kLayouts[] = {Layout::kContiguous, Layout::kTransposed, Layout::kChannelsLast,
                               Layout::kSliced, Layout::kExpanded};

// What a tensor holds: everything that its dtype has (zeros of both signs, infinities, NaNs with
// and without payload), or numbers that fewer operators refuse or answer with NaN.
enum class Values { kAny, kFinite, kPositive };

inline constexpr at::ScalarType kFloats[] = {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16};
inline constexpr at::ScalarType kAllDtypes[] = {
    at::kFloat, at::kDouble, at::kHalf, at::kBFloat16,     at::kLong,         at::kInt,
    at::kByte,  at::kChar,   at::kBool, at::kComplexFloat, at::kComplexDouble};

// The same numbers in every run of the test.
at::Tensor make_tensor(at::ScalarType dtype, const std::vector<int64_t>& sizes,
                       Layout layout = Layout::kContiguous, Values values = Values::kAny);

// Whole numbers from 0 to `limit` - 1.
at::Tensor make_indices(const std::vector<int64_t>& sizes, int64_t limit,
                        at::ScalarType dtype = at::kLong);

// A tensor of no dimensions made of a number, which counts as a number in type promotion.
at::Tensor make_wrapped_number(const at::Scalar& number);

// Calls.

// Runs cases of one table, and says in the end which of its kernels took none.
class CaseRunner {
 public:
  explicit CaseRunner(KernelTable table);

  // The schema's defaults stand for arguments that are not given. A call that the dispatcher
  // refuses is not a case; one that the kernel does not take proves nothing. Results without
  // `is_used`, where it is given, are not compared.
  void run(const std::string& op, std::vector<c10::IValue> arguments,
           const std::vector<bool>& is_used = {});

  // As `run`; a failure unless the kernel takes, or refuses, the call.
  void run_taken(const std::string& op, const std::vector<c10::IValue>& arguments);
  void run_refused(const std::string& op, const std::vector<c10::IValue>& arguments);

  // A failure for each kernel of the table that took no case.
  void expect_all_taken() const;

 private:
  enum class Outcome { kNotACase, kRefused, kTaken };

  Outcome check(const std::string& op, std::vector<c10::IValue> arguments,
                const std::vector<bool>& is_used);

  KernelTable table_;
  // By name.
  std::set<std::string, std::less<>> taken_;
  // Why the dispatcher refused the last call; empty if it did not.
  std::string refusal_;
};

// Calls of `op` with tensors of all dtypes and layouts, then the arguments `more`. Of two tensors
// the second holds `values`.
void run_with_one_tensor(CaseRunner& runner, const std::string& op,
                         const std::vector<c10::IValue>& more = {});
void run_with_two_tensors(CaseRunner& runner, const std::string& op,
                          const std::vector<c10::IValue>& more = {}, Values values = Values::kAny);

}  // namespace torch_ir

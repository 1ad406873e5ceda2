// Calls of operators for tests of kernels: each is prepared, run three times on changing data, and
// compared bit for bit with what the dispatcher gives. The call that a kernel was prepared for, and
// its tensors, are gone by then; only their memory is still there.
#pragma once

#include <ATen/core/ivalue.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/testing/case_tensors.h"

namespace torch_ir {

// Runs cases of one table, and says in the end which of its kernels took none.
class CaseRunner {
 public:
  explicit CaseRunner(KernelTable table);

  // The schema's defaults stand for arguments that are not given. A call that the dispatcher
  // refuses is not a case; one that the kernel does not take proves nothing.
  void run(const std::string& op, std::vector<c10::IValue> arguments, const std::string& what = "");

  // As `run`, for a call of whose results only those with `is_used` are read and compared.
  void run_used(const std::string& op, std::vector<c10::IValue> arguments,
                const std::vector<bool>& is_used, const std::string& what = "");

  // As `run`; a failure unless the kernel takes the call.
  void run_taken(const std::string& op, std::vector<c10::IValue> arguments,
                 const std::string& what = "");

  // As `run`; a failure if the kernel takes the call.
  void run_refused(const std::string& op, std::vector<c10::IValue> arguments,
                   const std::string& what = "");

  // A failure for each kernel of the table that took no case.
  void expect_all_taken() const;

 private:
  enum class Outcome { kNotACase, kRefused, kTaken };

  Outcome check(const std::string& op, std::vector<c10::IValue> arguments,
                const std::vector<bool>& is_used, const std::string& what);

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

#include "torch_ir/cases/graph_case.h"

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/registry/operator_call.h"

namespace torch_ir {
CaseInfo info_of(const OperatorCase& operator_case) {
  return {.name = operator_case.name(),
          .op_type = operator_case.op_type,
          .category = operator_case.category,
          .dtype = dtype_name(operator_case.dtype),
          .note = operator_case.note,
          .property = operator_case.property,
          .tolerance = operator_case.tolerance,
          .tolerance_reason = operator_case.tolerance_reason};
}

GraphCase make_graph_case(const OperatorCase& operator_case) {
  // Operators that draw random numbers draw the same each time.
  at::manual_seed(0);
  try {
    OperatorCall call = call_operator(operator_case);
    return {.info = info_of(operator_case),
            .ir = std::move(call.ir),
            .inputs = std::move(call.inputs),
            .expected = std::move(call.outputs)};
  } catch (const c10::Error& error) {
    throw Error(operator_case.name() + ": " + headline(error.what_without_backtrace()));
  }
}

ToleranceRule tolerance_of(const CaseInfo& info) {
  if (info.tolerance) return {.fixed = *info.tolerance};
  return {.by_dtype = true};
}

}  // namespace torch_ir

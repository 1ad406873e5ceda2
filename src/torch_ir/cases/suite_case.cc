#include "torch_ir/cases/suite_case.h"

#include <ATen/Context.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/capture/export_call.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/resolve.h"

namespace torch_ir {
namespace {

torch::jit::Stack complete_arguments(const c10::FunctionSchema& schema, torch::jit::Stack given) {
  const std::vector<c10::Argument>& arguments = schema.arguments();
  if (given.size() > arguments.size()) {
    throw Error(fmt::format("wrong number of arguments: {}, expected at most {} for {}",
                            given.size(), arguments.size(), schema.name()));
  }
  for (size_t i = given.size(); i < arguments.size(); ++i) {
    given.push_back(arguments[i].default_value().value_or(c10::IValue()));
  }
  return given;
}

}  // namespace

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

SuiteCase make_suite_case(const OperatorCase& operator_case) {
  const auto op = find_operator(operator_case.op_type);
  if (!op) throw Error("LibTorch has no operator " + operator_case.op_type);
  // Makes random operators reproducible.
  at::manual_seed(0);
  try {
    ExportedCall call =
        export_call(*op, complete_arguments(op->schema(), operator_case.arguments()));
    IR ir = convert_exported_program(call.program);
    ir.model_name = operator_case.name();
    if (operator_case.property == CaseProperty::kShape) {
      // Uninitialized memory differs from run to run.
      for (at::Tensor& output : call.outputs) output = at::zeros_like(output);
    }
    return {.info = info_of(operator_case),
            .content = {.program = std::make_shared<const Program>(resolve(ir)),
                        .inputs = std::move(call.inputs),
                        .expected = std::move(call.outputs)}};
  } catch (const c10::Error& error) {
    throw Error(operator_case.name() + ": " + headline(error.what_without_backtrace()));
  }
}

ToleranceRule tolerance_of(const CaseInfo& info) {
  if (info.tolerance) return {.fixed = *info.tolerance};
  return {.by_dtype = true};
}

}  // namespace torch_ir

#include "torch_ir/exporter/pt2/take_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

std::string text(const std::vector<int64_t>& shape, c10::ScalarType dtype) {
  return fmt::format("shape [{}] and dtype {}", fmt::join(shape, ", "), dtype_name(dtype));
}

// Non-persistent buffers are among the constants of an archive, parameters never are.
at::Tensor find_value(const std::string& archive, const ExportedInput& input, Payload& weights,
                      Payload& constants) {
  const bool is_constant = input.kind == InputKind::kConstant;
  at::Tensor value = is_constant ? constants.find(input.target) : weights.find(input.target);
  if (!value.defined() && input.kind == InputKind::kBuffer) value = constants.find(input.target);
  if (value.defined()) return value;
  throw ExportError(fmt::format("{}: the graph uses the weight '{}', which is not among the {}",
                                archive, printable(input.target),
                                is_constant ? "constants" : "weights"));
}

void check_agreement(const std::string& archive, const std::string& name, const at::Tensor& value,
                     const ValueMeta& meta) {
  const std::vector<int64_t> shape = value.sizes().vec();
  if (shape == meta.shape && value.scalar_type() == meta.dtype) return;
  throw ExportError(fmt::format("{}: weight '{}' has {}, but {} in the graph", archive,
                                printable(name), text(shape, value.scalar_type()),
                                text(meta.shape, meta.dtype)));
}

// Two placeholders may stand for one weight.
void insert(StateDict& tensors, const std::string& name, const at::Tensor& value) {
  if (!tensors.contains(name)) tensors.insert(name, value);
}

}  // namespace

StateDict take_weights(const std::string& archive, Payload& weights, Payload& constants,
                       ExportedProgram& program) {
  StateDict taken("Weight");
  for (const ExportedInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput) continue;
    const at::Tensor value = find_value(archive, input, weights, constants);
    check_agreement(archive, input.target, value, program.values.at(input.name));
    insert(input.kind == InputKind::kConstant ? program.constants : taken, input.target, value);
  }
  for (const std::string& name : weights.names()) {
    if (!taken.contains(name)) taken.insert(name, weights.find(name));
  }
  return taken;
}

}  // namespace torch_ir

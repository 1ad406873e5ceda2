#include "torch_ir/weights/pt.h"

#include <fmt/format.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/weights/find_state_dict.h"
#include "torch_ir/weights/torch_file.h"

namespace torch_ir {
namespace {

ByteRange open_file(const std::string& path) {
  try {
    return map_file(path);
  } catch (const Error& error) {
    throw WeightError(error.what());
  }
}

}  // namespace

StateDict load_weights_pt(const std::string& path, const LoadWeightsOptions& options) {
  const PickleDocument document = load_torch_file(open_file(path), path);
  try {
    return find_state_dict(*document, options.weights_key);
  } catch (const WeightError& error) {
    throw WeightError(fmt::format("'{}' {}", printable(path), error.what()));
  }
}

}  // namespace torch_ir

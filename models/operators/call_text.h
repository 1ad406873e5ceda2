// The arguments of a call as text, as a row of a table has them: Python's notation, with recipes
// for tensors. common.cases says how they are written.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/weights/seeded_tensor.h"

namespace torch_ir {

// Text that cannot be read.
class TextError : public Error {
 public:
  // `place` is the part of the text that is wrong.
  TextError(std::string_view place, const std::string& what) : Error(what), place_(place) {}

  std::string_view place() const { return place_; }

 private:
  std::string_view place_;
};

// What the text of a row leaves open: `x`, and where values of `:domain` and `:other_domain` lie,
// in the usual range where nothing is said.
struct CallContext {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::optional<ValueRange> domain = std::nullopt;
  std::optional<ValueRange> other_domain = std::nullopt;
};

// "0.1..4". Throws TextError.
ValueRange read_range(std::string_view text);

// Throws TextError where `text` is not in the notation. Whether it fits an operator is left open.
void check_arguments(std::string_view text);

// One value for each argument of `schema`. Tensors depend on `case_name` and the name of their
// argument. Throws TextError for text that cannot be read or does not fit.
std::vector<c10::IValue> read_arguments(std::string_view text, const c10::FunctionSchema& schema,
                                        const CallContext& context, const std::string& case_name);

}  // namespace torch_ir

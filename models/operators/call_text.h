// The arguments of a call as text in a table: Python's notation, with recipes for tensors.
// common.cases describes the syntax.
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

class TextError : public Error {
 public:
  // `place` is the part of the text that is wrong.
  TextError(std::string_view place, const std::string& what) : Error(what), place_(place) {}

  std::string_view place() const { return place_; }

 private:
  std::string_view place_;
};

// Values that a row leaves open: `x`, and the ranges of `:domain` and `:other_domain`, which
// default to the usual range.
struct CallContext {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::optional<ValueRange> domain = std::nullopt;
  std::optional<ValueRange> other_domain = std::nullopt;
};

// Parses "0.1..4". Throws TextError.
ValueRange read_range(std::string_view text);

// Checks only the syntax, not whether `text` fits an operator. Throws TextError.
void check_arguments(std::string_view text);

// One value for each argument of `schema`. Tensors depend on `case_name` and the name of their
// argument. Throws TextError for text that cannot be read or does not fit.
std::vector<c10::IValue> read_arguments(std::string_view text, const c10::FunctionSchema& schema,
                                        const CallContext& context, const std::string& case_name);

}  // namespace torch_ir

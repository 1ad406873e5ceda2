// JSON as text that people can read and git can diff.
#pragma once

#include <string>

#include "harness/results/json_fields.h"

namespace torch_ir {

// Indented by two spaces, with a list of plain values in one line, and all but ASCII escaped. Bytes
// that are not UTF-8 become U+FFFD.
std::string json_text(const json_fields::Json& json);

}  // namespace torch_ir

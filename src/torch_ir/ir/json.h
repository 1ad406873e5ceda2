// The IR as JSON: the file format of the Python package `torch_ir`, read and written.
//
// The form, byte for byte, is what Python's json.dump(..., indent=2) writes, non-finite numbers
// included (bare NaN, Infinity, -Infinity). Reading is strict: an unknown key, a missing key or a
// value of the wrong type is a SerializationError that names the place, such as
// "nodes[3].inputs[0].shape". deserialize_ir(serialize_ir(ir)) == ir, and writing is
// deterministic. ir_format.md in the repository describes the form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

std::string serialize_ir(const IR& ir);

// The version of the format that `ir` needs, and is written with: 1, the Python package's, or 2.
int64_t format_version(const IR& ir);

// Throws SerializationError when `text` is not an IR. The IR is read, not validated: see
// validate.h.
IR deserialize_ir(std::string_view text);

// Writes atomically. Throws Error when `path` can not be written.
void save_ir(const IR& ir, const std::string& path);

// As deserialize_ir; messages start with `path`.
IR load_ir(const std::string& path);

}  // namespace torch_ir

// Reads and writes the IR as JSON, the file format of the Python package `torch_ir`.
//
// The output is byte for byte what Python's json.dump(..., indent=2) writes, including bare NaN,
// Infinity and -Infinity, and is deterministic. Reading is strict: an unknown key, a missing key or
// a value of the wrong type is a SerializationError that names the place, such as
// "nodes[3].inputs[0].shape". deserialize_ir(serialize_ir(ir)) == ir. See ir_format.md.
#pragma once

#include <string>
#include <string_view>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

std::string serialize_ir(const IR& ir);

// Throws SerializationError if `text` is not an IR. Does not validate the IR; see resolve.h.
[[nodiscard]] IR deserialize_ir(std::string_view text);

// What a file gives back of the attribute of an unknown operator: names for dtypes, devices and the
// like, lists for complex numbers.
Attribute untyped_form(const Attribute& attribute);

// Writes atomically. Throws Error if `path` cannot be written.
void save_ir(const IR& ir, const std::string& path);

// As deserialize_ir; messages start with `path`.
[[nodiscard]] IR load_ir(const std::string& path);

}  // namespace torch_ir

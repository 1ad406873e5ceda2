// JSON as Python's json module reads and writes it, to and from nlohmann's tree.
//
// Bare NaN, Infinity and -Infinity are numbers. Reading is stricter than Python and nlohmann's
// parser, to find mistakes and to survive hostile files: duplicate keys, integers beyond 64 bits,
// floats beyond double, and more levels or values than limits.h allows are errors.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "torch_ir/base/limits.h"

namespace torch_ir {

// Members keep their order.
using JsonValue = nlohmann::ordered_json;

// Throws SerializationError that says where `text` stops being JSON. Too many values are refused
// before any is made. Integers are signed, unless only uint64_t can hold them.
JsonValue parse_json(std::string_view text, size_t max_values = kMaxJsonValues);

// The kind of `value`, for messages: "a string", "an integer", "a list".
const char* kind_of(const JsonValue& value);

// Writes `value` as Python's json.dumps(value, indent=2): text outside ASCII is escaped. Throws
// SerializationError for text that is not UTF-8.
std::string python_json(const JsonValue& value);

// Python's repr(value), with JSON's words: "1.0", "0.1", "1e-05", "1e+16", "-0.0", "NaN",
// "Infinity", "-Infinity".
std::string python_float(double value);

}  // namespace torch_ir

// The numbers by which archives say dtypes, layouts and memory formats; they are not those of
// c10's enumerations.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// Throw SerializationError for a number that is not known, with the number.
c10::ScalarType read_dtype(const JsonValue& value, const Place& place);
c10::Layout read_layout(const JsonValue& value, const Place& place);
c10::MemoryFormat read_memory_format(const JsonValue& value, const Place& place);

// {"type": "cpu", "index": null}
c10::Device read_device(const JsonValue& value, const Place& place);

}  // namespace torch_ir

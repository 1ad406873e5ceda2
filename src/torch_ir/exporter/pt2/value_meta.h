// What an archive says about values: shape and dtype of tensors, kinds and expressions of numbers.
//
// The numbers by which archives say dtypes, layouts and memory formats are not those of c10's
// enumerations.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// Throw SerializationError for a number that is not known, with the number.
c10::ScalarType read_dtype(const JsonValue& value, const Place& place);
c10::Layout read_layout(const JsonValue& value, const Place& place);
c10::MemoryFormat read_memory_format(const JsonValue& value, const Place& place);

// {"type": "cpu", "index": null}
c10::Device read_device(const JsonValue& value, const Place& place);

// {"dtype": 7, "sizes": [{"as_int": 3}, {"as_expr": {...}}], ...}
ExportedValue read_tensor_meta(const JsonValue& value, const Place& place);

// Throws SerializationError unless `meta` is of a dense tensor, or does not say.
void check_layout(const ObjectReader& meta);

// Numbers that nodes make; fixed or an expression of symbols.
ExportedValue read_sym_int_meta(const JsonValue& value, const Place& place);
template <c10::ScalarType kDtype>  // Double, Bool
ExportedValue read_number_meta(const JsonValue& value, const Place& place);

// {"as_int": 3}, and a list of such, where none may be symbolic.
int64_t read_fixed_size(const JsonValue& value, const Place& place);
std::vector<int64_t> read_fixed_sizes(const JsonValue& value, const Place& place);

}  // namespace torch_ir

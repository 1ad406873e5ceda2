// What an archive says about values: shape and dtype of tensors, kinds and expressions of numbers.
#pragma once

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/exporter/pt2/json_fields.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// {"dtype": 7, "sizes": [{"as_int": 3}, {"as_expr": {...}}], ...}
ValueMeta read_tensor_meta(const JsonValue& value, const Place& place);

// Throws SerializationError unless `meta` is of a dense tensor, or does not say.
void check_layout(const Fields& meta);

// Numbers that nodes make; fixed or an expression of symbols.
ValueMeta read_sym_int_meta(const JsonValue& value, const Place& place);
ValueMeta read_sym_float_meta(const JsonValue& value, const Place& place);
ValueMeta read_sym_bool_meta(const JsonValue& value, const Place& place);

// {"as_int": 3}, and a list of such, where none may be symbolic.
int64_t read_fixed_size(const JsonValue& value, const Place& place);
std::vector<int64_t> read_fixed_sizes(const JsonValue& value, const Place& place);

}  // namespace torch_ir

// Reads the values of an archive: arguments of nodes, shape and dtype of tensors, kinds and
// expressions of numbers.
//
// The archive's numbers for dtypes, layouts and memory formats are not those of c10's enumerations.
// Readers throw SerializationError that names the place.
#pragma once

#include <c10/util/FunctionRef.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

// An argument of an archive, or the meaning of a name. Numbers that nodes make are references,
// whatever kind of argument refers to them.
using Operand = decltype(Argument::value);
using OperandOf = c10::function_ref<Operand(const std::string& name)>;

// Reads {"as_tensor": {"name": "x"}}, {"as_ints": [1, 2]}, ... Objects, dicts and lists of lists of
// tensors are Opaque. Throws ExportError for graphs and operators.
Operand read_argument(const JsonValue& value, const Place& place, OperandOf operand_of);
std::vector<Operand> read_items(const JsonValue& value, const Place& place, OperandOf operand_of);

// A reference to a value of the archive, or a fixed value that is not a list.
Attribute read_port(const JsonValue& value, const Place& place);

// One name, one for each member of a list, or nothing for None.
std::vector<std::optional<std::string>> read_output_names(const JsonValue& value,
                                                          const Place& place);

// The name of the value that `attribute` refers to; null if it holds anything else.
const std::string* referred_name(const Attribute& attribute);

// {"name": "x"}
std::string read_name(const JsonValue& value, const Place& place);

c10::ScalarType read_dtype(const JsonValue& value, const Place& place);

// {"dtype": 7, "sizes": [{"as_int": 3}, {"as_expr": {...}}], ...}
Value read_tensor_meta(const JsonValue& value, const Place& place);

// Throws unless `meta` is dense or has no layout.
void check_layout(const ObjectReader& meta);

// "cpu", "cuda", "meta"; empty if `meta` has no device.
std::string read_device_type(const ObjectReader& meta);

// Numbers that nodes make: an integer, fixed or an expression of symbols; or of another dtype.
Value read_integer_meta(const JsonValue& value, const Place& place);
Value read_number_meta(c10::ScalarType dtype, const JsonValue& value, const Place& place);

// {"as_int": 3}, not symbolic.
int64_t read_fixed_size(const JsonValue& value, const Place& place);

// Converts sympy's `srepr` of a size to the grammar of SymExpr (ir/sym_expr.h): "2*s0 + 1".
// Functions of sympy and PyTorch without an operator there stay calls, "Max(1, s0)"; a float
// becomes a fraction, "5/2". Throws ExportError for anything else, and for a text beyond 20,000
// characters or 100 levels.
std::string infix_of_srepr(std::string_view text);

}  // namespace torch_ir

// What an archive says about values: the arguments of nodes, shape and dtype of tensors, kinds and
// expressions of numbers.
//
// The numbers by which archives say dtypes, layouts and memory formats are not those of c10's
// enumerations. Readers throw SerializationError that names the place.
#pragma once

#include <c10/util/FunctionRef.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {

// What stands for an argument of an archive, and for a name in it: numbers that nodes make are
// references, whichever kind of argument the archive refers to them by.
using Operand = decltype(ExportedArgument::value);
using OperandOf = c10::function_ref<Operand(const std::string& name)>;

// An argument: {"as_tensor": {"name": "x"}}, {"as_ints": [1, 2]}, ... Throws ExportError for what
// exists, but no operator here can take.
Operand read_argument(const JsonValue& value, const Place& place, OperandOf operand_of);
// Its items, where it is a list; otherwise the argument itself.
std::vector<Operand> read_items(const JsonValue& value, const Place& place, OperandOf operand_of);

// An input or an output of a graph: a reference to a value of the archive, or fixed; no list.
Attribute read_port(const JsonValue& value, const Place& place);

// The names that an output of a node gives to values: one, one for each member of a list, or
// nothing for None.
std::vector<std::optional<std::string>> read_output_names(const JsonValue& value,
                                                          const Place& place);

// The value that `attribute` refers to, if it is nothing else; or null.
const std::string* referred_name(const Attribute& attribute);

// {"name": "x"}
std::string read_name(const JsonValue& value, const Place& place);

c10::ScalarType read_dtype(const JsonValue& value, const Place& place);

// {"dtype": 7, "sizes": [{"as_int": 3}, {"as_expr": {...}}], ...}
ExportedValue read_tensor_meta(const JsonValue& value, const Place& place);

// Throws unless `meta` is of a dense tensor, or does not say.
void check_layout(const ObjectReader& meta);

// Numbers that nodes make: an integer, fixed or an expression of symbols; or of another dtype.
ExportedValue read_integer_meta(const JsonValue& value, const Place& place);
ExportedValue read_number_meta(c10::ScalarType dtype, const JsonValue& value, const Place& place);

// {"as_int": 3}, and a list of such, where none may be symbolic.
int64_t read_fixed_size(const JsonValue& value, const Place& place);
std::vector<int64_t> read_fixed_sizes(const JsonValue& value, const Place& place);

// `text`, sympy's `srepr` of a size, in the grammar of SymExpr (ir/sym_expr.h): "2*s0 + 1". The
// functions of sympy and PyTorch that have no operator there stay calls, "Max(1, s0)"; a float
// becomes the fraction that it is, "5/2". Throws ExportError for anything else, and for a text
// beyond 20,000 characters or 100 levels.
std::string infix_of_srepr(std::string_view text);

}  // namespace torch_ir

// depends_on_data: which operators have a result whose shape, or whose value as a plain number, is
// in the data of their inputs.
//
// On meta tensors there is no data, so these operators get no Meta kernel, and capture says so
// instead of repeating the dispatcher's message about a missing kernel.
#pragma once

#include <string_view>

namespace torch_ir {

// `name` is an operator without its overload: "aten::nonzero". True for operators that always
// depend on data, and for repeat_interleave, one_hot and the like that do so unless an argument
// gives the size.
bool depends_on_data(std::string_view name);

}  // namespace torch_ir

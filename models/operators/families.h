// Rows that many operators of this folder share.
#pragma once

#include "models/operators/case_table.h"

namespace torch_ir {

inline constexpr std::string_view kSpecialNote =
    "NaN, infinities, signed zeros, limits of the dtype";

// Of one tensor, element by element.
const std::vector<CaseRow>& unary_rows();

// Of two tensors, element by element: shapes and layouts.
const std::vector<CaseRow>& binary_shape_rows();

// The same, and where any floating-point dtypes go together.
const std::vector<CaseRow>& partial_binary_rows();

// The same, and where it is defined for all values and dtypes.
const std::vector<CaseRow>& binary_rows();

// Of a tensor and a number.
const std::vector<CaseRow>& scalar_rows();

// `rows`, and more.
std::vector<CaseRow> with(std::vector<CaseRow> rows, const std::vector<CaseRow>& more);

}  // namespace torch_ir

// Expressions of symbols: from the text that archives have to the text that an IR has.
//
// Archives say a size as sympy's `srepr`, "Add(Mul(Integer(2), Symbol('s0', integer=True)),
// Integer(1))", which Python reads by evaluating it. Here a small grammar reads it, and nothing is
// evaluated.
#pragma once

#include <string>
#include <string_view>

namespace torch_ir {

// `text` in the grammar of SymExpr (ir/sym_expr.h): "2*s0 + 1". The functions of sympy and PyTorch
// that have no operator there stay calls, "Max(1, s0)"; a float becomes the fraction that it is,
// "5/2". Throws ExportError for anything else, and for a text beyond 20,000 characters or 100
// levels.
std::string infix_of_srepr(std::string_view text);

}  // namespace torch_ir

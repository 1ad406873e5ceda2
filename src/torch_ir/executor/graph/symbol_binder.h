// SymbolBinder: the values of a graph's symbols in one run.
//
// Made when a plan is compiled, from the symbolic shapes of the graph inputs and the ranges of the
// IR. Each run asks it what its inputs make of the symbols; a checked run compares all shapes with
// that.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {

class SymbolBinder {
 public:
  SymbolBinder() = default;
  // Throws ValidationError for text that is no expression.
  SymbolBinder(const std::vector<TensorMeta>& inputs, const std::vector<SymbolRange>& ranges);

  // Whether there is nothing to bind.
  bool empty() const { return sizes_.empty(); }

  // The symbols for `inputs`, one for each graph input. Symbols that stand alone are taken from
  // there, others are solved for where an expression is linear in them. Throws ExecutionError with
  // a problem_list of what `find` says.
  SymbolValues bind(const std::vector<c10::IValue>& inputs) const;
  // The same, and in `problems`, a line each, with input, dimension and both values, the
  // expressions that have not the value that the inputs give them, or are out of their range.
  SymbolValues find(const std::vector<c10::IValue>& inputs,
                    std::vector<std::string>& problems) const;

 private:
  // A size of an input, or an input that is a number.
  struct Size {
    size_t input;
    // Empty for a number.
    std::optional<size_t> dimension;
    std::string input_name;
    std::string text;
    SymExpr expression;
    // Of the expression.
    std::vector<std::string> symbols;
  };
  struct Range {
    SymbolRange range;
    SymExpr expression;
  };

  static std::string place(const Size& size);
  void solve(const std::vector<int64_t>& values, SymbolValues& symbols) const;
  void check(const std::vector<int64_t>& values, const SymbolValues& symbols,
             std::vector<std::string>& problems) const;

  std::vector<Size> sizes_;
  // For each symbol, where in sizes_ it appears.
  std::unordered_map<std::string, std::vector<size_t>> sizes_with_;
  std::vector<Range> ranges_;
};

// The symbols of the sizes of `ir` in a run with `inputs`, one for each graph input. Throws as
// SymbolBinder::bind.
SymbolValues bind_symbols(const IR& ir, const std::vector<at::Tensor>& inputs);

// What SymbolBinder::find says of them.
std::vector<std::string> size_problems(const IR& ir, const std::vector<at::Tensor>& inputs);

// Whether the sizes of `tensor` are what `meta` says, as far as `symbols` tell. A symbol that
// stands alone and has no value yet gets it here: a size that depends on data.
bool has_shape(const at::Tensor& tensor, const TensorMeta& meta, SymbolValues& symbols);

}  // namespace torch_ir

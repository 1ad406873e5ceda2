// SymbolBinder: computes the values of a graph's symbols for each run.
//
// A plan makes one from the symbolic shapes of the graph inputs, and the ranges and guards of the
// program. A checked run compares all shapes with its values.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {

class SymbolBinder {
 public:
  SymbolBinder() = default;
  // Throws ValidationError for a size or range that is not an expression.
  explicit SymbolBinder(const Program& program);

  bool empty() const { return sizes_.empty() && guards_.empty(); }

  // "GUARD: REASON" for each guard that runs cannot check.
  const std::vector<std::string>& unreadable_guards() const { return unreadable_guards_; }
  // The same as one sentence, which names the first; empty if runs check all.
  std::string unchecked_text() const;

  // Takes one input for each graph input; a number may be a tensor without dimensions. Reads
  // symbols that stand alone, and solves expressions that are linear in one. Throws ExecutionError
  // with a problem_list from `find`.
  SymbolValues bind(const std::vector<c10::IValue>& inputs) const;
  // As above, but adds to `problems` a line for each expression that contradicts the inputs or is
  // out of range, with input, dimension and both values, and for each guard that is not true.
  SymbolValues find(const std::vector<c10::IValue>& inputs,
                    std::vector<std::string>& problems) const;

 private:
  // A dimension of an input, or an input that is a number.
  struct Size {
    size_t input;
    std::optional<size_t> dimension;
    std::string input_name;
    std::string text;
    SymExpr expression;
    std::vector<std::string> symbols;
  };
  // What a guard may read: "x.size()[0]", "x.stride()[0]", or an input that is an int.
  struct GuardSymbol {
    std::string name;
    size_t input;
    std::optional<size_t> dimension;
    bool is_stride;
  };

  static std::string place(const Size& size);
  void add_guard(const std::string& text);
  void solve(const std::vector<int64_t>& values, SymbolValues& symbols) const;
  void check(const std::vector<int64_t>& values, const SymbolValues& symbols,
             std::vector<std::string>& problems) const;
  void check_guards(const std::vector<c10::IValue>& inputs,
                    std::vector<std::string>& problems) const;

  std::vector<Size> sizes_;
  std::unordered_map<std::string, std::vector<size_t>> sizes_with_;
  std::vector<std::pair<SymbolRange, SymExpr>> ranges_;
  std::vector<std::pair<std::string, SymExpr>> guards_;
  std::vector<GuardSymbol> guard_symbols_;
  std::vector<std::string> unreadable_guards_;
};

// The symbols for `inputs`, one for each graph input. Throws as SymbolBinder::bind does.
SymbolValues bind_symbols(const Program& program, const std::vector<at::Tensor>& inputs);

std::vector<std::string> size_problems(const Program& program,
                                       const std::vector<at::Tensor>& inputs);

// Whether `tensor` has the sizes of `value`, as far as `symbols` are known. Sets unknown symbols
// that stand alone: sizes that depend on data.
bool has_shape(const at::Tensor& tensor, const Value& value, SymbolValues& symbols);

}  // namespace torch_ir

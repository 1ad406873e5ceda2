// Dynamic sizes: finds how a graph follows the sizes of its inputs, by recording the model at
// several of them.
//
// Sizes and attributes that differ between the recordings become sums of products of symbols
// ("2*batch*length + batch"). Attributes read them from nodes (aten.sym_size.int and arithmetic),
// as in the graphs of torch.export.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/exporter/capture/recorder.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

using RecordModel = std::function<Recording(const std::vector<at::Tensor>& inputs)>;

class DynamicSizes {
 public:
  // `names` are those of the inputs. Throws ExportError if `sizes` do not fit `inputs`, the sizes
  // of the example.
  DynamicSizes(const std::vector<DynamicSize>& sizes, const std::vector<std::string>& names,
               const std::vector<at::Tensor>& inputs);

  // Records the model at other sizes and compares with `example`, the recording on the inputs.
  // Throws ExportError, naming the node, if the model then calls other operators, or if an argument
  // or a size follows the sizes in a way that has no expression.
  void find_expressions(const Recording& example, const RecordModel& record);

  // Puts the expressions into the graph of the example, after name_graph.
  void apply(Program& program) const;

 private:
  // A size for each symbol.
  using Point = std::vector<int64_t>;

  struct Symbol {
    std::string name;
    int64_t example = 0;
    int64_t min = 1;
    std::optional<int64_t> max = std::nullopt;
    // The inputs and dimensions that have it.
    std::vector<std::pair<size_t, int64_t>> places = {};
  };

  // A sum of products: the factor of each set of symbols, by its bits. Item 0 is the constant, item
  // 3 the factor of the product of the first two.
  using Expression = std::vector<int64_t>;

  // An item of an attribute, which may be nested lists.
  struct Item {
    size_t node;
    std::string argument;
    std::vector<size_t> path;
    Expression expression;
  };

  struct Dimension {
    ValueId value;
    size_t dimension;
    Expression expression;
  };

  class NumberNodes;

  void add_symbol(const DynamicSize& size, size_t input, const at::Tensor& tensor);
  int64_t other_size(const Symbol& symbol, int64_t avoided) const;
  void choose_points();
  std::vector<at::Tensor> inputs_at(const Point& point) const;
  std::string text_at(size_t point) const;

  void compare_calls(const std::vector<Recording>& recordings) const;
  void compare_constants(const std::vector<Recording>& recordings) const;
  void compare_attributes(const std::vector<Recording>& recordings, size_t node, size_t argument,
                          std::vector<const Attribute*> attributes, std::vector<size_t>& path);

  size_t num_corners() const { return size_t{1} << symbols_.size(); }
  // Takes a number for each point. Empty if they follow no expression.
  std::optional<Expression> fit(std::vector<int64_t> numbers) const;
  int64_t evaluate(const Expression& factors, const Point& point) const;
  std::vector<size_t> symbols_of(size_t term) const;
  std::string text_of(int64_t factor, size_t term) const;
  std::string text_of(const Expression& factors) const;

  const std::vector<at::Tensor>& inputs_;
  std::vector<Symbol> symbols_;
  // Corner c has another size than the example for the symbols whose bit is in c; others follow.
  std::vector<Point> points_;
  std::vector<Item> items_;
  std::vector<Dimension> dimensions_;
};

}  // namespace torch_ir

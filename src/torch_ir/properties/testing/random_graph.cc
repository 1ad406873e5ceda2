#include "torch_ir/properties/testing/random_graph.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <ostream>
#include <string>
#include <utility>

namespace torch_ir {
namespace {

// RapidCheck begins with small sizes, which would make all numbers 0.
rc::Gen<size_t> any_choice() {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<size_t>(0, 10'000));
}

rc::Gen<Move> any_move() {
  return rc::gen::construct<Move>(any_choice(), rc::gen::container<Choices>(any_choice()));
}

// Other calls do not read larger values.
constexpr int64_t kMaxElements = 1024;

class GraphMaker {
 public:
  GraphMaker(int64_t rows, uint64_t seed) {
    at::manual_seed(1);
    add(graph_.weight("square", at::randn({4, 4})));
    add(graph_.weight("row", at::randn({4})));
    add(graph_.weight("variance", at::rand({4}) + 0.5));
    at::manual_seed(seed);
    add(graph_.input("x", at::randn({rows, 4})));
    add(graph_.input("y", at::randn({4, rows}).t()));
    add(graph_.input("z", at::randn({rows, 1, 4})));
  }

  EagerGraph make(const GraphMoves& moves);

  V value(size_t choice) const { return pick(values_, choice); }
  void add(const V& made) {
    if (graph_.value(made).numel() <= kMaxElements) values_.push_back(made);
  }
  void call(const std::string& op_type, std::vector<EagerArgument> arguments) {
    TORCH_CHECK(!writes_over_operand(op_type, arguments), "its result is undefined in PyTorch");
    for (const V& made : graph_.call(op_type, std::move(arguments))) add(made);
  }
  // Makes a value that only the same move reads.
  V part(const std::string& op_type, std::vector<EagerArgument> arguments) {
    return graph_.call1(op_type, std::move(arguments));
  }

 private:
  // Whether the call writes to memory that it reads as another element; the result would depend on
  // the order.
  bool writes_over_operand(const std::string& op_type,
                           const std::vector<EagerArgument>& arguments) const {
    if (op_type.find("_.") == std::string::npos) return false;
    const auto target = graph_.value(std::get<V>(arguments[0]));
    return std::ranges::any_of(arguments, [&](const EagerArgument& argument) {
      const V* operand = std::get_if<V>(&argument);
      if (operand == nullptr) return false;
      const at::Tensor& tensor = graph_.value(*operand);
      return tensor.is_alias_of(target) &&
             at::get_overlap_status(tensor, target) != at::MemOverlapStatus::Full &&
             !tensor.is_same(target);
    });
  }

  EagerGraph graph_;
  std::vector<V> values_;
};

Attribute below(size_t choice, size_t bound) { return static_cast<int64_t>(choice % bound); }
Attribute dimension(size_t choice) { return static_cast<int64_t>(choice % 4) - 2; }

struct PlainMove {
  const char* op_type;
  size_t num_values;
};

const std::vector<PlainMove> kPlainMoves = {
    {"aten.tanh.default", 1},     {"aten.relu.default", 1},       {"aten.sigmoid.default", 1},
    {"aten.neg.default", 1},      {"aten.exp.default", 1},        {"aten.t.default", 1},
    {"aten.relu_.default", 1},    {"aten.sin_.default", 1},       {"aten.neg_.default", 1},
    {"aten.clone.default", 1},    {"aten.contiguous.default", 1}, {"aten.detach.default", 1},
    {"aten.zero_.default", 1},    {"aten.zeros_like.default", 1}, {"aten.sum.default", 1},
    {"aten.max.default", 1},      {"aten.add.Tensor", 2},         {"aten.mul.Tensor", 2},
    {"aten.sub.Tensor", 2},       {"aten.maximum.default", 2},    {"aten.gt.Tensor", 2},
    {"aten.mm.default", 2},       {"aten.matmul.default", 2},     {"aten.linear.default", 2},
    {"aten.copy_.default", 2},    {"aten.mul_.Tensor", 2},        {"aten.add_.Tensor", 2},
    {"aten.type_as.default", 2},  {"aten.expand_as.default", 2},  {"aten.where.self", 3},
    {"aten.addmm.default", 3},    {"aten.linear.default", 3},     {"aten.lerp.Tensor", 3},
    {"aten.addcmul_.default", 3},
};

using OtherMove = void (*)(GraphMaker&, const Choices&);

const OtherMove kOtherMoves[] = {
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.slice.Tensor",
             {m.value(c[0]), dimension(c[1]), below(c[2], 2), static_cast<int64_t>(2 + c[2] % 3),
              static_cast<int64_t>(1 + c[3] % 2)});
    },
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.select.int", {m.value(c[0]), dimension(c[1]), below(c[2], 2)});
    },
    [](GraphMaker& m, const Choices& c) {
      const V part =
          m.part("aten.slice.Tensor", {m.value(c[0]), dimension(c[1]), below(c[2], 2), 3});
      m.call("aten.mul_.Scalar", {part, -0.5});
    },
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.add_.Tensor", {m.value(c[0]), m.value(c[1]), 0.25});
    },
    [](GraphMaker& m, const Choices& c) { m.call("aten.split.Tensor", {m.value(c[0]), 2, -1}); },
    [](GraphMaker& m, const Choices& c) { m.call("aten.unbind.int", {m.value(c[0]), -1}); },
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.cat.default",
             {VList{m.value(c[0]), m.value(c[1]), m.value(c[0])}, dimension(c[2])});
    },
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.stack.default", {VList{m.value(c[0]), m.value(c[1])}, dimension(c[2])});
    },
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.reshape.default", {m.value(c[0]), Attribute::list({-1, 4})});
    },
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.view.default", {m.value(c[0]), Attribute::list({2, -1})});
    },
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.transpose.int", {m.value(c[0]), dimension(c[1]), dimension(c[2])});
    },
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.unsqueeze.default", {m.value(c[0]), dimension(c[1])});
    },
    [](GraphMaker& m, const Choices& c) {
      m.call("aten._to_copy.default",
             {m.value(c[0]),
              pick<c10::ScalarType>({at::kDouble, at::kFloat, at::kBFloat16, at::kLong}, c[1])});
    },
    [](GraphMaker& m, const Choices& c) {
      m.call(
          pick<std::string>({"aten.sum.dim_IntList", "aten.mean.dim", "aten.amax.default"}, c[1]),
          {m.value(c[0]), Attribute::list({dimension(c[2])}), c[3] % 2 == 0});
    },
    [](GraphMaker& m, const Choices& c) {
      const V value = m.value(c[0]);
      m.call("aten.max.dim", {value, dimension(c[1]), true});
      const V places = m.part("aten.argmax.default", {value, dimension(c[1]), true});
      m.call("aten.gather.default", {value, dimension(c[1]), places});
    },
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.sort.stable", {m.value(c[0]), true, dimension(c[1]), c[2] % 2 == 0});
    },
    [](GraphMaker& m, const Choices& c) {
      if (c[1] % 2 == 0) return m.call("aten.softmax.int", {m.value(c[0]), dimension(c[2])});
      m.call("aten.native_layer_norm.default",
             {m.value(c[0]), Attribute::list({4}), V{"p_row"}, V{"p_variance"}, 1e-5});
    },
    // In training, which writes to the statistics.
    [](GraphMaker& m, const Choices& c) {
      m.call("aten.batch_norm.default",
             {m.value(c[0]), std::monostate(), std::monostate(), V{"p_row"}, V{"p_variance"},
              c[1] % 2 == 0, 0.25, 1e-5, false});
    },
    [](GraphMaker& m, const Choices& c) {
      const V value = m.value(c[0]);
      const V positive = m.part("aten.gt.Scalar", {value, 0.25});
      m.call(c[1] % 2 == 0 ? "aten.masked_fill.Scalar" : "aten.masked_fill_.Scalar",
             {value, positive, -1.5});
    },
    // Selects all of a value, by a call at which a replay is cut.
    [](GraphMaker& m, const Choices& c) {
      const V value = m.value(c[0]);
      const V all = m.part("aten.ones_like.default", {value, at::kBool});
      const V selected = m.part("aten.masked_select.default", {value, all});
      m.call("aten.view_as.default", {selected, value});
    },
};

void make_move(GraphMaker& maker, const Move& move) {
  const size_t kind = move.kind % (kPlainMoves.size() + std::size(kOtherMoves));
  if (kind >= kPlainMoves.size()) {
    return kOtherMoves[kind - kPlainMoves.size()](maker, move.choices);
  }
  const auto& [op_type, num_values] = kPlainMoves[kind];
  std::vector<EagerArgument> arguments;
  for (size_t i = 0; i < num_values; ++i) arguments.emplace_back(maker.value(move.choices[i]));
  maker.call(op_type, std::move(arguments));
}

EagerGraph GraphMaker::make(const GraphMoves& moves) {
  for (const Move& move : moves.moves) {
    try {
      make_move(*this, move);
    } catch (const c10::Error&) {
      // Not a node: shapes or dtypes do not fit, or memory cannot be written to.
    }
  }
  for (const size_t choice : moves.outputs) graph_.output(value(choice));
  graph_.output(values_.back());
  return std::move(graph_);
}

// The sizes of two graphs of the same calls.
constexpr int64_t kRows = 5;
constexpr int64_t kOtherRows = 7;

// A size that is linear in the rows, as an expression of s0; empty for others.
std::optional<std::string> expression_of(int64_t size, int64_t other) {
  const int64_t rise = other - size;
  if (rise % (kOtherRows - kRows) != 0) return std::nullopt;
  const int64_t factor = rise / (kOtherRows - kRows);
  const int64_t rest = size - factor * kRows;
  std::string text = factor == 1 ? "s0" : std::to_string(factor) + "*s0";
  if (rest != 0) text += (rest < 0 ? " - " : " + ") + std::to_string(std::abs(rest));
  return text;
}

bool add_symbols(TensorMeta& meta, const TensorMeta& other) {
  if (meta.shape.size() != other.shape.size()) return false;
  for (size_t i = 0; i < meta.shape.size(); ++i) {
    if (meta.shape[i] == other.shape[i]) continue;
    const auto expression = expression_of(meta.shape[i], other.shape[i]);
    if (!expression) return false;
    meta.symbolic_shape.resize(meta.shape.size());
    meta.symbolic_shape[i] = *expression;
    meta.shape[i] = kDynamicSize;
  }
  return true;
}

bool add_symbols(std::vector<TensorMeta>& metas, const std::vector<TensorMeta>& others) {
  for (size_t i = 0; i < metas.size(); ++i) {
    if (!add_symbols(metas[i], others[i])) return false;
  }
  return true;
}

void print_graph(const IR& ir, std::ostream& stream) {
  for (const OpNode& node : ir.nodes) {
    std::vector<std::string> arguments;
    for (const TensorMeta& input : node.inputs) arguments.push_back(input.name);
    for (const auto& [name, value] : node.attrs) {
      arguments.push_back(name + "=" + attribute_text(value));
    }
    stream << fmt::format("\n{} = {}({})", node.name, node.op_type, fmt::join(arguments, ", "));
  }
  stream << "\noutputs";
  for (const TensorMeta& output : ir.graph_outputs) stream << ' ' << output.name;
}

}  // namespace

rc::Gen<RandomMoves> any_moves(int max_moves) {
  return rc::gen::construct<RandomMoves>(
      rc::gen::resize(max_moves, rc::gen::container<std::vector<Move>>(any_move())),
      rc::gen::resize(3, rc::gen::container<std::vector<size_t>>(any_choice())));
}

EagerGraph make_graph(const GraphMoves& moves, int64_t rows, uint64_t seed) {
  return GraphMaker(rows, seed).make(moves);
}

bool make_same_calls(const IR& a, const IR& b) {
  const auto names = [](const std::vector<TensorMeta>& metas) {
    std::vector<std::string> all;
    for (const TensorMeta& meta : metas) all.push_back(meta.name);
    return all;
  };
  const auto is_same = [&](const OpNode& x, const OpNode& y) {
    return x.op_type == y.op_type && x.attrs == y.attrs && names(x.inputs) == names(y.inputs) &&
           names(x.outputs) == names(y.outputs);
  };
  return std::ranges::equal(a.nodes, b.nodes, is_same) &&
         names(a.graph_outputs) == names(b.graph_outputs);
}

std::optional<IR> make_dynamic_graph(const GraphMoves& moves) {
  IR ir = make_graph(moves, kRows).ir;
  const IR other = make_graph(moves, kOtherRows).ir;
  if (!make_same_calls(ir, other)) return std::nullopt;
  bool fits = add_symbols(ir.graph_inputs, other.graph_inputs) &&
              add_symbols(ir.graph_outputs, other.graph_outputs);
  for (size_t i = 0; i < ir.nodes.size() && fits; ++i) {
    fits = add_symbols(ir.nodes[i].inputs, other.nodes[i].inputs) &&
           add_symbols(ir.nodes[i].outputs, other.nodes[i].outputs);
  }
  if (!fits) return std::nullopt;
  ir.range_constraints = {{"s0", 3, 100}};
  return ir;
}

void showValue(const GraphMoves& moves, std::ostream& stream) {
  print_graph(make_graph(moves).ir, stream);
}

void showValue(const NetworkMoves& moves, std::ostream& stream) {
  print_graph(make_network(moves).ir, stream);
}

}  // namespace torch_ir

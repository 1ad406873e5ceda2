// The rules of fuse_trace, and what they share.
//
// A table in each family's file says which operators its rules are for. A rule leaves alone what it
// does not know. Before them two passes bring the trace into the form that they know.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "torch_ir/executor/fusion/trace_rewriter.h"

namespace torch_ir {

// Makes functions of calls that write in place: `relu_` of an intermediate value becomes `relu`,
// and whoever reads the memory after that reads the result. Only where the call writes all of the
// memory, of a value that is the trace's own.
void functionalize(Trace& trace);

// After functionalize, makes one call of an operator of what models spell out: Hugging Face writes
// the tanh form of GELU as eight operators. It may then be part of the product before it.
void recognize_functions(Trace& trace);

// The arguments of a call by the names of the operator's schema.
class CallArguments {
 public:
  explicit CallArguments(const TraceCall& call) : call_(call) {}

  // Nothing where the argument is None, no tensor, or not in the schema.
  std::optional<TensorId> tensor(std::string_view name) const;
  std::vector<TensorId> tensors(std::string_view name) const;
  // None where it is not in the schema.
  c10::IValue value(std::string_view name) const;
  // The one number that is given for all of `count` dimensions, or as many as are given; `missing`
  // where the schema has no such argument.
  std::vector<int64_t> integers(std::string_view name, size_t count, int64_t missing) const;
  double number(std::string_view name, double missing) const;

 private:
  const TraceArgument* find(std::string_view name) const;

  const TraceCall& call_;
};

struct RuleEntry {
  std::string_view operator_name;
  TraceRewriter::Rule rule;
};

using RuleTable = std::span<const RuleEntry>;

RuleTable convolution_rules();
RuleTable linear_rules();
RuleTable lstm_rules();
// Of operators that take what they find in the layout of a convolution.
RuleTable carried_rules();

// The functions that a call of an activation, or with a number, is; empty for all others.
onednn::PostOps functions_of(const TraceCall& call);

// What is done to the result of a call, in the calls after it.
struct Chain {
  // With the call itself, the first.
  std::vector<size_t> calls;
  // What the last of them gives.
  TensorId output;
  onednn::PostOps post_ops = {};
  // What the sum among them adds.
  std::optional<TensorId> addend = {};
  // Of a batch norm, before all of that.
  std::optional<size_t> norm = {};

  // Leaves off the sum, and all after it.
  void cut_at_addition();

  // How many calls there are up to the sum, and what they give.
  size_t calls_before_addition = 0;
  TensorId output_before_addition = 0;
};

enum class ChainShape {
  // Each result is laid out as the first.
  kSame,
  // Each is contiguous and has as many elements.
  kContiguous,
};

// The calls after call `index`, which gives `output`, that can be one with it.
Chain chain_after(const TraceRewriter& rewriter, size_t index, TensorId output, ChainShape shape,
                  bool takes_norm);

// Whether the sum may take the memory of the addend, which nobody reads after.
bool may_sum(const TraceRewriter& rewriter, const Chain& chain, TensorId source);

// A constant matrix as a product with it wants it.
TensorId packed_weight(TraceRewriter& rewriter, const at::Tensor& weight,
                       const onednn::Layout& wanted);

// The two factors that a batch norm in evaluation is, by channel, in double precision; nothing for
// one that is none.
struct ChannelScale {
  at::Tensor scale;
  at::Tensor shift;
  // What they are made of.
  std::vector<at::Tensor> sources;
  double eps = 0;
};
std::optional<ChannelScale> channel_scale_of(const TraceRewriter& rewriter, size_t index);

}  // namespace torch_ir

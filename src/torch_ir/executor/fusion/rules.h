// The rules of fuse_trace, and what they share.
//
// A table in each family's file says which operators its rules are for. A rule leaves alone what it
// does not know.
#pragma once

#include <span>
#include <string_view>

#include "torch_ir/executor/fusion/trace_rewriter.h"

namespace torch_ir {

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

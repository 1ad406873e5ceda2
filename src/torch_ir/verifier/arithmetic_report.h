// report_on_arithmetic: what an arithmetic does to a model: the eager lane (lanes.h), judged as a
// run.
//
// Weights, inputs and the floating-point values of nodes are rounded to the arithmetic. Values that
// the graph itself keeps in float16, bfloat16 or float8 stay as they are.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/runtime/graph/case.h"
#include "torch_ir/verifier/arithmetic.h"
#include "torch_ir/verifier/value_detail.h"

namespace torch_ir {

// Whether the graph has values that an arithmetic rounds, or that have few digits by themselves.
bool has_floating_point(const Graph& graph);

// The case with rounded weights, constants and inputs, as an executor keeps them.
Case round_to(Arithmetic arithmetic, const Case& graph_case);

// The first value that an arithmetic cannot hold. -inf in the place of the great negative number of
// a mask is right.
struct LostValue {
  // kDigits: it is nearer to 0 than to what it should be, or as far.
  enum class Kind { kInfinity, kNotANumber, kDigits };

  // A value of a node, or a weight or input, which has no node.
  ValueDetail place = {};
  Kind kind = Kind::kInfinity;
};

inline constexpr std::array kLostKinds = {LostValue::Kind::kInfinity, LostValue::Kind::kNotANumber,
                                          LostValue::Kind::kDigits};

// "infinity", "NaN", "value without a right digit".
std::string_view lost_name(LostValue::Kind kind);

// "float16 cannot hold this model: first infinity at `pow_3` in layers.0.norm". `code` formats
// names.
std::string lost_text(Arithmetic arithmetic, const LostValue& lost,
                      const std::function<std::string(const std::string&)>& code);

// The SNR of a value in the arithmetic, in dB, and how much of the SNR of its inputs its node lost.
struct NodeLoss {
  ValueDetail place = {};
  double signal_to_noise = 0;
  double loss = 0;
};

// What an arithmetic does to a model, for reports.
struct ArithmeticReport {
  struct Output {
    std::string name = {};
    // Of the eager lane, in dB; none if the exact lane says nothing about it, for this reason.
    std::optional<double> signal_to_noise = std::nullopt;
    std::string doubt = {};
    // Whether the arithmetic cannot hold it, so that nothing is expected of an executor.
    bool is_lost = false;
  };

  Arithmetic arithmetic = Arithmetic::kFloat16;
  // Whether an executor was judged by it.
  bool has_executor = false;
  // Only if an output suffers from it, or is lost.
  std::optional<LostValue> first_lost = std::nullopt;
  // Those of the graph, by position.
  std::vector<Output> outputs = {};
  // The greatest losses, at most kMaxNodeLosses; only the values before a lost one.
  std::vector<NodeLoss> losses = {};
  // Why the graph could not be run in it, one line.
  std::string problem = {};
};

inline constexpr size_t kMaxNodeLosses = 10;

// `inside` are the names of values that are not rounded, as in JudgeOptions. Never throws.
ArithmeticReport report_on_arithmetic(const Case& graph_case, Arithmetic arithmetic,
                                      const std::vector<std::string>& inside = {});

}  // namespace torch_ir

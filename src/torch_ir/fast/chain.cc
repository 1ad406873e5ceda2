#include <ATen/TensorOperators.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "torch_ir/fast/rules.h"

namespace torch_ir {

std::string name_of(const TraceCall& call) {
  return call.fused == nullptr ? c10::toString(call.op.operator_name()) : std::string();
}

const TraceArgument* CallArguments::find(std::string_view name) const {
  const auto index = call_.op.schema().argumentIndexWithName(name);
  return index ? &call_.arguments[static_cast<size_t>(*index)] : nullptr;
}

std::optional<TensorId> CallArguments::tensor(std::string_view name) const {
  const auto* id = std::get_if<TensorId>(find(name));
  return id == nullptr ? std::nullopt : std::optional(*id);
}

std::vector<TensorId> CallArguments::tensors(std::string_view name) const {
  const TraceArgument* argument = find(name);
  return argument == nullptr ? std::vector<TensorId>() : tensors_of(*argument);
}

c10::IValue CallArguments::value(std::string_view name) const {
  const auto* value = std::get_if<c10::IValue>(find(name));
  return value == nullptr ? c10::IValue() : *value;
}

std::vector<int64_t> CallArguments::integers(std::string_view name, size_t count,
                                             int64_t missing) const {
  const c10::IValue found = value(name);
  std::vector<int64_t> numbers;
  if (found.isInt()) numbers = {found.toInt()};
  if (found.isIntList()) numbers = found.toIntVector();
  if (numbers.size() <= 1) numbers.resize(count, numbers.empty() ? missing : numbers[0]);
  return numbers;
}

double CallArguments::number(std::string_view name, double missing) const {
  const c10::IValue found = value(name);
  // Complex numbers, which have no double, equal nothing.
  if (found.isComplexDouble()) return std::numeric_limits<double>::quiet_NaN();
  return found.isScalar() ? found.toScalar().toDouble() : missing;
}

std::optional<double> number_of(const Trace& trace, const TraceArgument& argument) {
  const auto* id = std::get_if<TensorId>(&argument);
  const auto* value = std::get_if<c10::IValue>(&argument);
  if (value != nullptr && value->isScalar() && !value->isComplexDouble()) {
    return value->toScalar().toDouble();
  }
  const at::Tensor constant = id == nullptr ? at::Tensor() : trace.tensors[*id].constant;
  const bool is_number =
      constant.defined() && constant.dim() <= 1 && constant.numel() == 1 && !constant.is_complex();
  return is_number ? std::optional(constant.item().toDouble()) : std::nullopt;
}

namespace {

PostOp function(Function function, double alpha = 0, double beta = 0) {
  return {PostOp::Kind::kFunction, function, static_cast<float>(alpha), static_cast<float>(beta)};
}

// With greater numbers fused functions may overflow where eager's do not.
constexpr double kMostLinear = 0x1p24;

// A product or a sum with a number, as of a layer that scales by a weight of one element.
PostOps linear_of(const Trace& trace, const TraceCall& call) {
  const std::string name = c10::toString(call.op.operator_name());
  const bool is_product = name == "aten::mul.Tensor";
  if (!is_product && name != "aten::add.Tensor") return {};
  if (CallArguments(call).number("alpha", 1) != 1) return {};
  for (const TraceArgument& argument : {call.arguments[0], call.arguments[1]}) {
    const auto number = number_of(trace, argument);
    if (!number || !(std::abs(*number) <= kMostLinear)) continue;
    return {is_product ? function(Function::kLinear, *number)
                       : function(Function::kLinear, 1, *number)};
  }
  return {};
}

bool is_linear(const PostOp& post_op) {
  return post_op.kind == PostOp::Kind::kFunction && post_op.function == Function::kLinear;
}

bool is_channels_last(const TraceTensor& tensor) {
  return tensor.sizes.size() == 4 &&
         tensor.strides == at::DimVector(c10::get_channels_last_strides_2d(tensor.sizes));
}

class ChainBuilder {
 public:
  ChainBuilder(const TraceRewriter& rewriter, size_t index, const ChainOptions& options)
      : rewriter_(rewriter), options_(options) {
    add(index);
    chain_.made = chain_.output;
    chain_.norm = options.norm;
  }

  bool extend() {
    const auto next = rewriter_.only_reader(chain_.output);
    if (!next || !rewriter_.is_open(*next)) return false;
    const TraceCall& call = rewriter_.call(*next);
    if (call.fused != nullptr) return false;
    if (options_.takes_norm && take_copy(call, *next)) return true;
    // Calls of a chain use one value, laid out as it was made.
    if (call.outputs.empty() || !fits(call.outputs[0]) || !reads_all(call)) return false;
    return (options_.takes_norm && take_norm(*next)) || take_functions(call, *next) ||
           (options_.takes_addition && take_addition(call, *next));
  }

  Chain take() { return std::move(chain_); }

 private:
  bool fits(TensorId id) const {
    const TensorId first = chain_.output;
    if (!rewriter_.is_value(id, rewriter_.tensor(first).dtype)) return false;
    if (!options_.is_contiguous) {
      if (rewriter_.have_same_layout(id, first)) return true;
      if (!is_squeezed_alike(id, first) && !are_rows(id)) return false;
    }
    return rewriter_.is_contiguous(id) && rewriter_.tensor(id).offset == 0 &&
           c10::multiply_integers(rewriter_.tensor(id).sizes) ==
               c10::multiply_integers(rewriter_.tensor(first).sizes);
  }

  bool is_squeezed_alike(TensorId a, TensorId b) const {
    const auto squeezed = [this](TensorId id) {
      at::DimVector sizes = rewriter_.tensor(id).sizes;
      sizes.erase(std::remove(sizes.begin(), sizes.end(), 1), sizes.end());
      return sizes;
    };
    return rewriter_.is_contiguous(a) && rewriter_.is_contiguous(b) && squeezed(a) == squeezed(b);
  }

  // Whether it can be an image in channels last seen as rows of pixels.
  bool are_rows(TensorId id) const {
    const TraceTensor& made = rewriter_.tensor(chain_.made);
    const at::DimVector& sizes = rewriter_.tensor(id).sizes;
    return is_channels_last(made) && !sizes.empty() && sizes.back() == made.sizes[1];
  }

  bool reads_all(const TraceCall& call) const {
    const BufferId buffer = rewriter_.tensor(chain_.output).buffer;
    return std::ranges::all_of(tensors_of(call), [&](TensorId id) {
      return rewriter_.tensor(id).buffer != buffer || fits(id);
    });
  }

  void add(size_t index) {
    chain_.calls.push_back(index);
    chain_.output = rewriter_.call(index).outputs[0];
  }

  bool take_copy(const TraceCall& call, size_t index) {
    if (call.name() != "aten::clone" || chain_.addend) return false;
    const auto source = std::get<TensorId>(call.arguments[0]);
    const TraceTensor& copy = rewriter_.tensor(call.outputs[0]);
    if (!is_channels_last(copy) || !rewriter_.is_value(call.outputs[0]) ||
        !rewriter_.have_same_layout(source, chain_.made)) {
      return false;
    }
    add(index);
    chain_.made = chain_.output;
    return true;
  }

  bool take_norm(size_t index) {
    if (chain_.norm || chain_.calls.size() > 1) return false;
    auto norm = channel_scale_of(rewriter_, index);
    if (!norm) return false;
    // A view may have other channels.
    const TensorId output = rewriter_.call(index).outputs[0];
    const at::DimVector& sizes = rewriter_.tensor(output).sizes;
    const at::DimVector& made = rewriter_.tensor(chain_.output).sizes;
    if (sizes[0] != made[0] || sizes[1] != made[1] ||
        rewriter_.is_contiguous(output) != rewriter_.is_contiguous(chain_.output)) {
      return false;
    }
    chain_.norm = std::move(norm);
    add(index);
    return true;
  }

  bool take_functions(const TraceCall& call, size_t index) {
    PostOps functions = functions_of(call);
    if (functions.empty()) functions = linear_of(rewriter_.trace(), call);
    if (functions.empty()) return false;
    PostOps post_ops = chain_.post_ops;
    PostOp& first = functions[0];
    if (is_linear(first) && first.alpha == 1 && first.beta == 0) {
      // Python's sum begins by adding 0.
      functions.erase(functions.begin());
    } else if (!post_ops.empty() && is_linear(post_ops.back()) && is_linear(first)) {
      first.beta += first.alpha * post_ops.back().beta;
      first.alpha *= post_ops.back().alpha;
      if (!(std::abs(first.alpha) <= kMostLinear && std::abs(first.beta) <= kMostLinear)) {
        return false;
      }
      post_ops.pop_back();
    }
    if (contradict(post_ops, functions)) return false;
    post_ops.insert(post_ops.end(), functions.begin(), functions.end());
    chain_.post_ops = std::move(post_ops);
    add(index);
    return true;
  }

  // oneDNN 2 uses the numbers of one function for all functions of its kind.
  static bool contradict(const PostOps& post_ops, const PostOps& functions) {
    return std::ranges::any_of(functions, [&](const PostOp& next) {
      return std::ranges::any_of(post_ops, [&](const PostOp& taken) {
        return taken.kind == next.kind && taken.function == next.function &&
               (taken.alpha != next.alpha || taken.beta != next.beta);
      });
    });
  }

  bool take_addition(const TraceCall& call, size_t index) {
    if (chain_.addend || !is_call(call, "aten::add.Tensor")) return false;
    const CallArguments arguments(call);
    const auto self = arguments.tensor("self");
    const auto other = arguments.tensor("other");
    if (!self || !other || arguments.number("alpha", 1) != 1) return false;
    const BufferId made = rewriter_.tensor(chain_.output).buffer;
    const TensorId addend = rewriter_.tensor(*self).buffer == made ? *other : *self;
    if (!fits(addend) ||
        rewriter_.tensor(addend).sizes != rewriter_.tensor(call.outputs[0]).sizes) {
      return false;
    }
    chain_.before_addition = std::make_shared<const Chain>(chain_);
    chain_.addend = addend;
    chain_.post_ops.push_back({PostOp::Kind::kSum});
    add(index);
    return true;
  }

  const TraceRewriter& rewriter_;
  const ChainOptions options_;
  Chain chain_ = {};
};

// A product or a sum with a constant of one number for each channel, as a layer scale is.
std::optional<ChannelScale> scale_by_constant(const TraceRewriter& rewriter, const TraceCall& call,
                                              bool is_product) {
  const CallArguments arguments(call);
  const auto self = arguments.tensor("self");
  const auto other = arguments.tensor("other");
  if (!self || !other || arguments.number("alpha", 1) != 1) return std::nullopt;
  const bool is_second = rewriter.constant(*other).defined();
  const TensorId source = is_second ? *self : *other;
  const TensorId factor = is_second ? *other : *self;
  const at::Tensor& constant = rewriter.constant(factor);
  const at::DimVector& sizes = rewriter.tensor(source).sizes;
  if (!constant.defined() || !rewriter.is_value(factor) || sizes.size() < 3 ||
      rewriter.tensor(call.outputs[0]).sizes != sizes) {
    return std::nullopt;
  }
  at::DimVector by_channel(sizes.size(), 1);
  by_channel[1] = sizes[1];
  at::DimVector given(sizes.size() - static_cast<size_t>(constant.dim()), 1);
  given.append(constant.sizes().begin(), constant.sizes().end());
  if (given != by_channel) return std::nullopt;
  const at::Tensor numbers = constant.to(at::kDouble).reshape({-1});
  if (is_product) return ChannelScale{source, numbers, at::zeros_like(numbers), {constant}, "mul"};
  return ChannelScale{source, at::ones_like(numbers), numbers, {constant}, "add"};
}

}  // namespace

PostOps functions_of(const TraceCall& call) {
  // Hardswish is x clip(x / 6 + 1 / 2, 0, 1), hardsigmoid the same without the x before it.
  constexpr double kHardSlope = 1.0 / 6;
  constexpr double kHardOffset = 0.5;
  const std::string name = name_of(call);
  const CallArguments arguments(call);
  const auto clip_to = [&](std::string_view low, std::string_view high, double bound) {
    return PostOps{
        function(Function::kClip, arguments.number(low, -bound), arguments.number(high, bound))};
  };
  if (name == "aten::clamp") return clip_to("min", "max", kInfinity);
  // oneDNN is fastest with ReLU.
  const bool is_relu = name == "aten::clamp_min" && arguments.number("min", -kInfinity) == 0;
  if (name == "aten::relu" || is_relu) return {function(Function::kRelu)};
  if (name == "aten::clamp_min") return clip_to("min", "", kInfinity);
  if (name == "aten::gelu") {
    const c10::IValue form = arguments.value("approximate");
    const bool is_tanh = form.isString() && form.toStringRef() == "tanh";
    return {function(is_tanh ? Function::kGeluTanh : Function::kGeluErf)};
  }
  if (name == "aten::hardsigmoid") {
    return {function(Function::kLinear, kHardSlope, kHardOffset), function(Function::kClip, 0, 1)};
  }
  if (name == "aten::hardswish") return {function(Function::kHardswish, kHardSlope, kHardOffset)};
  if (name == "aten::hardtanh") return clip_to("min_val", "max_val", 1);
  if (name == "aten::leaky_relu") {
    return {function(Function::kRelu, arguments.number("negative_slope", 0.01))};
  }
  if (name == "aten::sigmoid") return {function(Function::kLogistic)};
  if (name == "aten::silu") return {function(Function::kSwish, 1)};
  if (name == "aten::tanh") return {function(Function::kTanh)};
  return {};
}

Chain chain_after(const TraceRewriter& rewriter, size_t index, const ChainOptions& options) {
  ChainBuilder builder(rewriter, index, options);
  while (builder.extend()) {
  }
  return builder.take();
}

std::pair<std::string, std::vector<at::Tensor>> Chain::sources_of(const at::Tensor& weight,
                                                                  const at::Tensor& bias) const {
  std::vector<at::Tensor> sources = {weight, bias};
  if (!norm) return {"", sources};
  sources.insert(sources.end(), norm->sources.begin(), norm->sources.end());
  return {norm->key + ' ', sources};
}

at::Tensor Chain::normed_weight(const at::Tensor& weight, size_t dim) const {
  if (!norm) return weight;
  at::DimVector by_output(static_cast<size_t>(weight.dim()), 1);
  by_output[dim] = -1;
  return (weight.to(at::kDouble) * norm->scale.view(by_output)).to(at::kFloat);
}

at::Tensor Chain::normed_bias(const at::Tensor& bias) const {
  if (!norm) return bias;
  at::Tensor shift = norm->shift;
  if (bias.defined()) shift = shift + bias.to(at::kDouble) * norm->scale;
  return shift.to(at::kFloat);
}

bool may_sum(const TraceRewriter& rewriter, const Chain& chain, TensorId source) {
  return rewriter.is_last_use(*chain.addend, chain.calls.back()) &&
         rewriter.tensor(*chain.addend).buffer != rewriter.tensor(source).buffer &&
         rewriter.tensor(*chain.addend).offset == 0;
}

std::optional<ChannelScale> channel_scale_of(const TraceRewriter& rewriter, size_t index) {
  const TraceCall& call = rewriter.call(index);
  const std::string name = c10::toString(call.op.operator_name());
  const bool is_product = name == "aten::mul.Tensor";
  if (is_product || name == "aten::add.Tensor")
    return scale_by_constant(rewriter, call, is_product);
  if (name != "aten::native_batch_norm" && name != "aten::_native_batch_norm_legit_no_training") {
    return std::nullopt;
  }
  const CallArguments arguments(call);
  const c10::IValue training = arguments.value("training");
  if (training.isBool() && training.toBool()) return std::nullopt;
  for (size_t i = 1; i < call.outputs.size(); ++i) {
    if (rewriter.is_read(call.outputs[i])) return std::nullopt;
  }
  ChannelScale result;
  result.source = *arguments.tensor("input");
  const double eps = arguments.number("eps", 0);
  result.key = std::to_string(std::bit_cast<uint64_t>(eps));
  const auto constant = [&](std::string_view parameter) -> at::Tensor {
    const auto id = arguments.tensor(parameter);
    const at::Tensor tensor = id ? rewriter.constant(*id) : at::Tensor();
    result.sources.push_back(tensor);
    return tensor.defined() ? tensor.to(at::kDouble) : tensor;
  };
  const at::Tensor weight = constant("weight");
  const at::Tensor bias = constant("bias");
  const at::Tensor mean = constant("running_mean");
  const at::Tensor variance = constant("running_var");
  const bool is_known = mean.defined() && variance.defined() &&
                        weight.defined() == arguments.tensor("weight").has_value() &&
                        bias.defined() == arguments.tensor("bias").has_value();
  if (!is_known) return std::nullopt;
  result.scale = (variance + eps).rsqrt();
  if (weight.defined()) result.scale = result.scale * weight;
  result.shift = -mean * result.scale;
  if (bias.defined()) result.shift = result.shift + bias;
  return result;
}

}  // namespace torch_ir

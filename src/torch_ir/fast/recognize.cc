#include <algorithm>
#include <cmath>
#include <utility>

#include "torch_ir/fast/attention.h"
#include "torch_ir/fast/rules.h"

namespace torch_ir {
namespace {

// How LibTorch computes each group of a convolution, where oneDNN does not compute all at once.
constexpr const char* kGroupConvolution = "aten::_slow_conv2d_forward";

class Recognizer {
 public:
  explicit Recognizer(Trace& trace) : trace_(trace), facts_(trace), is_dead_(trace.calls.size()) {}

  void run() {
    c10::Dispatcher& operators = c10::Dispatcher::singleton();
    for (size_t i = 0; i < trace_.calls.size(); ++i) {
      inner_.clear();
      TraceCall& call = trace_.calls[i];
      if (const auto input = tanh_gelu_at(i)) {
        call.op = operators.findSchemaOrThrow("aten::gelu", "");
        call.arguments = {*input, c10::IValue("tanh")};
      } else if (auto grouped = grouped_convolution_at(i)) {
        call.op = operators.findSchemaOrThrow("aten::mkldnn_convolution", "");
        call.arguments = std::move(*grouped);
      } else if (!fuse_rms_norm(call) && !fuse_attention(trace_, facts_, i, inner_)) {
        continue;
      }
      for (const size_t inner : inner_) is_dead_[inner] = true;
    }
    std::erase_if(trace_.calls,
                  [&](const TraceCall& call) { return is_dead_[&call - trace_.calls.data()]; });
  }

 private:
  BufferId buffer(TensorId id) const { return trace_.tensors[id].buffer; }

  // The call `name` that made `id` for one reader, with an alpha of 1 if it has one.
  const TraceCall* made_by(std::optional<TensorId> id, std::string_view name) {
    const auto maker = id ? facts_.inner_maker(buffer(*id)) : std::nullopt;
    const TraceCall* call = maker ? &trace_.calls[*maker] : nullptr;
    if (call == nullptr || !is_call(*call, name) || call->outputs[0] != *id ||
        CallArguments(*call).number("alpha", 1) != 1) {
      return nullptr;
    }
    inner_.push_back(*maker);
    return call;
  }

  // Nothing if `call` is null or the argument is no tensor.
  static std::optional<TensorId> operand(const TraceCall* call, size_t position) {
    const auto* id = call == nullptr ? nullptr : std::get_if<TensorId>(&call->arguments[position]);
    return id == nullptr ? std::nullopt : std::optional(*id);
  }

  // The other operand, if `name` of that and of `number`, in any order, made `id`.
  std::optional<TensorId> operand_beside(std::optional<TensorId> id, std::string_view name,
                                         double number) {
    const TraceCall* call = made_by(id, name);
    if (call == nullptr) return std::nullopt;
    for (const size_t side : {0, 1}) {
      const auto found = number_of(trace_, call->arguments[side]);
      const auto other = operand(call, 1 - side);
      if (found && other && std::abs(*found - number) < 1e-6) return other;
    }
    return std::nullopt;
  }

  // x where call `index` is 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
  std::optional<TensorId> tanh_gelu_at(size_t index) {
    const TraceCall& call = trace_.calls[index];
    if (!is_call(call, "aten::mul.Tensor")) return std::nullopt;
    const auto x = operand_beside(operand(&call, 0), "aten::mul.Tensor", 0.5);
    const auto tanh = operand_beside(operand(&call, 1), "aten::add.Tensor", 1);
    const auto scaled = operand(made_by(tanh, "aten::tanh"), 0);
    const auto cubic = operand_beside(scaled, "aten::mul.Tensor", std::sqrt(2 / M_PI));
    const TraceCall* sum = made_by(cubic, "aten::add.Tensor");
    const auto cube = operand_beside(operand(sum, 1), "aten::mul.Tensor", 0.044715);
    if (!x || facts_.is_written[buffer(*x)] || operand(sum, 0) != x ||
        operand_beside(cube, "aten::pow.Tensor_Scalar", 3) != x) {
      return std::nullopt;
    }
    // A constant may have a wider dtype.
    const TraceTensor& from = trace_.tensors[*x];
    const TraceTensor& to = trace_.tensors[call.outputs[0]];
    const bool is_alike = from.dtype == to.dtype && from.sizes == to.sizes;
    return is_alike && c10::isFloatingType(from.dtype) ? x : std::nullopt;
  }

  // The tensor of which the arguments `name` of all groups are the parts along `dim`, in order.
  std::optional<TraceTensor> whole_of(const std::vector<const TraceCall*>& groups,
                                      std::string_view name, size_t dim) const {
    const auto first = CallArguments(*groups[0]).tensor(name);
    if (!first) return std::nullopt;
    TraceTensor whole = trace_.tensors[*first];
    int64_t offset = whole.offset;
    for (const TraceCall* group : groups) {
      const auto id = CallArguments(*group).tensor(name);
      const TraceTensor part = id ? trace_.tensors[*id] : TraceTensor();
      const bool is_next = id && part.buffer == whole.buffer && part.dtype == whole.dtype &&
                           are_alike(part, whole) &&
                           part.constant.defined() == whole.constant.defined() &&
                           part.offset == offset;
      if (!is_next) return std::nullopt;
      offset += part.sizes[dim] * part.strides[dim];
    }
    whole.sizes[dim] *= static_cast<int64_t>(groups.size());
    if (whole.constant.defined()) {
      whole.constant = whole.constant.as_strided(whole.sizes, whole.strides);
    }
    return whole;
  }

  // The arguments of aten::mkldnn_convolution, where call `index` joins the groups of a
  // convolution, which LibTorch computes one by one: those of small batches, with 1x1 kernels.
  std::optional<std::vector<TraceArgument>> grouped_convolution_at(size_t index) {
    const TraceCall& join = trace_.calls[index];
    if (!is_call(join, "aten::cat")) return std::nullopt;
    const CallArguments joined(join);
    std::vector<const TraceCall*> groups;
    for (const TensorId id : joined.tensors("tensors")) {
      const TraceCall* group = made_by(id, kGroupConvolution);
      if (group == nullptr) return std::nullopt;
      groups.push_back(group);
      for (const char* name : {"stride", "padding"}) {
        if (CallArguments(*group).integers(name, 2, 0) !=
            CallArguments(*groups[0]).integers(name, 2, 0)) {
          return std::nullopt;
        }
      }
    }
    if (groups.size() < 2 || joined.number("dim", 0) != 1) return std::nullopt;
    const CallArguments arguments(*groups[0]);
    const auto source = whole_of(groups, "self", 1);
    const auto weight = whole_of(groups, "weight", 0);
    const auto bias = whole_of(groups, "bias", 0);
    const bool has_bias = std::ranges::any_of(groups, [](const TraceCall* group) {
      return CallArguments(*group).tensor("bias").has_value();
    });
    const bool is_taken = source && !facts_.is_written[source->buffer] &&
                          source->dtype == c10::kFloat && source->sizes.size() == 4 &&
                          is_contiguous(*source) && weight && weight->constant.defined() &&
                          (!has_bias || (bias && bias->constant.defined()));
    if (!is_taken) return std::nullopt;
    return std::vector<TraceArgument>{
        trace_.add(*source),
        trace_.add(*weight),
        has_bias ? TraceArgument(trace_.add(*bias)) : TraceArgument(c10::IValue()),
        c10::IValue(arguments.integers("padding", 2, 0)),
        c10::IValue(arguments.integers("stride", 2, 1)),
        c10::IValue(std::vector<int64_t>{1, 1}),
        c10::IValue(static_cast<int64_t>(groups.size()))};
  }

  bool is_plain(TensorId id) const {
    const TraceTensor& tensor = trace_.tensors[id];
    return tensor.dtype == c10::kFloat && !facts_.is_written[tensor.buffer] &&
           is_contiguous(tensor);
  }

  // The number added to the mean of the squares of `x`, if `id` is that sum.
  std::optional<double> eps_of(std::optional<TensorId> id, TensorId x) {
    const TraceCall* sum = made_by(id, "aten::add.Tensor");
    const TraceCall* mean = made_by(operand(sum, 0), "aten::mean.dim");
    if (operand_beside(operand(mean, 0), "aten::pow.Tensor_Scalar", 2) != x) return std::nullopt;
    const auto last = static_cast<int64_t>(trace_.tensors[x].sizes.size()) - 1;
    const CallArguments arguments(*mean);
    const Dims dims = arguments.integers("dim", 1, /*missing=*/last + 1);
    const bool is_last = (dims == Dims{-1} || dims == Dims{last}) &&
                         arguments.value("keepdim").toBool() && arguments.value("dtype").isNone();
    return is_last ? number_of(trace_, sum->arguments[1]) : std::nullopt;
  }

  // Replaces `call` where it is weight * (x * rsqrt(mean(x^2) + eps)).
  bool fuse_rms_norm(TraceCall& call) {
    if (!is_call(call, "aten::mul.Tensor")) return false;
    for (const size_t side : {0, 1}) {
      inner_.clear();
      const auto weight = operand(&call, side);
      const TraceCall* product = made_by(operand(&call, 1 - side), "aten::mul.Tensor");
      const auto x = operand(product, 0);
      const TraceCall* root = made_by(operand(product, 1), "aten::rsqrt");
      if (!weight || !x || root == nullptr) continue;
      const auto eps = eps_of(operand(root, 0), *x);
      const at::DimVector& sizes = trace_.tensors[*x].sizes;
      const bool is_norm = eps && !sizes.empty() && sizes.back() > 0 && is_plain(*x) &&
                           is_plain(*weight) && is_plain(call.outputs[0]) &&
                           trace_.tensors[*weight].sizes == at::DimVector{sizes.back()} &&
                           trace_.tensors[call.outputs[0]].sizes == sizes;
      if (!is_norm) continue;
      call.fused = std::make_shared<FusedCall>(rms_norm(*eps));
      call.arguments = {*x, *weight};
      return true;
    }
    return false;
  }

  Trace& trace_;
  TraceFacts facts_;
  std::vector<bool> is_dead_;
  std::vector<size_t> inner_;
};

}  // namespace

void recognize_functions(Trace& trace) { Recognizer(trace).run(); }

}  // namespace torch_ir

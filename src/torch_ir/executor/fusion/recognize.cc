#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "torch_ir/executor/fusion/rules.h"

namespace torch_ir {
namespace {

class Recognizer {
 public:
  explicit Recognizer(Trace& trace)
      : trace_(trace),
        is_written_(written_buffers(trace)),
        makers_(trace.buffers.size()),
        num_readers_(trace.buffers.size()),
        is_dead_(trace.calls.size()) {
    for (size_t i = 0; i < trace.calls.size(); ++i) {
      for (const TensorId id : trace.calls[i].outputs) makers_[trace.tensors[id].buffer] = i;
      for (const TensorId id : tensors_of(trace.calls[i])) ++num_readers_[buffer(id)];
    }
    for (const TensorId id : trace.outputs) ++num_readers_[buffer(id)];
  }

  void run() {
    const auto gelu = c10::Dispatcher::singleton().findSchema({"aten::gelu", ""});
    for (size_t i = 0; i < trace_.calls.size(); ++i) {
      inner_.clear();
      const auto input = gelu ? tanh_gelu_at(i) : std::nullopt;
      if (!input) continue;
      trace_.calls[i].op = *gelu;
      trace_.calls[i].arguments = {*input, c10::IValue("tanh")};
      for (const size_t call : inner_) is_dead_[call] = true;
    }
    std::vector<TraceCall> live;
    for (size_t i = 0; i < trace_.calls.size(); ++i) {
      if (!is_dead_[i]) live.push_back(std::move(trace_.calls[i]));
    }
    trace_.calls = std::move(live);
  }

 private:
  BufferId buffer(TensorId id) const { return trace_.tensors[id].buffer; }

  // The call `name` that made `id`, if `id` has one reader.
  const TraceCall* made_by(TensorId id, std::string_view name) {
    const std::optional<size_t>& maker = makers_[buffer(id)];
    if (!maker || is_written_[buffer(id)] || num_readers_[buffer(id)] != 1) return nullptr;
    const TraceCall& call = trace_.calls[*maker];
    if (c10::toString(call.op.operator_name()) != name || call.outputs[0] != id) return nullptr;
    inner_.push_back(*maker);
    return &call;
  }

  std::optional<double> number(const TraceArgument& argument) const {
    if (const auto* value = std::get_if<c10::IValue>(&argument)) {
      return value->isScalar() ? std::optional(value->toScalar().toDouble()) : std::nullopt;
    }
    const auto* id = std::get_if<TensorId>(&argument);
    if (id == nullptr) return std::nullopt;
    const at::Tensor& constant = trace_.tensors[*id].constant;
    const bool is_number = constant.defined() && constant.dim() == 0;
    return is_number ? std::optional(constant.item().toDouble()) : std::nullopt;
  }

  // The other operand, if one operand of `call` is `expected`.
  std::optional<TensorId> with_number(const TraceCall* call, double expected) const {
    if (call == nullptr) return std::nullopt;
    for (const size_t side : {0, 1}) {
      const auto found = number(call->arguments[side]);
      const auto* other = std::get_if<TensorId>(&call->arguments[1 - side]);
      if (found && other != nullptr && std::abs(*found - expected) < 1e-6) return *other;
    }
    return std::nullopt;
  }

  std::optional<TensorId> cubic_of(TensorId id) {
    const TraceCall* sum = made_by(id, "aten::add.Tensor");
    if (sum == nullptr) return std::nullopt;
    const auto* x = std::get_if<TensorId>(&sum->arguments[0]);
    const auto* scaled = std::get_if<TensorId>(&sum->arguments[1]);
    if (x == nullptr || scaled == nullptr) return std::nullopt;
    const auto cube = with_number(made_by(*scaled, "aten::mul.Tensor"), 0.044715);
    if (!cube) return std::nullopt;
    const TraceCall* power = made_by(*cube, "aten::pow.Tensor_Scalar");
    return with_number(power, 3) == *x ? std::optional(*x) : std::nullopt;
  }

  std::optional<TensorId> factor_of(TensorId id) {
    const auto tanh = with_number(made_by(id, "aten::add.Tensor"), 1);
    const TraceCall* call = tanh ? made_by(*tanh, "aten::tanh") : nullptr;
    if (call == nullptr) return std::nullopt;
    const auto cubic = with_number(
        made_by(std::get<TensorId>(call->arguments[0]), "aten::mul.Tensor"), std::sqrt(2 / M_PI));
    return cubic ? cubic_of(*cubic) : std::nullopt;
  }

  // x where call `index` is 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
  std::optional<TensorId> tanh_gelu_at(size_t index) {
    const TraceCall& call = trace_.calls[index];
    if (c10::toString(call.op.operator_name()) != "aten::mul.Tensor") return std::nullopt;
    const auto* half = std::get_if<TensorId>(&call.arguments[0]);
    const auto* factor = std::get_if<TensorId>(&call.arguments[1]);
    if (half == nullptr || factor == nullptr) return std::nullopt;
    const auto x = with_number(made_by(*half, "aten::mul.Tensor"), 0.5);
    if (!x || is_written_[buffer(*x)] || factor_of(*factor) != x) return std::nullopt;
    return x;
  }

  Trace& trace_;
  std::vector<bool> is_written_;
  std::vector<std::optional<size_t>> makers_;
  std::vector<size_t> num_readers_;
  std::vector<bool> is_dead_;
  std::vector<size_t> inner_;
};

}  // namespace

void recognize_functions(Trace& trace) { Recognizer(trace).run(); }

}  // namespace torch_ir

#include "torch_ir/runtime/replay/tracer.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/operators/operator_table.h"
#include "torch_ir/operators/random_state.h"
#include "torch_ir/runtime/interpreter/run.h"

namespace torch_ir {
namespace {

// Folding trades memory for time; this limits the total growth of the results of one trace over the
// constants they are computed from, each of which counts once.
constexpr size_t kMaxFoldedBytes = size_t{16} << 20;

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == c10::kStrided && tensor.has_storage() && !tensor.is_quantized() &&
         !tensor.is_conj() && !tensor.is_neg() && !tensor._is_zerotensor();
}

constexpr size_t kBeforeSteps = SIZE_MAX;

constexpr const char* kNotPlain =
    "it has a tensor that is not plain memory (sparse, quantized, conjugated)";

}  // namespace

BufferId Tracer::buffer_of(const at::Tensor& tensor) {
  const size_t bytes = tensor.storage().nbytes();
  const auto next = static_cast<BufferId>(trace_.buffers.size());
  const auto [id, is_new] = buffers_.insert(tensor, next);
  if (is_new) trace_.buffers.push_back({BufferKind::kIntermediate, bytes});
  TraceBuffer& buffer = trace_.buffers[*id];
  buffer.bytes = std::max(buffer.bytes, bytes);
  return *id;
}

TensorId Tracer::add_tensor(const at::Tensor& tensor, BufferId buffer) {
  TraceTensor traced{buffer,
                     tensor.scalar_type(),
                     at::DimVector(tensor.sizes()),
                     at::DimVector(tensor.strides()),
                     tensor.storage_offset(),
                     {}};
  if (trace_.buffers[buffer].kind == BufferKind::kConstant) traced.constant = tensor;
  const TensorId id = trace_.add(std::move(traced));
  *tensors_.insert(tensor, id).first = id;
  return id;
}

TensorId Tracer::id_of(const at::Tensor& tensor) {
  if (const TensorId* known = tensors_.find(tensor)) {
    const TraceTensor& traced = trace_.tensors[*known];
    // Operators such as t_ change the tensor itself.
    const bool is_same = is_plain(tensor) && has_layout(tensor, traced);
    if (is_same || traced.constant.is_same(tensor)) return *known;
  }
  if (!is_plain(tensor)) return add_opaque_tensor(kNotPlain);
  const bool is_known = buffers_.find(tensor) != nullptr;
  const BufferId buffer = buffer_of(tensor);
  // Operators that take a number make a tensor of it.
  if (!is_known && tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    trace_.buffers[buffer].kind = BufferKind::kConstant;
  }
  return add_tensor(tensor, buffer);
}

void Tracer::refuse(std::string reason) const { throw TraceRefused{std::move(reason), step_}; }

TensorId Tracer::add_opaque_tensor(const char* reason) {
  const BufferId buffer = trace_.add_buffer(BufferKind::kIntermediate, 0);
  opaque_buffers_.emplace(buffer, reason);
  return trace_.add({.buffer = buffer});
}

bool Tracer::is_opaque(TensorId tensor) const {
  return opaque_buffers_.contains(trace_.tensors[tensor].buffer);
}

void Tracer::note_value(ValueId value, const c10::IValue& made, c10::ScalarType dtype) {
  if (made.isNone()) return;
  const c10::impl::ExcludeDispatchKeyGuard no_calls(mode_key());
  const at::Tensor tensor = as_tensor(made, dtype);
  if (!tensor.defined()) return;
  if (!made.isTensor()) add_constant(tensor);
  trace_.values.push_back({value, id_of(tensor), step_.value(), trace_.calls.size()});
}

void Tracer::check_plain_calls() const {
  for (const TraceCall& call : trace_.calls) {
    for (const TensorId tensor : tensors_and_outputs_of(call)) {
      const auto opaque = opaque_buffers_.find(trace_.tensors[tensor].buffer);
      if (opaque == opaque_buffers_.end()) continue;
      const bool is_of_a_step = call.step != kBeforeSteps;
      throw TraceRefused{opaque->second, is_of_a_step ? std::optional(call.step) : std::nullopt};
    }
  }
}

void Tracer::set_steps_of_first_calls() {
  std::unordered_map<BufferId, size_t> first_uses;
  for (const TraceCall& call : trace_.calls) {
    if (call.step == kBeforeSteps) continue;
    for (const TensorId tensor : tensors_of(call)) {
      first_uses.try_emplace(trace_.tensors[tensor].buffer, call.step);
    }
  }
  for (TraceCall& call : trace_.calls) {
    if (call.step != kBeforeSteps) break;
    call.step = 0;
    for (const TensorId output : call.outputs) {
      const auto use = first_uses.find(trace_.tensors[output].buffer);
      if (use != first_uses.end()) call.step = use->second;
    }
  }
}

Trace Tracer::take(std::vector<TensorId> outputs) {
  trace_.outputs = std::move(outputs);
  check_plain_calls();
  set_steps_of_first_calls();
  if (std::ranges::any_of(trace_.outputs, [this](TensorId output) { return is_opaque(output); })) {
    throw TraceRefused{kNotPlain, std::nullopt};
  }
  return std::move(trace_);
}

TensorId Tracer::add_input(const at::Tensor& input) {
  if (!is_plain(input)) refuse(kNotPlain);
  const BufferId buffer = buffer_of(input);
  trace_.buffers[buffer].kind = BufferKind::kInput;
  return add_tensor(input, buffer);
}

void Tracer::add_constant(const at::Tensor& constant) {
  // Calls that read it are refused.
  if (!is_plain(constant)) return;
  const BufferId buffer = buffer_of(constant);
  trace_.buffers[buffer].kind = BufferKind::kConstant;
  add_tensor(constant, buffer);
}

// The tag says only that a call may draw random numbers: dropout draws none with a rate of 0 or
// outside training.
void Tracer::call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                  torch::jit::Stack* stack) {
  if (!op.hasTag(at::Tag::nondeterministic_seeded)) {
    record(op, keys, stack);
    return;
  }
  const auto unseen = [](const auto& function) {
    const c10::impl::ExcludeDispatchKeyGuard no_calls(mode_key());
    return function();
  };
  const RandomState random = unseen([] { return RandomState(); });
  record(op, keys, stack);
  if (!unseen([&] { return random.has_moved(); })) return;
  // The coming run must draw the same numbers.
  unseen([&] { random.restore(); });
  refuse("it draws random numbers");
}

void Tracer::record(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                    torch::jit::Stack* stack) {
  const bool depends = depends_on_data(op, arguments_of(op, *stack));
  if (depends || facts_of(op).replaces_memory) {
    // A composite operator that does so inside is called as a whole.
    const char* const reason =
        depends ? "its result depends on data" : "it replaces the memory of a tensor";
    TraceCall call{op, {}, {add_opaque_tensor(reason)}, step_.value_or(kBeforeSteps)};
    const c10::impl::ExcludeDispatchKeyGuard no_inner_calls(mode_key());
    run(op, keys, stack);
    trace_.calls.push_back(std::move(call));
    return;
  }
  TraceCall call{op, {}, {}, step_.value_or(kBeforeSteps)};
  for (const c10::IValue& argument : arguments_of(op, *stack)) {
    call.arguments.push_back(record_argument<TensorId>(
        argument, [this](const at::Tensor& tensor) { return id_of(tensor); }));
  }
  const Mark mark{trace_.calls.size(), static_cast<BufferId>(trace_.buffers.size())};
  if (may_be_composite(op)) {
    // The calls that it makes replace it, if they explain its results.
    run(op, keys, stack);
    record_results(results_of(op, *stack), call);
    if (is_explained(mark, call)) return;
    trace_.calls.resize(mark.num_calls, call);
    call.outputs.clear();
  } else {
    const c10::impl::ExcludeDispatchKeyGuard no_inner_calls(mode_key());
    run(op, keys, stack);
  }
  finish_call(std::move(call), mark, results_of(op, *stack));
}

void Tracer::record_results(c10::ArrayRef<c10::IValue> results, TraceCall& call) {
  for_each_tensor(results,
                  [&](const at::Tensor& tensor) { call.outputs.push_back(id_of(tensor)); });
}

// Whether the calls since `mark` make all results of `call` from only its arguments and constants.
// A replay would miss anything that a composite operator does without calling an operator.
bool Tracer::is_explained(const Mark& mark, const TraceCall& call) const {
  const auto inner_calls = std::span(trace_.calls).subspan(mark.num_calls);
  const auto is_mutable = [](const TraceCall& inner) { return inner.op.schema().is_mutable(); };
  if (call.op.schema().is_mutable() && std::ranges::none_of(inner_calls, is_mutable)) return false;
  std::unordered_set<BufferId> made;
  const auto is_known = [&](TensorId tensor) {
    if (is_opaque(tensor)) return false;
    const BufferId buffer = trace_.tensors[tensor].buffer;
    return buffer < mark.num_buffers || made.contains(buffer) ||
           trace_.buffers[buffer].kind == BufferKind::kConstant;
  };
  for (const TraceCall& inner : inner_calls) {
    const bool has_values = std::ranges::any_of(inner.outputs, [&](TensorId tensor) {
      return trace_.buffers[trace_.tensors[tensor].buffer].bytes > 0;
    });
    if (facts_of(inner.op).makes_empty && has_values) return false;
    if (!std::ranges::all_of(tensors_of(inner), is_known)) return false;
    for (const TensorId output : inner.outputs) made.insert(trace_.tensors[output].buffer);
  }
  return std::ranges::all_of(call.outputs, is_known) &&
         (!call.outputs.empty() || !inner_calls.empty());
}

void Tracer::finish_call(TraceCall call, const Mark& mark, c10::ArrayRef<c10::IValue> results) {
  const size_t number = num_calls_++;
  if (fold(call, number, mark, results)) return;
  record_results(results, call);
  const bool writes = call.op.schema().is_mutable();
  note_writes(call);
  if (writes && call.op.hasTag(at::Tag::inplace_view)) return;
  const auto is_old = [&](TensorId output) {
    return trace_.tensors[output].buffer < mark.num_buffers;
  };
  const bool is_view =
      !writes && !call.outputs.empty() && std::ranges::all_of(call.outputs, is_old);
  // Questions about the shape of a tensor have been answered.
  const bool is_question = call.outputs.empty() && !call.op.schema().returns().empty();
  if (!is_view && !is_question) trace_.calls.push_back(std::move(call));
}

bool Tracer::fold(const TraceCall& call, size_t number, const Mark& mark,
                  c10::ArrayRef<c10::IValue> results) {
  const auto is_constant = [&](TensorId tensor) {
    return trace_.kind(tensor) == BufferKind::kConstant;
  };
  if (writes_any_argument(call) || facts_of(call.op).makes_empty ||
      !std::ranges::all_of(tensors_of(call), is_constant)) {
    return false;
  }
  const std::vector<at::Tensor> tensors = tensors_of(results);
  if (tensors.empty() || !std::ranges::all_of(tensors, is_plain)) return false;
  size_t new_bytes = 0;
  for (const at::Tensor& tensor : tensors) {
    const BufferId* known = buffers_.find(tensor);
    const bool is_new = known == nullptr || *known >= mark.num_buffers;
    if (is_new) new_bytes += tensor.storage().nbytes();
  }
  size_t old_bytes = 0;
  std::unordered_set<BufferId> sources;
  for (const TensorId tensor : tensors_of(call)) {
    const BufferId buffer = trace_.tensors[tensor].buffer;
    if (replaced_.contains(buffer) || !sources.insert(buffer).second) continue;
    old_bytes += trace_.buffers[buffer].bytes;
  }
  const size_t growth = new_bytes - std::min(new_bytes, old_bytes);
  const bool may_fold = folds_constants_ && folded_bytes_ + growth <= kMaxFoldedBytes;
  if (new_bytes > 0 && (!may_fold || unfolded_.contains(number))) return false;
  folded_bytes_ += growth;
  if (new_bytes > 0) replaced_.merge(sources);
  for (const at::Tensor& tensor : tensors) {
    add_constant(tensor);
    if (new_bytes > 0) folded_by_.try_emplace(buffer_of(tensor), number);
  }
  return true;
}

void Tracer::note_later_write(TensorId tensor) {
  const auto folded = folded_by_.find(trace_.tensors[tensor].buffer);
  if (folded != folded_by_.end()) wrongly_folded_.insert(folded->second);
}

void Tracer::note_writes(const TraceCall& call) {
  const std::vector<TensorId> read = tensors_of(call);
  const bool is_inplace_view = call.op.hasTag(at::Tag::inplace_view);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!writes_argument(call, i)) continue;
    for (const TensorId tensor : tensors_of(call.arguments[i])) {
      const BufferId buffer = trace_.tensors[tensor].buffer;
      const BufferKind kind = trace_.buffers[buffer].kind;
      // An operator resizes an `out` argument that has another shape than its result. An empty one
      // that the graph made gets its memory then.
      const bool has_memory =
          bytes_of(trace_.tensors[tensor]) > 0 || kind != BufferKind::kIntermediate;
      const bool is_resized = has_memory && std::ranges::any_of(call.outputs, [&](TensorId output) {
                                return trace_.tensors[output].buffer == buffer &&
                                       std::ranges::find(read, output) == read.end();
                              });
      if (is_resized && !is_inplace_view) refuse("it resizes a tensor");
      if (kind == BufferKind::kInput && is_inplace_view) {
        refuse("it changes the shape of a tensor in place");
      }
      if (kind != BufferKind::kConstant) continue;
      const auto folded = folded_by_.find(buffer);
      if (folded == folded_by_.end()) refuse("it writes to a constant");
      wrongly_folded_.insert(folded->second);
    }
  }
}

}  // namespace torch_ir

#include "torch_ir/runtime/replay/frame.h"

#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "torch_ir/ir/stack.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/runtime/graph/fast_level.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/runtime/interpreter/run.h"
#include "torch_ir/runtime/replay/dispatched_call.h"

namespace torch_ir {
namespace {

c10::Storage storage_over(void* data, size_t bytes) {
  return c10::Storage(c10::Storage::use_byte_size_t(), bytes, c10::DataPtr(data, c10::kCPU),
                      /*allocator=*/nullptr, /*resizable=*/false);
}

at::Tensor make_tensor(const c10::Storage& storage, const TraceTensor& traced) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(traced.dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(traced.sizes, traced.strides, traced.offset);
  return tensor;
}

// `traced` over the memory that begins where `input` does.
at::Tensor view_of(const at::Tensor& input, const TraceTensor& traced) {
  if (input.scalar_type() == traced.dtype) {
    return at::as_strided(input, traced.sizes, traced.strides,
                          input.storage_offset() + traced.offset);
  }
  const size_t first = static_cast<size_t>(input.storage_offset()) * input.itemsize();
  if (first % c10::elementSize(traced.dtype) != 0) {
    throw std::runtime_error("an input is not aligned to the dtype that it is viewed as");
  }
  TraceTensor shifted = traced;
  shifted.offset += static_cast<int64_t>(first / c10::elementSize(traced.dtype));
  return make_tensor(input.storage(), shifted);
}

void* data_of(const at::Tensor& tensor) { return const_cast<void*>(tensor.const_data_ptr()); }

}  // namespace

bool OutputMemory::is_unshared() const {
  if (!storage_) return false;
  const bool are_released = std::ranges::all_of(returned_, [](const Returned& returned) {
    return returned.tensor.use_count() == 1 && returned.tensor.weak_use_count() == 1;
  });
  if (!are_released || storage_.use_count() != 1 + returned_.size()) return false;
  // The counts were read relaxed; acquire what other threads did before they let go.
#ifdef __SANITIZE_THREAD__
  // ThreadSanitizer understands reference counts, but not fences.
  for (const Returned& returned : returned_) const at::Tensor counted = returned.tensor;
  const c10::Storage counted = storage_;
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  // The caller may have resized the tensor.
  return storage_.data() == data_ && storage_.nbytes() == bytes_;
}

void* OutputMemory::take() {
  if (!is_unshared()) {
    returned_.clear();
    c10::Allocator* allocator = c10::GetCPUAllocator();
    storage_ = c10::Storage(c10::Storage::use_byte_size_t(), bytes_, allocator->allocate(bytes_),
                            allocator, /*resizable=*/true);
    data_ = storage_.data();
  }
  return storage_.mutable_data();
}

at::Tensor OutputMemory::tensor(TensorId id, const TraceTensor& traced) {
  const auto found = std::ranges::find(returned_, id, &Returned::id);
  if (found != returned_.end()) {
    // Reset it: the caller may have made it part of an autograd graph, or changed its shape.
    const at::Tensor& tensor = found->tensor;
    const bool is_as_new = tensor.key_set() == found->keys && has_layout(tensor, traced) &&
                           tensor.unsafeGetTensorImpl()->autograd_meta() == nullptr &&
                           tensor.is_inference() == c10::InferenceMode::is_enabled() &&
                           tensor.storage().is_alias_of(storage_);
    if (is_as_new) return tensor;
    returned_.erase(found);
  }
  const at::Tensor tensor = make_tensor(storage_, traced);
  returned_.push_back({id, tensor, tensor.key_set()});
  return tensor;
}

Frame::Frame(std::shared_ptr<const Trace> trace, const std::vector<at::Tensor>& inputs,
             bool uses_kernels)
    : trace_(std::move(trace)), arena_(at::empty({trace_->memory.arena}, at::kByte)) {
  storages_.resize(trace_->buffers.size());
  tensors_.resize(trace_->tensors.size());
  users_.resize(trace_->buffers.size());
  returned_.resize(trace_->buffers.size());
  needs_.resize(trace_->calls.size(), NeededMemory::kAll);
  for (size_t i = 0; i < trace_->inputs.size(); ++i) {
    if (!trace_->inputs[i]) continue;
    inputs_.push_back({i, trace_->tensors[*trace_->inputs[i]].buffer});
  }
  const at::Tensor returned = memory_for_returned();
  make_storages(inputs, returned);
  bind_outputs();
  for (size_t i = 0; i < trace_->calls.size(); ++i) prepare(i, uses_kernels);
}

Frame::~Frame() = default;

// Memory to prepare kernels with, in place of the results of operators. Nothing reads it.
at::Tensor Frame::memory_for_returned() const {
  size_t bytes = 0;
  for (const TraceBuffer& buffer : trace_->buffers) {
    if (buffer.place.placement == Placement::kReturned) bytes = std::max(bytes, buffer.bytes);
  }
  return at::zeros({static_cast<int64_t>(bytes)}, at::kByte);
}

void Frame::make_storages(const std::vector<at::Tensor>& inputs, const at::Tensor& returned) {
  auto* arena = static_cast<char*>(arena_.mutable_data_ptr());
  for (size_t id = 0; id < storages_.size(); ++id) {
    const auto& [kind, bytes, place] = trace_->buffers[id];
    if (place.owner != id) continue;
    if (place.placement == Placement::kArena) {
      storages_[id] = storage_over(arena + place.offset, bytes);
    } else if (place.placement == Placement::kOutput) {
      output_memory_.emplace_back(static_cast<BufferId>(id), bytes);
      storages_[id] = storage_over(output_memory_.back().take(), bytes);
    } else if (place.placement == Placement::kReturned) {
      storages_[id] = storage_over(returned.mutable_data_ptr(), bytes);
    } else if (place.placement == Placement::kNowhere) {
      storages_[id] = storage_over(nullptr, bytes);
    }
  }
  for (const InputBinding& input : inputs_) {
    storages_[input.buffer] =
        storage_over(data_of(inputs[input.input]), trace_->buffers[input.buffer].bytes);
  }
  for (size_t id = 0; id < storages_.size(); ++id) {
    const BufferId owner = trace_->buffers[id].place.owner;
    if (owner != id) storages_[id] = storages_[owner];
  }
}

void Frame::bind_outputs() {
  const Trace& trace = *trace_;
  for (size_t i = 0; i < trace.outputs.size(); ++i) {
    const TensorId id = trace.outputs[i];
    const BufferId buffer = trace.tensors[id].buffer;
    const auto first = std::ranges::find(trace.outputs, id) - trace.outputs.begin();
    const auto input = std::ranges::find(inputs_, buffer, &InputBinding::buffer);
    const auto memory = std::ranges::find(output_memory_, buffer, &OutputMemory::buffer);
    OutputBinding binding{OutputSource::kReturned, buffer};
    if (static_cast<size_t>(first) < i) {
      binding = {OutputSource::kOutput, static_cast<size_t>(first)};
    } else if (trace.kind(id) == BufferKind::kConstant) {
      binding = {OutputSource::kConstant, 0};
    } else if (input != inputs_.end()) {
      const bool is_whole = trace.inputs[input->input] == id;
      binding = {is_whole ? OutputSource::kInput : OutputSource::kInputView, input->input};
    } else if (memory != output_memory_.end()) {
      binding = {OutputSource::kMemory, static_cast<size_t>(memory - output_memory_.begin())};
    }
    outputs_.push_back(binding);
  }
}

const at::Tensor& Frame::tensor(TensorId id) {
  at::Tensor& tensor = tensors_[id];
  if (!tensor.defined()) {
    const TraceTensor& traced = trace_->tensors[id];
    tensor =
        traced.constant.defined() ? traced.constant : make_tensor(storages_[traced.buffer], traced);
  }
  return tensor;
}

c10::IValue Frame::argument(const TraceArgument& argument) {
  if (const auto* fixed = std::get_if<c10::IValue>(&argument)) return *fixed;
  if (const auto* id = std::get_if<TensorId>(&argument)) return tensor(*id);
  const TraceList& list = std::get<TraceList>(argument);
  return make_tensor_list(list.items, list.holds_none, [this](const std::optional<TensorId>& item) {
    return item ? c10::IValue(tensor(*item)) : c10::IValue();
  });
}

KernelCall Frame::kernel_call(const TraceCall& traced) {
  KernelCall call{traced.op, {}, {}, {}, {}};
  const auto is_constant = [this](TensorId tensor) {
    return trace_->kind(tensor) == BufferKind::kConstant;
  };
  for (const TraceArgument& traced_argument : traced.arguments) {
    call.arguments.push_back(argument(traced_argument));
    call.is_constant.push_back(std::ranges::all_of(tensors_of(traced_argument), is_constant));
  }
  for (const TensorId output : traced.outputs) {
    const BufferPlace& place = trace_->buffer_of(output).place;
    call.outputs.push_back(tensor(output));
    call.is_used.push_back(place.last_call != place.first_call);
  }
  return call;
}

void Frame::prepare(size_t index, bool uses_kernels) {
  const TraceCall& traced = trace_->calls[index];
  if (traced.fused == nullptr && facts_of(traced.op).makes_empty) return;
  const KernelCall call = kernel_call(traced);
  const bool is_returned = std::ranges::any_of(traced.outputs, [&](TensorId output) {
    const BufferId buffer = trace_->tensors[output].buffer;
    const BufferPlace& place = trace_->buffers[buffer].place;
    return place.placement == Placement::kReturned && place.owner == buffer &&
           place.first_call == index;
  });
  std::unique_ptr<PreparedKernel> kernel;
  if (traced.fused != nullptr) {
    kernel = traced.fused->prepare(call);
  } else if (!is_returned) {
    try {
      const PrepareKernel prepare_kernel =
          uses_kernels ? find_kernel(c10::toString(traced.op.operator_name())) : nullptr;
      if (prepare_kernel != nullptr) kernel = prepare_kernel(call);
      if (kernel == nullptr) kernel = prepare_out_call(call);
    } catch (const c10::Error&) {
    }
  }
  if (kernel == nullptr) {
    kernel = returning_call(index, call);
  } else if (!kernel->writes_unused()) {
    needs_[index] = NeededMemory::kUsed;
  }
  add_step(index, with_checked_values(call, std::move(kernel)));
}

std::unique_ptr<PreparedKernel> Frame::returning_call(size_t index, const KernelCall& call) {
  const TraceCall& traced = trace_->calls[index];
  std::vector<bool> has_new_memory;
  std::vector<BufferId> buffers;
  for (const TensorId output : traced.outputs) {
    const BufferId buffer = trace_->tensors[output].buffer;
    const BufferPlace& place = trace_->buffers[buffer].place;
    buffers.push_back(place.owner);
    has_new_memory.push_back(place.first_call == index && place.placement != Placement::kOutside);
  }
  needs_[index] = NeededMemory::kNone;
  return prepare_returning_call(
      call, std::move(has_new_memory),
      [this, buffers = std::move(buffers)](size_t output, const at::Tensor& result) {
        move(buffers[output], result.storage().mutable_data());
        returned_[buffers[output]] = result.storage();
      });
}

// Adds the step of a call, and one that releases each result of an operator that it reads last.
void Frame::add_step(size_t index, std::unique_ptr<PreparedKernel> kernel) {
  PreparedKernel* const user = kernel.get();
  steps_.push_back({std::move(kernel), index});
  std::unordered_set<BufferId> owners;
  for (const TensorId tensor : tensors_and_outputs_of(trace_->calls[index])) {
    const BufferId owner = trace_->buffer_of(tensor).place.owner;
    const auto& [kind, bytes, place] = trace_->buffers[owner];
    if (kind == BufferKind::kConstant || place.placement == Placement::kArena) continue;
    if (!owners.insert(owner).second) continue;
    users_[owner].push_back(user);
    if (place.placement == Placement::kReturned && place.last_call == index) {
      steps_.push_back(
          {make_kernel([&storage = returned_[owner]] { storage = c10::Storage(); }), index});
    }
  }
}

void Frame::move(BufferId buffer, void* data) {
  c10::StorageImpl* storage = storages_[buffer].unsafeGetStorageImpl();
  if (storage->data() == data) return;
  storage->set_data_ptr_noswap(c10::DataPtr(data, c10::kCPU));
  for (PreparedKernel* kernel : users_[buffer]) kernel->on_moved(storage);
}

at::Tensor Frame::output(size_t index, const std::vector<at::Tensor>& inputs,
                         const std::vector<at::Tensor>& outputs) {
  const Trace& trace = *trace_;
  const OutputBinding& binding = outputs_[index];
  const TensorId id = trace.outputs[index];
  switch (binding.source) {
    // A caller that writes to an output must not change the plan.
    case OutputSource::kConstant:
      return copy_group({trace.tensors[id].constant}).front();
    case OutputSource::kOutput:
      return outputs[binding.index];
    case OutputSource::kInput:
      return inputs[binding.index];
    case OutputSource::kInputView:
      return view_of(inputs[binding.index], trace.tensors[id]);
    case OutputSource::kReturned:
      return make_tensor(returned_[binding.index], trace.tensors[id]);
    default:
      return output_memory_[binding.index].tensor(id, trace.tensors[id]);
  }
}

void Frame::take_outputs(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs) {
  outputs.reserve(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) outputs.push_back(output(i, inputs, outputs));
  for (const OutputBinding& binding : outputs_) {
    if (binding.source == OutputSource::kReturned) returned_[binding.index] = c10::Storage();
  }
}

void Frame::tell_values(size_t& next, size_t num_calls, const OnValue& on_value) {
  const std::vector<TraceValue>& values = trace_->values;
  for (; next < values.size() && values[next].num_calls <= num_calls; ++next) {
    const auto& [value, id, step, calls] = values[next];
    const bool is_inside = calls == TraceValue::kNever;
    // Nothing reads a value without memory.
    if (!is_inside && trace_->buffer_of(id).place.placement == Placement::kNowhere) continue;
    on_value(value, is_inside ? at::Tensor() : tensor(id));
  }
}

void Frame::run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs,
                std::vector<double>* seconds, const OnValue* on_value) {
  using Clock = std::chrono::steady_clock;
  outputs.clear();
  for (const InputBinding& input : inputs_) move(input.buffer, data_of(inputs[input.input]));
  for (OutputMemory& memory : output_memory_) move(memory.buffer(), memory.take());
  Clock::time_point last;
  if (seconds != nullptr) last = Clock::now();
  size_t next_value = 0;
  if (on_value != nullptr) tell_values(next_value, 0, *on_value);
  for (const Step& step : steps_) {
    try {
      step.kernel->run();
    } catch (NeedsExact& needs) {
      needs.node = step.call;
      throw;
    }
    if (on_value != nullptr) tell_values(next_value, step.call + 1, *on_value);
    if (seconds == nullptr) continue;
    const Clock::time_point now = Clock::now();
    (*seconds)[step.call] += std::chrono::duration<double>(now - last).count();
    last = now;
  }
  if (on_value != nullptr) tell_values(next_value, TraceValue::kNever, *on_value);
  take_outputs(inputs, outputs);
}

}  // namespace torch_ir

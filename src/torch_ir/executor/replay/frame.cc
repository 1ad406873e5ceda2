#include "torch_ir/executor/replay/frame.h"

#include <ATen/core/List.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/executor/interpreter/run.h"
#include "torch_ir/executor/replay/dispatched_call.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

// Lets go of memory that an operator returned, after its last use.
class Release final : public PreparedKernel {
 public:
  explicit Release(c10::Storage& storage) : storage_(storage) {}
  void run() override { storage_ = c10::Storage(); }

 private:
  c10::Storage& storage_;
};

c10::Storage storage_over(void* data, size_t bytes) {
  return c10::Storage(c10::Storage::use_byte_size_t(), bytes, c10::DataPtr(data, c10::kCPU),
                      /*allocator=*/nullptr, /*resizable=*/false);
}

template <class Element>
c10::IValue tensor_list(const std::vector<at::Tensor>& tensors) {
  c10::List<Element> list;
  for (const at::Tensor& tensor : tensors) {
    list.push_back(tensor.defined() ? Element(tensor) : Element());
  }
  return list;
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

Frame::Frame(std::shared_ptr<const Schedule> schedule, const std::vector<at::Tensor>& inputs,
             bool uses_kernels)
    : schedule_(std::move(schedule)),
      arena_(at::empty({static_cast<int64_t>(schedule_->arena_bytes)}, at::kByte)) {
  const Trace& trace = schedule_->trace;
  storages_.resize(trace.buffers.size());
  tensors_.resize(trace.tensors.size());
  users_.resize(trace.buffers.size());
  returned_.resize(trace.buffers.size());
  needs_.resize(trace.calls.size(), NeededMemory::kAll);
  for (size_t i = 0; i < trace.inputs.size(); ++i) {
    if (!trace.inputs[i]) continue;
    inputs_.push_back({i, trace.tensors[*trace.inputs[i]].buffer, data_of(inputs[i])});
  }
  const at::Tensor returned = memory_for_returned();
  make_storages(returned);
  bind_outputs();
  for (size_t i = 0; i < trace.calls.size(); ++i) prepare(i, uses_kernels);
}

Frame::~Frame() = default;

// Memory to prepare kernels with, whose contents nobody uses: what operators return comes with
// memory of its own, before anybody reads it.
at::Tensor Frame::memory_for_returned() const {
  size_t bytes = 0;
  for (size_t id = 0; id < storages_.size(); ++id) {
    if (schedule_->places[id].place == Place::kReturned) {
      bytes = std::max(bytes, schedule_->trace.buffers[id].bytes);
    }
  }
  return at::zeros({static_cast<int64_t>(bytes)}, at::kByte);
}

void Frame::make_storages(const at::Tensor& returned) {
  const Trace& trace = schedule_->trace;
  auto* arena = static_cast<char*>(arena_.mutable_data_ptr());
  for (size_t id = 0; id < storages_.size(); ++id) {
    const BufferPlace& place = schedule_->places[id];
    const size_t bytes = trace.buffers[id].bytes;
    // Owners come first: they are older.
    if (place.owner != id) {
      storages_[id] = storages_[place.owner];
    } else if (place.place == Place::kArena) {
      storages_[id] = storage_over(arena + place.offset, bytes);
    } else if (place.place == Place::kOutput) {
      output_memory_.emplace_back(static_cast<BufferId>(id), bytes);
      storages_[id] = storage_over(output_memory_.back().take(), bytes);
    } else if (place.place == Place::kReturned) {
      storages_[id] = storage_over(returned.mutable_data_ptr(), bytes);
    } else if (place.place == Place::kNowhere) {
      storages_[id] = storage_over(nullptr, bytes);
    }
  }
  for (const InputBinding& input : inputs_) {
    storages_[input.buffer] =
        storage_over(const_cast<void*>(input.data), trace.buffers[input.buffer].bytes);
  }
}

void Frame::bind_outputs() {
  const Trace& trace = schedule_->trace;
  std::unordered_map<BufferId, OutputBinding> bindings;
  for (const InputBinding& input : inputs_) {
    bindings[input.buffer] = {OutputSource::kInputView, input.input};
  }
  for (size_t i = 0; i < output_memory_.size(); ++i) {
    bindings[output_memory_[i].buffer()] = {OutputSource::kMemory, i};
  }
  std::unordered_map<TensorId, size_t> first_outputs;
  for (size_t i = 0; i < trace.outputs.size(); ++i) {
    const auto* id = std::get_if<TensorId>(&trace.outputs[i]);
    if (id == nullptr) {
      outputs_.push_back({OutputSource::kNumber, 0});
      continue;
    }
    const BufferId buffer = trace.tensors[*id].buffer;
    if (const auto [first, is_first] = first_outputs.try_emplace(*id, i); !is_first) {
      outputs_.push_back({OutputSource::kOutput, first->second});
    } else if (trace.buffers[buffer].kind == BufferKind::kConstant) {
      outputs_.push_back({OutputSource::kConstant, 0});
    } else if (const auto found = bindings.find(buffer); found != bindings.end()) {
      outputs_.push_back(found->second);
      if (found->second.source == OutputSource::kInputView &&
          trace.inputs[found->second.index] == *id) {
        outputs_.back().source = OutputSource::kInput;
      }
    } else {
      outputs_.push_back({OutputSource::kReturned, buffer});
    }
  }
}

const at::Tensor& Frame::tensor(TensorId id) {
  at::Tensor& tensor = tensors_[id];
  if (!tensor.defined()) {
    const TraceTensor& traced = schedule_->trace.tensors[id];
    tensor =
        traced.constant.defined() ? traced.constant : make_tensor(storages_[traced.buffer], traced);
  }
  return tensor;
}

c10::IValue Frame::argument(const TraceArgument& argument) {
  if (const auto* fixed = std::get_if<c10::IValue>(&argument)) return *fixed;
  if (const auto* id = std::get_if<TensorId>(&argument)) return tensor(*id);
  const TraceList& list = std::get<TraceList>(argument);
  std::vector<at::Tensor> tensors;
  for (const auto& item : list.items) tensors.push_back(item ? tensor(*item) : at::Tensor());
  return list.holds_none ? tensor_list<std::optional<at::Tensor>>(tensors)
                         : tensor_list<at::Tensor>(tensors);
}

bool Frame::is_constant(const TraceArgument& argument) const {
  return std::ranges::all_of(tensors_of(argument), [this](TensorId tensor) {
    return schedule_->trace.kind(tensor) == BufferKind::kConstant;
  });
}

KernelCall Frame::kernel_call(const TraceCall& traced) {
  KernelCall call{traced.op, {}, {}, {}, {}};
  for (const TraceArgument& traced_argument : traced.arguments) {
    call.arguments.push_back(argument(traced_argument));
    call.is_constant.push_back(is_constant(traced_argument));
  }
  for (const TensorId output : traced.outputs) {
    const BufferPlace& place = schedule_->places[schedule_->trace.tensors[output].buffer];
    call.outputs.push_back(tensor(output));
    call.is_used.push_back(place.last_call != place.first_call);
  }
  return call;
}

void Frame::prepare(size_t index, bool uses_kernels) {
  const TraceCall& traced = schedule_->trace.calls[index];
  if (makes_empty(traced.op)) return;
  KernelCall call = kernel_call(traced);
  const bool is_returned = std::ranges::any_of(traced.outputs, [&](TensorId output) {
    const BufferId buffer = schedule_->trace.tensors[output].buffer;
    const BufferPlace& place = schedule_->places[buffer];
    return place.place == Place::kReturned && place.owner == buffer && place.first_call == index;
  });
  std::unique_ptr<PreparedKernel> kernel;
  if (!is_returned) {
    try {
      const PrepareKernel prepare_kernel =
          uses_kernels ? find_kernel(c10::toString(traced.op.operator_name())) : nullptr;
      if (prepare_kernel != nullptr) kernel = prepare_kernel(call);
      if (kernel == nullptr) kernel = prepare_out_call(call);
    } catch (const c10::Error&) {
      // The dispatcher takes all calls.
    }
  }
  if (kernel == nullptr) {
    kernel = prepare_returning_call(index, std::move(call));
  } else if (!kernel->writes_unused()) {
    needs_[index] = NeededMemory::kUsed;
  }
  add_users(index, kernel.get());
  steps_.push_back({std::move(kernel), index});
  add_releases(index);
}

std::unique_ptr<PreparedKernel> Frame::prepare_returning_call(size_t index, KernelCall call) {
  const TraceCall& traced = schedule_->trace.calls[index];
  std::vector<bool> has_new_memory;
  std::vector<BufferId> buffers;
  for (const TensorId output : traced.outputs) {
    const BufferId buffer = schedule_->trace.tensors[output].buffer;
    const BufferPlace& place = schedule_->places[buffer];
    buffers.push_back(place.owner);
    has_new_memory.push_back(place.first_call == index && place.place != Place::kOutside);
  }
  needs_[index] = NeededMemory::kNone;
  return std::make_unique<ReturningCall>(
      std::move(call), std::move(has_new_memory),
      [this, buffers = std::move(buffers)](size_t output, const at::Tensor& result) {
        move(buffers[output], result.storage().mutable_data());
        returned_[buffers[output]] = result.storage();
      });
}

void Frame::add_users(size_t index, PreparedKernel* kernel) {
  const TraceCall& call = schedule_->trace.calls[index];
  std::vector<TensorId> tensors = tensors_of(call);
  tensors.insert(tensors.end(), call.outputs.begin(), call.outputs.end());
  std::unordered_set<BufferId> buffers;
  for (const TensorId tensor : tensors) {
    const BufferId buffer = schedule_->trace.tensors[tensor].buffer;
    const BufferPlace& place = schedule_->places[buffer];
    const bool moves = place.place != Place::kArena &&
                       schedule_->trace.buffers[buffer].kind != BufferKind::kConstant;
    if (moves && buffers.insert(place.owner).second) users_[place.owner].push_back(kernel);
  }
}

// Adds steps for what call `index` is the last to use.
void Frame::add_releases(size_t index) {
  const TraceCall& call = schedule_->trace.calls[index];
  std::vector<TensorId> tensors = tensors_of(call);
  tensors.insert(tensors.end(), call.outputs.begin(), call.outputs.end());
  for (const TensorId tensor : tensors) {
    const BufferId buffer = schedule_->places[schedule_->trace.tensors[tensor].buffer].owner;
    const BufferPlace& place = schedule_->places[buffer];
    if (place.place == Place::kReturned && place.last_call == index) {
      steps_.push_back({std::make_unique<Release>(returned_[buffer]), index});
    }
  }
}

void Frame::move(BufferId buffer, void* data) {
  c10::StorageImpl* storage = storages_[buffer].unsafeGetStorageImpl();
  if (storage->data() == data) return;
  storage->set_data_ptr_noswap(c10::DataPtr(data, c10::kCPU));
  for (PreparedKernel* kernel : users_[buffer]) kernel->on_moved(storage);
}

void Frame::begin_run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs) {
  outputs.clear();
  for (const InputBinding& input : inputs_) move(input.buffer, data_of(inputs[input.input]));
  for (OutputMemory& memory : output_memory_) move(memory.buffer(), memory.take());
}

at::Tensor Frame::output(size_t index, const std::vector<at::Tensor>& inputs,
                         const std::vector<at::Tensor>& outputs) {
  const Trace& trace = schedule_->trace;
  const OutputBinding& binding = outputs_[index];
  if (binding.source == OutputSource::kNumber) {
    return as_tensor(std::get<c10::IValue>(trace.outputs[index]), schedule_->output_dtypes[index]);
  }
  const TensorId id = std::get<TensorId>(trace.outputs[index]);
  switch (binding.source) {
    // A caller who writes to an output must not change the plan.
    case OutputSource::kConstant:
      return trace.tensors[id].constant.clone();
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

void Frame::end_run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs) {
  outputs.reserve(outputs_.size());
  for (size_t i = 0; i < outputs_.size(); ++i) outputs.push_back(output(i, inputs, outputs));
  // The caller's from now on.
  for (const OutputBinding& binding : outputs_) {
    if (binding.source == OutputSource::kReturned) returned_[binding.index] = c10::Storage();
  }
}

void Frame::run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs) {
  begin_run(inputs, outputs);
  for (const Step& step : steps_) step.kernel->run();
  end_run(inputs, outputs);
}

void Frame::run_timed(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs,
                      std::vector<double>& seconds) {
  using Clock = std::chrono::steady_clock;
  begin_run(inputs, outputs);
  Clock::time_point last = Clock::now();
  for (const Step& step : steps_) {
    step.kernel->run();
    const Clock::time_point now = Clock::now();
    seconds[step.call] += std::chrono::duration<double>(now - last).count();
    last = now;
  }
  end_run(inputs, outputs);
}

}  // namespace torch_ir

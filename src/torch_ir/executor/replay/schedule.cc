#include "torch_ir/executor/replay/schedule.h"

#include <ATen/core/enum_tag.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "torch_ir/executor/kernels/kernel.h"
#include "torch_ir/executor/replay/memory_plan.h"

namespace torch_ir {
namespace {

constexpr size_t kNever = SIZE_MAX;

void find_lifetimes(const Trace& trace, std::vector<BufferPlace>& places) {
  for (size_t id = 0; id < places.size(); ++id) {
    places[id].first_call = kNever;
    places[id].owner = static_cast<BufferId>(id);
  }
  for (size_t i = 0; i < trace.calls.size(); ++i) {
    const auto use = [&](TensorId tensor) {
      BufferPlace& place = places[trace.tensors[tensor].buffer];
      if (place.first_call == kNever) place.first_call = i;
      place.last_call = i;
    };
    for (const TensorId tensor : tensors_of(trace.calls[i])) use(tensor);
    for (const TensorId tensor : trace.calls[i].outputs) use(tensor);
  }
}

Place place_of(const BufferPlace& place, const ScheduleOptions& options) {
  if (options.needs.empty()) return Place::kArena;
  const bool is_used = place.last_call != place.first_call;
  switch (options.needs[place.first_call]) {
    case NeededMemory::kUsed:
      return is_used ? Place::kArena : Place::kNowhere;
    case NeededMemory::kNone:
      return Place::kReturned;
    default:
      return Place::kArena;
  }
}

void choose_places(const Trace& trace, const ScheduleOptions& options,
                   std::vector<BufferPlace>& places) {
  for (size_t id = 0; id < places.size(); ++id) {
    BufferPlace& place = places[id];
    if (trace.buffers[id].kind != BufferKind::kIntermediate || place.first_call == kNever) continue;
    place.place = place_of(place, options);
  }
  for (const TraceOutput& output : trace.outputs) {
    const auto* tensor = std::get_if<TensorId>(&output);
    if (tensor == nullptr) continue;
    BufferPlace& place = places[trace.tensors[*tensor].buffer];
    if (place.place != Place::kOutside && place.place != Place::kReturned) {
      place.place = Place::kOutput;
    }
    // It is not to be released.
    place.last_call = kNever;
  }
}

// Whether the tensors take each byte of their buffers once, in the same order.
bool cover_alike(const Trace& trace, const TraceTensor& a, const TraceTensor& b) {
  const size_t bytes =
      static_cast<size_t>(c10::multiply_integers(a.sizes)) * c10::elementSize(a.dtype);
  return a.sizes == b.sizes && a.strides == b.strides && a.offset == 0 && b.offset == 0 &&
         c10::elementSize(a.dtype) == c10::elementSize(b.dtype) && bytes > 0 &&
         bytes == trace.buffers[a.buffer].bytes && bytes == trace.buffers[b.buffer].bytes;
}

// Whether a kernel makes the first result element by element, each from the elements of the inputs
// at the same place, so that it may write where it reads.
bool is_elementwise(const TraceCall& call) {
  if (call.op.schema().is_mutable() || call.outputs.empty() ||
      find_kernel(c10::toString(call.op.operator_name())) == nullptr) {
    return false;
  }
  if (call.op.hasTag(at::Tag::pointwise)) return call.outputs.size() == 1;
  if (call.op.schema().name() != "aten::native_batch_norm") return false;
  const auto* training = std::get_if<c10::IValue>(&call.arguments[5]);
  return training != nullptr && training->isBool() && !training->toBool();
}

// The input whose memory the first result of call `index` may take: one that nobody reads after.
std::optional<BufferId> dying_input(const Schedule& schedule, size_t index) {
  const TraceCall& call = schedule.trace.calls[index];
  if (!is_elementwise(call)) return std::nullopt;
  const TraceTensor& output = schedule.trace.tensors[call.outputs[0]];
  const std::vector<TensorId> inputs = tensors_of(call);
  for (const TensorId id : inputs) {
    const TraceTensor& input = schedule.trace.tensors[id];
    const BufferPlace& place = schedule.places[input.buffer];
    const bool is_ours = place.place == Place::kArena || place.place == Place::kReturned;
    const bool is_read_otherwise = std::ranges::any_of(inputs, [&](TensorId other) {
      return other != id && schedule.trace.tensors[other].buffer == input.buffer;
    });
    if (is_ours && schedule.places[place.owner].last_call == index && !is_read_otherwise &&
        cover_alike(schedule.trace, input, output)) {
      return place.owner;
    }
  }
  return std::nullopt;
}

// Lets elementwise results take the place of inputs.
void share_places(Schedule& schedule) {
  for (size_t i = 0; i < schedule.trace.calls.size(); ++i) {
    const TraceCall& call = schedule.trace.calls[i];
    if (call.outputs.empty()) continue;
    BufferPlace& place = schedule.places[schedule.trace.tensors[call.outputs[0]].buffer];
    if (place.place != Place::kArena || place.first_call != i) continue;
    if (const auto owner = dying_input(schedule, i)) {
      BufferPlace& shared = schedule.places[*owner];
      shared.last_call = place.last_call;
      place.owner = *owner;
      place.place = shared.place;
    }
  }
}

}  // namespace

Schedule make_schedule(Trace trace, std::vector<c10::ScalarType> output_dtypes,
                       const ScheduleOptions& options) {
  Schedule schedule{std::move(trace), std::move(output_dtypes), {}, 0, {}};
  schedule.places.resize(schedule.trace.buffers.size());
  find_lifetimes(schedule.trace, schedule.places);
  choose_places(schedule.trace, options, schedule.places);
  if (options.reuse_memory) share_places(schedule);
  std::vector<MemoryBlock> returned;
  std::vector<MemoryBlock> blocks;
  std::vector<size_t> block_of(schedule.places.size());
  for (size_t id = 0; id < schedule.places.size(); ++id) {
    const BufferPlace& place = schedule.places[id];
    if (place.place == Place::kOutside) continue;
    schedule.memory.intermediates += static_cast<int64_t>(schedule.trace.buffers[id].bytes);
    const bool is_planned = place.place == Place::kArena || place.place == Place::kReturned;
    if (place.owner != id || !is_planned) continue;
    const size_t last_call = std::min(place.last_call, schedule.trace.calls.size());
    const MemoryBlock block{schedule.trace.buffers[id].bytes, place.first_call, last_call};
    if (place.place == Place::kReturned) {
      returned.push_back(block);
    } else {
      block_of[id] = blocks.size();
      blocks.push_back(block);
    }
  }
  const MemoryPlan plan = plan_memory(blocks, kAlignment, options.reuse_memory);
  for (BufferPlace& place : schedule.places) {
    if (place.place == Place::kArena) place.offset = plan.offsets[block_of[place.owner]];
  }
  schedule.arena_bytes = plan.arena_bytes;
  schedule.memory.arena = static_cast<int64_t>(plan.arena_bytes);
  schedule.memory.returned =
      static_cast<int64_t>(plan_memory(returned, kAlignment, /*reuse=*/false).lower_bound);
  schedule.memory.lower_bound = static_cast<int64_t>(plan.lower_bound);
  return schedule;
}

}  // namespace torch_ir

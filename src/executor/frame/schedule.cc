#include "torch_ir/executor/frame/schedule.h"

#include <algorithm>
#include <utility>

#include "torch_ir/executor/trace/memory_plan.h"

namespace torch_ir {
namespace {

constexpr size_t kNever = SIZE_MAX;

void find_lifetimes(const Trace& trace, std::vector<BufferPlace>& places) {
  for (BufferPlace& place : places) place.first_call = kNever;
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

void choose_places(const Trace& trace, const ScheduleOptions& options,
                   std::vector<BufferPlace>& places) {
  for (size_t id = 0; id < places.size(); ++id) {
    BufferPlace& place = places[id];
    if (trace.buffers[id].kind != BufferKind::kIntermediate || place.first_call == kNever) continue;
    const bool is_returned =
        !options.returns_memory.empty() && options.returns_memory[place.first_call];
    place.place = is_returned ? Place::kReturned : Place::kArena;
  }
  for (const TraceOutput& output : trace.outputs) {
    const auto* tensor = std::get_if<TensorId>(&output);
    if (tensor == nullptr) continue;
    BufferPlace& place = places[trace.tensors[*tensor].buffer];
    if (place.place == Place::kArena) place.place = Place::kOutput;
    // It is not to be released.
    place.last_call = kNever;
  }
}

}  // namespace

Schedule make_schedule(Trace trace, std::vector<c10::ScalarType> output_dtypes,
                       const ScheduleOptions& options) {
  Schedule schedule{std::move(trace), std::move(output_dtypes), {}, 0, {}};
  schedule.places.resize(schedule.trace.buffers.size());
  find_lifetimes(schedule.trace, schedule.places);
  choose_places(schedule.trace, options, schedule.places);
  std::vector<MemoryBlock> blocks;
  std::vector<size_t> buffers;
  for (size_t id = 0; id < schedule.places.size(); ++id) {
    const BufferPlace& place = schedule.places[id];
    if (place.place == Place::kOutside) continue;
    schedule.memory.intermediates += static_cast<int64_t>(schedule.trace.buffers[id].bytes);
    if (place.place != Place::kArena) continue;
    buffers.push_back(id);
    blocks.push_back({schedule.trace.buffers[id].bytes, place.first_call, place.last_call});
  }
  const MemoryPlan plan = plan_memory(blocks, kAlignment, options.reuse_memory);
  for (size_t i = 0; i < buffers.size(); ++i) {
    schedule.places[buffers[i]].offset = plan.offsets[i];
  }
  schedule.arena_bytes = plan.arena_bytes;
  schedule.memory.arena = static_cast<int64_t>(plan.arena_bytes);
  schedule.memory.lower_bound = static_cast<int64_t>(plan.lower_bound);
  return schedule;
}

}  // namespace torch_ir

#include "torch_ir/executor/frame/schedule.h"

#include <ATen/core/enum_tag.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <optional>
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

// Whether the tensors take each byte of their buffers once, in the same order.
bool cover_alike(const Trace& trace, const TraceTensor& a, const TraceTensor& b) {
  const size_t bytes =
      static_cast<size_t>(c10::multiply_integers(a.sizes)) * c10::elementSize(a.dtype);
  return a.sizes == b.sizes && a.strides == b.strides && a.offset == 0 && b.offset == 0 &&
         c10::elementSize(a.dtype) == c10::elementSize(b.dtype) && bytes > 0 &&
         bytes == trace.buffers[a.buffer].bytes && bytes == trace.buffers[b.buffer].bytes;
}

// The input whose memory the result of a pointwise call may take: one that nobody reads after, and
// that the call reads element by element, in the order of the result.
std::optional<BufferId> dying_input(const Schedule& schedule, size_t index) {
  const TraceCall& call = schedule.trace.calls[index];
  if (!call.op.hasTag(at::Tag::pointwise) || call.op.schema().is_mutable() ||
      call.outputs.size() != 1) {
    return std::nullopt;
  }
  const TraceTensor& output = schedule.trace.tensors[call.outputs[0]];
  const std::vector<TensorId> inputs = tensors_of(call);
  for (const TensorId id : inputs) {
    const TraceTensor& input = schedule.trace.tensors[id];
    const BufferPlace& place = schedule.places[input.buffer];
    const bool is_read_otherwise = std::ranges::any_of(inputs, [&](TensorId other) {
      return other != id && schedule.trace.tensors[other].buffer == input.buffer;
    });
    if (place.place == Place::kArena && place.last_call == index && !is_read_otherwise &&
        cover_alike(schedule.trace, input, output)) {
      return input.buffer;
    }
  }
  return std::nullopt;
}

// For each buffer in the arena the block that it is in: its own, or that of the input that it takes
// the place of.
std::vector<MemoryBlock> make_blocks(const Schedule& schedule, bool reuse,
                                     std::vector<size_t>& block_of) {
  std::vector<MemoryBlock> blocks;
  block_of.assign(schedule.places.size(), kNever);
  const auto add_block = [&](BufferId buffer) {
    const BufferPlace& place = schedule.places[buffer];
    if (place.place != Place::kArena || block_of[buffer] != kNever) return;
    block_of[buffer] = blocks.size();
    blocks.push_back({schedule.trace.buffers[buffer].bytes, place.first_call, place.last_call});
  };
  for (size_t i = 0; i < schedule.trace.calls.size(); ++i) {
    for (const TensorId output : schedule.trace.calls[i].outputs) {
      const BufferId buffer = schedule.trace.tensors[output].buffer;
      const BufferPlace& place = schedule.places[buffer];
      const bool is_new = place.place == Place::kArena && place.first_call == i;
      const auto input = reuse && is_new ? dying_input(schedule, i) : std::nullopt;
      if (!input) {
        add_block(buffer);
        continue;
      }
      block_of[buffer] = block_of[*input];
      blocks[block_of[buffer]].last = place.last_call;
    }
  }
  return blocks;
}

}  // namespace

Schedule make_schedule(Trace trace, std::vector<c10::ScalarType> output_dtypes,
                       const ScheduleOptions& options) {
  Schedule schedule{std::move(trace), std::move(output_dtypes), {}, 0, {}};
  schedule.places.resize(schedule.trace.buffers.size());
  find_lifetimes(schedule.trace, schedule.places);
  choose_places(schedule.trace, options, schedule.places);
  std::vector<size_t> block_of;
  const std::vector<MemoryBlock> blocks = make_blocks(schedule, options.reuse_memory, block_of);
  const MemoryPlan plan = plan_memory(blocks, kAlignment, options.reuse_memory);
  for (size_t id = 0; id < schedule.places.size(); ++id) {
    BufferPlace& place = schedule.places[id];
    if (place.place == Place::kOutside) continue;
    schedule.memory.intermediates += static_cast<int64_t>(schedule.trace.buffers[id].bytes);
    if (place.place == Place::kArena) place.offset = plan.offsets[block_of[id]];
  }
  schedule.arena_bytes = plan.arena_bytes;
  schedule.memory.arena = static_cast<int64_t>(plan.arena_bytes);
  schedule.memory.lower_bound = static_cast<int64_t>(plan.lower_bound);
  return schedule;
}

}  // namespace torch_ir

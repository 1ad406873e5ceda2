#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <optional>

#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/runtime/kernels/kernel.h"
#include "torch_ir/runtime/trace/memory_plan.h"
#include "torch_ir/runtime/trace/trace.h"

namespace torch_ir {
namespace {

constexpr size_t kNever = SIZE_MAX;

// LibTorch's allocator aligns so. MKL's last bits depend on it.
constexpr size_t kAlignment = 64;

void find_lifetimes(Trace& trace) {
  for (size_t id = 0; id < trace.buffers.size(); ++id) {
    trace.buffers[id].place = {.owner = static_cast<BufferId>(id), .first_call = kNever};
  }
  for (size_t i = 0; i < trace.calls.size(); ++i) {
    for (const TensorId tensor : tensors_and_outputs_of(trace.calls[i])) {
      BufferPlace& place = trace.buffer_of(tensor).place;
      if (place.first_call == kNever) place.first_call = i;
      place.last_call = i;
    }
  }
}

void choose_placements(Trace& trace, const std::vector<NeededMemory>& needs) {
  for (auto& [kind, bytes, place] : trace.buffers) {
    if (kind != BufferKind::kIntermediate || place.first_call == kNever) continue;
    const NeededMemory needed = needs.empty() ? NeededMemory::kAll : needs[place.first_call];
    place.placement = Placement::kArena;
    if (needed == NeededMemory::kNone) place.placement = Placement::kReturned;
    if (needed == NeededMemory::kUsed && place.last_call == place.first_call) {
      place.placement = Placement::kNowhere;
    }
  }
  for (const TensorId output : trace.outputs) {
    BufferPlace& place = trace.buffer_of(output).place;
    if (place.placement != Placement::kOutside && place.placement != Placement::kReturned) {
      place.placement = Placement::kOutput;
    }
    place.last_call = kNever;
  }
}

// Whether the tensors take each byte of their buffers once, in the same order.
bool cover_alike(const Trace& trace, const TraceTensor& a, const TraceTensor& b) {
  return are_alike(a, b) && trace.covers_buffer(a) && trace.covers_buffer(b) && bytes_of(a) > 0 &&
         bytes_of(a) == bytes_of(b);
}

// Whether the first result depends on the inputs element by element, so that a kernel may write it
// over an input.
bool is_elementwise(const TraceCall& call) {
  if (call.fused != nullptr || call.op.schema().is_mutable() || call.outputs.empty() ||
      find_kernel(c10::toString(call.op.operator_name())) == nullptr) {
    return false;
  }
  if (call.op.hasTag(at::Tag::pointwise)) return call.outputs.size() == 1;
  return !may_be_true(call, facts_of(call.op).elementwise_unless);
}

// An input that nothing reads later, whose memory the first result of call `index` may take.
std::optional<BufferId> dying_input(const Trace& trace, size_t index) {
  const TraceCall& call = trace.calls[index];
  if (!is_elementwise(call)) return std::nullopt;
  const TraceTensor& output = trace.tensors[call.outputs[0]];
  const std::vector<TensorId> inputs = tensors_of(call);
  for (const TensorId id : inputs) {
    const TraceTensor& input = trace.tensors[id];
    const BufferPlace& place = trace.buffers[input.buffer].place;
    const bool is_ours =
        place.placement == Placement::kArena || place.placement == Placement::kReturned;
    const bool is_read_otherwise = std::ranges::any_of(inputs, [&](TensorId other) {
      return other != id && trace.tensors[other].buffer == input.buffer;
    });
    if (is_ours && trace.buffers[place.owner].place.last_call == index && !is_read_otherwise &&
        cover_alike(trace, input, output)) {
      return place.owner;
    }
  }
  return std::nullopt;
}

void share_places(Trace& trace) {
  for (size_t i = 0; i < trace.calls.size(); ++i) {
    const TraceCall& call = trace.calls[i];
    if (call.outputs.empty()) continue;
    BufferPlace& place = trace.buffer_of(call.outputs[0]).place;
    if (place.placement != Placement::kArena || place.first_call != i) continue;
    if (const auto owner = dying_input(trace, i)) {
      BufferPlace& shared = trace.buffers[*owner].place;
      shared.last_call = place.last_call;
      place.owner = *owner;
      place.placement = shared.placement;
    }
  }
}

}  // namespace

void place_buffers(Trace& trace, bool reuse_memory, const std::vector<NeededMemory>& needs) {
  find_lifetimes(trace);
  choose_placements(trace, needs);
  if (reuse_memory) share_places(trace);
  trace.memory = {};
  std::vector<MemoryBlock> returned;
  std::vector<MemoryBlock> blocks;
  std::vector<size_t> block_of(trace.buffers.size());
  for (size_t id = 0; id < trace.buffers.size(); ++id) {
    const auto& [kind, bytes, place] = trace.buffers[id];
    if (place.placement == Placement::kOutside) continue;
    trace.memory.intermediates += static_cast<int64_t>(bytes);
    const MemoryBlock block{bytes, place.first_call, std::min(place.last_call, trace.calls.size())};
    if (place.owner != id) continue;
    if (place.placement == Placement::kReturned) {
      returned.push_back(block);
    } else if (place.placement == Placement::kArena) {
      block_of[id] = blocks.size();
      blocks.push_back(block);
    }
  }
  const MemoryPlan plan = plan_memory(blocks, kAlignment, reuse_memory);
  for (auto& [kind, bytes, place] : trace.buffers) {
    if (place.placement == Placement::kArena) place.offset = plan.offsets[block_of[place.owner]];
  }
  trace.memory.arena = static_cast<int64_t>(plan.arena_bytes);
  trace.memory.returned =
      static_cast<int64_t>(plan_memory(returned, kAlignment, /*reuse=*/false).lower_bound);
  trace.memory.lower_bound = static_cast<int64_t>(plan.lower_bound);
}

}  // namespace torch_ir

#include "torch_ir/runtime/replay/replays.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include "torch_ir/runtime/interpreter/run.h"
#include "torch_ir/runtime/replay/tracer.h"

namespace torch_ir {
namespace {

// The slot where this thread looks for a frame first, so that threads keep out of each other's way.
size_t first_slot(size_t num_slots) {
  thread_local const size_t hash = std::hash<std::thread::id>()(std::this_thread::get_id());
  return hash % num_slots;
}

// The keys that describe a tensor's storage: dense, device, lazily conjugated. Autograd makes no
// difference.
c10::DispatchKeySet keys_of(const at::Tensor& tensor) {
  return tensor.key_set() - c10::autograd_dispatch_keyset -
         c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView) - c10::autocast_dispatch_keyset;
}

}  // namespace

InputLayout::Settings InputLayout::current_settings() {
  const at::Context& context = at::globalContext();
  return {at::get_num_threads(), context.userEnabledMkldnn(), context.deterministicAlgorithms()};
}

InputLayout::InputLayout(const GraphRange& range, const std::vector<at::Tensor>& inputs)
    : settings_(current_settings()) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor& tensor = inputs[i];
    Input input{tensor.scalar_type(), keys_of(tensor), at::DimVector(tensor.sizes()), {}, {}};
    if (range.value(range.inputs[i]).is_scalar()) {
      input.number = c10::IValue(tensor.item());
    } else if (tensor.layout() == c10::kStrided) {
      input.strides = at::DimVector(tensor.strides());
    }
    inputs_.push_back(std::move(input));
  }
}

bool InputLayout::Input::matches(const at::Tensor& tensor) const {
  if (!tensor.defined() || tensor.scalar_type() != dtype || tensor.sizes() != sizes ||
      keys_of(tensor) != keys) {
    return false;
  }
  if (number) return c10::IValue(tensor.item()) == *number;
  // The keys say whether it has strides.
  return tensor.layout() != c10::kStrided || tensor.strides() == strides;
}

bool InputLayout::matches(const std::vector<at::Tensor>& inputs) const {
  return settings_ == current_settings() && std::ranges::equal(inputs_, inputs, &Input::matches);
}

Replays::Replays(GraphRange range, const ExecutionOptions& options)
    : range_(std::move(range)), options_(options) {
  if (running_level(options) == Optimization::kFast) rewrite_ = fast_level().make_rewrite();
}

Replays::~Replays() {
  for (auto& slot : pool_) delete slot.load();
}

ReplayResult Replays::run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs,
                          const ReplayOptions& options) {
  FrameRef frame = take(inputs, options);
  if (frame == nullptr) return ReplayResult::kNotReplayed;
  try {
    const PlainKernelsGuard guard;
    if (options.record != nullptr) {
      const std::shared_ptr<const Trace>& trace = frame->layout->trace;
      *options.record = {trace, std::vector<double>(trace->calls.size(), 0.0)};
    }
    frame->frame.run(inputs, outputs,
                     options.record == nullptr ? nullptr : &options.record->seconds,
                     options.on_value);
  } catch (NeedsExact& needs) {
    needs.node = frame->layout->trace->calls[needs.node].step;
    if (has_run_) {
      give_back(std::move(frame));
    } else {
      become_exact();
    }
    throw;
  } catch (const std::exception&) {
    return ReplayResult::kFailed;
  }
  if (!has_run_.load(std::memory_order_relaxed)) has_run_ = true;
  give_back(std::move(frame));
  return ReplayResult::kDone;
}

Replays::FrameRef Replays::take(const std::vector<at::Tensor>& inputs,
                                const ReplayOptions& options) {
  FrameRef frame = take_pooled(inputs);
  if (frame == nullptr) frame = make(inputs, options);
  if (frame != nullptr && options.symbols != nullptr && !frame->layout->is_checked) {
    trace_graph(range_, inputs, {.fold_constants = false, .symbols = options.symbols});
    frame->layout->is_checked = true;
  }
  return frame;
}

Replays::FrameRef Replays::take_pooled(const std::vector<at::Tensor>& inputs) {
  const size_t first = first_slot(kMaxFrames);
  for (size_t i = 0; i < kMaxFrames; ++i) {
    std::atomic<PooledFrame*>& slot = pool_[(first + i) % kMaxFrames];
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    FrameRef frame(slot.exchange(nullptr, std::memory_order_acquire));
    if (frame == nullptr) continue;
    if (frame->layout->inputs.matches(inputs)) return frame;
    give_back(std::move(frame));
  }
  return nullptr;
}

void Replays::give_back(FrameRef frame) {
  const size_t first = first_slot(kMaxFrames);
  for (size_t i = 0; i < kMaxFrames; ++i) {
    PooledFrame* none = nullptr;
    if (pool_[(first + i) % kMaxFrames].compare_exchange_strong(none, frame.get(),
                                                                std::memory_order_release)) {
      frame.release();
      return;
    }
  }
}

Replays::FrameRef Replays::make(const std::vector<at::Tensor>& inputs,
                                const ReplayOptions& options) {
  // The frame's tensors must be ordinary ones, even if the first run is in inference mode.
  const c10::InferenceMode no_inference_mode(false);
  const PlainKernelsGuard guard;
  if (options.checks_inputs) {
    const Stack values = input_values(*range_.graph, inputs);
    if (!range_.graph->symbols.empty()) range_.graph->symbols.bind(values);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::ranges::find_if(
      layouts_, [&](const auto& layout) { return layout->inputs.matches(inputs); });
  if (found != layouts_.end()) {
    layouts_.splice(layouts_.begin(), layouts_, found);
    const std::shared_ptr<Layout>& layout = layouts_.front();
    return FrameRef(new PooledFrame{layout, {layout->trace, inputs, options_.kernels}});
  }
  const bool is_asked_for = options.symbols != nullptr || options.record != nullptr;
  if (!is_asked_for && !layouts_.empty() && !may_trace(inputs)) return nullptr;
  return make_layout(inputs, options.symbols);
}

// True once a new layout has come a second time and enough runs have passed.
bool Replays::may_trace(const std::vector<at::Tensor>& inputs) {
  ++runs_since_trace_;
  const auto met =
      std::ranges::find_if(met_, [&](const InputLayout& layout) { return layout.matches(inputs); });
  if (met == met_.end()) {
    met_.emplace_front(range_, inputs);
    if (met_.size() > kMaxLayouts) met_.pop_back();
    return false;
  }
  if (runs_since_trace_ < kRunsForATrace) return false;
  met_.erase(met);
  runs_since_trace_ = 0;
  return true;
}

Replays::FrameRef Replays::make_layout(const std::vector<at::Tensor>& inputs,
                                       SymbolValues* symbols) {
  auto trace = std::make_shared<Trace>(
      trace_graph(range_, inputs, {options_.fold_constants, options_.keeps_values, symbols}));
  if (rewrite_) rewrite_(*trace);
  place_buffers(*trace, options_.reuse_memory);
  auto layout = std::make_shared<Layout>(InputLayout(range_, inputs), trace, symbols != nullptr);
  FrameRef frame(new PooledFrame{layout, {trace, inputs, options_.kernels}});
  const std::vector<NeededMemory>& needs = frame->frame.needs();
  const bool needs_all =
      std::ranges::all_of(needs, [](NeededMemory needed) { return needed == NeededMemory::kAll; });
  if (!needs_all) {
    trace = std::make_shared<Trace>(*trace);
    place_buffers(*trace, options_.reuse_memory, needs);
    layout->trace = trace;
    frame.reset();
    frame.reset(new PooledFrame{layout, {trace, inputs, options_.kernels}});
  }
  layouts_.push_front(layout);
  if (layouts_.size() > kMaxLayouts) forget_oldest();
  return frame;
}

void Replays::become_exact() {
  const std::lock_guard<std::mutex> lock(mutex_);
  rewrite_ = {};
  while (!layouts_.empty()) forget_oldest();
}

void Replays::forget_oldest() {
  const std::shared_ptr<Layout> oldest = layouts_.back();
  layouts_.pop_back();
  for (auto& slot : pool_) {
    FrameRef frame(slot.exchange(nullptr, std::memory_order_acquire));
    if (frame != nullptr && frame->layout != oldest) give_back(std::move(frame));
  }
}

}  // namespace torch_ir

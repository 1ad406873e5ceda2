// Replays: the frames of a graph, or of a part of one, for the layouts of inputs met so far.
//
// Traces a graph at the first run, and for inputs of another layout once it comes again; keeps a
// bounded number of layouts (the last used). Each thread takes a frame, runs it and gives it back,
// without locks once there are enough frames.
#pragma once

#include <ATen/DimVector.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "torch_ir/runtime/graph/execution_options.h"
#include "torch_ir/runtime/graph/fast_level.h"
#include "torch_ir/runtime/graph/graph_range.h"
#include "torch_ir/runtime/replay/frame.h"

namespace torch_ir {

// The conditions for a trace to hold: sizes, strides and dtype of each input, the values of
// numbers, and the settings of LibTorch by which eager chooses kernels.
class InputLayout {
 public:
  // `inputs` fit `range` (run.h's input_values).
  InputLayout(const GraphRange& range, const std::vector<at::Tensor>& inputs);

  bool matches(const std::vector<at::Tensor>& inputs) const;

 private:
  struct Input {
    bool matches(const at::Tensor& tensor) const;

    c10::ScalarType dtype;
    c10::DispatchKeySet keys;
    at::DimVector sizes;
    at::DimVector strides;
    std::optional<c10::IValue> number;
  };
  struct Settings {
    int num_threads;
    bool uses_onednn;
    bool is_deterministic;
    bool operator==(const Settings&) const = default;
  };

  static Settings current_settings();

  Settings settings_;
  std::vector<Input> inputs_;
};

enum class ReplayResult {
  kDone,
  // The graph must run step by step this time.
  kNotReplayed,
  // It threw; a run step by step will say why.
  kFailed,
  // As kFailed, but only these values are to blame (NeedsExact).
  kNeedsExact,
};

struct ReplayRecord {
  std::shared_ptr<const Trace> trace;
  std::vector<double> seconds;
};

struct ReplayOptions {
  // Whether to check inputs of a new layout against the graph.
  bool checks_inputs = false;
  // If given, node outputs that differ from the IR are errors.
  SymbolValues* symbols = nullptr;
  // If given, records the replay, and inputs of any layout are replayed.
  ReplayRecord* record = nullptr;
  // If given, gets the values of the trace.
  const OnValue* on_value = nullptr;
};

class Replays {
 public:
  Replays(GraphRange range, const ExecutionOptions& options);
  ~Replays();

  const GraphRange& range() const { return range_; }

  // As ExecutionPlan::run. `outputs` are unspecified unless it is done. Throws ExecutionError for
  // inputs of a new layout that do not fit, TraceRefused (tracer.h) if the graph cannot be
  // replayed, and NeedsExact. If the very first run needs that, later ones are `exact` from the
  // start.
  ReplayResult run(const std::vector<at::Tensor>& inputs, std::vector<at::Tensor>& outputs,
                   const ReplayOptions& options);

 private:
  struct Layout {
    InputLayout inputs;
    std::shared_ptr<const Trace> trace;
    std::atomic<bool> is_checked = false;
  };
  struct PooledFrame {
    std::shared_ptr<Layout> layout;
    Frame frame;
  };
  using FrameRef = std::unique_ptr<PooledFrame>;

  FrameRef take(const std::vector<at::Tensor>& inputs, const ReplayOptions& options);
  FrameRef take_pooled(const std::vector<at::Tensor>& inputs);
  FrameRef make(const std::vector<at::Tensor>& inputs, const ReplayOptions& options);
  bool may_trace(const std::vector<at::Tensor>& inputs);
  FrameRef make_layout(const std::vector<at::Tensor>& inputs, SymbolValues* symbols);
  void forget_oldest();
  void become_exact();
  void give_back(FrameRef frame);

  static constexpr size_t kMaxFrames = 32;
  static constexpr size_t kMaxLayouts = 8;
  // Tracing costs as much as several runs step by step. Limiting it to one per so many of them
  // keeps the cost low for inputs whose layouts always change.
  static constexpr size_t kRunsForATrace = 64;

  const GraphRange range_;
  const ExecutionOptions options_;
  std::array<std::atomic<PooledFrame*>, kMaxFrames> pool_{};
  std::atomic<bool> has_run_ = false;
  std::mutex mutex_;
  // For level `fast`, shared by all layouts; empty otherwise. Guarded by mutex_.
  TraceRewrite rewrite_;
  // The one used last comes first. Guarded by mutex_.
  std::list<std::shared_ptr<Layout>> layouts_;
  // Layouts without a trace, the last one first. Guarded by mutex_.
  std::list<InputLayout> met_;
  // Counts runs without a trace since the last trace. Guarded by mutex_.
  size_t runs_since_trace_ = kRunsForATrace;
};

}  // namespace torch_ir

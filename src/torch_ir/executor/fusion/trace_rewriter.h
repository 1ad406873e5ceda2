// TraceRewriter: a trace, rewritten call by call.
//
// A rule looks at a call and those that alone read what it makes, and says what takes their place.
// The rewriter keeps in which layouts each value is there, and reorders it where somebody wants
// another: plain memory is made when an operator reads it or it is an output, and not before.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "torch_ir/executor/fusion/fuse_trace.h"
#include "torch_ir/executor/onednn/primitive.h"
#include "torch_ir/executor/trace/trace.h"

namespace torch_ir {

class TraceRewriter {
 public:
  TraceRewriter(Trace& trace, PackedWeights& weights);

  // What takes the place of a call, and of those that it swallows.
  struct Replacement {
    // In order; the first is the call itself. It goes where the last of them was.
    std::vector<size_t> calls;
    // Says how many of the calls it stands for; the others are looked at again.
    std::function<size_t()> emit;
  };
  using Rule = std::optional<Replacement> (*)(TraceRewriter& rewriter, size_t index);
  using FindRule = Rule (*)(std::string_view operator_name);
  void run(FindRule find_rule);

  // The trace as it was.

  const TraceCall& call(size_t index) const { return calls_[index]; }
  const TraceTensor& tensor(TensorId id) const { return trace_.tensors[id]; }
  // Null for a tensor that is no constant.
  const at::Tensor& constant(TensorId id) const { return trace_.tensors[id].constant; }
  // Whether anybody reads the memory of a tensor.
  bool is_read(TensorId id) const;
  // The one call that reads the memory of `id`, once; nothing where there are others, or it is an
  // output, or is written again.
  std::optional<size_t> only_reader(TensorId id) const;
  // Whether nothing has taken the place of the call.
  bool is_open(size_t index) const { return states_[index] == State::kOpen; }
  // Plain memory of floats that no call changes.
  bool is_value(TensorId id) const;
  bool have_same_layout(TensorId a, TensorId b) const;
  bool is_contiguous(TensorId id) const;

  // The trace as it becomes.

  onednn::Layout plain_layout(TensorId id) const;
  // That in which the value came to be.
  onednn::Layout layout_of(TensorId id);
  // Whether that is other than plain.
  bool is_carried(TensorId id) { return !(layout_of(id) == plain_layout(id)); }
  // The value in a layout of the same sizes.
  TensorId use(TensorId id, const onednn::Layout& layout);
  // Its plain memory.
  TensorId plain(TensorId id);
  // Whether nobody reads the value after call `index`, and its memory is the trace's own.
  bool is_last_use(TensorId id, size_t index) const;
  // A constant that is made of others and packed for a primitive.
  TensorId packed(const std::string& key, const std::vector<at::Tensor>& sources,
                  const std::function<at::Tensor()>& make);
  TensorId add_constant(const at::Tensor& tensor);

  // All of the memory of `id`, as a tensor of the shape of another.
  TensorId shaped_like(TensorId id, TensorId other);

  // Calls `primitive`; what it makes is the value of `output`, which has no NaN where `is_clean`.
  // With `written`, in the memory of that value, which it adds to.
  void emit(const onednn::PrimitivePtr& primitive, std::vector<TensorId> inputs, TensorId output,
            size_t index, std::optional<TensorId> written = std::nullopt, bool is_clean = false);
  // Calls `primitive` for a rule that goes on with what it makes, in memory of its own.
  TensorId make(const onednn::PrimitivePtr& primitive, const std::vector<TensorId>& inputs,
                size_t index);
  // A call that is no primitive, and makes the plain memory of `outputs`.
  void emit(std::shared_ptr<const FusedCall> fused, const std::vector<TensorId>& inputs,
            std::vector<TensorId> outputs, size_t index);
  // Makes the value of `output` of others, in blocks of channels: one image, whose channels are
  // those of `sources` one after another. What can be is written where it goes from the start.
  void join(const std::vector<TensorId>& sources, TensorId output, int64_t block, size_t index);
  // Whether the value is known to have no NaN.
  bool is_clean(TensorId id) const;

 private:
  struct Variant {
    onednn::Layout layout;
    TensorId tensor;
  };
  struct Value {
    // Plain, as the trace had it.
    TensorId tensor;
    std::vector<Variant> variants;
    bool has_plain;
    bool is_clean = false;
  };

  enum class State { kOpen, kSwallowed, kDone };

  void count_readers();
  void rewrite(size_t index);
  void finish(const Replacement& replacement);
  void copy(size_t index);
  bool move_into(TensorId part, TensorId whole, int64_t offset);
  Value* find_value(TensorId id);
  TensorId add_bytes(size_t bytes);
  void add_call(const onednn::PrimitivePtr& primitive, const std::vector<TensorId>& inputs,
                TensorId output, size_t index);

  Trace& trace_;
  PackedWeights& weights_;
  std::vector<TraceCall> calls_;
  std::vector<TraceCall> rewritten_;
  // By buffer.
  std::vector<std::vector<size_t>> readers_;
  // The call before which what takes the place of all readers goes.
  std::vector<size_t> last_reader_;
  std::vector<bool> is_output_;
  std::vector<bool> is_written_;
  // Whether what is written to the memory of a value would be seen in another.
  std::vector<bool> is_shared_;
  std::unordered_map<BufferId, Value> values_;
  FindRule find_rule_ = nullptr;
  std::vector<State> states_;
  // By the call where they go.
  std::unordered_map<size_t, Replacement> replacements_;
  size_t current_ = 0;
};

// For each buffer whether some call writes to it after it was made.
std::vector<bool> written_buffers(const Trace& trace);

// How weights are made to lie as a primitive wants them: null where they can not.
at::Tensor reorder_constant(const at::Tensor& tensor, const onednn::Layout& from,
                            const onednn::Layout& to);

}  // namespace torch_ir

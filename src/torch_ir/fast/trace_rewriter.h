// TraceRewriter: rewrites a trace call by call.
//
// A rule looks at a call and its only readers, and may replace them. The rewriter knows which
// layouts of each value exist and reorders on demand: it makes plain memory only for operators that
// read it and for outputs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "torch_ir/fast/onednn/primitive.h"
#include "torch_ir/runtime/trace/trace.h"

namespace torch_ir {

using onednn::Binary;
using onednn::Dims;
using onednn::Function;
using onednn::Layout;
using onednn::Pooling;
using onednn::PostOp;
using onednn::PostOps;
using onednn::PrimitivePtr;
using onednn::Type;
using onednn::Window;

class PackedWeights {
 public:
  // Returns what `make` gave for the first call with `key`. Keeps `sources`, as their addresses are
  // part of the key.
  at::Tensor find_or_make(const std::string& key, const std::vector<at::Tensor>& sources,
                          const std::function<at::Tensor()>& make);

  // Drops weights that no trace uses any more.
  void forget_unused();

 private:
  struct Entry {
    std::vector<at::Tensor> sources;
    at::Tensor packed;
  };
  std::unordered_map<std::string, Entry> entries_;
};

// The calls that use the memory of a trace, by its buffers.
struct TraceFacts {
  explicit TraceFacts(const Trace& trace);

  // Whether exactly `num_readers` calls read it, it is no output, and nothing writes to it again.
  bool is_inner(BufferId buffer, size_t num_readers = 1) const {
    return readers[buffer].size() == num_readers && !is_output[buffer] && !is_written[buffer];
  }
  // The only reader of an inner buffer, and the last call that makes it; nothing for other buffers.
  std::optional<size_t> only_reader(BufferId buffer) const {
    return is_inner(buffer) ? std::optional(readers[buffer].front()) : std::nullopt;
  }
  std::optional<size_t> inner_maker(BufferId buffer, size_t num_readers = 1) const {
    return is_inner(buffer, num_readers) ? makers[buffer] : std::nullopt;
  }

  // The last call that makes it, and the calls that read it, as often as they do.
  std::vector<std::optional<size_t>> makers;
  std::vector<std::vector<size_t>> readers;
  std::vector<bool> is_output;
  std::vector<bool> is_written;
};

struct Replacement {
  // In order, the call itself first. The replacement goes where the last one was.
  std::vector<size_t> calls;
  // Returns how many of the calls it replaced; the rest are looked at again.
  std::function<size_t()> emit;
};

class TraceRewriter {
 public:
  TraceRewriter(Trace& trace, PackedWeights& weights);

  // What an earlier pass has found for one call, before `run`.
  void plan(Replacement replacement);
  void run();

  // Queries of the original trace.

  const Trace& trace() const { return trace_; }
  size_t num_calls() const { return calls_.size(); }
  const TraceCall& call(size_t index) const { return calls_[index]; }
  const TraceTensor& tensor(TensorId id) const { return trace_.tensors[id]; }
  // Null for a tensor that is not a constant.
  const at::Tensor& constant(TensorId id) const { return trace_.tensors[id].constant; }
  bool is_read(TensorId id) const;
  // The one call that reads the memory of `id`, once; nothing if it is also an output or written
  // again.
  std::optional<size_t> only_reader(TensorId id) const {
    return facts_.only_reader(tensor(id).buffer);
  }
  // Whether only the calls from `first` to `last` read the memory of `id`.
  bool is_read_within(TensorId id, size_t first, size_t last) const;
  // Whether no replacement has taken the call.
  bool is_open(size_t index) const { return is_open_[index]; }
  // Whether it is plain memory of floats (or of `dtype`) that no call changes.
  bool is_value(TensorId id, at::ScalarType dtype = at::kFloat) const;
  // The constant `id`, if no call changes it; otherwise undefined.
  at::Tensor known(std::optional<TensorId> id, at::ScalarType dtype = at::kFloat) const {
    return id && is_value(*id, dtype) ? constant(*id) : at::Tensor();
  }
  bool have_same_layout(TensorId a, TensorId b) const;
  bool is_contiguous(TensorId id) const { return torch_ir::is_contiguous(tensor(id)); }
  Dims sizes(TensorId id) const { return at::IntArrayRef(tensor(id).sizes).vec(); }

  // The values in the new trace.

  Layout plain_layout(TensorId id) const;
  Layout layout_of(TensorId id);
  bool is_carried(TensorId id) { return !(layout_of(id) == plain_layout(id)); }
  // The value in a layout of the same sizes.
  TensorId use(TensorId id, const Layout& layout);
  TensorId plain(TensorId id);
  // Whether nothing reads the value after call `index`, and the trace owns its memory.
  bool is_last_use(TensorId id, size_t index) const;
  // A constant computed from `sources` and packed for a primitive.
  TensorId packed(const std::string& key, const std::vector<at::Tensor>& sources,
                  const std::function<at::Tensor()>& make);
  TensorId add_constant(const at::Tensor& tensor);

  // All memory of `id`, with the shape of `other`.
  TensorId shaped_like(TensorId id, TensorId other);

  // Calls `primitive` to make the value of `output`. With `written`, it adds to the memory of that
  // value.
  void emit(const PrimitivePtr& primitive, std::vector<TensorId> inputs, TensorId output,
            size_t index, std::optional<TensorId> written = std::nullopt);
  // Calls `primitive` for an intermediate result, in memory of its own.
  TensorId make(const PrimitivePtr& primitive, const std::vector<TensorId>& inputs, size_t index);
  // Calls a function that is not a primitive; it makes the plain memory of `outputs`.
  void emit(FusedCall fused, const std::vector<TensorId>& inputs, std::vector<TensorId> outputs,
            size_t index);
  // Joins the channels of `sources` as the value of `output`, in a layout of one image in blocks of
  // channels, or of strides. Sources in blocks are written in place where possible.
  void join(const std::vector<TensorId>& sources, TensorId output, const Layout& joined,
            size_t index);

 private:
  struct Variant {
    Layout layout;
    TensorId tensor;
  };
  // As made first; its plain memory is that of `tensor`.
  struct Value {
    TensorId tensor;
    std::vector<Variant> variants;
  };

  // The rewritten calls from `first` on are for `calls`, whose values exist now, unless they are
  // inside.
  void note_values(const std::vector<size_t>& calls, size_t first);
  void rewrite(size_t index);
  void finish(const Replacement& replacement);
  void copy(size_t index);
  bool move_into(TensorId part, TensorId whole, int64_t offset);
  Value* find_value(TensorId id);
  std::optional<Variant> channels_of_value(TensorId id);
  TensorId add_part(TensorId whole, int64_t offset);
  TensorId add_bytes(size_t bytes);
  void add_call(const PrimitivePtr& primitive, const std::vector<TensorId>& inputs, TensorId output,
                size_t index);

  Trace& trace_;
  PackedWeights& weights_;
  std::vector<TraceCall> calls_;
  std::vector<TraceCall> rewritten_;
  // By tensor of the original trace.
  std::vector<BufferId> original_buffers_;
  TraceFacts facts_;
  // By buffer: the last call that reads it, where a replacement counts as its last call.
  std::vector<size_t> last_reader_;
  // Whether a write to this memory would show in another value.
  std::vector<bool> is_shared_;
  std::unordered_map<BufferId, Value> values_;
  std::vector<bool> is_open_;
  std::unordered_map<size_t, Replacement> replacements_;
  size_t current_ = 0;
};

using CallTensors = std::vector<at::Tensor>;

// A call of a kernel of our own: run(inputs, outputs), both CallTensors. Each prepared kernel has a
// copy of `run`.
template <class Run>
FusedCall own_call(std::string name, Run run) {
  return {std::move(name), [run = std::move(run)](const KernelCall& call) {
            return make_kernel([run, outputs = call.outputs,
                                inputs = tensors_of(c10::ArrayRef<c10::IValue>(
                                    call.arguments))]() mutable { run(inputs, outputs); });
          }};
}

// The memory of a tensor, which may be typed as bytes.
inline const float* floats_of(const at::Tensor& tensor) {
  return static_cast<const float*>(tensor.const_data_ptr());
}

// Floats, except for those of other types.
Type type_of(at::ScalarType dtype);
Dims dims_of(at::IntArrayRef dims);
// Stride and size of the dimensions whose size is not one, in order.
std::vector<std::pair<int64_t, int64_t>> dims_by_stride(const TraceTensor& tensor);

Layout contiguous_layout(const Dims& sizes, Type type = Type::kFloat);

// Reorders weights for a primitive; null if that is impossible.
at::Tensor reorder_constant(const at::Tensor& tensor, const Layout& from, const Layout& to);

}  // namespace torch_ir

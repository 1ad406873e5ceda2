#include "torch_ir/fast/trace_rewriter.h"

#include <ATen/ops/empty.h>
#include <c10/util/accumulate.h>
#include <c10/util/strides.h>

#include <algorithm>
#include <span>

#include "torch_ir/fast/rules.h"

namespace torch_ir {
namespace {

// Takes the primitive's inputs; returns its output and, if it has one, its scratchpad.
class PrimitiveKernel final : public PreparedKernel {
 public:
  PrimitiveKernel(const onednn::Primitive& primitive, const KernelCall& call)
      : execution_(primitive.bind()),
        tensors_(tensors_of(c10::ArrayRef<c10::IValue>(call.arguments))) {
    tensors_.insert(tensors_.end(), call.outputs.begin(), call.outputs.end());
    for (const at::Tensor& tensor : tensors_) memory_.push_back(data_of(tensor));
  }

  void run() override { execution_(memory_); }

  void on_moved(const c10::StorageImpl* storage) override {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (tensors_[i].storage().unsafeGetStorageImpl() == storage)
        memory_[i] = data_of(tensors_[i]);
    }
  }

 private:
  static void* data_of(const at::Tensor& tensor) {
    return const_cast<void*>(tensor.const_data_ptr());
  }

  onednn::Execution execution_;
  std::vector<at::Tensor> tensors_;
  std::vector<void*> memory_;
};

// Whether oneDNN refuses the strides: they overlap, as in frames of a signal, or interleave. It
// accepts stride 0. The tensor has elements.
bool has_refused_strides(const TraceTensor& tensor) {
  int64_t least = 1;
  for (const auto& [stride, size] : dims_by_stride(tensor)) {
    if (stride == 0) continue;
    if (stride < least) return true;
    least = stride * size;
  }
  return false;
}

}  // namespace

Type type_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kBFloat16:
      return Type::kBfloat16;
    case at::kByte:
      return Type::kUint8;
    case at::kChar:
      return Type::kInt8;
    default:
      return Type::kFloat;
  }
}

Dims dims_of(at::IntArrayRef dims) { return dims.vec(); }

std::vector<std::pair<int64_t, int64_t>> dims_by_stride(const TraceTensor& tensor) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] != 1) dims.emplace_back(tensor.strides[d], tensor.sizes[d]);
  }
  std::ranges::sort(dims);
  return dims;
}

TraceFacts::TraceFacts(const Trace& trace)
    : makers(trace.buffers.size()),
      readers(trace.buffers.size()),
      is_output(trace.buffers.size()),
      is_written(trace.buffers.size()) {
  const auto buffer = [&](TensorId id) { return trace.tensors[id].buffer; };
  for (size_t i = 0; i < trace.calls.size(); ++i) {
    const TraceCall& call = trace.calls[i];
    for (const TensorId id : call.outputs) makers[buffer(id)] = i;
    for (size_t position = 0; position < call.arguments.size(); ++position) {
      const bool writes = writes_argument(call, position);
      for (const TensorId id : tensors_of(call.arguments[position])) {
        readers[buffer(id)].push_back(i);
        if (writes) is_written[buffer(id)] = true;
      }
    }
  }
  for (const TensorId id : trace.outputs) is_output[buffer(id)] = true;
}

TraceRewriter::TraceRewriter(Trace& trace, PackedWeights& weights)
    : trace_(trace),
      weights_(weights),
      facts_(trace),
      last_reader_(trace.buffers.size()),
      is_shared_(trace.buffers.size()) {
  calls_ = std::move(trace.calls);
  is_open_.assign(calls_.size(), true);
  for (size_t id = 0; id < last_reader_.size(); ++id) {
    if (!facts_.readers[id].empty()) last_reader_[id] = facts_.readers[id].back();
  }
  for (const TraceTensor& traced : trace.tensors) original_buffers_.push_back(traced.buffer);
  for (TraceValue& value : trace.values) {
    const bool is_made = trace.kind(value.tensor) == BufferKind::kIntermediate;
    value.num_calls = is_made ? TraceValue::kNever : 0;
  }
}

void TraceRewriter::note_values(const std::vector<size_t>& calls, size_t first) {
  for (TraceValue& value : trace_.values) {
    const auto is_of_value = [&](TensorId output) {
      return original_buffers_[output] == original_buffers_[value.tensor];
    };
    const bool is_made = std::ranges::any_of(calls, [&](size_t index) {
      const TraceCall& call = calls_[index];
      return call.step <= value.step && std::ranges::any_of(call.outputs, is_of_value);
    });
    if (!is_made) continue;
    const BufferId buffer = tensor(value.tensor).buffer;
    if (values_.contains(buffer)) plain(value.tensor);
    for (size_t call = first; call < rewritten_.size(); ++call) {
      for (const TensorId output : rewritten_[call].outputs) {
        if (tensor(output).buffer == buffer) value.num_calls = rewritten_.size();
      }
    }
  }
}

void TraceRewriter::plan(Replacement replacement) {
  const size_t index = replacement.calls[0];
  is_open_[index] = false;
  replacements_.emplace(index, std::move(replacement));
}

void TraceRewriter::run() {
  for (current_ = 0; current_ < calls_.size(); ++current_) {
    if (is_open_[current_]) rewrite(current_);
    if (const auto found = replacements_.extract(current_)) finish(found.mapped());
  }
  current_ = calls_.size() - 1;
  for (const TensorId output : trace_.outputs) plain(output);
  std::ranges::stable_sort(trace_.values, {}, &TraceValue::num_calls);
  trace_.calls = std::move(rewritten_);
}

// Copies the call or replaces it; a replacement goes where the last of its calls was.
void TraceRewriter::rewrite(size_t index) {
  std::optional<Replacement> found;
  const RuleEntry* entry = find_entry(calls_[index]);
  if (entry != nullptr && entry->rule != nullptr) {
    found = entry->rule(*this, index);
  } else if (entry != nullptr) {
    const auto source = CallArguments(calls_[index]).tensor("self");
    if (source) found = entry->padded_rule(*this, index, {*source});
  }
  if (!found) {
    copy(index);
    return;
  }
  const size_t last = found->calls.back();
  for (const size_t call : found->calls) {
    is_open_[call] = false;
    for (const TensorId id : tensors_of(calls_[call])) {
      size_t& reader = last_reader_[tensor(id).buffer];
      reader = std::max(reader, last);
    }
  }
  if (last <= current_) {
    finish(*found);
  } else {
    replacements_.emplace(last, std::move(*found));
  }
}

void TraceRewriter::finish(const Replacement& replacement) {
  const size_t first = rewritten_.size();
  const size_t taken = replacement.emit();
  const auto others = std::span(replacement.calls).subspan(taken);
  for (const size_t call : others) is_open_[call] = true;
  note_values(replacement.calls, first);
  if (taken == 0) copy(others[0]);
  for (const size_t call : others) {
    if (is_open_[call]) rewrite(call);
  }
}

void TraceRewriter::copy(size_t index) {
  is_open_[index] = false;
  for (const TensorId id : tensors_of(calls_[index])) plain(id);
  const size_t first = rewritten_.size();
  rewritten_.push_back(calls_[index]);
  note_values({index}, first);
}

bool TraceRewriter::is_read(TensorId id) const {
  const BufferId buffer = tensor(id).buffer;
  return facts_.is_output[buffer] || !facts_.readers[buffer].empty();
}

bool TraceRewriter::is_read_within(TensorId id, size_t first, size_t last) const {
  const BufferId buffer = tensor(id).buffer;
  return !facts_.is_output[buffer] &&
         std::ranges::all_of(facts_.readers[buffer],
                             [&](size_t reader) { return reader >= first && reader <= last; });
}

bool TraceRewriter::is_value(TensorId id, at::ScalarType dtype) const {
  return tensor(id).dtype == dtype && !facts_.is_written[tensor(id).buffer] &&
         c10::multiply_integers(tensor(id).sizes) > 0 && !has_refused_strides(tensor(id));
}

bool TraceRewriter::have_same_layout(TensorId a, TensorId b) const {
  return are_alike(tensor(a), tensor(b)) && tensor(a).offset == tensor(b).offset &&
         tensor(a).dtype == tensor(b).dtype;
}

Layout TraceRewriter::plain_layout(TensorId id) const {
  return Layout::strided(sizes(id), dims_of(tensor(id).strides), type_of(tensor(id).dtype));
}

TraceRewriter::Value* TraceRewriter::find_value(TensorId id) {
  const auto found = values_.find(tensor(id).buffer);
  if (found == values_.end() || !have_same_layout(found->second.tensor, id)) return nullptr;
  return &found->second;
}

Layout TraceRewriter::layout_of(TensorId id) {
  const Value* value = find_value(id);
  return value == nullptr ? plain_layout(id) : value->variants.front().layout;
}

TensorId TraceRewriter::plain(TensorId id) {
  const auto found = values_.find(tensor(id).buffer);
  if (found == values_.end()) return id;
  Value& value = found->second;
  if (std::ranges::count(value.variants, value.tensor, &Variant::tensor) > 0) return id;
  const Layout layout = plain_layout(value.tensor);
  const Variant made = value.variants.front();
  value.variants.push_back({layout, value.tensor});
  add_call(onednn::make_reorder(made.layout, layout), {made.tensor}, value.tensor, current_);
  return id;
}

// A range of the channels of a value that is kept in another strided layout, as `split` gives it.
std::optional<TraceRewriter::Variant> TraceRewriter::channels_of_value(TensorId id) {
  const auto found = values_.find(tensor(id).buffer);
  if (found == values_.end() || !is_carried(found->second.tensor)) return std::nullopt;
  const Variant& made = found->second.variants.front();
  const TraceTensor whole = tensor(found->second.tensor);
  const TraceTensor part = tensor(id);
  const auto strides = made.layout.strides();
  at::DimVector sizes = whole.sizes;
  if (!strides || sizes.size() < 3 || part.strides != whole.strides) return std::nullopt;
  const int64_t first = (part.offset - whole.offset) / whole.strides[1];
  sizes[1] = part.sizes[1];
  const bool is_part = part.sizes == sizes && first >= 0 &&
                       part.offset == whole.offset + first * whole.strides[1] &&
                       first + sizes[1] <= whole.sizes[1];
  if (!is_part) return std::nullopt;
  const auto bytes = static_cast<int64_t>(c10::elementSize(part.dtype));
  return Variant{Layout::strided(dims_of(sizes), *strides, type_of(part.dtype)),
                 add_part(made.tensor, first * (*strides)[1] * bytes)};
}

TensorId TraceRewriter::use(TensorId id, const Layout& layout) {
  if (layout == plain_layout(id)) return plain(id);
  if (find_value(id) == nullptr && !values_.contains(tensor(id).buffer) && is_value(id)) {
    values_.emplace(tensor(id).buffer, Value{id, {{plain_layout(id), id}}});
  }
  Value* value = find_value(id);
  if (value != nullptr) {
    for (const Variant& variant : value->variants) {
      if (variant.layout == layout) return variant.tensor;
    }
  }
  std::optional<Variant> found = value != nullptr ? value->variants.front() : channels_of_value(id);
  const Variant from = found ? *found : Variant{plain_layout(id), plain(id)};
  const TensorId reordered = add_bytes(layout.bytes());
  add_call(onednn::make_reorder(from.layout, layout), {from.tensor}, reordered, current_);
  if (value != nullptr) value->variants.push_back({layout, reordered});
  return reordered;
}

bool TraceRewriter::is_last_use(TensorId id, size_t index) const {
  const BufferId buffer = tensor(id).buffer;
  return buffer < facts_.readers.size() &&
         trace_.buffers[buffer].kind == BufferKind::kIntermediate && !facts_.is_output[buffer] &&
         !facts_.is_written[buffer] && !is_shared_[buffer] &&
         last_reader_[buffer] <= std::max(index, current_);
}

TensorId TraceRewriter::packed(const std::string& key, const std::vector<at::Tensor>& sources,
                               const std::function<at::Tensor()>& make) {
  return add_constant(weights_.find_or_make(key, sources, make));
}

TensorId TraceRewriter::add_constant(const at::Tensor& constant) {
  return trace_.add({trace_.add_buffer(BufferKind::kConstant, constant.storage().nbytes()),
                     constant.scalar_type(), at::DimVector(constant.sizes()),
                     at::DimVector(constant.strides()), constant.storage_offset(), constant});
}

TensorId TraceRewriter::add_bytes(size_t bytes) {
  const BufferId buffer = trace_.add_buffer(BufferKind::kIntermediate, bytes);
  return trace_.add({buffer, c10::kByte, {static_cast<int64_t>(bytes)}, {1}});
}

// The bytes of `whole`, which add_bytes gave, from `offset` on.
TensorId TraceRewriter::add_part(TensorId whole, int64_t offset) {
  TraceTensor part = tensor(whole);
  part.sizes[0] -= offset;
  part.offset += offset;
  return trace_.add(std::move(part));
}

TensorId TraceRewriter::shaped_like(TensorId id, TensorId other) {
  if (have_same_layout(id, other)) return id;
  TraceTensor shaped = tensor(other);
  shaped.buffer = tensor(id).buffer;
  return trace_.add(std::move(shaped));
}

void TraceRewriter::add_call(const PrimitivePtr& primitive, const std::vector<TensorId>& inputs,
                             TensorId output, size_t index) {
  std::vector<TensorId> outputs = {output};
  if (const size_t bytes = primitive->scratchpad_bytes; bytes > 0) {
    outputs.push_back(add_bytes(bytes));
  }
  const auto prepare = [primitive](const KernelCall& call) {
    return std::make_unique<PrimitiveKernel>(*primitive, call);
  };
  emit(FusedCall{primitive->name, prepare}, inputs, std::move(outputs), index);
}

void TraceRewriter::emit(const PrimitivePtr& primitive, std::vector<TensorId> inputs,
                         TensorId output, size_t index, std::optional<TensorId> written) {
  const bool has_shape = primitive->output.sizes() == sizes(output);
  const Layout layout = has_shape ? primitive->output : plain_layout(output);
  const bool is_plain = layout == plain_layout(output);
  TensorId target = output;
  if (written && is_plain) {
    const BufferId from = tensor(output).buffer;
    const BufferId to = tensor(*written).buffer;
    for (TraceTensor& traced : trace_.tensors) {
      if (traced.buffer == from) traced.buffer = to;
    }
    facts_.is_output[to] = facts_.is_output[from];
    facts_.readers[to] = facts_.readers[from];
    last_reader_[to] = last_reader_[from];
    values_.erase(to);
  } else if (written) {
    target = *written;
  } else if (!is_plain) {
    target = add_bytes(primitive->output.bytes());
  }
  add_call(primitive, inputs, target, index);
  values_.insert_or_assign(tensor(output).buffer, Value{output, {{layout, target}}});
}

TensorId TraceRewriter::make(const PrimitivePtr& primitive, const std::vector<TensorId>& inputs,
                             size_t index) {
  const TensorId made = add_bytes(primitive->output.bytes());
  add_call(primitive, inputs, made, index);
  return made;
}

void TraceRewriter::emit(FusedCall fused, const std::vector<TensorId>& inputs,
                         std::vector<TensorId> outputs, size_t index) {
  rewritten_.push_back({calls_[index].op,
                        {inputs.begin(), inputs.end()},
                        std::move(outputs),
                        calls_[index].step,
                        std::make_shared<FusedCall>(std::move(fused))});
}

// Places `part`, which has memory of its own, in `whole` instead.
bool TraceRewriter::move_into(TensorId part, TensorId whole, int64_t offset) {
  const BufferId from = tensor(part).buffer;
  // Memory of the original trace may be an input or seen through views.
  const bool is_own = from >= facts_.readers.size() && tensor(part).offset == 0 &&
                      static_cast<size_t>(tensor(part).sizes[0]) == trace_.buffers[from].bytes;
  if (!is_own) return false;
  for (TraceTensor& traced : trace_.tensors) {
    if (traced.buffer != from) continue;
    traced.buffer = tensor(whole).buffer;
    traced.offset += offset;
  }
  return true;
}

void TraceRewriter::join(const std::vector<TensorId>& sources, TensorId output,
                         const Layout& joined, size_t index) {
  const auto strides = joined.strides();
  const TensorId whole = add_bytes(joined.bytes());
  int64_t offset = 0;
  for (const TensorId source : sources) {
    const Dims own = sizes(source);
    const Layout layout =
        strides ? Layout::strided(own, *strides) : Layout::blocked(own, *joined.block());
    const Layout from = strides ? layout_of(source) : layout;
    const TensorId part = use(source, from);
    is_shared_[tensor(source).buffer] = true;
    if (strides || !move_into(part, whole, offset)) {
      add_call(onednn::make_reorder(from, layout), {part}, add_part(whole, offset), index);
    }
    offset += strides ? own[1] * (*strides)[1] * int64_t{sizeof(float)}
                      : static_cast<int64_t>(layout.bytes());
  }
  is_shared_[tensor(output).buffer] = true;
  values_.insert_or_assign(tensor(output).buffer, Value{output, {{joined, whole}}});
}

Layout contiguous_layout(const Dims& sizes, Type type) {
  return Layout::strided(sizes, dims_of(c10::contiguous_strides(sizes)), type);
}

at::Tensor reorder_constant(const at::Tensor& tensor, const Layout& from, const Layout& to) {
  if (from == to) return tensor;
  const PrimitivePtr reorder = onednn::make_reorder(from, to);
  if (reorder == nullptr) return {};
  at::Tensor packed = at::empty({static_cast<int64_t>(to.bytes())}, at::kByte);
  const at::Tensor scratchpad =
      at::empty({static_cast<int64_t>(reorder->scratchpad_bytes)}, at::kByte);
  reorder->bind()({const_cast<void*>(tensor.const_data_ptr()), packed.mutable_data_ptr(),
                   scratchpad.mutable_data_ptr()});
  return packed;
}

}  // namespace torch_ir

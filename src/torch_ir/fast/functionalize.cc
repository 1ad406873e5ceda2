#include <ATen/core/enum_tag.h>
#include <c10/util/strides.h>

#include <algorithm>
#include <map>
#include <utility>

#include "torch_ir/fast/rules.h"

namespace torch_ir {
namespace {

// LibTorch does not tag hardswish.
bool is_pointwise(const c10::OperatorHandle& op) {
  return op.hasTag(at::Tag::pointwise) || op.schema().name() == "aten::hardswish";
}

// aten::relu for aten::relu_; nothing for an operator that is not elementwise.
std::optional<c10::OperatorHandle> function_of(const c10::OperatorHandle& op) {
  c10::OperatorName name = op.operator_name();
  if (!name.name.ends_with('_') || name.name.ends_with("__")) return std::nullopt;
  name.name.pop_back();
  const auto found = c10::Dispatcher::singleton().findSchema(name);
  if (!found || !is_pointwise(*found)) return std::nullopt;
  // aten::polygamma takes its arguments in another order than aten::polygamma_.
  const bool is_alike = std::ranges::equal(found->schema().arguments(), op.schema().arguments(), {},
                                           &c10::Argument::name, &c10::Argument::name);
  return is_alike ? found : std::nullopt;
}

// Whether it is all the memory of a result, in order.
bool is_whole(const Trace& trace, TensorId id) {
  const TraceTensor& tensor = trace.tensors[id];
  return trace.kind(id) == BufferKind::kIntermediate && is_contiguous(tensor) &&
         trace.covers_buffer(tensor);
}

class Functionalizer {
 public:
  explicit Functionalizer(Trace& trace) : trace_(trace) {}

  void run() {
    auto value = trace_.values.begin();
    const auto rename_values = [&](size_t num_calls) {
      for (; value != trace_.values.end() && value->num_calls <= num_calls; ++value) {
        rename(value->tensor);
      }
    };
    for (size_t i = 0; i < trace_.calls.size(); ++i) {
      TraceCall& call = trace_.calls[i];
      rename_values(i);
      for (TraceArgument& argument : call.arguments) rename(argument);
      if (!rewrite(call)) {
        for (TensorId& output : call.outputs) rename(output);
      }
    }
    rename_values(trace_.calls.size());
    for (TensorId& output : trace_.outputs) rename(output);
  }

 private:
  void rename(TensorId& tensor) {
    const BufferId old = trace_.tensors[tensor].buffer;
    const auto found = successors_.find(old);
    if (found == successors_.end()) return;
    const auto [known, is_new] = renamed_.try_emplace({tensor, found->second}, 0);
    if (is_new) {
      TraceTensor copy = trace_.tensors[tensor];
      copy.buffer = found->second;
      known->second = trace_.add(std::move(copy));
    }
    tensor = known->second;
  }

  void rename(TraceArgument& argument) {
    if (auto* tensor = std::get_if<TensorId>(&argument)) rename(*tensor);
    if (auto* list = std::get_if<TraceList>(&argument)) {
      for (auto& item : list->items) {
        if (item) rename(*item);
      }
    }
  }

  bool rewrite(TraceCall& call) {
    if (!call.op.schema().is_mutable() || call.arguments.empty() || call.outputs.size() != 1) {
      return false;
    }
    // _safe_softmax overwrites what it also reads.
    const bool is_where = c10::toString(call.op.operator_name()) == "aten::where.self_out";
    const auto* self = std::get_if<TensorId>(&call.arguments[is_where ? 3 : 0]);
    const auto function = is_where
                              ? c10::Dispatcher::singleton().findSchema({"aten::where", "self"})
                              : function_of(call.op);
    if (self == nullptr || !function || !is_whole(trace_, *self)) return false;
    // A function of several dtypes may return another dtype than `self` has. A condition does not
    // count.
    const c10::ScalarType dtype = trace_.tensors[*self].dtype;
    std::vector<TensorId> tensors = tensors_of(call);
    if (is_where) tensors.erase(tensors.begin());
    const bool has_one_dtype = std::ranges::all_of(
        tensors, [&](TensorId id) { return trace_.tensors[id].dtype == dtype; });
    if (!has_one_dtype || !c10::isFloatingType(dtype)) return false;
    const BufferId old = trace_.tensors[*self].buffer;
    const BufferId next = trace_.add_buffer(BufferKind::kIntermediate, trace_.buffers[old].bytes);
    // Calls refer to the memory by its original buffer or by its latest successor.
    for (auto& [from, to] : successors_) {
      if (to == old) to = next;
    }
    successors_[old] = next;
    TraceTensor result = trace_.tensors[*self];
    result.buffer = next;
    call.op = *function;
    call.arguments.resize(function->schema().arguments().size());
    call.outputs = {trace_.add(std::move(result))};
    return true;
  }

  Trace& trace_;
  std::map<BufferId, BufferId> successors_;
  std::map<std::pair<TensorId, BufferId>, TensorId> renamed_;
};

// Whether `view` has the channels of each pixel of `image` as its last dimension, all pixels in
// order.
bool is_rows_of(const TraceTensor& image, const TraceTensor& view) {
  const int64_t channels = image.sizes[1];
  const int64_t pixels = image.sizes[2] * image.sizes[3];
  if (channels == 1 || pixels == 1 || view.offset != image.offset || view.sizes.size() < 2 ||
      view.sizes.back() != channels || view.strides.back() != pixels ||
      c10::multiply_integers(view.sizes) != c10::multiply_integers(image.sizes)) {
    return false;
  }
  int64_t stride = 1;
  for (size_t d = view.sizes.size() - 1; d-- > 0;) {
    if (view.sizes[d] == 1) continue;
    if (stride == pixels) stride *= channels;
    if (view.strides[d] != stride || (stride < pixels && stride * view.sizes[d] > pixels)) {
      return false;
    }
    stride *= view.sizes[d];
  }
  return true;
}

// Operators whose results are contiguous, whatever the layout of their operands.
constexpr std::string_view kContiguousReaders[] = {"aten::addmm", "aten::bmm", "aten::clone",
                                                   "aten::mm", "aten::native_layer_norm"};

// The memory of `image` and of what functions of its pixels make; empty if a call reads it
// otherwise than by rows.
std::vector<BufferId> memory_of_rows(const Trace& trace, const TraceFacts& facts,
                                     const TraceTensor& image) {
  std::vector<BufferId> memory = {image.buffer};
  for (size_t i = 0; i < memory.size(); ++i) {
    const BufferId buffer = memory[i];
    if (facts.is_written[buffer] || facts.is_output[buffer]) return {};
    for (const size_t reader : facts.readers[buffer]) {
      const TraceCall& call = trace.calls[reader];
      const std::string name = call.name();
      const std::vector<TensorId> tensors = tensors_of(call);
      const bool reads_rows = std::ranges::all_of(tensors, [&](TensorId id) {
        return trace.tensors[id].buffer != buffer || is_rows_of(image, trace.tensors[id]);
      });
      if (!reads_rows || call.outputs.empty()) return {};
      const TraceTensor& made = trace.tensors[call.outputs[0]];
      const bool is_function =
          (is_pointwise(call.op) && tensors.size() == 1) || name == "aten::add";
      const bool makes_rows = is_function && is_rows_of(image, made) && trace.covers_buffer(made);
      const bool makes_contiguous =
          std::ranges::count(kContiguousReaders, name) > 0 && is_contiguous(made);
      if (!makes_rows && !makes_contiguous) return {};
      if (makes_rows && std::ranges::count(memory, made.buffer) == 0) memory.push_back(made.buffer);
    }
  }
  return memory;
}

}  // namespace

void functionalize(Trace& trace) { Functionalizer(trace).run(); }

void drop_needless_calls(Trace& trace) {
  std::erase_if(trace.calls, [](const TraceCall& call) {
    const std::string name = c10::toString(call.op.operator_name());
    const bool is_dropout = name == "aten::dropout_" || name == "aten::feature_dropout_";
    return name == "aten::_assert_tensor_metadata" ||
           (is_dropout && !CallArguments(call).value("train").toBool());
  });
  const TraceFacts facts(trace);
  std::erase_if(trace.calls, [&](const TraceCall& call) {
    if (!is_call(call, "aten::clone")) return false;
    const TraceTensor from = trace.tensors[std::get<TensorId>(call.arguments[0])];
    const TraceTensor to = trace.tensors[call.outputs[0]];
    const bool is_shared = trace.buffers[from.buffer].kind != BufferKind::kConstant &&
                           !facts.is_written[from.buffer] && !facts.is_written[to.buffer] &&
                           !facts.is_output[to.buffer] && are_alike(from, to) &&
                           from.dtype == to.dtype;
    // Offsets are in elements, and a view may have others.
    const bool has_one_dtype = std::ranges::all_of(trace.tensors, [&](const TraceTensor& tensor) {
      return tensor.buffer != to.buffer || tensor.dtype == to.dtype;
    });
    if (!is_shared || (from.offset != to.offset && !has_one_dtype)) return false;
    for (TraceTensor& tensor : trace.tensors) {
      if (tensor.buffer != to.buffer) continue;
      tensor.buffer = from.buffer;
      tensor.offset += from.offset - to.offset;
    }
    return true;
  });
}

void straighten_sums(Trace& trace) {
  const TraceFacts facts(trace);
  // By buffer: the sum it holds, if only sums and norms read it, in the layout it was made in.
  std::vector<std::optional<TensorId>> sums(trace.buffers.size());
  for (const TraceCall& call : trace.calls) {
    const std::string name = c10::toString(call.op.operator_name());
    const bool is_sum = name == "aten::add.Tensor";
    for (const TensorId id : tensors_of(call)) {
      auto& sum = sums[trace.tensors[id].buffer];
      if (sum != id || !(is_sum || name == "aten::native_layer_norm")) sum.reset();
    }
    const BufferId made = is_sum ? trace.tensors[call.outputs[0]].buffer : 0;
    if (is_sum && !facts.is_written[made] && !facts.is_output[made]) sums[made] = call.outputs[0];
  }
  for (const auto& id : sums) {
    if (!id || !trace.covers_buffer(trace.tensors[*id])) continue;
    // Views that no call reads still have the old strides.
    std::erase_if(trace.values, [&](const TraceValue& value) {
      return value.tensor != *id && trace.tensors[value.tensor].buffer == trace.tensors[*id].buffer;
    });
    trace.tensors[*id].strides = c10::contiguous_strides(trace.tensors[*id].sizes);
  }
}

void copy_to_rows(Trace& trace) {
  const TraceFacts facts(trace);
  const auto clone = c10::Dispatcher::singleton().findSchemaOrThrow("aten::clone", "");
  std::vector<TraceCall> calls;
  for (const TraceCall& call : trace.calls) {
    calls.push_back(call);
    const RuleEntry* entry = find_entry(call);
    const bool is_convolution = entry != nullptr && entry->padded_rule == replace_convolution;
    if (!is_convolution || !is_whole(trace, call.outputs[0])) continue;
    const TraceTensor image = trace.tensors[call.outputs[0]];
    if (image.sizes.size() != 4 || image.dtype != at::kFloat) continue;
    const std::vector<BufferId> memory = memory_of_rows(trace, facts, image);
    if (memory.empty() || facts.readers[image.buffer].empty()) continue;
    TraceTensor copy = image;
    copy.strides = c10::get_channels_last_strides_2d(image.sizes);
    copy.buffer = trace.add_buffer(BufferKind::kIntermediate, bytes_of(image));
    std::vector<bool> are_rows(trace.tensors.size());
    for (TensorId id = 0; id < trace.tensors.size(); ++id) {
      TraceTensor& tensor = trace.tensors[id];
      are_rows[id] = std::ranges::count(memory, tensor.buffer) > 0 && is_rows_of(image, tensor);
      if (!are_rows[id]) continue;
      tensor.strides = c10::contiguous_strides(tensor.sizes);
      if (tensor.buffer == image.buffer) tensor.buffer = copy.buffer;
    }
    // Views that no call reads still have the old strides.
    std::erase_if(trace.values, [&](const TraceValue& value) {
      const BufferId buffer = trace.tensors[value.tensor].buffer;
      return std::count(memory.begin() + 1, memory.end(), buffer) > 0 && !are_rows[value.tensor];
    });
    const c10::IValue format(at::MemoryFormat::ChannelsLast);
    calls.push_back({clone, {call.outputs[0], format}, {trace.add(copy)}, call.step});
  }
  trace.calls = std::move(calls);
}

}  // namespace torch_ir

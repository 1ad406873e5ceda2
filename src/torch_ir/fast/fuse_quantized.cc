// Quantised models keep int8 between their layers: each product of integers reads them, and the
// dequantize and quantize around it become its scales. Where no product takes them, they become one
// pass over memory.
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "torch_ir/fast/quantized.h"

namespace torch_ir {
namespace {

// Keeps the layout of the first source, unless its blocks are partly padding.
void emit_rescale(TraceRewriter& rewriter, const std::vector<TensorId>& from, TensorId output,
                  const Rescaling& rescaling, size_t index) {
  const TensorId first = from[0];
  const Dims sizes = dims_of(rewriter.tensor(first).sizes);
  const bool is_alike = std::ranges::all_of(
      from, [&](TensorId id) { return are_alike(rewriter.tensor(id), rewriter.tensor(output)); });
  const Layout made = rewriter.layout_of(first);
  const auto strides = is_alike ? made.strides() : std::nullopt;
  const int64_t block = is_alike ? made.block().value_or(0) : 0;
  const auto layout_of = [&](TensorId id) {
    const Type type = type_of(rewriter.tensor(id).dtype);
    if (block > 0 && sizes[1] % block == 0) return Layout::blocked(sizes, block, type);
    return strides ? Layout::strided(sizes, *strides, type) : rewriter.plain_layout(id);
  };
  std::vector<TensorId> sources;
  std::vector<Layout> layouts;
  for (const TensorId id : from) {
    layouts.push_back(layout_of(id));
    sources.push_back(rewriter.use(id, layouts.back()));
  }
  rewriter.emit(make_rescale(rescaling, std::move(layouts), layout_of(output)), sources, output,
                index);
}

class QuantizedFuser {
 public:
  explicit QuantizedFuser(Trace& trace)
      : trace_(trace),
        patterns_(trace),
        to_copy_(c10::Dispatcher::singleton().findSchemaOrThrow("aten::_to_copy", "")) {}

  QuantizedCalls run() {
    for (size_t i = 0; i < trace_.calls.size(); ++i) fuse_quantize(i);
    for (const auto& [i, source] : patterns_.all_dequantized()) {
      if (!source.is_dynamic()) {
        replacements_.emplace(i, rescale({source}, Steps(), patterns_.output(i), {}));
      }
    }
    for (size_t i = 0; i < trace_.calls.size(); ++i) {
      if (taken_.contains(i)) continue;
      auto product = quantized_product(patterns_, i, patterns_.output_or_none(i), Steps(), {}, {});
      if (!product) product = dynamic_product(patterns_, i);
      if (product) replacements_.insert_or_assign(i, std::move(*product));
    }
    return take();
  }

 private:
  static QuantizedCall rescale(const std::vector<Source>& sources, const Steps& to, TensorId output,
                               const Clip& clip,
                               const std::optional<PostOp>& activation = std::nullopt) {
    Rescaling rescaling{{}, to, clip, activation};
    QuantizedCall call;
    for (const Source& source : sources) {
      call.sources.push_back(source.tensor);
      rescaling.sources.push_back(source.steps);
    }
    call.emit = [from = call.sources, output, rescaling](TraceRewriter& rewriter, size_t index) {
      emit_rescale(rewriter, from, output, rescaling, index);
    };
    return call;
  }

  // What is dequantized as `id` in steps that are known.
  std::optional<Source> dequantized(TensorId id) const {
    const auto source = patterns_.dequantized(id);
    return source && !source->is_dynamic() ? source : std::nullopt;
  }

  void fuse_quantize(size_t index) {
    const auto quantized = patterns_.quantized_at(index);
    if (!quantized) return;
    if (quantized->is_dynamic()) {
      fuse_dynamic(index, *quantized);
      return;
    }
    Clip clip;
    const Steps& steps = quantized->steps;
    const TensorId clipped = patterns_.before_clips(quantized->tensor, steps, clip);
    if (fuse_product(index, steps, clipped, clip, std::nullopt)) return;
    const auto sum = patterns_.inner_maker(clipped);
    const auto self = patterns_.argument_of(sum, "aten::add.Tensor");
    const auto other = self ? CallArguments(trace_.calls[*sum]).tensor("other") : std::nullopt;
    const bool adds = other && are_alike(patterns_.tensor(*self), patterns_.tensor(*other));
    const auto first = dequantized(adds ? *self : clipped);
    const auto second = adds ? dequantized(*other) : std::nullopt;
    if (second && fuse_product(index, steps, *self, clip, second)) return;
    if (adds && first && fuse_product(index, steps, *other, clip, first)) return;
    std::vector<Source> sources = {{clipped, Steps()}};
    std::optional<PostOp> activation;
    if (first && adds == second.has_value()) {
      sources = {*first};
      if (second) sources.push_back(*second);
    } else if (clipped == quantized->tensor) {
      activation = take_activation_before(sources);
    }
    replacements_.emplace(index,
                          rescale(sources, steps, patterns_.output(index), clip, activation));
  }

  void fuse_dynamic(size_t index, const Source& quantized) {
    if (!patterns_.is_contiguous(quantized.tensor)) return;
    QuantizedCall call{{quantized.tensor, *quantized.scale}};
    if (quantized.zero_point) call.sources.push_back(*quantized.zero_point);
    call.emit = [quantized, output = patterns_.output(index)](TraceRewriter& rewriter, size_t at) {
      const TensorId zero_point =
          quantized.zero_point ? rewriter.plain(*quantized.zero_point)
                               : rewriter.add_constant(at::tensor(quantized.steps.zero_point));
      rewriter.emit(
          quantize_rows(quantized.steps),
          {rewriter.plain(quantized.tensor), rewriter.plain(*quantized.scale), zero_point},
          {output}, at);
    };
    replacements_.emplace(index, std::move(call));
  }

  // GELU and the like, which then is applied to `sources`.
  std::optional<PostOp> take_activation_before(std::vector<Source>& sources) const {
    PostOps functions;
    const auto source =
        patterns_.before_functions(patterns_.inner_maker(sources[0].tensor), functions);
    auto activation = take_activation(functions, /*is_winograd=*/false);
    if (!source || !activation || !functions.empty()) return std::nullopt;
    sources = {dequantized(*source).value_or(Source{*source, Steps()})};
    return activation;
  }

  bool fuse_product(size_t index, const Steps& steps, TensorId id, const Clip& clip,
                    const std::optional<Source>& addend) {
    const auto made = patterns_.inner_maker(id);
    auto product =
        made ? quantized_product(patterns_, *made, patterns_.output(index), steps, clip, addend)
             : std::nullopt;
    if (!product) return false;
    replacements_.emplace(index, std::move(*product));
    taken_.insert(*made);
    return true;
  }

  BufferId buffer(TensorId id) const { return patterns_.tensor(id).buffer; }

  // Drops the calls that nothing reads any more. Those that others replace keep their places.
  QuantizedCalls take() {
    std::vector<bool> is_read(trace_.buffers.size(), false);
    for (const TensorId id : trace_.outputs) is_read[buffer(id)] = true;
    std::vector<bool> is_live(trace_.calls.size(), false);
    for (size_t i = trace_.calls.size(); i-- > 0;) {
      TraceCall& call = trace_.calls[i];
      is_live[i] =
          call.outputs.empty() || writes_any_argument(call) ||
          std::ranges::any_of(call.outputs, [&](TensorId id) { return is_read[buffer(id)]; });
      if (!is_live[i]) continue;
      if (const auto found = replacements_.find(i); found != replacements_.end()) {
        call.op = to_copy_;
        call.arguments.assign(found->second.sources.begin(), found->second.sources.end());
      }
      for (const TensorId id : tensors_of(call)) is_read[buffer(id)] = true;
    }
    QuantizedCalls result;
    std::vector<TraceCall> live;
    for (size_t i = 0; i < trace_.calls.size(); ++i) {
      if (!is_live[i]) continue;
      if (auto found = replacements_.extract(i)) result.emplace(live.size(), found.mapped());
      live.push_back(std::move(trace_.calls[i]));
    }
    trace_.calls = std::move(live);
    return result;
  }

  Trace& trace_;
  QuantizedPatterns patterns_;
  c10::OperatorHandle to_copy_;
  std::unordered_map<size_t, QuantizedCall> replacements_;
  // Calls of layers that are part of another's replacement.
  std::unordered_set<size_t> taken_;
};

}  // namespace

bool is_byte(at::ScalarType dtype) { return dtype == at::kChar || dtype == at::kByte; }

QuantizedCalls find_quantized(Trace& trace) {
  const bool has_bytes = std::ranges::any_of(
      trace.tensors, [](const TraceTensor& tensor) { return is_byte(tensor.dtype); });
  if (!has_bytes) return {};
  sink_paddings(trace);
  return QuantizedFuser(trace).run();
}

}  // namespace torch_ir

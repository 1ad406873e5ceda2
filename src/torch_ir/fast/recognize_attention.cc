// Finds attention in a trace, going back from its last call: from aten::bmm to softmax, what is
// added to the scores and scales them, the first product, and copies of its operands.
#include <ATen/TensorUtils.h>
#include <c10/util/accumulate.h>
#include <c10/util/strides.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "torch_ir/fast/attention.h"
#include "torch_ir/fast/rules.h"

namespace torch_ir {
namespace {

// With fewer rows, most of the rows computed at once would be wasted.
constexpr int64_t kMinRows = 4;
// Measured: LibTorch is faster with more keys, unless masks hide many.
constexpr int64_t kMaxKeyElements = 1 << 15;
// Limit with a mask: the keys of one head must fit in the L2 cache.
constexpr int64_t kMaxMaskedKeyElements = 1 << 17;

class AttentionFinder {
 public:
  AttentionFinder(const Trace& trace, const TraceFacts& facts, size_t index)
      : trace_(trace), facts_(facts), call_(trace.calls[index]) {}

  // LibTorch's own call.
  bool find_call() {
    const CallArguments arguments(call_);
    inputs_ = {*arguments.tensor("query"), *arguments.tensor("key"), *arguments.tensor("value")};
    const at::DimVector& rows = sizes(inputs_[0]);
    scale_ = arguments.number("scale", 1 / std::sqrt(static_cast<double>(rows.back())));
    attention_.is_safe = true;
    const auto mask = arguments.tensor("attn_mask");
    const bool is_causal = arguments.value("is_causal").toBool();
    const BufferId other_output = trace_.tensors[call_.outputs[1]].buffer;
    const at::DimVector scores = {rows[0], rows[1], rows[2], sizes(inputs_[1])[2]};
    if (arguments.number("dropout_p", 0) != 0 || facts_.is_output[other_output] ||
        !facts_.readers[other_output].empty() || (is_causal && mask) ||
        !take(scores, /*is_key_transposed=*/false)) {
      return false;
    }
    for (int64_t row = 0; is_causal && row < attention_.num_rows; ++row) {
      attention_.limits.push_back(std::min(row + 1, attention_.num_keys));
    }
    return !mask || limit_by(*mask) || add(*mask, scores);
  }

  // A product, perhaps a scale, a mask and a bias, softmax, and another product.
  bool find_calls() {
    TensorId shares = tensor(call_, 0);
    std::optional<TensorId> compared;
    if (const TraceCall* safe = made_by(shares, "aten::where.self")) {
      const TraceCall* hidden = made_by(tensor(*safe, 0), "aten::all.dim");
      const TraceCall* is_hidden =
          hidden != nullptr ? made_by(tensor(*hidden, 0), "aten::isneginf") : nullptr;
      if (is_hidden == nullptr || !is_along_keys(*hidden) ||
          !CallArguments(*hidden).value("keepdim").toBool() ||
          number_of(trace_, safe->arguments[1]) != 0 ||
          std::get_if<TensorId>(&safe->arguments[2]) == nullptr) {
        return false;
      }
      shares = tensor(*safe, 2);
      compared = tensor(*is_hidden, 0);
    }
    attention_.is_safe = compared.has_value();
    const TraceCall* softmax = made_by(shares, "aten::_softmax");
    if (softmax == nullptr || !is_along_keys(*softmax) ||
        CallArguments(*softmax).value("half_to_float").toBool()) {
      return false;
    }
    const TensorId scores = tensor(*softmax, 0);
    if ((compared && !is_view(*compared, scores)) || !find_scores(scores, compared ? 2 : 1)) {
      return false;
    }
    inputs_ = {before_copies(inputs_[0], 1, &scale_), before_copies(inputs_[1], 2, &scale_),
               before_copies(tensor(call_, 1), 1, nullptr)};
    at::DimVector shape = sizes(scores);
    if (const at::DimVector& query = sizes(inputs_[0]); query.size() == 4) {
      shape = {query[0], query[1], query[2], shape.back()};
    } else if (shape.size() == 3) {
      shape.insert(shape.begin(), 1);
    }
    return take(shape, /*is_key_transposed=*/true) &&
           std::ranges::all_of(
               added_, [&](const auto& added) { return add(added.first, sizes(added.second)); });
  }

  // Replaces `call`, unless there are too many keys.
  bool fuse(TraceCall& call) {
    const int64_t most = attention_.limits.empty() ? kMaxKeyElements : kMaxMaskedKeyElements;
    if (attention_.num_keys * std::max(attention_.size, attention_.value_size) > most) return false;
    attention_.scale = static_cast<float>(scale_);
    call.fused = std::make_shared<FusedCall>(attention(attention_));
    call.arguments = {inputs_.begin(), inputs_.end()};
    call.outputs.resize(1);
    return true;
  }

  const std::vector<size_t>& inner() const { return inner_; }

 private:
  const at::DimVector& sizes(TensorId id) const { return trace_.tensors[id].sizes; }
  const at::DimVector& strides(TensorId id) const { return trace_.tensors[id].strides; }
  static TensorId tensor(const TraceCall& call, size_t argument) {
    return std::get<TensorId>(call.arguments[argument]);
  }

  bool is_value(TensorId id) const {
    return trace_.tensors[id].dtype == at::kFloat &&
           !facts_.is_written[trace_.tensors[id].buffer] && c10::multiply_integers(sizes(id)) > 0;
  }

  // Whether `id` is all of `whole`, with the same matrices in the same order.
  bool is_view(TensorId id, TensorId whole) const {
    const at::DimVector& own = sizes(id);
    return trace_.tensors[id].buffer == trace_.tensors[whole].buffer &&
           trace_.tensors[id].offset == trace_.tensors[whole].offset && own.size() >= 2 &&
           sizes(whole).size() >= 2 && own.end()[-1] == sizes(whole).back() &&
           own.end()[-2] == sizes(whole).end()[-2] &&
           c10::multiply_integers(own) == c10::multiply_integers(sizes(whole)) &&
           at::detail::computeStride(sizes(whole), strides(whole), own) == strides(id);
  }

  // Whether the call goes along the last dimension.
  bool is_along_keys(const TraceCall& call) const {
    const int64_t dim = CallArguments(call).value("dim").toInt();
    return dim == -1 || dim + 1 == static_cast<int64_t>(sizes(call.outputs[0]).size());
  }

  // The call `name` that made `id`, if as many calls read it.
  const TraceCall* made_by(TensorId id, std::string_view name, size_t num_readers = 1) {
    const auto maker = facts_.inner_maker(trace_.tensors[id].buffer, num_readers);
    if (!maker || !is_call(trace_.calls[*maker], name) ||
        !is_view(id, trace_.calls[*maker].outputs[0])) {
      return nullptr;
    }
    inner_.push_back(*maker);
    return &trace_.calls[*maker];
  }

  // Goes back from scores over what is added to them and scales them to their product.
  bool find_scores(TensorId id, size_t num_readers) {
    if (const TraceCall* product = made_by(id, "aten::bmm", num_readers)) {
      inputs_ = {tensor(*product, 0), tensor(*product, 1)};
      return true;
    }
    for (const auto& [name, exponent] :
         {std::pair("aten::mul.Tensor", 1), {"aten::div.Tensor", -1}}) {
      const TraceCall* scaled = made_by(id, name, num_readers);
      const auto factor =
          scaled == nullptr ? std::nullopt : number_of(trace_, scaled->arguments[1]);
      if (!factor) continue;
      scale_ *= std::pow(*factor, exponent);
      is_scaled_ = true;
      return find_scores(tensor(*scaled, 0), 1);
    }
    const TraceCall* sum = is_scaled_ ? nullptr : made_by(id, "aten::add.Tensor", num_readers);
    if (sum == nullptr || CallArguments(*sum).number("alpha", 1) != 1) return false;
    const AttentionFinder before = *this;
    for (const size_t side : {0, 1}) {
      inner_ = before.inner_;
      added_ = before.added_;
      // A bias may be scaled as scores are.
      scale_ = before.scale_;
      is_scaled_ = before.is_scaled_;
      added_.emplace_back(tensor(*sum, 1 - side), sum->outputs[0]);
      const TensorId scores = tensor(*sum, side);
      if (sizes(scores) == sizes(sum->outputs[0]) && find_scores(scores, 1)) return true;
    }
    return false;
  }

  // Goes back from an operand over its copies and, with `scale`, numbers that it is multiplied
  // with. The dimension `unit` from the end stays contiguous.
  TensorId before_copies(TensorId id, size_t unit, double* scale) {
    const TraceCall* made = made_by(id, "aten::clone");
    const bool is_copy = made != nullptr;
    if (!is_copy && scale != nullptr) made = made_by(id, "aten::mul.Tensor");
    if (made == nullptr) return id;
    const auto factor = is_copy ? 1 : number_of(trace_, made->arguments[1]);
    const auto* source = std::get_if<TensorId>(&made->arguments[0]);
    if (!factor || source == nullptr || sizes(*source).size() != 4 || !is_value(*source) ||
        sizes(*source) != sizes(made->outputs[0]) || strides(*source)[4 - unit] != 1) {
      inner_.pop_back();
      return id;
    }
    if (!is_copy) *scale *= *factor;
    return before_copies(*source, unit, scale);
  }

  // `scores` are the numbers of batches, heads, rows and keys. Tensors may have one dimension for
  // batches and heads.
  bool take(const at::DimVector& scores, bool is_key_transposed) {
    Attention& all = attention_;
    if (scores.size() != 4) return false;
    all.num_batches = scores[0];
    all.num_heads = scores[1];
    all.num_rows = scores[2];
    all.num_keys = scores[3];
    all.size = sizes(inputs_[0]).back();
    all.value_size = sizes(inputs_[2]).back();
    return all.num_rows >= kMinRows && all.size % 4 == 0 && all.value_size % 16 == 0 &&
           set(all.query, inputs_[0], {all.num_rows, all.size}, false) &&
           set(all.key, inputs_[1], {all.num_keys, all.size}, is_key_transposed) &&
           set(all.value, inputs_[2], {all.num_keys, all.value_size}, false) &&
           set(all.output, call_.outputs[0], {all.num_rows, all.value_size}, false);
  }

  // Sizes and strides of `id` as [batch, head, row, column]; those of scores may have one dimension
  // for batches and heads, or batches in groups (of windows). Nothing if they overlap otherwise.
  std::optional<std::pair<at::DimVector, at::DimVector>> geometry(TensorId id, size_t rank) const {
    at::DimVector own = sizes(id);
    at::DimVector steps = strides(id);
    if (!is_value(id) || rank < 3 || rank > 5) return std::nullopt;
    own.insert(own.begin(), rank - own.size(), 1);
    steps.insert(steps.begin(), rank - steps.size(), 0);
    if (rank == 3) {
      const bool is_shared = own[0] == 1;
      own.insert(own.begin(), is_shared ? 1 : attention_.num_batches);
      own[1] /= own[0];
      steps.insert(steps.begin(), steps[0] * own[1]);
    } else if (rank == 5) {
      if (own[0] != 1) return std::nullopt;
      own.erase(own.begin());
      steps.erase(steps.begin());
    }
    return std::pair(own, steps);
  }

  bool set(Heads& heads, TensorId id, std::pair<int64_t, int64_t> matrix,
           bool is_transposed) const {
    auto found = geometry(id, sizes(id).size());
    if (!found) return false;
    auto& [own, steps] = *found;
    if (is_transposed) {
      std::swap(own[2], own[3]);
      std::swap(steps[2], steps[3]);
    }
    std::copy_n(steps.begin(), 3, heads.strides);
    return steps[3] == 1 && own == at::DimVector{attention_.num_batches, attention_.num_heads,
                                                 matrix.first, matrix.second};
  }

  // Adds `id`, which is broadcast to `scores`.
  bool add(TensorId id, const at::DimVector& scores) {
    auto found = geometry(id, scores.size());
    if (!found || (scores.size() > 3 && scores.end()[-3] != attention_.num_heads)) return false;
    auto& [own, steps] = *found;
    const bool is_copied = own[3] > 1 && steps[3] != 1;
    if (is_copied) steps = c10::contiguous_strides(own);
    for (size_t d = 0; d < 4; ++d) {
      if (own[d] == 1) steps[d] = 0;
    }
    attention_.added.push_back(
        {{nullptr, {steps[0], steps[1], steps[2]}}, is_copied, steps[3], own[0]});
    inputs_.push_back(id);
    return true;
  }

  // Whether it is a constant that is 0 where a row of any head sees a key, and minus infinity
  // elsewhere, and each row sees the first keys and no others. Keeps how many.
  bool limit_by(TensorId mask) {
    at::Tensor rows = trace_.tensors[mask].constant;
    if (!is_value(mask) || !rows.defined()) return false;
    while (rows.dim() > 2 && (rows.size(0) == 1 || rows.stride(0) == 0)) rows = rows.select(0, 0);
    if (rows.dim() != 2) return false;
    rows = rows.expand({attention_.num_rows, attention_.num_keys}).contiguous();
    std::vector<int64_t> limits;
    const float* row = rows.const_data_ptr<float>();
    for (const float* const end = row + rows.numel(); row < end; row += attention_.num_keys) {
      const float* const last = row + attention_.num_keys;
      const float* const hidden = std::find_if(row, last, [](float value) { return value != 0; });
      if (!std::all_of(hidden, last, [](float value) { return value == -kInfinity; })) return false;
      limits.push_back(hidden - row);
    }
    attention_.limits = std::move(limits);
    return true;
  }

  const Trace& trace_;
  const TraceFacts& facts_;
  // The last one.
  const TraceCall& call_;
  std::vector<size_t> inner_ = {};
  std::vector<TensorId> inputs_ = {};
  // Each with the sum.
  std::vector<std::pair<TensorId, TensorId>> added_ = {};
  double scale_ = 1;
  bool is_scaled_ = false;
  Attention attention_ = {};
};

}  // namespace

bool fuse_attention(Trace& trace, const TraceFacts& facts, size_t index,
                    std::vector<size_t>& inner) {
  TraceCall& call = trace.calls[index];
  const std::string name = call.name();
  AttentionFinder finder(trace, facts, index);
  const bool is_found =
      (name == "aten::_scaled_dot_product_flash_attention_for_cpu" && finder.find_call()) ||
      (name == "aten::bmm" && finder.find_calls());
  if (!is_found || !finder.fuse(call)) return false;
  inner = finder.inner();
  return true;
}

}  // namespace torch_ir

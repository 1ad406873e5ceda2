// Attention, softmax(scale query key^T) value, as one call or spelled out, for up to a few thousand
// keys: the scores of a few rows stay in the cache between the products.
#include <c10/core/CPUAllocator.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/fast/rules.h"
#include "torch_ir/fast/vectors.h"
#include "torch_ir/runtime/kernels/clones.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {

// A tensor [batch, head, row, column] with contiguous columns.
struct Heads {
  const float* data;
  // Of batches, heads and rows, in elements.
  int64_t strides[3];

  const float* head(int64_t batch, int64_t index) const {
    return data + batch * strides[0] + index * strides[1];
  }
};

// output = softmax(scale query key^T) value
struct Attention {
  int64_t num_batches;
  int64_t num_heads;
  int64_t num_rows;
  int64_t num_keys;
  // Of queries and keys; a multiple of 4.
  int64_t size;
  // Of values; a multiple of 16.
  int64_t value_size;
  float scale;
  Heads query;
  Heads key;
  Heads value;
  Heads output;
  // The number of keys that each row sees; if empty, all. Hidden keys are not read, even if NaN.
  std::vector<int64_t> limits = {};
};

// Rows computed at once.
constexpr int kAttentionRows = 8;

// Some rows of a product of matrices, each times a factor.
struct ProductRows {
  const float* first[kAttentionRows];
  float* output[kAttentionRows];
  float factors[kAttentionRows];
  const float* second;
  int64_t stride;
  int64_t count;
  // A multiple of 16.
  int64_t num_columns;
};

namespace {

using FourFloats [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;

// For the columns from `first` to `last`, kRows and kVectors at once.
template <class Vectors, int kRows, int kVectors>
TORCH_IR_PART void multiply(const ProductRows& all, int64_t first, int64_t last) {
  using Vector = typename Vectors::Vector;
  constexpr int64_t kWidth = sizeof(Vector) / sizeof(float);
  for (int part = 0; part < kAttentionRows; part += kRows) {
    const float* const* const rows = all.first + part;
    for (int64_t column = first; column < last; column += kVectors * kWidth) {
      Vector sums[kRows][kVectors] = {};
      const float* second = all.second + column;
      for (int64_t k = 0; k < all.count; ++k, second += all.stride) {
        const Vector left = *reinterpret_cast<const Vector*>(second);
        const Vector right = *reinterpret_cast<const Vector*>(second + (kVectors - 1) * kWidth);
#pragma GCC unroll 8
        for (int row = 0; row < kRows; ++row) {
          sums[row][0] += rows[row][k] * left;
          if (kVectors == 2) sums[row][kVectors - 1] += rows[row][k] * right;
        }
      }
#pragma GCC unroll 8
      for (int row = 0; row < kRows; ++row) {
        for (int i = 0; i < kVectors; ++i) {
          *reinterpret_cast<Vector*>(all.output[part + row] + column + i * kWidth) =
              sums[row][i] * all.factors[part + row];
        }
      }
    }
  }
}

template <class Vectors, int kRows>
TORCH_IR_PART void multiply_all(const ProductRows& all) {
  constexpr int64_t kPair = 2 * sizeof(typename Vectors::Vector) / sizeof(float);
  const int64_t paired = all.num_columns / kPair * kPair;
  multiply<Vectors, kRows, 2>(all, 0, paired);
  multiply<Vectors, kRows, 1>(all, paired, all.num_columns);
}

int64_t round_up_keys(int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

// to[i, key] = from[key, i]; beyond the last key, the last is repeated.
void transpose_keys(const float* from, int64_t stride, int64_t num_keys, int64_t size, float* to) {
  const int64_t width = round_up_keys(num_keys);
  const auto row = [&](int64_t key) { return from + std::min(key, num_keys - 1) * stride; };
  for (int64_t key = 0; key < width; key += 4) {
    for (int64_t i = 0; i < size; i += 4) {
      const auto load = [i](const float* data) {
        return *reinterpret_cast<const FourFloats*>(data + i);
      };
      const auto store = [&](int64_t j, const FourFloats& column) {
        *reinterpret_cast<FourFloats*>(to + (i + j) * width + key) = column;
      };
      const FourFloats k0 = load(row(key));
      const FourFloats k1 = load(row(key + 1));
      const FourFloats k2 = load(row(key + 2));
      const FourFloats k3 = load(row(key + 3));
      const FourFloats a = __builtin_shufflevector(k0, k1, 0, 4, 1, 5);
      const FourFloats b = __builtin_shufflevector(k2, k3, 0, 4, 1, 5);
      const FourFloats c = __builtin_shufflevector(k0, k1, 2, 6, 3, 7);
      const FourFloats d = __builtin_shufflevector(k2, k3, 2, 6, 3, 7);
      store(0, __builtin_shufflevector(a, b, 0, 1, 4, 5));
      store(1, __builtin_shufflevector(a, b, 2, 3, 6, 7));
      store(2, __builtin_shufflevector(c, d, 0, 1, 4, 5));
      store(3, __builtin_shufflevector(c, d, 2, 3, 6, 7));
    }
  }
}

template <class Vector, class Operation>
TORCH_IR_PART float reduce(const Vector& values, Operation operation) {
  const auto* parts = reinterpret_cast<const FourFloats*>(&values);
  FourFloats four = parts[0];
  for (size_t i = 1; i < sizeof(Vector) / sizeof(FourFloats); ++i) {
    const FourFloats next = parts[i];
    four = operation(four, next);
  }
  return operation(operation(four[0], four[1]), operation(four[2], four[3]));
}

// Turns rows of `width` scores, of which the first `limits` count, into exponentials, and gives the
// inverses of their sums.
template <class Vectors>
TORCH_IR_PART void exponentiate_rows(float* scores, int64_t width, const int64_t* limits,
                                     float* inverses) {
  using Vector = typename Vectors::Vector;
  constexpr int64_t kWidth = sizeof(Vector) / sizeof(float);
  const Vector least = Vector{} - std::numeric_limits<float>::infinity();
  for (int row = 0; row < kAttentionRows; ++row, scores += width) {
    Vector most = least;
    for (int64_t i = 0; i < width; i += kWidth) {
      Vector& x = *reinterpret_cast<Vector*>(scores + i);
      x = Vectors::kOrder < static_cast<int32_t>(limits[row] - i) ? x : least;
      most = x > most ? x : most;
    }
    const bool sees_any = limits[row] > 0;
    const float shift =
        sees_any ? reduce(most, [](const auto& a, const auto& b) { return a > b ? a : b; }) : 0;
    Vector sums{};
    for (int64_t i = 0; i < width; i += kWidth) {
      Vector x = *reinterpret_cast<Vector*>(scores + i) - shift;
      exponentiate<Vectors>(x);
      x = Vectors::kOrder < static_cast<int32_t>(limits[row] - i) ? x : Vector{};
      *reinterpret_cast<Vector*>(scores + i) = x;
      sums += x;
    }
    const float sum = reduce(sums, [](const auto& a, const auto& b) { return a + b; });
    // A row that sees no key gives 0, as in LibTorch.
    inverses[row] = sees_any ? 1 / sum : 0;
  }
}

template <class Vectors, int kRows>
TORCH_IR_PART void attend(const ProductRows& scores, const int64_t* limits, ProductRows& results) {
  multiply_all<Vectors, kRows>(scores);
  exponentiate_rows<Vectors>(scores.output[0], scores.num_columns, limits, results.factors);
  multiply_all<Vectors, kRows>(results);
}

}  // namespace

#ifdef TORCH_IR_HAS_CLONES
[[gnu::target("arch=x86-64-v4")]] void attend_rows(const ProductRows& scores, const int64_t* limits,
                                                   ProductRows& results) {
  attend<Vectors16, 8>(scores, limits, results);
}
[[gnu::target("arch=x86-64-v3")]] void attend_rows(const ProductRows& scores, const int64_t* limits,
                                                   ProductRows& results) {
  attend<Vectors8, 4>(scores, limits, results);
}
[[gnu::target("default")]]
#endif
void attend_rows(const ProductRows& scores, const int64_t* limits, ProductRows& results) {
  attend<Vectors8, 4>(scores, limits, results);
}

namespace {

int64_t attention_scratch(const Attention& attention) {
  return (kAttentionRows + attention.size) * round_up_keys(attention.num_keys);
}

void run_attention(const Attention& all, int64_t first, int64_t last, float* scratch) {
  float* const keys = scratch + kAttentionRows * round_up_keys(all.num_keys);
  for (int64_t index = first; index < last; ++index) {
    const int64_t batch = index / all.num_heads;
    const int64_t head = index % all.num_heads;
    const float* const query = all.query.head(batch, head);
    auto* const output = const_cast<float*>(all.output.head(batch, head));
    transpose_keys(all.key.head(batch, head), all.key.strides[2], all.num_keys, all.size, keys);
    for (int64_t row = 0; row < all.num_rows; row += kAttentionRows) {
      // The last row is computed again where rows are missing.
      const auto own = [&](int i) { return std::min(row + i, all.num_rows - 1); };
      int64_t limits[kAttentionRows];
      for (int i = 0; i < kAttentionRows; ++i) {
        limits[i] = all.limits.empty() ? all.num_keys : all.limits[static_cast<size_t>(own(i))];
      }
      const int64_t count = *std::max_element(limits, limits + kAttentionRows);
      const int64_t width = round_up_keys(count);
      ProductRows scores{{}, {}, {}, keys, round_up_keys(all.num_keys), all.size, width};
      ProductRows results{
          {}, {}, {}, all.value.head(batch, head), all.value.strides[2], count, all.value_size};
      for (int i = 0; i < kAttentionRows; ++i) {
        scores.first[i] = query + own(i) * all.query.strides[2];
        scores.output[i] = scratch + i * width;
        scores.factors[i] = all.scale;
        results.first[i] = scores.output[i];
        results.output[i] = output + own(i) * all.output.strides[2];
      }
      attend_rows(scores, limits, results);
      // Infinite scores, of which LibTorch's own call makes zeros, or NaN.
      const auto is_nan = [](float factor) { return std::isnan(factor); };
      if (std::ranges::any_of(results.factors, is_nan)) throw NeedsExact();
    }
  }
}

// With fewer rows, most of the rows computed at once would be wasted.
constexpr int64_t kMinRows = 4;
// Measured: LibTorch is faster with more keys, unless masks hide many.
constexpr int64_t kMaxKeyElements = 1 << 15;
// Limit with a mask: the keys of one head must fit in the L2 cache.
constexpr int64_t kMaxMaskedKeyElements = 1 << 17;
// A smaller part ends before another thread has begun.
constexpr int64_t kMultiplicationsPerThread = 1 << 19;

// Arguments: query, key, value.
std::unique_ptr<PreparedKernel> prepare_attention(const KernelCall& call, Attention attention) {
  const int64_t multiplications =
      attention.num_rows * attention.num_keys * (attention.size + attention.value_size);
  const int64_t grain = std::max<int64_t>(kMultiplicationsPerThread / multiplications, 1);
  const size_t scratch = static_cast<size_t>(attention_scratch(attention)) * sizeof(float);
  return make_kernel([attention = std::move(attention), grain, scratch,
                      query = call.arguments[0].toTensor(), key = call.arguments[1].toTensor(),
                      value = call.arguments[2].toTensor(), output = call.outputs[0]]() mutable {
    attention.query.data = query.const_data_ptr<float>();
    attention.key.data = key.const_data_ptr<float>();
    attention.value.data = value.const_data_ptr<float>();
    attention.output.data = output.mutable_data_ptr<float>();
    parallel_for(attention.num_batches * attention.num_heads, grain,
                 [&](int64_t first, int64_t last) {
                   const c10::DataPtr memory = c10::GetCPUAllocator()->allocate(scratch);
                   run_attention(attention, first, last, static_cast<float*>(memory.get()));
                 });
  });
}

// Finds attention in the calls from one on.
class AttentionFinder {
 public:
  AttentionFinder(TraceRewriter& rewriter, size_t index)
      : rewriter_(rewriter), calls_{index}, output_(rewriter.call(index).outputs[0]) {}

  bool find_call() {
    const TraceCall& call = rewriter_.call(calls_[0]);
    const CallArguments arguments(call);
    inputs_ = {*arguments.tensor("query"), *arguments.tensor("key"), *arguments.tensor("value")};
    const at::DimVector& rows = sizes(inputs_[0]);
    const double scale = 1 / std::sqrt(static_cast<double>(rows.back()));
    attention_.scale = static_cast<float>(arguments.number("scale", scale));
    const auto mask = arguments.tensor("attn_mask");
    const bool is_causal = arguments.value("is_causal").toBool();
    return arguments.number("dropout_p", 0) == 0 && !rewriter_.is_read(call.outputs[1]) &&
           take({rows[0], rows[1], rows[2], sizes(inputs_[1])[2]}, /*is_key_transposed=*/false) &&
           !(is_causal && mask) && has_few_keys(kMaxMaskedKeyElements) &&
           (!is_causal || limit([](int64_t row, int64_t key) { return key <= row; })) &&
           (!mask || limit_by(*mask)) &&
           (!attention_.limits.empty() || has_few_keys(kMaxKeyElements));
  }

  // A product, perhaps a scale, softmax, and another product.
  bool find_calls() {
    const CallArguments product(rewriter_.call(calls_[0]));
    attention_.scale = 1;
    std::string name = next();
    const double number = name.empty() ? 0 : factor();
    if (number != 0 && (name == "aten::mul.Tensor" || name == "aten::div.Tensor")) {
      attention_.scale = static_cast<float>(name == "aten::mul.Tensor" ? number : 1 / number);
      name = next();
    }
    if (name != "aten::_softmax" || last().value("half_to_float").toBool()) return false;
    at::DimVector scores = sizes(output_);
    const auto num_dims = static_cast<int64_t>(scores.size());
    const int64_t dim = last().value("dim").toInt();
    if ((dim != -1 && dim != num_dims - 1) || next() != "aten::bmm") return false;
    inputs_ = {*product.tensor("self"), *product.tensor("mat2"), *last().tensor("mat2")};
    if (num_dims == 3) scores.insert(scores.begin(), 1);
    return is_result(*last().tensor("self")) && take(scores, /*is_key_transposed=*/true) &&
           has_few_keys(kMaxKeyElements);
  }

  TraceRewriter::Replacement replacement() const {
    return {calls_, [finder = *this] {
              std::vector<TensorId> inputs;
              for (const TensorId id : finder.inputs_) {
                inputs.push_back(finder.rewriter_.plain(id));
              }
              const auto prepare = [attention = finder.attention_](const KernelCall& call) {
                return prepare_attention(call, attention);
              };
              finder.rewriter_.emit(
                  std::make_shared<FusedCall>(FusedCall{"torch_ir::attention", prepare}), inputs,
                  {finder.output_}, finder.calls_.back());
              return finder.calls_.size();
            }};
  }

 private:
  const at::DimVector& sizes(TensorId id) const { return rewriter_.tensor(id).sizes; }
  CallArguments last() const { return CallArguments(rewriter_.call(calls_.back())); }

  // The number that the last call multiplies with or divides by; 0 if there is none.
  double factor() const {
    const auto id = last().tensor("other");
    const bool is_number = id && rewriter_.constant(*id).defined() && sizes(*id).empty();
    return is_number ? rewriter_.constant(*id).item().toDouble() : last().number("other", 0);
  }

  // Whether `id` is all of the result of the call before the last one, in order.
  bool is_result(TensorId id) const {
    return rewriter_.tensor(id).buffer == rewriter_.tensor(result_).buffer &&
           rewriter_.is_contiguous(id) && !sizes(id).empty() &&
           sizes(id).back() == sizes(result_).back() &&
           c10::multiply_integers(sizes(id)) == c10::multiply_integers(sizes(result_));
  }

  // Goes on to the call that alone reads the output, as its first argument. Returns its name; empty
  // if there is none.
  std::string next() {
    result_ = output_;
    const auto reader = rewriter_.only_reader(output_);
    if (!reader || !rewriter_.is_open(*reader) || !rewriter_.is_value(output_)) return {};
    const TraceCall& call = rewriter_.call(*reader);
    const auto* self = std::get_if<TensorId>(&call.arguments[0]);
    if (self == nullptr || call.outputs.empty() || !is_result(*self)) return {};
    calls_.push_back(*reader);
    output_ = call.outputs[0];
    return c10::toString(call.op.operator_name());
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
           set(all.output, output_, {all.num_rows, all.value_size}, false);
  }

  bool set(Heads& heads, TensorId id, std::pair<int64_t, int64_t> matrix,
           bool is_transposed) const {
    if (!rewriter_.is_value(id)) return false;
    at::DimVector own = sizes(id);
    at::DimVector strides = rewriter_.tensor(id).strides;
    if (own.size() == 3) {
      own.insert(own.begin(), attention_.num_batches);
      own[1] /= attention_.num_batches;
      strides.insert(strides.begin(), strides[0] * attention_.num_heads);
    }
    if (is_transposed) {
      std::swap(own[2], own[3]);
      std::swap(strides[2], strides[3]);
    }
    std::copy_n(strides.begin(), 3, heads.strides);
    return strides[3] == 1 && own == at::DimVector{attention_.num_batches, attention_.num_heads,
                                                   matrix.first, matrix.second};
  }

  bool has_few_keys(int64_t most) const {
    return attention_.num_keys * std::max(attention_.size, attention_.value_size) <= most;
  }

  // Whether each row sees the first keys and no others. Keeps how many.
  template <class Sees>
  bool limit(const Sees& sees) {
    for (int64_t row = 0; row < attention_.num_rows; ++row) {
      int64_t count = attention_.num_keys;
      while (count > 0 && !sees(row, count - 1)) --count;
      attention_.limits.push_back(count);
      for (int64_t key = 0; key < count; ++key) {
        if (!sees(row, key)) return false;
      }
    }
    return true;
  }

  // Whether it is a constant that is 0 where a row of any head sees a key, and minus infinity
  // elsewhere.
  bool limit_by(TensorId mask) {
    if (!rewriter_.is_value(mask) || !rewriter_.constant(mask).defined()) return false;
    at::Tensor rows = rewriter_.constant(mask);
    while (rows.dim() > 2 && (rows.size(0) == 1 || rows.stride(0) == 0)) rows = rows.select(0, 0);
    if (rows.dim() != 2) return false;
    constexpr float kHidden = -std::numeric_limits<float>::infinity();
    rows = rows.expand({attention_.num_rows, attention_.num_keys}).contiguous();
    const float* const values = rows.const_data_ptr<float>();
    return std::all_of(values, values + rows.numel(),
                       [](float value) { return value == 0 || value == kHidden; }) &&
           limit([&](int64_t row, int64_t key) { return values[row * rows.size(1) + key] == 0; });
  }

  TraceRewriter& rewriter_;
  std::vector<size_t> calls_;
  TensorId output_;
  TensorId result_ = 0;
  std::vector<TensorId> inputs_ = {};
  Attention attention_ = {};
};

template <bool (AttentionFinder::*kFind)()>
std::optional<TraceRewriter::Replacement> replace_attention(TraceRewriter& rewriter, size_t index) {
  AttentionFinder finder(rewriter, index);
  return (finder.*kFind)() ? std::optional(finder.replacement()) : std::nullopt;
}

constexpr RuleEntry kAttentionRules[] = {
    {"aten::_scaled_dot_product_flash_attention_for_cpu",
     &replace_attention<&AttentionFinder::find_call>},
    {"aten::bmm", &replace_attention<&AttentionFinder::find_calls>},
};

}  // namespace

RuleTable attention_rules() { return kAttentionRules; }

}  // namespace torch_ir

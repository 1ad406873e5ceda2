// The kernel of attention: the scores of a few rows stay in the cache between the products.
#include "torch_ir/fast/attention.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "torch_ir/fast/rules.h"
#include "torch_ir/fast/vectors.h"
#include "torch_ir/runtime/threads/threads.h"

namespace torch_ir {

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

// What is added to some rows of scores.
struct AddedRows {
  const float* rows[kAttentionRows];
  // Between columns, 0 or 1.
  int64_t stride;
};

struct AttendedRows {
  ProductRows scores;
  std::span<const AddedRows> added;
  // The number of keys that each row sees.
  int64_t limits[kAttentionRows];
  bool is_safe;
  ProductRows results;
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

template <class Vectors>
TORCH_IR_PART void add_rows(AttendedRows& to, const AddedRows& added) {
  using Vector = typename Vectors::Vector;
  constexpr int64_t kWidth = sizeof(Vector) / sizeof(float);
  for (int row = 0; row < kAttentionRows; ++row) {
    float* const scores = to.scores.output[row];
    const float* const from = added.rows[row];
    int64_t i = 0;
    for (; added.stride == 1 && i + kWidth <= to.limits[row]; i += kWidth) {
      *reinterpret_cast<Vector*>(scores + i) += *reinterpret_cast<const Vector*>(from + i);
    }
    for (; i < to.limits[row]; ++i) scores[i] += from[i * added.stride];
  }
}

// Turns the scores into exponentials, and gives the inverses of their sums.
template <class Vectors>
TORCH_IR_PART void exponentiate_rows(AttendedRows& rows) {
  using Vector = typename Vectors::Vector;
  constexpr int64_t kWidth = sizeof(Vector) / sizeof(float);
  const Vector least = Vector{} - kInfinity;
  const int64_t width = rows.scores.num_columns;
  float* scores = rows.scores.output[0];
  // Products with exponentials of less would be denormal, which is slow: masks of -100 are common.
  const Vector negligible = Vector{} - 80.0F;
  for (int row = 0; row < kAttentionRows; ++row, scores += width) {
    const int64_t limit = rows.limits[row];
    Vector most = least;
    for (int64_t i = 0; i < width; i += kWidth) {
      Vector& x = *reinterpret_cast<Vector*>(scores + i);
      x = Vectors::kOrder < static_cast<int32_t>(limit - i) ? x : least;
      most = x > most ? x : most;
    }
    float shift = reduce(most, [](const auto& a, const auto& b) { return a > b ? a : b; });
    // NaN is no maximum.
    const auto is_hidden = [](float score) { return score == -kInfinity; };
    const bool sees_any = !(limit == 0 || (rows.is_safe && is_hidden(shift) &&
                                           std::all_of(scores, scores + limit, is_hidden)));
    if (!sees_any) shift = 0;
    Vector sums{};
    for (int64_t i = 0; i < width; i += kWidth) {
      const Vector score = *reinterpret_cast<Vector*>(scores + i) - shift;
      Vector x = score;
      exponentiate<Vectors>(x);
      x = score < negligible ? Vector{} : x;
      *reinterpret_cast<Vector*>(scores + i) = x;
      sums += x;
    }
    const float sum = reduce(sums, [](const auto& a, const auto& b) { return a + b; });
    // A row that sees no key gives 0, as in LibTorch.
    rows.results.factors[row] = sees_any ? 1 / sum : 0;
  }
}

template <class Vectors>
TORCH_IR_PART void attend(AttendedRows& rows) {
  // As many as leave room for the sums in the registers.
  constexpr int kRows = sizeof(typename Vectors::Vector) / 8;
  multiply_all<Vectors, kRows>(rows.scores);
  for (const AddedRows& added : rows.added) add_rows<Vectors>(rows, added);
  exponentiate_rows<Vectors>(rows);
  multiply_all<Vectors, kRows>(rows.results);
}

}  // namespace

TORCH_IR_EACH_WIDTH(void attend_rows(AttendedRows& rows), attend<Vectors>(rows))

namespace {

void run_attention(const Attention& all, int64_t first, int64_t last, float* scratch) {
  float* const keys = scratch + kAttentionRows * round_up_keys(all.num_keys);
  std::vector<AddedRows> added(all.added.size());
  for (int64_t index = first; index < last; ++index) {
    const int64_t batch = index / all.num_heads;
    const int64_t head = index % all.num_heads;
    const float* const query = all.query.head(batch, head);
    auto* const output = const_cast<float*>(all.output.head(batch, head));
    transpose_keys(all.key.head(batch, head), all.key.strides[2], all.num_keys, all.size, keys);
    for (int64_t row = 0; row < all.num_rows; row += kAttentionRows) {
      // The last row is computed again where rows are missing.
      const auto own = [&](int i) { return std::min(row + i, all.num_rows - 1); };
      AttendedRows rows{{}, added, {}, all.is_safe, {}};
      for (int i = 0; i < kAttentionRows; ++i) {
        rows.limits[i] =
            all.limits.empty() ? all.num_keys : all.limits[static_cast<size_t>(own(i))];
      }
      const int64_t count = *std::ranges::max_element(rows.limits);
      const int64_t width = round_up_keys(count);
      ProductRows& scores =
          rows.scores = {{}, {}, {}, keys, round_up_keys(all.num_keys), all.size, width};
      ProductRows& results = rows.results = {
          {}, {}, {}, all.value.head(batch, head), all.value.strides[2], count, all.value_size};
      for (int i = 0; i < kAttentionRows; ++i) {
        scores.first[i] = query + own(i) * all.query.strides[2];
        scores.output[i] = scratch + i * width;
        scores.factors[i] = all.scale;
        results.first[i] = scores.output[i];
        results.output[i] = output + own(i) * all.output.strides[2];
        for (size_t k = 0; k < added.size(); ++k) {
          const AddedScores& from = all.added[k];
          added[k].rows[i] =
              from.rows.head(batch % from.num_batches, head) + own(i) * from.rows.strides[2];
          added[k].stride = from.stride;
        }
      }
      attend_rows(rows);
      // Infinite scores, of which LibTorch's own calls make zeros, or NaN.
      const auto is_nan = [](float factor) { return std::isnan(factor); };
      if (std::ranges::any_of(results.factors, is_nan)) throw NeedsExact();
    }
  }
}

// A smaller part ends before another thread has begun.
constexpr int64_t kMultiplicationsPerThread = 1 << 19;

}  // namespace

FusedCall attention(Attention attention) {
  const int64_t multiplications =
      attention.num_rows * attention.num_keys * (attention.size + attention.value_size);
  const int64_t grain = std::max<int64_t>(kMultiplicationsPerThread / multiplications, 1);
  const int64_t scratch = (kAttentionRows + attention.size) * round_up_keys(attention.num_keys);
  const auto run = [all = std::move(attention), grain, scratch](
                       const CallTensors& inputs, const CallTensors& outputs) mutable {
    all.query.data = floats_of(inputs[0]);
    all.key.data = floats_of(inputs[1]);
    all.value.data = floats_of(inputs[2]);
    all.output.data = outputs[0].mutable_data_ptr<float>();
    CallTensors added(inputs.begin() + 3, inputs.end());
    for (size_t i = 0; i < added.size(); ++i) {
      if (all.added[i].is_copied) added[i] = added[i].contiguous();
      all.added[i].rows.data = floats_of(added[i]);
    }
    parallel_for(all.num_batches * all.num_heads, grain, [&](int64_t first, int64_t last) {
      const c10::DataPtr memory =
          c10::GetCPUAllocator()->allocate(static_cast<size_t>(scratch) * sizeof(float));
      run_attention(all, first, last, static_cast<float*>(memory.get()));
    });
  };
  return own_call("torch_ir::attention", run);
}

}  // namespace torch_ir

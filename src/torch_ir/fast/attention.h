// Attention: softmax(scale query key^T + added) value, as one call.
#pragma once

#include <cstdint>
#include <vector>

#include "torch_ir/fast/trace_rewriter.h"

namespace torch_ir {

// A tensor [batch, head, row, column].
struct Heads {
  const float* data;
  // Of batches, heads and rows, in elements.
  int64_t strides[3];

  const float* head(int64_t batch, int64_t index) const {
    return data + batch * strides[0] + index * strides[1];
  }
};

// A mask or a bias.
struct AddedScores {
  Heads rows;
  // Whether its memory is first copied in order, and the rows are those of the copy.
  bool is_copied;
  // Between columns, 0 or 1.
  int64_t stride;
  // Repeated for more batches.
  int64_t num_batches;
};

// Columns are contiguous, except of what is added.
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
  // Whether a row that sees no key gives 0, not NaN.
  bool is_safe;
  Heads query;
  Heads key;
  Heads value;
  Heads output;
  std::vector<AddedScores> added = {};
  // The number of keys that each row sees; if empty, all. Hidden keys are not read, even if NaN.
  std::vector<int64_t> limits = {};
};

// Inputs: query, key, value, and what is added.
FusedCall attention(Attention attention);

// Makes attention one call, where call `index` ends it, as one call or spelled out, for up to a few
// thousand keys; then `inner` are the calls before it that are part of it.
bool fuse_attention(Trace& trace, const TraceFacts& facts, size_t index,
                    std::vector<size_t>& inner);

}  // namespace torch_ir

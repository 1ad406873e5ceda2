#include "models/operators/families.h"

namespace torch_ir {
namespace {

// Promotion is the same machinery for all: the dtypes on the edges of its lattice.
constexpr Dtypes kPromoted = kF32 | kBF16 | kI32;

}  // namespace

const std::vector<CaseRow>& unary_rows() {
  static const std::vector<CaseRow> rows = {
      {"usual", "x[3,7]:domain"},
      {"zero_dim", "x[]:domain", "0-d", kF32},
      {"empty", "x[0,3]:domain", "no elements", kF32},
      {"one_element", "x[1]:domain", "one element", kF32},
      {"long", "x[1027]:domain", "more than the vectors of a loop, and a rest", kF32 | kBF16},
      {"transposed", "x[4,6]:domain:transposed", "columns first in memory", kF32},
      {"strided", "x[3,5]:domain:strided", "every second element", kF32 | kF16},
      {"channels_last", "x[2,3,4,4]:domain:channels_last", "channels last in memory", kF32},
      {"expanded", "x[4,5]:domain:expanded", "stride 0", kF32},
      {"special", "x[12]:special", kSpecialNote, kFloats},
      {"extreme", "x[6]:special", "limits of the dtype", kI32 | kU8},
      {"denormal", "x[6]:denormal", "denormals", kF32 | kF16 | kBF16},
  };
  return rows;
}

const std::vector<CaseRow>& binary_shape_rows() {
  static const std::vector<CaseRow> rows = {
      {"usual", "x[3,7]:domain, x[3,7]:other_domain"},
      {"zero_dim", "x[]:domain, x[]:other_domain", "0-d", kF32},
      {"empty", "x[0,3]:domain, x[3]:other_domain", "no elements", kF32},
      {"broadcast", "x[2,1,4]:domain, x[3,1]:other_domain", "each broadcast along the other",
       kF32 | kI64 | kBool},
      {"broadcast_row", "x[4,9]:domain, x[9]:other_domain", "a row", kF32},
      {"broadcast_column", "x[4,9]:domain, x[4,1]:other_domain", "a column", kF32},
      {"with_zero_dim", "x[2,5]:domain, x[]:other_domain", "a 0-d tensor", kF32 | kBF16 | kI64},
      {"zero_dim_first", "x[]:domain, x[2,5]:other_domain", "a 0-d tensor first", kF32},
      {"long", "x[1027]:domain, x[1027]:other_domain",
       "more than the vectors of a loop, and a rest", kF32 | kBF16 | kI32},
      {"transposed", "x[4,6]:domain:transposed, x[4,6]:other_domain", "columns first in memory",
       kF32},
      {"strided", "x[3,5]:domain:strided, x[3,5]:other_domain", "every second element", kF32},
  };
  return rows;
}

const std::vector<CaseRow>& partial_binary_rows() {
  static const std::vector<CaseRow> rows =
      with(binary_shape_rows(),
           {
               {"with_float64", "x[2,3]:domain, float64[2,3]:other_domain", "promotion to float64",
                kPromoted},
               {"with_float64_zero_dim", "x[2,3]:domain, float64[]:other_domain",
                "a 0-d tensor promotes to another kind of number only", kPromoted},
               {"with_float16", "x[2,3]:domain, float16[2,3]:other_domain", "promotion", kPromoted},
           });
  return rows;
}

const std::vector<CaseRow>& binary_rows() {
  static const std::vector<CaseRow> rows =
      with(partial_binary_rows(),
           {
               {"with_int64", "x[2,3]:domain, int64[2,3]:other_domain", "promotion with integers",
                kPromoted},
               {"with_bool", "x[2,3]:domain, bool[2,3]", "promotion of booleans", kPromoted},
               {"special", "x[12,1]:special, x[12]:special",
                "NaN, infinities, signed zeros and limits, each with each", kFloats},
               {"denormal", "x[6,1]:denormal, x[6]:denormal", "denormals, each with each",
                kF32 | kF16 | kBF16},
           });
  return rows;
}

const std::vector<CaseRow>& scalar_rows() {
  static const std::vector<CaseRow> rows = {
      {"usual", "x[3,7]:domain, 2"},
      {"fraction", "x[2,3]:domain, 1.5", "promotion where the tensor is of integers", kReals},
      {"negative", "x[2,3]:domain, -3", "below 0", kF32 | kBF16 | kI32 | kI64},
      {"zero_dim", "x[]:domain, 3", "0-d", kF32},
      {"empty", "x[0]:domain, 3", "no elements", kF32},
      {"transposed", "x[4,6]:domain:transposed, 3", "columns first in memory", kF32},
      {"special", "x[12]:special, 1.5", kSpecialNote, kFloats},
  };
  return rows;
}

std::vector<CaseRow> with(std::vector<CaseRow> rows, const std::vector<CaseRow>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace torch_ir

// Tables of operator cases, for the files of this folder: an operator, its dtypes, and a row for
// each kind of call. A row becomes a case for each of its dtypes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/registry/operator_case.h"

namespace torch_ir {

// A set of dtypes.
using Dtypes = uint32_t;

inline constexpr Dtypes kF32 = 1 << 0;
inline constexpr Dtypes kF64 = 1 << 1;
inline constexpr Dtypes kF16 = 1 << 2;
inline constexpr Dtypes kBF16 = 1 << 3;
inline constexpr Dtypes kC64 = 1 << 4;
inline constexpr Dtypes kI8 = 1 << 5;
inline constexpr Dtypes kI16 = 1 << 6;
inline constexpr Dtypes kI32 = 1 << 7;
inline constexpr Dtypes kI64 = 1 << 8;
inline constexpr Dtypes kU8 = 1 << 9;
inline constexpr Dtypes kBool = 1 << 10;

inline constexpr Dtypes kWide = kF32 | kF64;
inline constexpr Dtypes kHalves = kF16 | kBF16;
inline constexpr Dtypes kFloats = kWide | kHalves;
inline constexpr Dtypes kInts = kI8 | kI16 | kI32 | kI64 | kU8;
inline constexpr Dtypes kReals = kFloats | kInts;
inline constexpr Dtypes kRealsAndBool = kReals | kBool;
inline constexpr Dtypes kInexact = kFloats | kC64;
inline constexpr Dtypes kNumbers = kReals | kC64;
inline constexpr Dtypes kAll = kNumbers | kBool;

// One of each kind, for what has little to do with the dtype.
inline constexpr Dtypes kMain = kF32 | kBF16 | kC64 | kI64 | kBool;

// Views of text: a large table costs next to nothing to compile.
struct CaseRow {
  std::string_view variant;
  // As call_text.h reads them; `domain` and `other_domain` are ranges of the operator's.
  std::string_view arguments;
  // What makes it special.
  std::string_view note = {};
  // Of those of the operator; where none are named, all for its first row, the main ones for
  // others.
  Dtypes dtypes = 0;
};

struct OperatorRows {
  // "conv2d", "add.Tensor"
  std::string_view op;
  Dtypes dtypes;
  std::vector<CaseRow> rows;
  // Where the values of `domain` and `other_domain` lie ("0.1..4"); empty for the usual range.
  std::string_view domain = {};
  std::string_view other_domain = {};
  CaseProperty property = CaseProperty::kValues;
};

using OperatorTable = std::vector<OperatorRows>;

std::vector<OperatorCase> make_cases(std::string_view category, const OperatorTable& table);

}  // namespace torch_ir

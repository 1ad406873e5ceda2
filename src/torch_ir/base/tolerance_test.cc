#include "torch_ir/base/tolerance.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

using enum c10::ScalarType;

// The table in the documentation of torch.testing.assert_close.
TEST(DefaultTolerance, IsThatOfAssertClose) {
  EXPECT_EQ(default_tolerance(Half), (Tolerance{1e-3, 1e-5}));
  EXPECT_EQ(default_tolerance(BFloat16), (Tolerance{1.6e-2, 1e-5}));
  EXPECT_EQ(default_tolerance(Float), (Tolerance{1.3e-6, 1e-5}));
  EXPECT_EQ(default_tolerance(QUInt8), (Tolerance{1.3e-6, 1e-5}));
  EXPECT_EQ(default_tolerance(Double), (Tolerance{1e-7, 1e-7}));
  EXPECT_EQ(default_tolerance(ComplexHalf), (Tolerance{1e-3, 1e-5}));
  EXPECT_EQ(default_tolerance(ComplexFloat), (Tolerance{1.3e-6, 1e-5}));
  EXPECT_EQ(default_tolerance(ComplexDouble), (Tolerance{1e-7, 1e-7}));
  for (const c10::ScalarType type : {Bool, Byte, Char, Short, Int, Long, UInt16, UInt64}) {
    EXPECT_EQ(default_tolerance(type), (Tolerance{0, 0}));
  }
}

TEST(ToleranceFor, GoesByOutputThenByDtype) {
  const Tolerance fixed = {1, 2};
  const Tolerance own = {3, 4};
  EXPECT_EQ(tolerance_for({}, 0, Double), Tolerance());
  EXPECT_EQ(tolerance_for({.fixed = fixed}, 0, Double), fixed);
  EXPECT_EQ(tolerance_for({.fixed = fixed, .by_dtype = true}, 0, Half), default_tolerance(Half));
  const ToleranceRule rule = {.fixed = fixed, .by_dtype = true, .outputs = {{1, own}}};
  EXPECT_EQ(tolerance_for(rule, 0, Half), default_tolerance(Half));
  EXPECT_EQ(tolerance_for(rule, 1, Half), own);
}

// A tolerance for all outputs applies to numbers that are rounded.
TEST(ToleranceFor, IsExactForIntegersAndBooleansUnlessTheyHaveTheirOwn) {
  const Tolerance fixed = {1, 2};
  const Tolerance own = {3, 4};
  for (const c10::ScalarType type : {Bool, Byte, Char, Short, Int, Long, UInt16, UInt32, UInt64}) {
    EXPECT_EQ(tolerance_for({}, 0, type), (Tolerance{0, 0})) << type;
    EXPECT_EQ(tolerance_for({.fixed = fixed}, 0, type), (Tolerance{0, 0})) << type;
    EXPECT_EQ(tolerance_for({.fixed = fixed, .by_dtype = true}, 0, type), (Tolerance{0, 0}));
    EXPECT_EQ(tolerance_for({.fixed = fixed, .outputs = {{0, own}}}, 0, type), own) << type;
  }
  for (const c10::ScalarType type : {Half, Float8_e5m2, Float8_e8m0fnu, ComplexFloat, QInt8}) {
    EXPECT_EQ(tolerance_for({.fixed = fixed}, 0, type), fixed) << type;
  }
}

TEST(ToleranceText, NamesBothAndRoundsUp) {
  EXPECT_EQ(tolerance_text(Tolerance{1.3e-6, 0}), "rtol 1.3e-06, atol 0");
  // A printed tolerance passes when it is used.
  EXPECT_EQ(tolerance_text(0.16666666666666666), "0.167");
  EXPECT_EQ(tolerance_text(0.1231), "0.124");
  EXPECT_EQ(tolerance_text(0.0), "0");
  EXPECT_EQ(tolerance_text(446 * 0x1p-1074), "2.21e-321");
}

}  // namespace
}  // namespace torch_ir

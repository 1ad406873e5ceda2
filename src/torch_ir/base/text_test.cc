#include "torch_ir/base/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace torch_ir {
namespace {

TEST(TextTest, WritesNumbersAndLists) {
  EXPECT_EQ(with_thousands_separators(0), "0");
  EXPECT_EQ(with_thousands_separators(999), "999");
  EXPECT_EQ(with_thousands_separators(1000), "1,000");
  EXPECT_EQ(with_thousands_separators(57'617), "57,617");
  EXPECT_EQ(with_thousands_separators(100'000'000'000), "100,000,000,000");
  EXPECT_EQ(with_thousands_separators(-123), "-123");
  EXPECT_EQ(with_thousands_separators(-1234), "-1,234");
  EXPECT_EQ(with_thousands_separators(std::numeric_limits<int64_t>::min()),
            "-9,223,372,036,854,775,808");
  EXPECT_EQ(counted(0, "node"), "0 nodes");
  EXPECT_EQ(counted(1, "node"), "1 node");
  EXPECT_EQ(counted(2000, "node"), "2,000 nodes");
  EXPECT_EQ(listed({}, 2), "");
  EXPECT_EQ(listed({"a", "b"}, 2), "a, b");
  EXPECT_EQ(listed({"a", "b", "c", "d"}, 2), "a, b and 2 more");
  EXPECT_EQ(listed({"a", "b"}, 2, 5), "a, b and 3 more");
}

}  // namespace
}  // namespace torch_ir

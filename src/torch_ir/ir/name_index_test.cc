#include "torch_ir/ir/name_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace torch_ir {
namespace {

TEST(NameIndexTest, NumbersNamesAsTheyCome) {
  NameIndex index;
  EXPECT_EQ(index.find("a"), std::nullopt);
  EXPECT_EQ(index.insert("a"), 0U);
  EXPECT_EQ(index.insert(""), 1U);
  EXPECT_EQ(index.insert("a"), 0U);
  EXPECT_EQ(index.insert("ab"), 2U);
  EXPECT_EQ(index.size(), 3U);
  EXPECT_EQ(index.find(""), 1U);
  EXPECT_EQ(index.find("b"), std::nullopt);
}

std::vector<std::string> many_names() {
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.push_back("value_" + std::to_string(i));
  return names;
}

void expect_each_at_its_number(NameIndex& index) {
  const std::vector<std::string> names = many_names();
  for (uint32_t i = 0; i < names.size(); ++i) ASSERT_EQ(index.insert(names[i]), i);
  for (uint32_t i = 0; i < names.size(); ++i) ASSERT_EQ(index.find(names[i]), i);
  EXPECT_EQ(index.find("value_10000"), std::nullopt);
}

TEST(NameIndexTest, KeepsNumbersWhenItGrows) {
  NameIndex index;
  expect_each_at_its_number(index);
}

TEST(NameIndexTest, ReservesAnyNumber) {
  for (const size_t num_names : {0, 1, 10'000, 20'000}) {
    NameIndex index;
    index.reserve(num_names);
    expect_each_at_its_number(index);
  }
}

}  // namespace
}  // namespace torch_ir

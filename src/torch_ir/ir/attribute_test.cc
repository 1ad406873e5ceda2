#include "torch_ir/ir/attribute.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace torch_ir {
namespace {

std::string text(const Attribute& attribute) {
  std::ostringstream stream;
  stream << attribute;
  return stream.str();
}

TEST(AttributeTest, PrintsAsPythonDoes) {
  EXPECT_EQ(text(Attribute()), "None");
  EXPECT_EQ(text(true), "True");
  EXPECT_EQ(text(-3), "-3");
  EXPECT_EQ(text(1.0), "1.0");
  EXPECT_EQ(text(1e-5), "1e-05");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(text("mean"), "'mean'");
  EXPECT_EQ(text(c10::ScalarType::BFloat16), "torch.bfloat16");
  EXPECT_EQ(text(c10::MemoryFormat::ChannelsLast), "torch.channels_last");
  EXPECT_EQ(text(c10::Device("cuda:1")), "cuda:1");
  EXPECT_EQ(text(Attribute::list({1, Attribute::list({true, Attribute()})})), "[1, [True, None]]");
}

TEST(AttributeTest, ComparesTypesAndTheBitsOfFloats) {
  const double nan = std::nan("");
  EXPECT_EQ(Attribute(nan), Attribute(nan));
  EXPECT_FALSE(Attribute(0.0) == Attribute(-0.0));
  EXPECT_EQ(Attribute::list({nan}), Attribute::list({nan}));
  EXPECT_FALSE(Attribute(1) == Attribute(1.0));
  EXPECT_FALSE(Attribute(1) == Attribute(true));
  EXPECT_FALSE(Attribute("float32") == Attribute(c10::ScalarType::Float));
}

TEST(AttributeMapTest, KeepsInsertionOrderAndReplacesInPlace) {
  AttributeMap map;
  map.set("stride", 1);
  map.set("padding", 2);
  map.set("stride", 3);
  ASSERT_EQ(map.size(), 2u);
  EXPECT_EQ(map.begin()->first, "stride");
  EXPECT_EQ(*map.find("stride"), Attribute(3));
  EXPECT_EQ(map.find("dilation"), nullptr);
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/analysis/supported_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

SupportedOperators parse(const std::string& text) {
  return SupportedOperators::parse(text, "chip.txt");
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SupportedOperatorsTest, ANameWithOverloadIsThatOverload) {
  const SupportedOperators list = parse("aten.add.Tensor\naten.conv2d.default\n");
  EXPECT_TRUE(list.contains("aten.add.Tensor"));
  EXPECT_TRUE(list.contains("aten.conv2d.default"));
  EXPECT_FALSE(list.contains("aten.add.Scalar"));
  EXPECT_FALSE(list.contains("aten.add"));
  EXPECT_FALSE(list.contains("aten.add_.Tensor"));
}

TEST(SupportedOperatorsTest, ANameWithoutOverloadIsAllOverloads) {
  for (const char* text : {"aten.add", "aten.add.*"}) {
    const SupportedOperators list = parse(text);
    EXPECT_TRUE(list.contains("aten.add.Tensor")) << text;
    EXPECT_TRUE(list.contains("aten.add.Scalar")) << text;
    EXPECT_FALSE(list.contains("aten.add_.Tensor")) << text;
    EXPECT_FALSE(list.contains("aten.addmm.default")) << text;
  }
}

TEST(SupportedOperatorsTest, NamesOfTwoPartsAndNamespaces) {
  const SupportedOperators list = parse("higher_order.cond\n_operator.*\n");
  EXPECT_TRUE(list.contains("higher_order.cond"));
  EXPECT_FALSE(list.contains("higher_order.while_loop"));
  EXPECT_TRUE(list.contains("_operator.add"));
  EXPECT_TRUE(list.contains("_operator.floordiv"));
  EXPECT_FALSE(list.contains("math.floor"));
}

TEST(SupportedOperatorsTest, TheGetItemOfThePythonPackageHasItsName) {
  EXPECT_TRUE(parse("<built-in function getitem>").contains("<built-in function getitem>"));
}

TEST(SupportedOperatorsTest, BlanksCommentsAndEmptyLinesMeanNothing) {
  const SupportedOperators list =
      parse("# the chip\r\n\r\n  aten.add.Tensor\t# sums\r\n#aten.mul.Tensor\n\naten.relu");
  EXPECT_TRUE(list.contains("aten.add.Tensor"));
  EXPECT_TRUE(list.contains("aten.relu.default"));
  EXPECT_FALSE(list.contains("aten.mul.Tensor"));
  EXPECT_FALSE(parse("").contains("aten.add.Tensor"));
}

TEST(SupportedOperatorsTest, WhatIsNoNameIsAnErrorWithItsLine) {
  const std::string advice =
      "; write NAMESPACE.NAME.OVERLOAD, such as aten.add.Tensor, or NAMESPACE.NAME for all "
      "overloads";
  EXPECT_EQ(error_of("aten.add.Tensor\n\nconv2d\n"),
            "chip.txt:3: 'conv2d' is no operator name" + advice);
  EXPECT_EQ(error_of("aten.add.Tensor aten.mul.Tensor"),
            "chip.txt:1: 'aten.add.Tensor aten.mul.Tensor' is no operator name" + advice);
  EXPECT_EQ(error_of("aten.add.Ten*"), "chip.txt:1: 'aten.add.Ten*' is no operator name" + advice);
  EXPECT_EQ(error_of("aten..default"), "chip.txt:1: 'aten..default' is no operator name" + advice);
  EXPECT_EQ(error_of("aten.add."), "chip.txt:1: 'aten.add.' is no operator name" + advice);
  EXPECT_EQ(error_of("aten.2d.default"),
            "chip.txt:1: 'aten.2d.default' is no operator name" + advice);
  EXPECT_EQ(error_of("*"), "chip.txt:1: '*' is no operator name" + advice);
  EXPECT_EQ(error_of("aten.add.\x1b[2J"),
            "chip.txt:1: 'aten.add.\\x1b[2J' is no operator name" + advice);
}

TEST(SupportedOperatorsTest, OtherWaysToWriteANameGetTheRightOne) {
  EXPECT_EQ(error_of("aten::add.Tensor"),
            "chip.txt:1: 'aten::add.Tensor' is no operator name; write aten.add.Tensor");
  EXPECT_EQ(error_of("torch.ops.aten.add.Tensor"),
            "chip.txt:1: 'torch.ops.aten.add.Tensor' is no operator name; write aten.add.Tensor");
}

TEST(SupportedOperatorsTest, AListIsAFile) {
  const std::string path = ::testing::TempDir() + "supported_operators_test.txt";
  std::ofstream(path) << "aten.add.Tensor\nnothing\n";
  EXPECT_THAT([&] { SupportedOperators::load(path); },
              testing::ThrowsMessage<Error>(
                  testing::StartsWith(path + ":2: 'nothing' is no operator name; ")));
  EXPECT_THAT(
      [&] { SupportedOperators::load(path + ".none"); },
      testing::ThrowsMessage<Error>("cannot open '" + path + ".none': No such file or directory"));
}

TEST(SupportedOperatorsTest, UnknownIsWhatLibTorchLacksInItsOwnNamespaces) {
  std::vector<std::string> unknown;
  for (const auto& [name, line] : parse("aten.relu\n# mistyped\naten.rellu.default\nchip.dot\n"
                                        "aten.add.*\naten.*\naten.conv2d.nope\n_operator.*\n")
                                      .unknown()) {
    unknown.push_back(std::to_string(line) + " " + name);
  }
  EXPECT_THAT(unknown, testing::ElementsAre("3 aten.rellu.default", "7 aten.conv2d.nope"));
}

TEST(SupportedOperatorsTest, OperatorsAreSuggestedWithAsManyParts) {
  EXPECT_EQ(suggest_operator("aten.rellu.default"), "; did you mean 'aten.relu.default'?");
  EXPECT_EQ(suggest_operator("aten.rellu"), "; did you mean 'aten.relu'?");
  EXPECT_EQ(suggest_operator("qqqqqqqqqqqqqqqq.zzzzzzzzzzzzzzz"), "");
}

}  // namespace
}  // namespace torch_ir

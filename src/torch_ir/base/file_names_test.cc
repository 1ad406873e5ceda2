#include "torch_ir/base/file_names.h"

#include <gtest/gtest.h>

#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

TEST(FileNamesTest, LettersOfAllScriptsAreKeptAndOthersReplaced) {
  EXPECT_EQ(file_name_of("model-1.b_c"), "model-1.b_c");
  EXPECT_EQ(file_name_of("名前"), "名前");
  EXPECT_EQ(file_name_of("Größe"), "Größe");
  EXPECT_EQ(file_name_of("ไทย"), "ไทย");
  EXPECT_EQ(file_name_of("a/b\\c <d>&\"'?*|:#%\n"), "a_b_c__d___________");
  EXPECT_EQ(file_name_of(".hidden"), "_.hidden");
  EXPECT_EQ(file_name_of(""), "_");
  EXPECT_EQ(file_name_of("a\xFF"), "a_");
  // A mark that changes the direction of text, and a blank.
  EXPECT_EQ(file_name_of("a\u202Eb\u3000c"), "a_b_u3000c");
  // macOS and others store one for the other.
  EXPECT_EQ(file_name_of("caf\u00E9"), "caf\u00E9");
  EXPECT_EQ(file_name_of("cafe\u0301"), "cafe_u0301");
  EXPECT_EQ(file_name_of("\u304C\u304B\u3099"), "\u304C\u304B_u3099");
}

TEST(FileNamesTest, LongNamesAreCutBetweenCharactersAndCaseIsIgnored) {
  std::string text = "a";
  for (int i = 0; i < 100; ++i) text += "名";
  const std::string name = file_name_of(text);
  EXPECT_EQ(name.size(), 199u);
  EXPECT_TRUE(text.starts_with(name));
  EXPECT_EQ(file_name_of(std::string(300, 'x')).size(), kMaxNameBytes);
  EXPECT_EQ(without_case("Model"), without_case("mODEL"));
  EXPECT_EQ(without_case("ÉTÉ-Ж"), without_case("été-ж"));
  EXPECT_NE(without_case("a"), without_case("b"));
}

}  // namespace
}  // namespace torch_ir

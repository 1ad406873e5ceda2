#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "harness/backend/shell_command.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using testing::ThrowsMessage;

const std::vector<std::string> kPlaceholders = {"ir", "outputs"};

std::string fill(const std::string& text, const std::string& ir = "/d/ir.json") {
  return CommandTemplate(text, kPlaceholders).fill({{"ir", ir}, {"outputs", "/d/out"}});
}

// The standard output of the shell for a line.
std::string run(const std::string& line) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(line.c_str(), "r"), &::pclose);
  std::array<char, 256> buffer;
  std::string output;
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) output += buffer.data();
  return output;
}

TEST(CommandTemplateTest, PlaceholdersBecomeQuotedPaths) {
  EXPECT_EQ(fill("sim --ir={ir} {outputs} {ir}"), "sim --ir='/d/ir.json' '/d/out' '/d/ir.json'");
}

TEST(CommandTemplateTest, ThePathReachesTheProgramWhateverIsInIt) {
  const std::string odd = "/d/it's \"a\" $HOME `dir` \\n {ir} *";
  for (const char* text :
       {"printf '<%s>' {ir} {outputs}", "printf '<%s>' \"{ir}\" '{outputs}'",
        "printf '<%s>' '{ir}' \"{outputs}\"", "printf '<%s>' \"\"{ir} ''\"{outputs}\""}) {
    EXPECT_EQ(run(fill(text, odd)), "<" + odd + "></d/out>") << text;
  }
  EXPECT_EQ(run(fill("printf '<%s>' \"it's {ir}\" \\'{outputs}", odd)),
            "<it's " + odd + "><'/d/out>");
}

TEST(CommandTemplateTest, OtherBracesAreTheShells) {
  EXPECT_EQ(fill("X=${ir} awk '{ print $1 }' {ir} {outputs} ; { echo a; } {A} {a,b} {} {"),
            "X=${ir} awk '{ print $1 }' '/d/ir.json' '/d/out' ; { echo a; } {A} {a,b} {} {");
}

TEST(CommandTemplateTest, DoubledBracesAreText) {
  EXPECT_EQ(fill("awk '{{print}}' {ir} {outputs} {{ir}}"),
            "awk '{print}' '/d/ir.json' '/d/out' {ir}");
}

TEST(CommandTemplateTest, EveryPlaceholderIsNeeded) {
  EXPECT_THAT([] { fill("sim {ir}"); },
              ThrowsMessage<Error>(
                  "missing {outputs} in the command 'sim {ir}'; expected {ir} and {outputs}"));
  EXPECT_THAT([] { fill("sim\n{outputs}"); },
              ThrowsMessage<Error>(
                  "missing {ir} in the command 'sim\\x0a{outputs}'; expected {ir} and {outputs}"));
}

TEST(CommandTemplateTest, ACommandMayHaveNone) {
  const CommandTemplate server("sim --server {{x}} ${ir}", kPlaceholders);
  EXPECT_FALSE(server.has_placeholders());
  EXPECT_EQ(server.fill({}), "sim --server {x} ${ir}");
  EXPECT_TRUE(CommandTemplate("{ir} {outputs}", kPlaceholders).has_placeholders());
}

TEST(CommandTemplateTest, AnUnknownPlaceholderIsAnError) {
  EXPECT_THAT([] { fill("sim {ir} {output}"); },
              ThrowsMessage<Error>("unknown placeholder {output}; expected {ir} and {outputs}; did "
                                   "you mean 'outputs'? ({{output}} is the text {output})"));
}

}  // namespace
}  // namespace torch_ir

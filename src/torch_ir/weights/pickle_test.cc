#include "torch_ir/weights/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/weights/testing/test_support.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

// The result of `pickle`, which lacks its last instruction. In pickles, octal escapes precede what
// would belong to hexadecimal ones.
std::string run(const std::string& pickle) {
  PickleArena arena;
  TorchRules rules(arena, /*reads_objects=*/false, ForeignNames::kOpened);
  return text_of(*unpickle(pickle + ".", arena, rules));
}

void expect_damaged(const std::string& pickle, const ::testing::Matcher<std::string>& message) {
  EXPECT_THAT([&] { run(pickle); }, ThrowsMessage<WeightError>(message)) << pickle;
}

// --- Instructions, besides those of the checkpoints in torch_file_test.cc ---

TEST(PickleTest, Scalars) {
  EXPECT_EQ(run("\x8a" + little_endian(0, 1)), "0");
  EXPECT_EQ(run("\x8a\x01\xff"), "-1");
  EXPECT_EQ(run("\x8a\x09" + little_endian(uint64_t{1} << 63, 9)), "<an int>");
  EXPECT_EQ(run("\x8b" + little_endian(2, 4) + "\x01\x02"), "513");
  EXPECT_EQ(run("T" + little_endian(2, 4) + "ab"), "'ab'");
  EXPECT_EQ(run("U\002ab"), "'ab'");
  EXPECT_EQ(run("\x8d" + little_endian(2, 8) + "ab"), "'ab'");
  EXPECT_EQ(run("B" + little_endian(2, 4) + "a\xff"), "<bytes>");
  EXPECT_EQ(run("\x8e" + little_endian(2, 8) + "ab"), "<bytes>");
}

TEST(PickleTest, ContainersStackAndMemo) {
  EXPECT_EQ(run("K\x01K\0020"), "1");
  EXPECT_EQ(run("K\x01(0"), "1") << "a mark can be popped";
  EXPECT_EQ(run("K\x01(K\x02K\0031"), "1");
  EXPECT_EQ(run("K\0012\x86"), "(1, 1)");
  EXPECT_EQ(run("K\x07r\xff\xff\xff\3770j\xff\xff\xff\xff"), "7");
  EXPECT_EQ(run("K\x07\x94K\x08\x94\x86h\x01h" + little_endian(0, 1) + "\x86\x86"),
            "((7, 8), (8, 7))");
  const std::string a = pickled_text("a");
  EXPECT_EQ(run("}(" + a + "K\x01K\x05K\x02" + a + "K\x03K\x05K\x04u"), "{'a': 3, 5: 4}");
}

TEST(PickleTest, NamesCallsProtocolAndFrame) {
  EXPECT_EQ(run("cm\nn\n"), "<an object of class 'm.n'>");
  EXPECT_EQ(run(pickled_text("m") + pickled_text("n") + "\x93"), "<an object of class 'm.n'>");
  EXPECT_EQ(run("cm\nn\nK\x01\x85R"), "<an object of class 'm.n'>(1)");
  EXPECT_EQ(run("cm\nn\nK\x01R"), "<an object of class 'm.n'>(1)") << "as TorchScript has it";
  EXPECT_EQ(run("cm\nn\nK\x01\x85\x81"), "<an object of class 'm.n'>(1)");
  EXPECT_EQ(run("cm\nn\n)RK\002b"), "<an object of class 'm.n'>(2)");
  EXPECT_EQ(run("\x80\x05\x95" + little_endian(2, 8) + "N"), "None");
  expect_damaged("\x80\x06N", "is damaged: byte 0 of the pickle: unknown protocol 6");
  expect_damaged("\x95" + little_endian(3, 8) + "N",
                 "is damaged: byte 0 of the pickle: expected a frame of 3 bytes, found 2");
}

// --- Rejected pickles ---

TEST(PickleTest, InstructionsThatDoNotFit) {
  expect_damaged("N\xff", "is damaged: byte 1 of the pickle: unknown instruction 0xff");
  expect_damaged("\x82\x01", HasSubstr("extension registry"));
  expect_damaged("\x97", HasSubstr("unsupported out-of-band buffer"));
  expect_damaged("ctorch\nSize\n)}\x92", HasSubstr("unsupported call with keyword arguments"));
  for (const char* pickle : {"", "0", "\x85", "K\x01\x86", "a", "]a", "R", "K\x01(\x85", "b"}) {
    expect_damaged(pickle, HasSubstr("missing value"));
  }
  for (const char* pickle : {"t", "e", "u", "1", "\x90"}) {
    expect_damaged(pickle, HasSubstr("missing mark"));
  }
  expect_damaged("h\x01", HasSubstr("unknown memo index 1"));
  expect_damaged("NNa", "is damaged: byte 2 of the pickle: items for None instead of a list");
  expect_damaged("]NNs", HasSubstr("keys for a list"));
  expect_damaged("](\x90", HasSubstr("items for a list"));
  expect_damaged("}(Nu", HasSubstr("missing value of a key"));
  expect_damaged("NN\x93", HasSubstr("a name is not a string"));
}

TEST(PickleTest, ProtocolsOfTextAndCutsAreRefused) {
  for (const char code : std::string("ILSVFldgpioP")) {
    const std::string shown(1, code);
    expect_damaged(
        "N" + shown + "1\n",
        "holds a pickle of protocol 0 or 1 (instruction '" + shown +
            "' at byte 1); load it in Python, and torch.save it again without pickle_protocol");
  }
  expect_damaged("X" + little_endian(5, 4) + "ab",
                 "is damaged: byte 0 of the pickle: 5 bytes should follow, found 3");
  expect_damaged("\x8b" + little_endian(0xffffffff, 4),
                 HasSubstr("4294967295 bytes should follow"));
  expect_damaged("c12", HasSubstr("unterminated line"));
  PickleArena arena;
  TorchRules rules(arena, /*reads_objects=*/false, ForeignNames::kRefused);
  EXPECT_THAT(
      [&] { unpickle("N", arena, rules); },
      ThrowsMessage<WeightError>("is damaged: byte 1 of the pickle: the pickle does not end"));
}

// --- Limits ---

std::string repeat(const std::string& part, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += part;
  return text;
}

TEST(PickleLimitsTest, DepthAndCycles) {
  EXPECT_THAT(run(")" + repeat("\x85", kMaxPickleDepth - 1)), StartsWith("(((("));
  expect_damaged(")" + repeat("\x85", kMaxPickleDepth),
                 "holds a pickle nested deeper than 200 levels");
  expect_damaged(")" + repeat("\x85", 1'000'000), "holds a pickle nested deeper than 200 levels");
  expect_damaged(repeat("]", 1'000'000) + repeat("a", 999'999),
                 "holds a pickle nested deeper than 200 levels");
  // A tuple of 150 levels, first met at the top, then below 100 more.
  const std::string deep = ")" + repeat("\x85", 149) + "q\x01";
  expect_damaged("](" + deep + "h\x01" + repeat("\x85", 100) + "e",
                 "holds a pickle nested deeper than 200 levels");
  expect_damaged("]q\x01h\001a", "holds a pickle with a list that contains itself");
  expect_damaged("}q\x01K\x01h\x01\x85s", "holds a pickle with a dict that contains itself");
}

TEST(PickleLimitsTest, ValuesAndStackAndMemoAndContainers) {
  std::string pickle = ")";
  for (int i = 0; i < 40; ++i) pickle += "2\x86";
  expect_damaged(pickle, "holds a pickle that expands to more than 10000000 values");
  expect_damaged(std::string(kMaxPickleValues + 1, ']'),
                 "holds a pickle of more than 5000000 values");
  expect_damaged(std::string(kMaxPickleValues + 1, 'N'), HasSubstr("too many values on the stack"));
  expect_damaged(std::string(kMaxPickleValues + 1, '('), HasSubstr("too many marks"));
  expect_damaged("N" + std::string(kMaxPickleValues + 1, '\x94'),
                 HasSubstr("too many values in the memo"));
  // A thousand items again and again, in six bytes each time.
  const std::string items = "(" + std::string(1000, 'N') + "tq\x01";
  const std::string copies = repeat("(" + std::string(1000, 'N') + "1", 40'000);
  expect_damaged(items + copies,
                 "holds a pickle that needs more than 268435456 bytes without its tensors' data");
}

// --- Places ---

TEST(PickleTreeTest, FindsThePlaceOfAValue) {
  const PickleValue wanted{int64_t{1}};
  const PickleValue key{std::string("a\n")};
  const PickleValue number{int64_t{7}};
  const PickleValue tuple{PickleValue::Tuple{{&number, &wanted}}};
  const PickleValue object{PickleValue::Object{"__torch__.M", {{"x", &tuple}}}};
  const PickleValue inner{PickleValue::Dict{{{&number, &object}}}};
  const PickleValue root{PickleValue::Dict{{{&key, &inner}}}};
  EXPECT_EQ(find_place(root, wanted), "['a\\x0a'][7].x[1]");
  EXPECT_EQ(find_place(root, root), "");
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/base/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/testing/error_of.h"
#include "torch_ir/base/testing/zip_builder.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

ByteRange range_of(const std::string& bytes) {
  const auto copy = std::make_shared<std::string>(bytes);
  return {reinterpret_cast<std::byte*>(copy->data()), copy->size(), copy};
}

ZipArchive opened(const std::string& bytes) { return ZipArchive::open(range_of(bytes), "a.zip"); }

// "content", deflated, as the entry `name`.
ZipEntry deflated_content(const std::string& name = "a") {
  ZipEntry entry = {name, deflate_stored("content"), ZipEntry::kDeflated};
  entry.size = 7;
  entry.crc = zip_checksum("content");
  return entry;
}

// --- Reading ---

TEST(ZipArchiveTest, EntriesComeInTheOrderOfTheDirectoryWithoutFolders) {
  const ZipArchive archive = opened(build_zip({{"b/x", "1"}, {"b/", ""}, {"a", "22"}}));
  EXPECT_EQ(archive.name(), "a.zip");
  EXPECT_THAT(archive.entries(), ElementsAre("b/x", "a"));
  EXPECT_TRUE(archive.has("a"));
  EXPECT_FALSE(archive.has("b"));
}

TEST(ZipArchiveTest, StoredEntriesArePartsOfTheFile) {
  const ByteRange bytes = range_of(build_zip({{"a", "first"}, {"b", "second"}}));
  const ZipArchive archive = ZipArchive::open(bytes, "a.zip");
  for (const char* name : {"a", "b"}) {
    const ByteRange entry = archive.map(name);
    EXPECT_GE(entry.data, bytes.data);
    EXPECT_LE(entry.data + entry.size, bytes.data + bytes.size);
    EXPECT_EQ(entry.owner, bytes.owner);
    EXPECT_EQ(archive.read(name).data, entry.data);
  }
  EXPECT_EQ(archive.map("a").text(), "first");
  EXPECT_EQ(archive.map("b").text(), "second");
}

TEST(ZipArchiveTest, WhatIsDeflatedInflatesAgain) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += std::to_string(i * i);
  ZipEntry entry = {"a", deflate(text), ZipEntry::kDeflated};
  EXPECT_LT(entry.content.size(), text.size());
  entry.size = text.size();
  entry.crc = zip_checksum(text);
  EXPECT_EQ(opened(build_zip({entry})).read("a").text(), text);
}

TEST(ZipArchiveTest, PaddingIsSkippedAndEntriesMayBeEmpty) {
  ZipEntry padded = {"a", "content"};
  padded.padding = std::string(50, 'Z');
  EXPECT_EQ(opened(build_zip({padded, {"b", "more"}})).read("a").text(), "content");
  EXPECT_EQ(opened(build_zip({{"a", ""}})).read("a").size, 0u);
  EXPECT_THAT(opened(build_zip({})).entries(), IsEmpty());
}

TEST(ZipArchiveTest, AnArchiveInAnArchiveIsReadInPlace) {
  const ByteRange bytes = range_of(build_zip({{"x", "1"}, {"inner", build_zip({{"a", "deep"}})}}));
  const ZipArchive inner =
      ZipArchive::open(ZipArchive::open(bytes, "outer").map("inner"), "outer: inner");
  const ByteRange entry = inner.map("a");
  EXPECT_EQ(entry.text(), "deep");
  EXPECT_EQ(entry.owner, bytes.owner);
  EXPECT_GE(entry.data, bytes.data);
}

TEST(ZipArchiveTest, DeflatedEntriesAreInflatedOnce) {
  const ZipArchive archive = opened(build_zip({deflated_content()}));
  EXPECT_EQ(archive.map("a").text(), "content");
  EXPECT_EQ(archive.map("a").data, archive.read("a").data);
}

TEST(ZipArchiveTest, FilesAreMappedAndNamed) {
  const std::string path = ::testing::TempDir() + "mapped.zip";
  write_file(path, build_zip({{"a", "content"}}));
  ByteRange entry;
  {
    const ZipArchive archive = ZipArchive::open(path);
    EXPECT_EQ(archive.name(), path);
    entry = archive.map("a");
  }
  EXPECT_EQ(entry.text(), "content") << "outlives the archive";
}

// --- Checksums ---

TEST(ZipArchiveTest, ReadComparesTheChecksumAndMapDoesNot) {
  ZipEntry entry = {"a", "content"};
  entry.crc = 1;
  const ZipArchive archive = opened(build_zip({entry}));
  EXPECT_EQ(archive.map("a").text(), "content");
  EXPECT_THAT([&] { archive.read("a"); },
              ThrowsMessage<Error>(
                  "'a.zip' entry 'a' is damaged: its content does not match its checksum"));
  // A checksum of zero is none.
  entry.crc = 0;
  EXPECT_EQ(opened(build_zip({entry})).read("a").text(), "content");
}

constexpr const char* kInflatesToOther =
    "cannot be inflated: its content does not match its checksum or its size in the directory";

// --- Rejected archives ---

void expect_no_archive(const std::string& bytes, const ::testing::Matcher<std::string>& message) {
  EXPECT_THAT([&] { opened(bytes); }, ThrowsMessage<Error>(message));
}

// Expects an error when `entry`, which is called "a", is mapped.
void expect_no_entry(const ZipEntry& entry, const std::string& message) {
  const ZipArchive archive = opened(build_zip({entry}));
  EXPECT_THAT([&] { archive.map("a"); }, ThrowsMessage<Error>("'a.zip' entry 'a' " + message));
}

TEST(ZipArchiveTest, WhatIsNoArchive) {
  const std::string start = "'a.zip' cannot be read as a zip archive";
  expect_no_archive("no archive", start + ": it is damaged or truncated");
  expect_no_archive("", start + ": the file is empty");
  expect_no_archive(build_zip({{"a", "1"}, {"b", "2"}, {"a", "1"}}),
                    "'a.zip' has a duplicate entry 'a'");
  expect_no_archive(build_zip({{"a", "123456789012345", ZipEntry::kStored, /*flags=*/1}}),
                    "'a.zip' entry 'a' is encrypted, which is not supported");
  // Several parts, and a count that the directory cannot hold.
  expect_no_archive(zip_end(0, 0, 0, /*disk=*/1), StartsWith(start));
  expect_no_archive("PK\x03\x04" + zip_end(0xfffe, 46 * 0xfffe, 4), StartsWith(start));
}

TEST(ZipArchiveTest, EveryTruncation) {
  const std::string bytes = build_zip({{"a", "content"}, {"b/c", "more"}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT([&] { opened(bytes.substr(0, size)); },
                ThrowsMessage<Error>(StartsWith("'a.zip' cannot be read as a zip archive")))
        << size;
  }
}

TEST(ZipArchiveTest, EntriesThatAreNotThereOrNotSupported) {
  EXPECT_THAT([] { opened(build_zip({{"a", ""}})).map("b\n"); },
              ThrowsMessage<Error>("'a.zip' has no entry 'b\\x0a'"));
  expect_no_entry({"a", "123", /*method=*/12},
                  "has the unsupported compression method 12; store it uncompressed, as PyTorch "
                  "does");
}

TEST(ZipArchiveTest, SizesThatDeflatingCanNotGive) {
  ZipEntry bomb = {"a", deflate_stored("content"), ZipEntry::kDeflated};
  bomb.size = 13 * 1032;
  expect_no_entry(bomb,
                  "is invalid: it declares 12 bytes that inflate to 13416, more than deflate can "
                  "reach");
  bomb.size -= 1;
  expect_no_entry(bomb, kInflatesToOther);
}

TEST(ZipArchiveTest, TooMuchToInflate) {
  ZipEntry bomb = {"a", std::string(1 << 20, 'a'), ZipEntry::kDeflated};
  bomb.size = 600'000'000;
  expect_no_entry(bomb,
                  "has 1048576 bytes that inflate to 600000000, more than the 536870912 that the "
                  "compressed entries of an archive may have together; store it uncompressed, as "
                  "PyTorch does");
}

TEST(ZipArchiveTest, SizesAndChecksumsThatAreNotTrue) {
  for (const size_t size : {6, 8}) {
    ZipEntry entry = deflated_content();
    entry.size = size;
    expect_no_entry(entry, kInflatesToOther);
  }
  ZipEntry entry = deflated_content();
  entry.crc = 1;
  expect_no_entry(entry, kInflatesToOther);
  ZipEntry stored = {"a", "content"};
  stored.size = 8;
  expect_no_archive(build_zip({stored}),
                    "'a.zip' entry 'a' is stored, but has two sizes in the directory, 8 and 7");
}

TEST(ZipArchiveTest, EntryBeyondTheEnd) {
  const ZipEntry entry = {"a", "content"};
  const std::string body = zip_local_header(entry) + entry.content;
  // The directory says that the entry begins where the directory is.
  const std::string directory = zip_directory_entry(entry, body.size() + 3);
  const std::string bytes = body + directory + zip_end(1, directory.size(), body.size());
  EXPECT_THAT([&] { opened(bytes).map("a"); }, ThrowsMessage<Error>(StartsWith("'a.zip' ")));
}

TEST(ZipArchiveTest, EveryChangedByteGivesAnArchiveOrAnError) {
  const std::string bytes = build_zip({{"a", "content"}, {"b/c", "more"}, deflated_content("c")});
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ change);
      const std::string error = error_of<Error>([&] {
        const ZipArchive archive = opened(changed);
        for (const std::string& name : archive.entries()) archive.read(name);
      });
      EXPECT_TRUE(error.empty() || error.starts_with("'a.zip' ")) << error;
      EXPECT_THAT(error, ::testing::Not(HasSubstr("\n")));
    }
  }
}

}  // namespace
}  // namespace torch_ir

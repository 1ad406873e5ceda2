#include "torch_ir/base/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;

std::string number(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// The checksum of zip, bit by bit.
uint32_t checksum(const std::string& bytes) {
  uint32_t sum = ~0u;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int i = 0; i < 8; ++i) sum = sum >> 1 ^ (0xedb88320u & ~((sum & 1) - 1));
  }
  return ~sum;
}

// `bytes` as deflating gives them when it does not compress.
std::string deflated(const std::string& bytes) {
  return "\x01" + number(bytes.size(), 2) + number(~bytes.size(), 2) + bytes;
}

struct Entry {
  std::string name;
  // As the archive has it, compressed or not.
  std::string content;
  uint16_t method = kStored;
  uint16_t flags = 0;
  uint64_t size = content.size();
  uint32_t crc = checksum(content);
  // Padding in front of the content, as PyTorch aligns it.
  std::string padding = {};
};

std::string fields(const Entry& entry) {
  return number(entry.flags, 2) + number(entry.method, 2) + number(0, 4) + number(entry.crc, 4) +
         number(entry.content.size(), 4) + number(entry.size, 4) + number(entry.name.size(), 2);
}

std::string local_header(const Entry& entry) {
  const std::string extra =
      entry.padding.empty() ? "" : "FB" + number(entry.padding.size(), 2) + entry.padding;
  return "PK\x03\x04" + number(20, 2) + fields(entry) + number(extra.size(), 2) + entry.name +
         extra;
}

std::string directory_entry(const Entry& entry, size_t offset) {
  return "PK\x01\x02" + number(20, 2) + number(20, 2) + fields(entry) + number(0, 12) +
         number(offset, 4) + entry.name;
}

std::string end_of_directory(size_t count, size_t size, size_t offset, uint16_t disk = 0) {
  return "PK\x05\x06" + number(disk, 2) + number(disk, 2) + number(count, 2) + number(count, 2) +
         number(size, 4) + number(offset, 4) + number(0, 2);
}

std::string archive_of(const std::vector<Entry>& entries) {
  std::string bytes;
  std::string directory;
  for (const Entry& entry : entries) {
    directory += directory_entry(entry, bytes.size());
    bytes += local_header(entry) + entry.content;
  }
  return bytes + directory + end_of_directory(entries.size(), directory.size(), bytes.size());
}

ByteRange range_of(const std::string& bytes) {
  const auto copy = std::make_shared<std::string>(bytes);
  return {reinterpret_cast<std::byte*>(copy->data()), copy->size(), copy};
}

ZipArchive opened(const std::string& bytes) { return ZipArchive::open(range_of(bytes), "a.zip"); }

auto fails_with(const std::string& message) { return ThrowsMessage<Error>(message); }

// --- Reading ---

TEST(ZipArchiveTest, EntriesComeInTheOrderOfTheDirectoryWithoutFolders) {
  const ZipArchive archive = opened(archive_of({{"b/x", "1"}, {"b/", ""}, {"a", "22"}}));
  EXPECT_EQ(archive.name(), "a.zip");
  EXPECT_THAT(archive.entries(), ElementsAre("b/x", "a"));
  EXPECT_TRUE(archive.has("a"));
  EXPECT_FALSE(archive.has("b"));
}

TEST(ZipArchiveTest, StoredEntriesArePartsOfTheFile) {
  const ByteRange bytes = range_of(archive_of({{"a", "first"}, {"b", "second"}}));
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

TEST(ZipArchiveTest, PaddingInLocalHeadersIsSkipped) {
  Entry padded = {"a", "content"};
  padded.padding = std::string(50, 'Z');
  EXPECT_EQ(opened(archive_of({padded, {"b", "more"}})).read("a").text(), "content");
}

TEST(ZipArchiveTest, EmptyEntriesAndEmptyArchives) {
  EXPECT_EQ(opened(archive_of({{"a", ""}})).read("a").size, 0u);
  EXPECT_THAT(opened(archive_of({})).entries(), IsEmpty());
}

TEST(ZipArchiveTest, AnArchiveInAnArchiveIsReadInPlace) {
  const ByteRange bytes =
      range_of(archive_of({{"x", "1"}, {"inner", archive_of({{"a", "deep"}})}}));
  const ZipArchive inner =
      ZipArchive::open(ZipArchive::open(bytes, "outer").map("inner"), "outer: inner");
  const ByteRange entry = inner.map("a");
  EXPECT_EQ(entry.text(), "deep");
  EXPECT_EQ(entry.owner, bytes.owner);
  EXPECT_GE(entry.data, bytes.data);
}

TEST(ZipArchiveTest, DeflatedEntriesAreInflatedOnce) {
  Entry entry = {"a", deflated("content"), kDeflated};
  entry.size = 7;
  entry.crc = checksum("content");
  const ZipArchive archive = opened(archive_of({entry}));
  EXPECT_EQ(archive.map("a").text(), "content");
  EXPECT_EQ(archive.map("a").data, archive.read("a").data);
}

TEST(ZipArchiveTest, FilesAreMappedAndNamed) {
  const std::string path = ::testing::TempDir() + "mapped.zip";
  write_file(path, archive_of({{"a", "content"}}));
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
  Entry entry = {"a", "content"};
  entry.crc = 1;
  const ZipArchive archive = opened(archive_of({entry}));
  EXPECT_EQ(archive.map("a").text(), "content");
  EXPECT_THAT([&] { archive.read("a"); },
              fails_with("'a.zip' entry 'a': it is damaged: CRC error"));
}

TEST(ZipArchiveTest, AChecksumOfZeroIsNone) {
  Entry entry = {"a", "content"};
  entry.crc = 0;
  EXPECT_EQ(opened(archive_of({entry})).read("a").text(), "content");
}

TEST(ZipArchiveTest, ChecksumsOfDeflatedEntriesAreCompared) {
  Entry entry = {"a", deflated("content"), kDeflated};
  entry.size = 7;
  EXPECT_THAT([&] { opened(archive_of({entry})).map("a"); },
              fails_with("'a.zip' entry 'a': it can not be inflated: CRC error"));
}

// --- What is refused ---

TEST(ZipArchiveTest, WhatIsNoArchive) {
  EXPECT_THAT([] { opened("no archive"); },
              fails_with("'a.zip' can not be read as a zip archive; it is damaged or cut: Not a "
                         "zip archive"));
  EXPECT_THAT([] { opened(""); },
              fails_with("'a.zip' can not be read as a zip archive; it is empty"));
}

TEST(ZipArchiveTest, EveryTruncation) {
  const std::string bytes = archive_of({{"a", "content"}, {"b/c", "more"}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT([&] { opened(bytes.substr(0, size)); },
                ThrowsMessage<Error>(StartsWith("'a.zip' can not be read as a zip archive")))
        << size;
  }
}

TEST(ZipArchiveTest, MissingEntry) {
  EXPECT_THAT([] { opened(archive_of({{"a", ""}})).map("b\n"); },
              fails_with("'a.zip' entry 'b\\x0a': there is none of this name"));
}

TEST(ZipArchiveTest, OneNameTwice) {
  EXPECT_THAT([] { opened(archive_of({{"a", "1"}, {"b", "2"}, {"a", "1"}})); },
              fails_with("'a.zip' entry 'a': it is there twice"));
}

TEST(ZipArchiveTest, EncryptedEntry) {
  EXPECT_THAT([] { opened(archive_of({{"a", "123456789012345", kStored, /*flags=*/1}})); },
              fails_with("'a.zip' entry 'a': it is encrypted"));
}

TEST(ZipArchiveTest, OtherCompression) {
  EXPECT_THAT([] { opened(archive_of({{"a", "123", /*method=*/12}})).map("a"); },
              fails_with("'a.zip' entry 'a': its compression method 12 is not supported; store it "
                         "uncompressed, as PyTorch does"));
}

TEST(ZipArchiveTest, SizesThatDeflatingCanNotGive) {
  Entry bomb = {"a", deflated("content"), kDeflated};
  bomb.size = 1'000'000'000;
  EXPECT_THAT([&] { opened(archive_of({bomb})).map("a"); },
              fails_with("'a.zip' entry 'a': the directory declares 12 bytes that inflate to "
                         "1000000000, more than deflating can do"));
}

TEST(ZipArchiveTest, TooMuchToInflate) {
  Entry bomb = {"a", std::string(1 << 20, 'a'), kDeflated};
  bomb.size = 600'000'000;
  EXPECT_THAT([&] { opened(archive_of({bomb})).map("a"); },
              ThrowsMessage<Error>(AllOf(
                  StartsWith("'a.zip' entry 'a': it has 1048576 bytes that inflate to 600000000"),
                  HasSubstr("more than the 536870912 that the compressed entries of an archive "
                            "may have together"))));
}

TEST(ZipArchiveTest, SizeThatIsNotTrue) {
  Entry entry = {"a", deflated("content"), kDeflated};
  entry.size = 8;
  entry.crc = checksum("content");
  EXPECT_THAT([&] { opened(archive_of({entry})).map("a"); },
              ThrowsMessage<Error>(StartsWith("'a.zip' entry 'a': it can not be inflated")));
  entry.size = 6;
  EXPECT_THAT([&] { opened(archive_of({entry})).map("a"); },
              ThrowsMessage<Error>(StartsWith("'a.zip' entry 'a': it")));
}

TEST(ZipArchiveTest, StoredEntryOfTwoSizes) {
  Entry entry = {"a", "content"};
  entry.size = 8;
  EXPECT_THAT([&] { opened(archive_of({entry})).map("a"); },
              fails_with("'a.zip' entry 'a': it is stored, but the directory has two sizes for "
                         "it, 8 and 7"));
}

TEST(ZipArchiveTest, EntryBeyondTheEnd) {
  const Entry entry = {"a", "content"};
  const std::string body = local_header(entry) + entry.content;
  // The entry is said to begin where the directory is.
  const std::string directory = directory_entry(entry, body.size() + 3);
  const std::string bytes = body + directory + end_of_directory(1, directory.size(), body.size());
  EXPECT_THAT([&] { opened(bytes).map("a"); }, ThrowsMessage<Error>(StartsWith("'a.zip' ")));
}

TEST(ZipArchiveTest, SeveralParts) {
  EXPECT_THAT([] { opened(end_of_directory(0, 0, 0, /*disk=*/1)); },
              ThrowsMessage<Error>(StartsWith("'a.zip' can not be read as a zip archive")));
}

TEST(ZipArchiveTest, CountThatTheDirectoryCanNotHold) {
  EXPECT_THAT([] { opened("PK\x03\x04" + end_of_directory(0xfffe, 46 * 0xfffe, 4)); },
              ThrowsMessage<Error>(StartsWith("'a.zip' can not be read as a zip archive")));
}

TEST(ZipArchiveTest, EveryChangedByteGivesAnArchiveOrAnError) {
  Entry compressed = {"c", deflated("content"), kDeflated};
  compressed.size = 7;
  compressed.crc = checksum("content");
  const std::string bytes = archive_of({{"a", "content"}, {"b/c", "more"}, compressed});
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ change);
      try {
        const ZipArchive archive = opened(changed);
        for (const std::string& name : archive.entries()) archive.read(name);
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(StartsWith("'a.zip' "), ::testing::Not(HasSubstr("\n"))));
      }
    }
  }
}

}  // namespace
}  // namespace torch_ir

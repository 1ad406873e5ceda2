#include "torch_ir/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::ThrowsMessage;

void write_new(const std::string& path) { write_file(path, "new"); }

void expect_error(const std::function<void(const std::string&)>& action, const std::string& verb,
                  const std::string& path, const std::string& reason) {
  EXPECT_THAT([&] { action(path); },
              ThrowsMessage<Error>("cannot " + verb + " '" + path + "': " + reason));
}

// A temporary folder, removed with its content.
class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~FileTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  const fs::path folder_ = ::testing::TempDir() + "file_test";
};

// Makes every write that takes a file beyond `bytes` fail, as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit = {bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  void (*old_handler_)(int);
  rlimit old_limit_ = {};
};

TEST_F(FileTest, ReadsBackWhatWasWritten) {
  for (const std::string& content : {std::string("first\0line\nsecond", 17), std::string()}) {
    for (const std::string& name : {std::string("a"), std::string(250, 'x')}) {
      write_file(path(name), content);
      EXPECT_EQ(read_file(path(name)), content);
      EXPECT_EQ(map_file(path(name)).size, content.size());
    }
  }
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST_F(FileTest, WhatCanNotBeOpenedIsNamed) {
  const std::string folder = folder_.string();
  const std::string missing = path("no/such/file");
  expect_error(read_file, "open", missing, "No such file or directory");
  expect_error(read_file, "read", folder, "it is a directory");
  expect_error(map_file, "read", folder, "it is a directory");
  expect_error(write_new, "write", folder, "it is a directory");
  expect_error(write_new, "write", missing, "No such file or directory");
}

TEST_F(FileTest, FailedAndUncommittedWritesLeaveTheOldFileAndNothingElse) {
  write_file(path("a"), "old");
  AtomicFile(path("a")).write("new");
  {
    const FileSizeLimit limit(1000);
    const auto write_much = [](const std::string& file) {
      write_file(file, std::string(5000, 'x'));
    };
    expect_error(write_much, "write", path("a"), "File too large");
  }
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_THAT(entries(), ::testing::ElementsAre("a"));
}

TEST_F(FileTest, PermissionsAreTheUsualOrThoseOfTheReplacedFile) {
  const mode_t old_mask = ::umask(027);
  for (const mode_t mode : {0640u, 0600u, 0664u, 0444u}) {
    write_file(path("a"), "text");
    struct stat status = {};
    ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0640u);
    ASSERT_EQ(::chmod(path("a").c_str(), mode), 0);
    write_file(path("a"), "new");
    ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, mode);
    fs::remove(path("a"));
  }
  ::umask(old_mask);
}

TEST_F(FileTest, SymbolicLinkIsReplacedAndNotFollowed) {
  write_file(path("target"), "old");
  fs::create_symlink("target", path("link"));
  fs::create_symlink("nowhere", path("dangling"));
  write_file(path("link"), "new");
  write_file(path("dangling"), "new");
  EXPECT_EQ(read_file(path("target")), "old");
  for (const char* name : {"link", "dangling"}) {
    EXPECT_FALSE(fs::is_symlink(path(name)));
    EXPECT_EQ(read_file(path(name)), "new");
  }
  fs::create_directory_symlink(".", path("folder"));
  expect_error(write_new, "write", path("folder"), "it is a directory");
}

TEST_F(FileTest, LinkThroughAProcessIsReplacedAndNotFollowed) {
  write_file(path("target"), "old");
  const std::string process = "/proc/" + std::to_string(::getpid());
  for (const std::string& root : {std::string("/proc/self"), process}) {
    fs::remove(path("link"));
    fs::create_symlink(root + "/root" + path("target"), path("link"));
    ASSERT_EQ(read_file(path("link")), "old");
    write_file(path("link"), "new");
    EXPECT_EQ(read_file(path("target")), "old");
    EXPECT_FALSE(fs::is_symlink(path("link")));
    EXPECT_EQ(read_file(path("link")), "new");
  }
}

TEST_F(FileTest, LinkToAnOpenFileMeansThatFile) {
  write_file(path("a"), "old");
  const int kept = ::open(path("a").c_str(), O_WRONLY | O_APPEND);
  const int deleted = ::open(path("b").c_str(), O_RDWR | O_CREAT, 0600);
  ::unlink(path("b").c_str());
  struct stat before = {};
  ASSERT_EQ(::fstat(kept, &before), 0);
  for (const int descriptor : {kept, deleted}) {
    fs::remove(path("link"));
    fs::create_symlink("/proc/self/fd/" + std::to_string(descriptor), path("link"));
    write_file(path("link"), "new");
    write_file(path("link"), "er");
    EXPECT_TRUE(fs::is_symlink(path("link")));
  }
  struct stat after = {};
  ASSERT_EQ(::stat(path("a").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(read_file(path("a")), "oldnewer");
  char text[8] = {};
  EXPECT_EQ(::pread(deleted, text, 7, 0), 5);
  EXPECT_STREQ(text, "newer");
  EXPECT_THAT(entries(), ::testing::UnorderedElementsAre("a", "link"));
  ::close(kept);
  ::close(deleted);
}

TEST_F(FileTest, NameOfAnOpenFileMeansThatFile) {
  write_file(path("a"), "old");
  const int descriptor = ::open(path("a").c_str(), O_WRONLY);
  const std::string name = "/dev/fd/" + std::to_string(descriptor);
  write_file(name, "new");
  EXPECT_EQ(read_file(path("a")), "new");
  EXPECT_TRUE(fs::is_symlink(name));
  ::close(descriptor);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  write_file("/dev/fd/" + std::to_string(ends[1]), "text");
  char text[5] = {};
  EXPECT_EQ(::read(ends[0], text, 4), 4);
  EXPECT_STREQ(text, "text");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(FileTest, WhatAKilledProcessLeftGoesWithTheNextFileAndWritersOfOneFileDoNotMeet) {
  write_file(path("a"), "old");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(path("a"));
    file.write("half");
    if (::write(ends[1], "", 1) < 0) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(entries().size(), 2u);
  AtomicFile other(path("a"));
  EXPECT_EQ(entries().size(), 2u);
  write_file(path("a"), "new");
  EXPECT_EQ(read_file(path("a")), "new");
  // The temporary file of `other` is still there.
  EXPECT_EQ(entries().size(), 2u);
  other.write("last");
  other.commit();
  EXPECT_EQ(read_file(path("a")), "last");
  EXPECT_THAT(entries(), ::testing::ElementsAre("a"));
}

TEST_F(FileTest, DevicesAreWrittenToAndFilesOfTheSystemRead) {
  write_file("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect_error(write_new, "write", "/dev/full", "No space left on device");
  EXPECT_THAT(read_file("/proc/self/status"), ::testing::HasSubstr("VmPeak"));
}

TEST_F(FileTest, WritingToAMappingDoesNotReachTheFile) {
  write_file(path("a"), "content");
  const ByteRange file = map_file(path("a"));
  EXPECT_EQ(file.text(), "content");
  file.data[0] = std::byte{'X'};
  EXPECT_EQ(file.text(), "Xontent");
  EXPECT_EQ(read_file(path("a")), "content");
}

TEST_F(FileTest, WaitsForWhoeverWritesToAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& text : {std::string("text"), std::string(200'000, 'x'), std::string()}) {
    std::thread writer([&] { std::ofstream(path("pipe")) << text; });
    EXPECT_EQ(read_file(path("pipe")), text);
    writer.join();
  }
}

TEST_F(FileTest, ReadsNoOtherDevicesAndMapsNoPipe) {
  expect_error(read_file, "read", "/dev/zero", "it is neither a regular file nor a pipe");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_error(map_file, "map", path("pipe"), "it is not a regular file");
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(read_file("/proc/self/fd/" + std::to_string(ends[0])), "text");
  ::close(ends[0]);
}

}  // namespace
}  // namespace torch_ir

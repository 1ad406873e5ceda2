#include "torch_ir/base/work_directory.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ThrowsMessage;

class WorkDirectoryTest : public ::testing::Test {
 protected:
  WorkDirectoryTest() { fs::remove_all(parent_); }
  ~WorkDirectoryTest() override { fs::remove_all(parent_); }

  size_t num_entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(parent_), {}));
  }

  const fs::path parent_ = ::testing::TempDir() + "work_directory_test/reports";
};

// Calls `work` in a process, and kills that `delay` nanoseconds after `work` has called `begin`.
void kill_during(const std::function<void(const std::function<void()>& begin)>& work,
                 long delay = 0) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    work([&] {
      if (::write(ends[1], "", 1) != 1) ::_exit(1);
    });
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  const timespec pause = {.tv_sec = 0, .tv_nsec = delay};
  ::nanosleep(&pause, nullptr);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(WorkDirectoryTest, IsGoneWithItsRunAsIsAFolderThatWasMadeForItAndStaysEmpty) {
  {
    const WorkDirectory directory(parent_);
    EXPECT_TRUE(fs::is_directory(directory.path()));
    EXPECT_EQ(directory.path().parent_path(), parent_);
    std::ofstream(directory.path() / "request.json") << "{}";
  }
  EXPECT_FALSE(fs::exists(parent_));
  {
    const WorkDirectory directory(parent_);
    std::ofstream(parent_ / "notes") << "mine";
  }
  EXPECT_EQ(num_entries(), 1u);
}

TEST_F(WorkDirectoryTest, WhatAKilledRunLeftGoesWithTheNext) {
  kill_during([&](const auto& begin) {
    const WorkDirectory directory(parent_);
    std::ofstream(directory.path() / "request.json") << "{}";
    begin();
    ::pause();
  });
  const fs::path stale = fs::directory_iterator(parent_)->path();
  EXPECT_TRUE(fs::exists(stale / "request.json"));
  // Killed before it could lock its directory.
  fs::create_directory(parent_ / ".torch-ir-run-new-a1B2c3");
  const WorkDirectory directory(parent_);
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_EQ(num_entries(), 1u);
}

TEST_F(WorkDirectoryTest, RunsThatBeginAtOnceLeaveEachOtherTheirs) {
  fs::create_directories(parent_);
  const auto make_many = [&] {
    for (int i = 0; i < 200; ++i) {
      const WorkDirectory directory(parent_);
      ASSERT_TRUE(fs::is_directory(directory.path()));
    }
  };
  std::thread first(make_many);
  std::thread second(make_many);
  first.join();
  second.join();
  EXPECT_EQ(num_entries(), 0u);
}

TEST_F(WorkDirectoryTest, ARunBesideThisOneKeepsItsOwnAndKnowsWhatLiesInIt) {
  const WorkDirectory first(parent_);
  const WorkDirectory second(parent_);
  EXPECT_NE(first.path(), second.path());
  EXPECT_TRUE(fs::exists(first.path()));
  EXPECT_TRUE(fs::exists(second.path()));
  EXPECT_TRUE(is_in_work_directory((first.path() / "ir" / "a.json").string()));
  EXPECT_FALSE(is_in_work_directory((parent_ / "ir" / "a.json").string()));
}

TEST_F(WorkDirectoryTest, OtherFilesAreLeftAlone) {
  const char* folders[] = {"run-mine", ".run-mine", ".torch-ir-run-of-mine"};
  for (const char* folder : folders) fs::create_directories(parent_ / folder);
  std::ofstream(parent_ / ".run-notes") << "mine";
  const WorkDirectory directory(parent_);
  for (const char* folder : folders) EXPECT_TRUE(fs::exists(parent_ / folder)) << folder;
  EXPECT_TRUE(fs::exists(parent_ / ".run-notes"));
}

TEST_F(WorkDirectoryTest, ADirectoryThatCanNotBeIsAnError) {
  fs::create_directories(parent_.parent_path());
  std::ofstream(parent_) << "a file";
  EXPECT_THAT([&] { WorkDirectory directory(parent_); },
              ThrowsMessage<Error>(HasSubstr("reports': it is a file")));
}

using Files = std::map<std::string, std::string>;

// A folder `to` with an earlier set of files, and a new one in `from`.
class MoveFilesTest : public ::testing::Test {
 protected:
  MoveFilesTest() {
    fs::remove_all(scratch_);
    write(to_, kOld);
    write(from_, kNew);
  }
  ~MoveFilesTest() override { fs::remove_all(scratch_); }

  static void write(const fs::path& folder, const Files& files) {
    for (const auto& [name, content] : files) {
      fs::create_directories((folder / name).parent_path());
      std::ofstream(folder / name) << content;
    }
  }
  static Files files_in(const fs::path& folder) {
    Files files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().lexically_relative(folder).string();
      if (entry.is_regular_file()) files[name] = read_file(entry.path().string());
      if (entry.is_directory() && fs::is_empty(entry.path())) files[name] = "an empty folder";
    }
    return files;
  }
  void replace() const { move_files(from_, to_, kNames); }

  const std::vector<std::string> kNames = {"a.md",     "gone.md",   "none.md", "ir/a.json",
                                           "repro/a/", "tensors/a", "svg/a",   "SUMMARY.md"};
  const Files kOld = {{"a.md", "old"},           {"gone.md", "old"},    {"ir/a.json", "old"},
                      {"ir/other.json", "mine"}, {"repro/a/x", "old"},  {"repro/a/y", "old"},
                      {"tensors/a", "old"},      {"SUMMARY.md", "old"}, {"notes.txt", "mine"}};
  const Files kNew = {{"a.md", "new"},
                      {"ir/a.json", "new"},
                      {"repro/a/x", "new"},
                      {"svg/a", "new"},
                      {"SUMMARY.md", "new"}};
  const Files kReplaced = {{"a.md", "new"},      {"ir/a.json", "new"}, {"ir/other.json", "mine"},
                           {"repro/a/x", "new"}, {"svg/a", "new"},     {"SUMMARY.md", "new"},
                           {"notes.txt", "mine"}};

  const fs::path scratch_ = ::testing::TempDir() + "move_files_test";
  const fs::path to_ = scratch_ / "to";
  const fs::path from_ = scratch_ / "from";
};

TEST_F(MoveFilesTest, ReplacesLinksAndFollowsNone) {
  write(scratch_ / "elsewhere", {{"a.md", "mine"}, {"folder/x", "mine"}});
  fs::remove(to_ / "a.md");
  fs::remove_all(to_ / "repro/a");
  fs::create_symlink("../elsewhere/a.md", to_ / "a.md");
  fs::create_symlink("../../elsewhere/folder", to_ / "repro/a");
  replace();
  EXPECT_EQ(files_in(to_), kReplaced);
  EXPECT_EQ(files_in(scratch_ / "elsewhere"), (Files{{"a.md", "mine"}, {"folder/x", "mine"}}));
}

TEST_F(MoveFilesTest, RefusesAFolderThatIsALinkOrAFile) {
  fs::rename(to_ / "ir", scratch_ / "elsewhere");
  fs::create_symlink("../elsewhere", to_ / "ir");
  EXPECT_THAT([&] { replace(); }, ThrowsMessage<Error>("cannot write '" + (to_ / "ir").string() +
                                                       "': it is a symbolic link"));
  fs::remove(to_ / "ir");
  std::ofstream(to_ / "ir") << "mine";
  EXPECT_THAT([&] { replace(); }, ThrowsMessage<Error>(HasSubstr("ir': it is a file")));
  EXPECT_EQ(read_file(to_ / "a.md"), "old");
}

TEST_F(MoveFilesTest, RefusesAFolderInPlaceOfAFileAndAFileInPlaceOfAFolder) {
  fs::remove_all(to_ / "repro/a");
  std::ofstream(to_ / "repro/a") << "mine";
  EXPECT_THAT(
      [&] { replace(); },
      ThrowsMessage<Error>("cannot write '" + (to_ / "repro/a").string() + "': it is a file"));
  EXPECT_EQ(read_file(to_ / "repro/a"), "mine");
  fs::remove(to_ / "repro/a");
  fs::remove(to_ / "SUMMARY.md");
  fs::create_directories(to_ / "SUMMARY.md");
  EXPECT_THAT([&] { replace(); }, ThrowsMessage<Error>(HasSubstr("it is a directory")));
  EXPECT_EQ(read_file(to_ / "a.md"), "old");
}

TEST_F(MoveFilesTest, GivesWhatIsNewAndTakesWhatIsGoneIfItCanBeRead) {
  EXPECT_THAT([&] { move_files(scratch_ / "missing", to_, kNames); },
              ThrowsMessage<Error>(HasSubstr("missing': No such file or directory")));
  EXPECT_EQ(files_in(to_), kOld);
  replace();
  EXPECT_EQ(files_in(to_), kReplaced);
}

TEST_F(MoveFilesTest, WhatTheSystemStopsIsAnErrorAndSeenByTheLastName) {
  // The system rejects this name only when it is moved.
  const auto move_with_long_name = [&](size_t place) {
    std::vector<std::string> names = kNames;
    names.insert(names.begin() + static_cast<ptrdiff_t>(place), std::string(300, 'x'));
    EXPECT_THAT([&] { move_files(from_, to_, names); },
                ThrowsMessage<Error>(HasSubstr("File name too long")));
  };
  move_with_long_name(0);
  for (const auto& [name, content] : kOld) EXPECT_EQ(read_file(to_ / name), content);
  move_with_long_name(kNames.size() - 1);
  EXPECT_FALSE(fs::exists(to_ / "SUMMARY.md"));
}

// Kills a process that replaces one set by the other over and over.
TEST_F(MoveFilesTest, AKillLeavesWholeFilesAndTheLastNameWithItsOwn) {
  for (int i = 0; i < 30; ++i) {
    fs::remove_all(scratch_);
    write(to_, kOld);
    write(from_, kNew);
    const auto move = [&](const auto& begin) {
      begin();
      replace();
    };
    ASSERT_NO_FATAL_FAILURE(kill_during(move, i * 100'000));
    Files files = files_in(to_);
    // A kill may also leave folders that have become empty.
    std::erase_if(files, [](const auto& file) { return file.second == "an empty folder"; });
    for (const auto& [name, content] : files) EXPECT_THAT(content, Not(IsEmpty())) << name;
    if (!files.contains("SUMMARY.md")) continue;
    ASSERT_TRUE(files == kOld || files == kReplaced) << ::testing::PrintToString(files);
  }
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/harness/selection/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest() {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~ArchiveTest() override { fs::remove_all(directory_); }

  // Nobody reads them here.
  std::string make(const std::string& name) {
    const std::string file = path(name);
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file) << "content";
    return file;
  }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  void expect_refused(const std::vector<ArchiveArgument>& arguments, const std::string& message,
                      const std::vector<std::string>& taken = {}) {
    EXPECT_THAT([&] { find_archives(arguments, taken); }, ThrowsMessage<Error>(HasSubstr(message)));
  }

  const std::string directory_ = ::testing::TempDir() + "archive_test";
};

TEST_F(ArchiveTest, AnArchiveIsNamedByItsFile) {
  const std::string file = make("a.model.pt2");
  EXPECT_THAT(find_archives({{.path = file}}, {}),
              ElementsAre(Archive{.name = "a.model", .path = file}));
  const std::string odd = make(".my model|(1)");
  EXPECT_EQ(find_archives({{.path = odd}}, {}).at(0).name, "_.my_model__1_");
}

TEST_F(ArchiveTest, TensorsBesideAnArchiveAreIts) {
  const std::string file = make("m.pt2");
  const std::string inputs = make("m.inputs.safetensors");
  EXPECT_THAT(find_archives({{.path = file}}, {}),
              ElementsAre(Archive{.name = "m", .path = file, .inputs = inputs}));
  const std::string expected = make("m.expected.safetensors");
  EXPECT_THAT(
      find_archives({{.path = file}}, {}),
      ElementsAre(Archive{.name = "m", .path = file, .inputs = inputs, .expected = expected}));
}

TEST_F(ArchiveTest, TensorsThatAreGivenReplaceBothBesideIt) {
  const std::string file = make("m.pt2");
  make("m.inputs.safetensors");
  make("m.expected.safetensors");
  const std::string other = make("other.safetensors");
  EXPECT_THAT(find_archives({{.path = file, .inputs = other}}, {}),
              ElementsAre(Archive{.name = "m", .path = file, .inputs = other}));
  EXPECT_THAT(find_archives({{.path = file, .expected = other}}, {}),
              ElementsAre(Archive{.name = "m", .path = file, .expected = other}));
}

TEST_F(ArchiveTest, AFolderIsItsArchivesByName) {
  const std::string b = make("all/b.pt2");
  const std::string inputs = make("all/b.inputs.safetensors");
  const std::string a = make("all/a.pt2");
  make("all/notes.txt");
  make("all/below/c.pt2");
  const std::string first = make("z.pt2");
  EXPECT_THAT(find_archives({{.path = first}, {.path = path("all")}}, {}),
              ElementsAre(Archive{.name = "z", .path = first}, Archive{.name = "a", .path = a},
                          Archive{.name = "b", .path = b, .inputs = inputs}));
}

TEST_F(ArchiveTest, WhatIsNotThereIsAnError) {
  const std::string file = make("m.pt2");
  expect_refused({{.path = path("no.pt2")}}, "--pt2: there is no file '" + path("no.pt2") + "'");
  expect_refused({{.path = file, .inputs = path("x")}},
                 "--inputs: there is no file '" + path("x") + "'");
  expect_refused({{.path = file, .expected = path("y")}},
                 "--expected: there is no file '" + path("y") + "'");
  expect_refused({{.path = file, .inputs = directory_}},
                 "--inputs: '" + directory_ + "' is a folder");
  fs::create_directory(path("empty"));
  expect_refused({{.path = path("empty")}},
                 "--pt2: there is no .pt2 file in '" + path("empty") + "'");
  expect_refused({{.path = directory_, .inputs = file}},
                 "--inputs: '" + directory_ +
                     "' is a folder; the tensors of NAME.pt2 in it are NAME.inputs.safetensors");
  expect_refused({{.path = path("a\nb")}}, "a\\x0ab'");
}

TEST_F(ArchiveTest, EveryPageBelongsToOneModel) {
  const std::string a = make("a/m.pt2");
  const std::string b = make("b/m.pt2");
  expect_refused({{.path = a}, {.path = b}}, "--pt2: the page of '" + b + "' would be that of '" +
                                                 a + "', m.md: rename the archive");
  expect_refused({{.path = a}}, "would be that of the registered model, m.md", {"x", "m"});
  expect_refused({{.path = make("SUMMARY.pt2")}}, "would be that of the run, SUMMARY.md");
}

TEST_F(ArchiveTest, NamesWithoutFolders) {
  EXPECT_EQ(file_name("/a/b/m.pt2"), "m.pt2");
  EXPECT_EQ(file_name("m.pt2"), "m.pt2");
  EXPECT_EQ(file_name("a/models/"), "models");
  EXPECT_EQ(file_name("."), ".");
  EXPECT_EQ(file_name(""), "");
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/exporter/pt2/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/testing/error_of.h"
#include "torch_ir/base/testing/zip_builder.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

// Each test has a file of its own, as mapped files stay mapped.
std::string write_archive(const std::vector<ZipEntry>& entries) {
  static int count = 0;
  const std::string path = ::testing::TempDir() + "/archive_" + std::to_string(count++) + ".pt2";
  write_file(path, build_zip(entries));
  return path;
}

std::string opening_error(const std::string& path) {
  const std::string error = error_of<ExportError>([&] { open_pt2_archive(path); });
  EXPECT_TRUE(error.starts_with(path + ": ")) << error;
  return error.substr(std::min(path.size() + 2, error.size()));
}

std::vector<ZipEntry> newest_layout(const std::string& model) {
  return {{"r/archive_format", "pt2"},
          {"r/archive_version", "0\n"},
          {"r/byteorder", "little"},
          {"r/models/" + model + ".json", "{}"},
          {"r/data/weights/" + model + "_weights_config.json", "{}"},
          {"r/data/constants/" + model + "_constants_config.json", "{}"}};
}

TEST(ArchiveTest, ProgramsOfAnEtrecordAreChosenByName) {
  std::vector<ZipEntry> entries = {{"ETRECORD_V0", ""}, {"debug_handle_map", ""}};
  for (const std::string program : {"exported_program", "edge_dialect_exported_program/forward"}) {
    for (const char* part : {"", "_state_dict", "_constants", "_example_inputs"}) {
      entries.push_back({program + part, ""});
    }
  }
  const std::string path = write_archive(entries);
  const Pt2Archive archive = open_pt2_archive(path, "edge_dialect_exported_program/forward");
  EXPECT_EQ(archive.program, "edge_dialect_exported_program/forward");
  EXPECT_EQ(archive.weights.pickle, "edge_dialect_exported_program/forward_state_dict");
  EXPECT_EQ(archive.constants.pickle, "edge_dialect_exported_program/forward_constants");
  EXPECT_EQ(archive.example_inputs, "edge_dialect_exported_program/forward_example_inputs");
  EXPECT_EQ(opening_error(path),
            "has 2 programs ('exported_program', 'edge_dialect_exported_program/forward'); choose "
            "one with --program");
}

TEST(ArchiveTest, OfSeveralModelsTheOneCalledModelIsRead) {
  std::vector<ZipEntry> entries = newest_layout("model");
  entries.push_back({"r/models/b.json", "{}"});
  EXPECT_EQ(open_pt2_archive(write_archive(entries)).program, "r/models/model.json");
  entries = newest_layout("a");
  entries.push_back({"r/models/b.json", "{}"});
  EXPECT_EQ(opening_error(write_archive(entries)),
            "has 2 programs ('a', 'b'); choose one with --program");
}

TEST(ArchiveTest, AProgramIsChosenByName) {
  std::vector<ZipEntry> entries = newest_layout("a");
  for (const ZipEntry& entry : newest_layout("b")) {
    if (entry.name.find("b") != std::string::npos && entry.name != "r/byteorder") {
      entries.push_back(entry);
    }
  }
  const std::string path = write_archive(entries);
  const Pt2Archive archive = open_pt2_archive(path, "b");
  EXPECT_EQ(archive.program, "r/models/b.json");
  EXPECT_EQ(archive.weights.config, "r/data/weights/b_weights_config.json");
  EXPECT_EQ(archive.weights.folder, "r/data/weights/");
  EXPECT_EQ(archive.example_inputs, std::nullopt);
  EXPECT_THAT([&] { open_pt2_archive(path, "c"); },
              ThrowsMessage<NoSuchProgram>(path + ": has no program 'c'; it has 'a', 'b'"));
}

TEST(ArchiveTest, HasOneRoot) {
  std::vector<ZipEntry> entries = newest_layout("model");
  entries.push_back({"s/models/model.json", "{}"});
  EXPECT_EQ(opening_error(write_archive(entries)), "has two root folders, 'r/' and 's/'");
}

TEST(ArchiveTest, OtherFilesAreRefusedByWhatTheyAre) {
  const std::string advice = "; write a .pt2 archive with torch.export.save";
  EXPECT_EQ(opening_error(write_archive(
                {{"r/data/aotinductor/model/a.so", ""}, {"r/archive_format", "pt2"}})),
            "is a package of AOTInductor, compiled code without a graph" + advice);
  EXPECT_EQ(opening_error(write_archive({{"r/data.pkl", ""}, {"r/constants.pkl", ""}})),
            "is a TorchScript archive" + advice);
  EXPECT_EQ(opening_error(write_archive({{"r/data.pkl", ""}, {"r/version", "3"}})),
            "is a file of torch.save, which holds weights but no graph" + advice);
  EXPECT_EQ(
      opening_error(write_archive({{"notes.txt", ""}})),
      "is a zip archive without an exported program: missing entry models/NAME.json" + advice);
  const std::string path = ::testing::TempDir() + "/text.pt2";
  write_file(path, "ir_version: 8");
  EXPECT_EQ(opening_error(path), "not a .pt2 archive (not a zip file)" + advice);
}

TEST(ArchiveTest, VersionsAreChecked) {
  const struct {
    size_t index;
    std::string content;
    std::string problem;
  } cases[] = {
      {0, "pt3", "unsupported entry 'r/archive_format': expected 'pt2', found 'pt3'"},
      {1, "1\x1b", "unsupported entry 'r/archive_version': expected '0', found '1\\x1b'"},
      {2, "big", "unsupported entry 'r/byteorder': expected 'little', found 'big'"},
  };
  for (const auto& [index, content, problem] : cases) {
    std::vector<ZipEntry> entries = newest_layout("model");
    entries[index] = {entries[index].name, content};
    EXPECT_EQ(opening_error(write_archive(entries)), problem);
  }
  EXPECT_EQ(opening_error(
                write_archive({{"serialized_exported_program.json", "{}"}, {"version", "7.3"}})),
            "unsupported entry 'version': expected 8.x, found '7.3'");
}

TEST(ArchiveTest, MissingEntriesAreNamed) {
  for (const size_t index : {4, 5}) {
    std::vector<ZipEntry> entries = newest_layout("model");
    const std::string name = entries[index].name;
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(index));
    EXPECT_EQ(opening_error(write_archive(entries)), "missing entry '" + name + "'");
  }
  EXPECT_EQ(opening_error(write_archive({{"serialized_exported_program.json", "{}"}})),
            "missing entry 'version'");
  EXPECT_EQ(opening_error(
                write_archive({{"serialized_exported_program.json", "{}"}, {"version", "8.2"}})),
            "missing entry 'serialized_state_dict.pt'");
}

}  // namespace
}  // namespace torch_ir

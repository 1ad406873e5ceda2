#include "harness/results/model_files.h"

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

ModelFiles graph(const std::string& path) { return {.format = FileFormat::kGraph, .path = path}; }

class ModelFilesTest : public ::testing::Test {
 protected:
  ModelFilesTest() {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~ModelFilesTest() override { fs::remove_all(directory_); }

  // The files are not read here.
  std::string make(const std::string& name) {
    const std::string file = path(name);
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file) << "content";
    return file;
  }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  static std::vector<std::string> names_of(const std::vector<ModelFiles>& given) {
    std::vector<std::string> names;
    for (const ModelFiles& files : find_model_files(given, {})) names.push_back(files.name);
    return names;
  }
  static void expect_found(const ModelFiles& given, const ModelFiles& expected) {
    EXPECT_THAT(find_model_files({given}, {}), ElementsAre(expected));
  }
  void expect_refused(const std::vector<ModelFiles>& arguments, const std::string& message,
                      const RegistryNames& registry = {}) {
    EXPECT_THAT([&] { find_model_files(arguments, registry); },
                ThrowsMessage<Error>(HasSubstr(message)));
  }

  const std::string directory_ = ::testing::TempDir() + "model_files_test";
};

TEST_F(ModelFilesTest, AnArchiveIsNamedByItsFile) {
  EXPECT_THAT(names_of({{.path = make("a.model.pt2")}}), ElementsAre("a.model"));
  EXPECT_THAT(names_of({{.path = make(".my model|(1)")}}), ElementsAre("_.my_model__1_"));
  const std::string name(250, 'a');
  EXPECT_THAT(names_of({{.path = make(name + ".pt2")}}), ElementsAre(name.substr(0, 200)));
}

TEST_F(ModelFilesTest, TensorsBesideAnArchiveAreIts) {
  const std::string file = make("m.pt2");
  ModelFiles m{.name = "m", .path = file, .expected = {make("m.expected.safetensors")}};
  // Of the archive's example inputs.
  expect_found({.path = file}, m);
  m.inputs = {make("m.inputs.safetensors")};
  m.weights = make("m.weights.safetensors");
  expect_found({.path = file}, m);
  EXPECT_EQ(files_against(file).weights, m.weights);
  const std::string other = make("other.safetensors");
  expect_found({.path = file, .inputs = {other}},
               {.name = "m", .path = file, .weights = m.weights, .inputs = {other}});
}

TEST_F(ModelFilesTest, SetsHaveNumbersWithoutGaps) {
  for (const bool is_graph : {false, true}) {
    const std::string file = make(is_graph ? "net/ir.json" : "m.pt2");
    const std::string start = is_graph ? "net/" : "m.";
    const auto input = [&](const std::string& set) {
      return path(start + "inputs" + set + ".safetensors");
    };
    const auto output = [&](const std::string& set) {
      return path(start + "expected" + set + ".safetensors");
    };
    const auto put = [&](const std::string& made) { make(made.substr(directory_.size() + 1)); };
    const ModelFiles given = is_graph ? graph(file) : ModelFiles{.path = file};
    ModelFiles found = given;
    found.name = is_graph ? "net" : "m";
    const auto expect_missing = [&](const std::string& missing, const std::string& other) {
      expect_refused({given}, flag_of(given.format) + ": cannot find '" + missing + "' beside '" +
                                  other + "'");
    };
    put(output(".2"));
    expect_missing(input(""), output(".2"));
    put(input(""));
    expect_missing(output(""), input(""));
    put(output(""));
    expect_missing(input(".2"), output(".2"));
    put(input(".2"));
    put(input(".x"));
    found.inputs = {input(""), input(".2")};
    found.expected = {output(""), output(".2")};
    expect_found(given, found);
    for (const char* number : {".1", ".02", ".0", ".99999999999"}) {
      put(input(number));
      expect_refused({given}, flag_of(given.format) + ": '" + input(number) +
                                  "' is no set of tensors: the first has no number, the others 2, "
                                  "3, ...");
      fs::remove(input(number));
    }
    put(input(".3"));
    expect_missing(output(".3"), input(".3"));
    fs::remove(input(".2"));
    expect_missing(input(".2"), input(".3"));
  }
}

TEST_F(ModelFilesTest, AFolderIsItsArchivesByName) {
  const std::string b = make("all/b.pt2");
  const std::string inputs = make("all/b.inputs.safetensors");
  const std::string a = make("all/a.pt2");
  make("all/notes.txt");
  make("all/below/c.pt2");
  const std::string first = make("z.pt2");
  EXPECT_THAT(
      find_model_files({{.path = first}, {.path = path("all")}}, {}),
      ElementsAre(ModelFiles{.name = "z", .path = first}, ModelFiles{.name = "a", .path = a},
                  ModelFiles{.name = "b", .path = b, .inputs = {inputs}}));
}

TEST_F(ModelFilesTest, LinksToNothingAndFoldersAreNotPassedOver) {
  const std::string file = make("m.pt2");
  for (const char* kind : {"inputs", "inputs.2", "expected", "weights"}) {
    const std::string name = path(std::string("m.") + kind + ".safetensors");
    const std::string problem =
        "--pt2: '" + name + "' is a folder, or a link to a file that is not there";
    fs::create_symlink("nothing", name);
    expect_refused({{.path = file}}, problem);
    fs::remove(name);
    fs::create_directory(name);
    expect_refused({{.path = file}}, problem);
    fs::remove(name);
  }
}

TEST_F(ModelFilesTest, WhatIsNotThereIsAnError) {
  expect_refused({{.path = path("a\nb")}}, "a\\x0ab'");
  make("empty/below/further/ir.json");
  const std::string empty = path("empty");
  expect_refused({{.path = empty}}, "--pt2: no .pt2 file in '" + empty + "'");
  expect_refused({graph(empty)}, "--ir: no ir.json in '" + empty + "' or its subfolders");
  expect_refused({graph(path("no"))}, "--ir: cannot find '" + path("no") + "'");
  const std::string ir = make("net/ir.json");
  expect_refused({graph(path("net"))}, "--ir: cannot find '" + path("net/inputs.safetensors") +
                                           "' with the inputs of '" + ir + "'");
}

TEST_F(ModelFilesTest, EveryPageBelongsToOneModel) {
  const std::string a = make("a/m.pt2");
  expect_refused({{.path = a}, {.path = path("a")}},
                 "--pt2: '" + a + "' is given twice, but a run has only one page for it, m.md");
  expect_refused({{.path = make("SUMMARY.pt2")}},
                 "and the run would have the same page, SUMMARY.md");
  const std::string ir = make("net/ir.json");
  make("net/inputs.safetensors");
  expect_refused({graph(ir), graph(path("net"))},
                 "--ir: '" + ir + "' is given twice, but a run has only one page for it, net.md");
  // A registered model that does not run needs no page.
  EXPECT_EQ(find_model_files({graph(ir)}, {.all = {"net"}}).size(), 1u);
  expect_refused({graph(ir)},
                 "--ir: '" + ir +
                     "' and the registered model would have the same page, net.md; rename the "
                     "folder",
                 {.all = {"net"}, .running = {"net"}});
}

TEST_F(ModelFilesTest, FilesOfOneNameHaveTheirFolders) {
  const std::string a = make("1/a/m.pt2");
  const std::string b = make("1/b/m.pt2");
  const ModelFiles other{.path = make("1/b/other.pt2")};
  EXPECT_THAT(names_of({{.path = a}, {.path = path("1/a/../b/m.pt2")}, other}),
              ElementsAre("a_m", "b_m", "other"));
  EXPECT_THAT(names_of({{.path = a}, {.path = make("2/a/m.pt2")}, {.path = b}}),
              ElementsAre("1_a_m", "2_a_m", "b_m"));
  std::vector<ModelFiles> graphs;
  for (const std::string folder : {"a/net", "b/net"}) {
    make(folder + "/inputs.safetensors");
    graphs.push_back(graph(make(folder + "/ir.json")));
  }
  EXPECT_THAT(names_of(graphs), ElementsAre("a_net", "b_net"));
}

TEST_F(ModelFilesTest, NamesThatDifferByCaseOrFormHavePagesOfTheirOwn) {
  std::vector<ModelFiles> given;
  for (const char* name : {"Net", "net", "NET", "caf\u00E9", "cafe\u0301", "名前", "Summary"}) {
    given.push_back({.path = make(std::string(name) + ".pt2")});
  }
  EXPECT_THAT(names_of(given),
              ElementsAre("Net", "net-2", "NET-3", "caf\u00E9", "cafe_u0301", "名前", "Summary-2"));
}

TEST_F(ModelFilesTest, AProgramHasItsOwnPageAndTensors) {
  const std::string file = make("m.pt2");
  const std::string inputs = make("m.decode.inputs.safetensors");
  make("m.inputs.safetensors");
  expect_found({.path = file, .program = "decode"},
               {.name = "m.decode", .path = file, .program = "decode", .inputs = {inputs}});
  EXPECT_THAT(names_of({{.path = file, .program = "a"}, {.path = file, .program = "b"}}),
              ElementsAre("m.a", "m.b"));
  expect_refused({{.path = path("."), .program = "a"}}, "--program: '" + path("."));
  const std::string ir = make("net/ir.json");
  expect_refused({{.format = FileFormat::kGraph, .path = ir, .program = "a"}},
                 "--program needs a --pt2; '" + ir + "' is a graph");
}

TEST_F(ModelFilesTest, AGraphIsAFolderWithItsTensors) {
  const std::string file = make("net/ir.json");
  const std::string inputs = make("net/inputs.safetensors");
  ModelFiles net{.format = FileFormat::kGraph, .name = "net", .path = file, .inputs = {inputs}};
  expect_found(graph(path("net")), net);
  net.weights = make("net/weights.safetensors");
  net.expected = {make("net/expected.safetensors")};
  expect_found(graph(path("net")), net);
  expect_found(graph(file), net);
  EXPECT_THAT(names_of({graph(path("net/"))}), ElementsAre("net"));
  EXPECT_EQ(net.short_name(), "net");
  EXPECT_EQ(graph(path("net")).short_name(), "net");
}

TEST_F(ModelFilesTest, AGraphOfAnotherNameHasTensorsOfThatName) {
  ModelFiles net{.format = FileFormat::kGraph, .name = "net", .path = make("net.json")};
  make("inputs.safetensors");
  net.inputs = {make("net.inputs.safetensors")};
  net.weights = make("net.weights.safetensors");
  expect_found(graph(net.path), net);
  EXPECT_EQ(net.short_name(), "net.json");
}

TEST_F(ModelFilesTest, AFolderOfGraphsIsItsFoldersByName) {
  for (const std::string name : {"b-2", "b", "a"}) {
    make("repro/" + name + "/ir.json");
    make("repro/" + name + "/inputs.safetensors");
  }
  make("repro/empty/notes.txt");
  make("repro/model.json");
  EXPECT_THAT(names_of({graph(path("repro"))}), ElementsAre("a", "b", "b-2"));
}

TEST_F(ModelFilesTest, NamesWithoutFolders) {
  EXPECT_EQ(file_name("/a/b/m.pt2"), "m.pt2");
  EXPECT_EQ(file_name("m.pt2"), "m.pt2");
  EXPECT_EQ(file_name("a/models/"), "models");
  EXPECT_EQ(file_name("."), ".");
  EXPECT_EQ(file_name(""), "");
}

}  // namespace
}  // namespace torch_ir

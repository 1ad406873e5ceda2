// find_model_files: finds the archives (`.pt2`) and graphs (IR JSON) of `--pt2` and `--ir`.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "torch_ir/cases/suite_case.h"
#include "torch_ir/ir/field_list.h"

namespace torch_ir {

inline constexpr const char* kImportedCategory = "imported";

enum class FileFormat { kArchive, kGraph };

inline constexpr std::array kFileFormats = {FileFormat::kArchive, FileFormat::kGraph};

// "archive", "graph".
constexpr std::string_view format_name(FileFormat format) {
  return format == FileFormat::kArchive ? "archive" : "graph";
}

// "--pt2", "--ir".
std::string flag_of(FileFormat format);

// The files of one model. As given by a user, `path` may be a folder of archives or graphs, and the
// tensors are missing. In results they are as the user typed them (as_typed).
struct ModelFiles {
  FileFormat format = FileFormat::kArchive;
  // The page's name: that of the file or folder, without ".pt2" and ".json". Files that share it
  // have their folders before it, as few as tell them apart.
  std::string name = {};
  std::string path;
  // Of an archive with several programs; empty for the only one.
  std::string program = {};
  // Of a graph, or instead of an archive's.
  std::string weights = {};
  // Sets of inputs; without any, the archive's example inputs are used.
  std::vector<std::string> inputs = {};
  // Those of each set; without any, the operators of the model compute them eagerly.
  std::vector<std::string> expected = {};
  // The float model of a quantised one, as a path for files_against; empty for none.
  std::string against = {};

  bool is_graph() const { return format == FileFormat::kGraph; }
  // Whether it is named after its folder: the graph is "ir.json".
  bool is_graph_of_folder() const;
  // The last part of the path, for reports; for "ir.json", its folder's name.
  std::string short_name() const;
  bool operator==(const ModelFiles&) const = default;
};

template <class Visit>
void fields(const Visit& visit, ModelFiles& value) {
  // Between processes only.
  visit.unless_empty("name", value.name);
  visit.required("format", value.format);
  visit.required("path", value.path);
  TORCH_IR_VISIT(program, weights, inputs, expected, against)
}

struct RegistryNames {
  std::vector<std::string> all = {};
  std::vector<std::string> running = {};
};

// Finds the models of `given`, in order; those of a folder are sorted by name. Their tensors are
// NAME.weights.safetensors, NAME.inputs.safetensors and NAME.expected.safetensors beside NAME.pt2
// or NAME.json, further sets NAME.inputs.2.safetensors and so on; for ir.json, or a folder with
// one, they are weights.safetensors and so on. If inputs or expected outputs are given, neither is
// searched for.
//
// Throws Error for missing files, for a set that lacks what others have, for a graph without
// inputs, and if the page of a model would have the name of another page: of another model, the
// summary, or a registered model. (A graph may have the name of a registered model that does not
// run.)
std::vector<ModelFiles> find_model_files(const std::vector<ModelFiles>& given,
                                         const RegistryNames& registry);

// The float model in `path`, an archive, a graph, or a folder with an ir.json. Throws Error if
// there is no such file.
ModelFiles files_against(const std::string& path);

std::string file_name(const std::string& path);

struct CaseSource {
  // The process that runs the case gets only the name.
  CaseInfo info = {};
  // The folder of its files (case_files.h); empty for a linked-in case.
  std::string folder = {};
};

// A model of the registry (by name), a model in files, or a single call.
using ModelSource = std::variant<std::string, ModelFiles, CaseSource>;

const std::string& name_of(const ModelSource& source);

}  // namespace torch_ir

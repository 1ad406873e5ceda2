// Models in files as models of a run: archives (`.pt2`) and graphs (IR JSON), what `--pt2` and
// `--ir` give, found on the disk.
//
// Called by the harness program and by the tests of single archives, before anything runs.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "torch_ir/cases/graph_case.h"

namespace torch_ir {

// The category of every model in files.
inline constexpr const char* kImportedCategory = "imported";

enum class FileFormat { kArchive, kGraph };

// "--pt2", "--ir".
std::string flag_of(FileFormat format);

// The files of one model; as the user gives them, the path may also be that of a folder of archives
// or graphs, and what is left empty is looked for.
struct ModelFiles {
  FileFormat format = FileFormat::kArchive;
  // Of its page: that of the file or folder, without ".pt2" and ".json".
  std::string name = {};
  std::string path;
  // Of a graph that has any. An archive has its own.
  std::string weights = {};
  // Where empty, the example inputs of the archive.
  std::string inputs = {};
  // Where empty, what the operators compute.
  std::string expected = {};

  // What a report may say of the path: its last part. A graph "ir.json" goes by its folder.
  std::string short_name() const;
  bool operator==(const ModelFiles&) const = default;
};

// The models of the registry that names of files may clash with.
struct RegistryNames {
  std::vector<std::string> all = {};
  // Those of this run.
  std::vector<std::string> running = {};
};

// The models that `given` are about: in their order, those of a folder by name. Where no
// tensors are given for NAME.pt2 or NAME.json, they are NAME.weights.safetensors (of a graph),
// NAME.inputs.safetensors and NAME.expected.safetensors beside it, and those of a graph called
// ir.json, or of a folder with one, are weights.safetensors and so on; as far as these are there.
//
// Throws Error for what is not there, for a graph without inputs, and for models that would have
// the same page as another one, as the summary, or as one of the registry: a graph may be a part of
// a model that does not run.
std::vector<ModelFiles> find_model_files(const std::vector<ModelFiles>& given,
                                         const RegistryNames& registry);

// The last part of `path`: what a report may say of it.
std::string file_name(const std::string& path);

// A single call.
struct CaseSource {
  // The process that runs it is told nothing but the name.
  CaseInfo info = {};
  // With its files (case_files.h); empty for a case of the tables that are linked in.
  std::string folder = {};
};

// Where a candidate is found: a model of the registry, by its name, a model in files, or a call.
using ModelSource = std::variant<std::string, ModelFiles, CaseSource>;

const std::string& name_of(const ModelSource& source);

}  // namespace torch_ir

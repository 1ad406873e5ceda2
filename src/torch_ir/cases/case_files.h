// Reads and writes cases as files. A case is a folder:
//
//   ir.json               the graph
//   weights.safetensors   only if it has weights
//   inputs.safetensors    by the names of its inputs
//   expected.safetensors  by the names of its outputs; a repeated one once, an undefined one not
//
// A suite has many, for people who score an executor in any language. `harness export` and
// `torch-ir cut` write them, and `harness --ir` reads them.
//
//   DIR/README.md, DIR/suite.json          the content, with a line per case
//   DIR/cases/NAME/                        the case
//   DIR/cases/NAME/case.json               its description, and how to compare its outputs
//
// The same cases give the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/work_directory.h"
#include "torch_ir/cases/suite_case.h"

namespace torch_ir {

inline constexpr const char* kCaseGraph = "ir.json";
inline constexpr const char* kCaseWeights = "weights.safetensors";
inline constexpr const char* kCaseInputs = "inputs.safetensors";
inline constexpr const char* kCaseExpected = "expected.safetensors";

enum class WeightsFile { kIfAny, kAlways, kNever };

// Writes the case to `folder`, which is made if missing, without the files of inputs and outputs
// that it lacks. Throws Error, and WeightError for what a file cannot hold: a dtype, or memory that
// is shared and written to (check_storable, for a case that has all its weights).
void save_case(const Case& graph_case, const std::string& folder,
               WeightsFile weights = WeightsFile::kIfAny);

// The same without the graph, for a folder that is there.
void save_tensors(const Case& graph_case, const std::string& folder, WeightsFile weights);

// Reads the case, with the files that it has. Throws Error, naming the file.
Case load_case(const std::string& folder);

// Writes a case of the suite in `directory`, except its info. Throws Error.
void write_case(const SuiteCase& suite_case, const std::string& directory);

// A suite whose cases are written one by one. The finished suite replaces an earlier one as a
// whole, which survives until then, even if the process is killed. The destructor removes an
// unfinished suite.
class SuiteWriter {
 public:
  // `source` is the source of the cases ("operators", "resnet18"). Creates `directory`. Throws
  // Error if it holds other files than those of a suite, or cannot be written.
  SuiteWriter(std::string directory, std::string source);

  // The folder of the unfinished suite, for write_case.
  std::string unfinished() const;
  // Publishes the suite, with its list and its README. `infos` are the final infos of the written
  // cases, in order; other written cases are dropped. Throws Error, also if two have one folder.
  void finish(const std::vector<CaseInfo>& infos);

 private:
  const std::string directory_;
  const std::string source_;
  std::optional<WorkDirectory> unfinished_;
};

bool is_suite(const std::string& directory);

// Reads the infos of a suite, in its order. Throws SerializationError, naming the file.
std::vector<CaseInfo> read_suite(const std::string& directory);

std::string case_folder(const std::string& directory, std::string_view name);

// Throws Error, naming the file.
SuiteCase read_case(const std::string& folder);

}  // namespace torch_ir

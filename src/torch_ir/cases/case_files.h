// Cases as files: what `harness --export-suite` and `torch-ir split` write, for people who score an
// executor in any language, and `harness --ir` reads back.
//
//   DIR/README.md, DIR/suite.json          what is here, and a line a case
//   DIR/cases/NAME/ir.json                 the graph
//   DIR/cases/NAME/weights.safetensors     where it has weights
//   DIR/cases/NAME/inputs.safetensors      by the names of its inputs
//   DIR/cases/NAME/expected.safetensors    by the names of its outputs
//   DIR/cases/NAME/case.json               what it is, and how its outputs are judged
//
// The same cases give the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/work_directory.h"
#include "torch_ir/cases/graph_case.h"

namespace torch_ir {

// Writes a case of the suite in `directory`, all but its info. Throws Error.
void write_case(const GraphCase& graph_case, const std::string& directory);

// Writes cases one by one. An earlier suite in the folder stays until the new one is finished, also
// when the process is killed, and is then replaced by it as a whole. What is not finished goes with
// the writer.
class SuiteWriter {
 public:
  // `what` says what the cases are of ("operators", "resnet18"). Makes `directory`. Throws Error
  // when it holds other files than those of a suite, and when it can not be written.
  SuiteWriter(std::string directory, std::string what);

  // The folder of the suite until then, for write_case.
  std::string unfinished() const;
  // Throws Error, also for a second case whose folder is the same.
  void add(const GraphCase& graph_case);

  // Puts the suite in its place, with its list and its README. `infos` are those of the cases
  // added, in order, with all that is known of them by now; others that were written are left out.
  void finish(const std::vector<CaseInfo>& infos);

 private:
  const std::string directory_;
  const std::string what_;
  std::optional<WorkDirectory> unfinished_;
};

// Whether `directory` holds a suite.
bool is_suite(const std::string& directory);

// The cases of the suite in `directory`, in its order. Throws SerializationError, naming the file.
std::vector<CaseInfo> read_suite(const std::string& directory);

// The folder of the case called `name` in the suite in `directory`.
std::string case_folder(const std::string& directory, std::string_view name);

// The case in `folder`. Throws Error, naming the file.
GraphCase read_case(const std::string& folder);

}  // namespace torch_ir

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

#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/cases/graph_case.h"

namespace torch_ir {

// Writes cases one by one. An earlier suite in the folder stays until the new one is finished.
class SuiteWriter {
 public:
  // `what` says what the cases are of ("operators", "resnet18"). Makes `directory`. Throws Error
  // when it holds other files than those of a suite, and when it can not be written.
  SuiteWriter(std::string directory, std::string what);
  // Removes what is not finished.
  ~SuiteWriter();
  SuiteWriter(const SuiteWriter&) = delete;
  SuiteWriter& operator=(const SuiteWriter&) = delete;

  // Throws Error.
  void add(const GraphCase& graph_case);

  // Puts the suite in its place, with its list and its README. `infos` are those of the cases
  // added, in order, with all that is known of them by now.
  void finish(const std::vector<CaseInfo>& infos);

 private:
  const std::string directory_;
  const std::string what_;
};

// Removes what a SuiteWriter has left in `directory` whose process was ended, and the folder where
// nothing else is in it.
void discard_unfinished(const std::string& directory);

// Whether `directory` holds a suite.
bool is_suite(const std::string& directory);

// The cases of the suite in `directory`, in its order. Throws SerializationError, naming the file.
std::vector<CaseInfo> read_suite(const std::string& directory);

// The folder of the case called `name` in the suite in `directory`.
std::string case_folder(const std::string& directory, std::string_view name);

// The case in `folder`. Throws Error, naming the file.
GraphCase read_case(const std::string& folder);

}  // namespace torch_ir

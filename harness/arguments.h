// Arguments: what the command line of the harness says, as data.
//
// Declared on a parser of CLI11 by declare_arguments, and complete after finish_arguments;
// command_line.h does what they ask for.
#pragma once

#include <string>
#include <vector>

#include "harness/harness.h"

namespace CLI {
class App;
}

namespace torch_ir {

struct Arguments {
  HarnessOptions harness = {};
  // What to do in place of a run.
  bool list_models = false;
  bool list_categories = false;
  // The folder for the selected cases or models as files.
  std::string export_suite = {};
  // A list of operators: which models a backend with these can take.
  std::string supported = {};
  // Lists as JSON.
  bool json = false;
  bool quiet = false;
  // As the user typed it.
  std::string output = "reports";

  // As parsed, and brought into `harness` by finish_arguments.
  struct {
    double timeout = RunOptions().timeout.count();
    double memory_limit = 0;
    std::string tolerance = {};
  } raw = {};
};

// `arguments` has to live as long as the parser.
void declare_arguments(CLI::App& parser, Arguments& arguments);

// To be called when `parser` has parsed. Paths are those of the user, also under `bazel run`.
// Throws Error for arguments that do not go together.
void finish_arguments(const CLI::App& parser, Arguments& arguments);

}  // namespace torch_ir

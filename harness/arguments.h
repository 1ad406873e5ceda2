// Arguments: the options of the harness's command line, and their parser.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "harness/harness.h"

namespace CLI {
class App;
}

namespace torch_ir {

// A first word of the command line that replaces a run.
struct HarnessCommand {
  const char* word;
  // The hidden option that takes the words after it.
  const char* flag;
  const char* missing;
};

inline constexpr std::array kHarnessCommands = {
    HarnessCommand{"compare", "--compare", "two folders of reports"},
    HarnessCommand{"export", "--export-suite", "a folder to write to"},
    HarnessCommand{"supported", "--supported", "a file that lists operators"}};

struct Arguments {
  HarnessOptions harness = {};
  bool list_models = false;
  bool list_categories = false;
  std::string export_suite = {};
  // Two report folders, the older one first; or empty.
  std::vector<RunFolder> compared = {};
  // Where to write what changed between them; empty for nowhere.
  std::string comparison = {};
  // A file that lists operators; the harness prints which models can run with them.
  std::string supported = {};
  bool quiet = false;
  // Whether failures are printed as annotations, too.
  bool annotations = false;
  // The path as typed, for messages; `harness.output` is the resolved path.
  std::string output = "reports";
  // What each of --load-library added.
  std::vector<std::string> loaded = {};

  // Parsed values that finish_arguments puts into `harness`.
  struct {
    double timeout = RunOptions().timeout.count();
    double memory_limit = 0;
    std::string tolerance = {};
    std::string against = {};
    // For --help: with_earlier_words (command_line.cc) puts the words of that run in its place.
    std::string rerun = {};
    std::string program = {};
    // A command, or the name of a C++ backend.
    std::string executor = {};
    // For --help: with_flags turns these into --pt2.
    std::vector<std::string> archives = {};
  } raw = {};
};

// `arguments` must outlive the parser.
void declare_arguments(CLI::App& parser, Arguments& arguments);

// Turns words that are neither options nor values into "FLAG=WORD", so that their order among the
// options counts.
std::vector<std::string> with_flags(const CLI::App& parser, const std::vector<std::string>& words,
                                    const std::string& flag = "--pt2");

// Must be called after `parser` has parsed. Resolves paths from the user's directory, also under
// `bazel run`.
// Throws Error for arguments that cannot be combined.
void finish_arguments(const CLI::App& parser, Arguments& arguments);

}  // namespace torch_ir

#include "torch_ir/cli/options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/options.h"
#include "torch_ir/ir/resolve.h"

namespace torch_ir {
namespace {

// "m.json is not well formed: PROBLEM (and 2 more: see 'torch-ir validate m.json')"
std::string describe(const std::string& path, const std::string& verdict,
                     const std::vector<std::string>& problems) {
  std::string text = path + " " + verdict + ": " + problems.front();
  if (problems.size() > 1) {
    text += " (and " + std::to_string(problems.size() - 1) + " more: see 'torch-ir validate " +
            path + "')";
  }
  return text;
}

}  // namespace

void add_argument(CLI::App& parser, const std::string& name, std::string& value,
                  const std::string& description) {
  parser.add_option(name, value, description)->required()->type_name("");
}

CLI::Option* add_file_option(CLI::App& parser, const std::string& name, std::string& path,
                             const std::string& description) {
  return parser.add_option(name, path, description)->type_name("FILE");
}

void add_program_option(CLI::App& parser, std::string& program) {
  parser.add_option(kProgramFlag, program, kProgramText)->type_name("NAME");
}

void add_graph_argument(CLI::App& parser, std::string& path, std::string& program) {
  add_argument(parser, "FILE", path,
               "The graph: IR JSON, or an archive of torch.export.save (.pt2)");
  add_program_option(parser, program);
}

GraphFile read_graph_file(const std::string& path, const std::string& program, WeightBytes bytes) {
  // Then errors should come from the reader of archives.
  const bool is_called_archive = path.ends_with(".pt2") || path.ends_with(".safetensors");
  if (is_pt2_archive(path) || is_called_archive) return read_archive(path, program, bytes);
  if (!program.empty()) throw Error(path + ": --program needs an archive (.pt2)");
  return read_graph(path);
}

GraphFile load_graph_file(const std::string& path, const std::string& program, WeightBytes bytes,
                          Console* console) {
  GraphFile file = read_graph_file(path, program, bytes);
  Resolution resolved = try_resolve(file.ir);
  if (const std::vector<std::string> problems = resolved.problems; !problems.empty()) {
    if (console != nullptr) resolved = try_resolve(file.ir, GraphChecks::kStructure);
    if (!resolved.problems.empty()) {
      throw ValidationError(describe(path, "is not well formed", problems));
    }
    console->warn(describe(path, "cannot be run", problems));
  }
  file.content = file.content.with(std::move(resolved.program));
  return file;
}

void add_weights_options(CLI::App& parser, WeightsArguments& weights,
                         const std::string& description) {
  add_file_option(parser, "--weights", weights.path, description);
  parser
      .add_option("--weights-key", weights.key,
                  "Path of the state dict in a checkpoint: \"model\", \"trainer.ema\"")
      ->type_name("KEY");
}

void add_tolerance_options(CLI::App& parser, ToleranceRule& rule, Criterion* criterion) {
  if (criterion != nullptr) {
    rule.by_dtype = true;
    criterion->reference = ReferenceKind::kAuto;
  }
  const auto choose = [&rule, criterion](bool by_dtype) {
    rule.by_dtype = by_dtype;
    if (criterion != nullptr) criterion->reference = ReferenceKind::kModel;
  };
  const bool is_default = criterion == nullptr;
  const auto add = [&](const std::string& name, double& value, const std::string& description) {
    return parser.add_option(name, value, description + (is_default ? "" : ", if not auto"))
        ->type_name("N")
        ->transform(number<double>("tolerance", 0, std::numeric_limits<double>::max(), false,
                                   "a number of 0 or more"))
        ->capture_default_str()
        ->each([choose](const std::string&) { choose(false); });
  };
  CLI::Option* rtol = add("--rtol", rule.fixed.rtol, "Relative tolerance for floating point");
  CLI::Option* atol = add("--atol", rule.fixed.atol, "Absolute tolerance for floating point");
  const auto take = [choose, criterion](const std::string& name) {
    if (name == "auto" && criterion != nullptr) return;
    if (name != "dtype") {
      throw Error("unknown tolerance '" + name + "'; expected " +
                  (criterion != nullptr ? "auto or dtype" : "dtype") +
                  ", or numbers with --rtol and --atol");
    }
    choose(true);
  };
  add_parsed_option(parser, "--tolerance", take,
                    is_default
                        ? "Use the tolerances of torch.testing.assert_close for each dtype"
                        : "auto (default): by dtype, else as near to float64 as eager; or: dtype")
      ->type_name(is_default ? "dtype" : "RULE")
      ->excludes(rtol)
      ->excludes(atol);
}

void add_count_option(CLI::App& parser, const std::string& name, int64_t& count,
                      const std::string& description, int64_t most) {
  const std::string limit = most == std::numeric_limits<int64_t>::max()
                                ? "of 1 or more"
                                : "from 1 to " + std::to_string(most);
  parser.add_option(name, count, description)
      ->type_name("N")
      ->transform(number<int64_t>("count", 1, most, false, "a whole number " + limit));
}

void refuse_to_overwrite(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    // A missing file equals no other; reading it reports the problem.
    std::error_code ignored;
    if (!std::filesystem::equivalent(output, input, ignored)) continue;
    throw Error(output + ": writing there would overwrite the input '" + input +
                "'; write elsewhere");
  }
}

void write_result(const std::string& output, const std::string& text, Console& console) {
  if (!output.empty()) return write_file(output, text);
  console.out() << text;
}

}  // namespace torch_ir

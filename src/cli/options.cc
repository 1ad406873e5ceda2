#include "torch_ir/cli/options.h"

#include <CLI/CLI.hpp>

namespace torch_ir {
namespace {

void add_tolerance_option(CLI::App& parser, const std::string& name, double& value,
                          const std::string& description) {
  // Written so that NaN is refused too.
  const auto check = [name, &value](const std::string& text) {
    const bool is_tolerance = CLI::detail::lexical_cast(text, value) && value >= 0;
    return is_tolerance ? "" : "'" + text + "' is no tolerance: give a number of 0 or more";
  };
  parser.add_option(name, value, description)->capture_default_str()->check(check, "N >= 0");
}

}  // namespace

void add_graph_argument(CLI::App& parser, std::string& path) {
  parser.add_option("FILE", path, "The graph, IR JSON")->required()->type_name("");
}

void add_tolerance_options(CLI::App& parser, Tolerance& tolerance) {
  add_tolerance_option(parser, "--rtol", tolerance.rtol, "Relative tolerance");
  add_tolerance_option(parser, "--atol", tolerance.atol, "Absolute tolerance");
}

}  // namespace torch_ir

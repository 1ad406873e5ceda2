#include "torch_ir/cli/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include "torch_ir/base/error.h"
#include "torch_ir/base/program.h"
#include "torch_ir/executor/device.h"
#include "torch_ir/executor/graph/execution_options.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

// The whole of `text` as a number; nothing when it is none.
template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

CLI::Option* add_tolerance_option(CLI::App& parser, const std::string& name, double& value,
                                  const std::string& description) {
  const auto check = [](const std::string& text) {
    const auto number = parse_number<double>(text);
    const bool is_tolerance = number && *number >= 0 && std::isfinite(*number);
    return is_tolerance ? "" : "'" + text + "' is no tolerance: give a number of 0 or more";
  };
  return parser.add_option(name, value, description)
      ->capture_default_str()
      ->type_name("N")
      ->check(check, "");
}

// An option whose value `parse` takes; what that throws is the message.
CLI::Option* add_parsed_option(CLI::App& parser, const std::string& name,
                               const std::function<void(const std::string&)>& parse,
                               const std::string& description) {
  const auto take = [name, parse](const std::string& text) {
    try {
      parse(text);
    } catch (const Error& error) {
      throw CLI::ValidationError(name, error.what());
    }
  };
  return parser.add_option_function<std::string>(name, take, description);
}

}  // namespace

void add_common_options(CLI::App& parser, bool& quiet) {
  parser.add_flag("-q,--quiet", quiet, "Print only what was asked for, and errors");
  parser.set_version_flag("--version", version_text("torch-ir"),
                          "Print the version of torch-ir and of LibTorch");
}

void add_graph_argument(CLI::App& parser, std::string& path) {
  parser.add_option("FILE", path, "The graph: IR JSON, or an archive of torch.export.save (.pt2)")
      ->required()
      ->type_name("");
}

void add_weights_options(CLI::App& parser, WeightsArguments& weights,
                         const std::string& description) {
  parser.add_option("--weights", weights.path, description)->type_name("FILE");
  parser
      .add_option("--weights-key", weights.key,
                  "Where in a checkpoint the state dict is: \"model\", \"trainer.ema\"")
      ->type_name("KEY");
}

StateDict load_given_weights(const WeightsArguments& weights) {
  if (!weights.path.empty()) return load_weights(weights.path, {.weights_key = weights.key});
  if (!weights.key.empty()) throw Error("--weights-key needs --weights");
  return StateDict();
}

void add_tolerance_options(CLI::App& parser, ToleranceRule& rule) {
  CLI::Option* rtol = add_tolerance_option(parser, "--rtol", rule.fixed.rtol, "Relative tolerance");
  CLI::Option* atol = add_tolerance_option(parser, "--atol", rule.fixed.atol, "Absolute tolerance");
  const auto take = [&rule](const std::string& name) {
    if (name != "dtype") {
      throw Error("'" + name + "' is no tolerance: give dtype, or numbers as --rtol and --atol");
    }
    rule.by_dtype = true;
  };
  add_parsed_option(parser, "--tolerance", take,
                    "dtype: what torch.testing.assert_close takes for each dtype")
      ->type_name("dtype")
      ->excludes(rtol)
      ->excludes(atol);
}

void add_execution_options(CLI::App& parser, ExecutionOptions& options) {
  add_parsed_option(
      parser, "--optimization",
      [&](const std::string& name) { options.optimization = parse_optimization(name); },
      "exact: the bits of eager (the default); fast: within 1e-4 of it")
      ->type_name("LEVEL");
  add_parsed_option(
      parser, "--device", [&](const std::string& name) { options.device = parse_device(name); },
      "Where to run: cpu (the default), cuda, cuda:1")
      ->type_name("D");
}

void add_count_option(CLI::App& parser, const std::string& name, int64_t& count,
                      const std::string& description, int64_t most) {
  const std::string limit = most == std::numeric_limits<int64_t>::max()
                                ? "of 1 or more"
                                : "from 1 to " + std::to_string(most);
  const auto check = [most, limit](const std::string& text) {
    const auto number = parse_number<int64_t>(text);
    const bool is_count = number && *number > 0 && *number <= most;
    return is_count ? "" : "'" + text + "' is no count: give a whole number " + limit;
  };
  parser.add_option(name, count, description)->type_name("N")->check(check, "");
}

}  // namespace torch_ir

#include "torch_ir/harness/page_text.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <sstream>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/executor/optimization_name.h"
#include "torch_ir/harness/markdown.h"
#include "torch_ir/verifier/tolerance_text.h"
#include "torch_ir/visualize/summary.h"

namespace torch_ir {
namespace {

std::string figure(bool is_zero, std::string text, const PageContext& context) {
  return context.portable && !is_zero ? std::string(kWithinTolerance) : std::move(text);
}

// `text` as one word of a command.
std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_-./:@%+=,", c);
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string word = "'";
  for (const char c : printable(text)) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// A template leaves a blank line for every part that is not there; of several, one is kept, and
// those inside code are left alone.
std::string without_extra_blank_lines(const std::string& page) {
  std::string tidy;
  std::string fence;
  bool blank = true;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (fence.empty() && line.starts_with("```")) {
      fence = line.substr(0, line.find_first_not_of('`'));
    } else if (line == fence) {
      fence.clear();
    }
    if (line.empty() && blank && fence.empty()) continue;
    blank = line.empty();
    tidy += line + '\n';
  }
  while (tidy.ends_with("\n\n")) tidy.pop_back();
  return tidy;
}

}  // namespace

std::string difference_text(double difference, const PageContext& context) {
  return figure(difference == 0, fmt::format("{:.3g}", difference), context);
}

std::string count_text(int64_t mismatched, double max_diff, const PageContext& context) {
  return figure(max_diff == 0, with_thousands_separators(mismatched), context);
}

std::string tolerance_figure(double smallest, const PageContext& context) {
  return figure(smallest == 0, tolerance_text(smallest), context);
}

std::string number_text(double value) { return fmt::format("{}", value); }

std::string counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", with_thousands_separators(count), noun, count == 1 ? "" : "s");
}

std::string text_cell(std::string_view text) { return table_cell(escape_markdown(text)); }

std::string code_cell(std::string_view text) { return table_cell(code_span(text)); }

std::string code_list(const std::vector<std::string>& items, std::string_view separator) {
  std::string list;
  for (const std::string& item : items) {
    if (!list.empty()) list += separator;
    list += code_cell(item);
  }
  return list;
}

void set_environment(kainjow::mustache::data& page, const PageContext& context) {
  page.set("libtorch", code_cell(context.portable ? kVersionPlaceholder : TORCH_VERSION));
  page.set("optimization", code_cell(optimization_name(context.settings.optimization)));
  page.set("device", code_cell(context.settings.device.str()));
  page.set("threads", std::to_string(context.settings.threads));
  page.set("seed", std::to_string(context.settings.seed));
  page.set("rtol", number_text(context.settings.tolerance.fixed.rtol));
  page.set("atol", number_text(context.settings.tolerance.fixed.atol));
}

std::string render(std::string_view text, const kainjow::mustache::data& page) {
  kainjow::mustache::mustache view{std::string(text)};
  view.set_custom_escape([](const std::string& value) { return value; });
  std::string rendered = view.render(page);
  if (!view.is_valid())
    throw Error("a report template is not well formed: " + view.error_message());
  return without_extra_blank_lines(rendered);
}

std::string reproduce_command(const Coverage& coverage, const PageContext& context) {
  const RunSettings& settings = context.settings;
  const RunSettings defaults;
  std::string options;
  const auto add = [&](const char* flag, const std::string& value) {
    options += std::string(" ") + flag + " " + value;
  };
  const auto add_file = [&](const char* flag, const std::string& path) {
    if (!path.empty()) add(flag, shell_word(file_name(path)));
  };
  for (const ArchiveArgument& archive : coverage.archives) {
    add_file("--pt2", archive.path);
    add_file("--inputs", archive.inputs);
    add_file("--expected", archive.expected);
  }
  for (const std::string& category : coverage.selection.categories) add("--category", category);
  for (const std::string& model : coverage.selection.models) add("--model", model);
  if (settings.seed != defaults.seed) add("--seed", std::to_string(settings.seed));
  if (settings.tolerance.fixed.rtol != defaults.tolerance.fixed.rtol) {
    add("--rtol", number_text(settings.tolerance.fixed.rtol));
  }
  if (settings.tolerance.fixed.atol != defaults.tolerance.fixed.atol) {
    add("--atol", number_text(settings.tolerance.fixed.atol));
  }
  if (settings.optimization != defaults.optimization) {
    add("--optimization", optimization_name(settings.optimization));
  }
  if (settings.device != defaults.device) add("--device", settings.device.str());
  if (context.timeout) add("--timeout", number_text(context.timeout->count()));
  if (settings.save_tensors) options += " --save-tensors";
  return "tools/bazel run //harness" + (options.empty() ? "" : " --" + options) + "\n";
}

}  // namespace torch_ir

// Options of command lines, whose errors say what was found and what was expected.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "torch_ir/base/error.h"

namespace torch_ir {

// Requires the whole text to be a number from `least` (excluded if `above`) to `most`: CLI11 itself
// accepts -1 for an unsigned number, and reads 010 as 8. Errors say "invalid KIND" and `expected`.
template <class Number>
CLI::Validator number(const std::string& kind, Number least, Number most, bool above,
                      const std::string& expected) {
  const auto check = [=](std::string& text) -> std::string {
    Number value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    // NaN compares as false.
    const bool fits = error == std::errc() && rest == end && value >= least && value <= most &&
                      !(above && value == least);
    if (!fits) return fmt::format("invalid {} '{}'; expected {}", kind, text, expected);
    text = fmt::format("{}", value);
    return "";
  };
  return CLI::Validator(check, "");
}

// The option of all programs for archives that hold several programs.
inline constexpr const char* kProgramFlag = "--program";
inline constexpr const char* kProgramText = "The program to take from an archive with several";

// The option of the programs that choose how many threads run a graph.
inline constexpr const char* kThreadsFlag = "--threads";
inline constexpr const char* kThreadsText = "Threads that an operator may use";
inline constexpr int kMostThreads = 1024;

// Adds an option whose value `parse` takes; its Errors become messages about the option.
inline CLI::Option* add_parsed_option(CLI::App& parser, const std::string& name,
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

// Parses `arguments`, without the program's name, as `parser` declares them. Throws an Error of one
// line that names the option, and passes on what CLI11 throws for --help and --version.
//
// The value of an option is the next word. A value that looks like an option itself must be given
// as --option=VALUE, so that a missing value is noticed.
void parse_arguments(CLI::App& parser, const std::vector<std::string>& arguments);

}  // namespace torch_ir

// Runs the harness's command line in tests, and reads its reports.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <source_location>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/command_line.h"
#include "torch_ir/base/file.h"

namespace torch_ir {

struct HarnessOutcome {
  int status;
  std::string out;
  std::string err;

  HarnessOutcome expect_status(int expected,
                               std::source_location at = std::source_location::current()) const {
    if (status != expected) {
      ADD_FAILURE_AT(at.file_name(), static_cast<int>(at.line()))
          << "exit status " << status << ", expected " << expected << '\n'
          << out << err;
    }
    return *this;
  }
};

inline HarnessOutcome run_program(const std::string& program,
                                  const std::vector<std::string>& arguments, bool has_bar = false) {
  std::vector<const char*> argv = {program.c_str()};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream err;
  const int status =
      harness_main(static_cast<int>(argv.size()), argv.data(), out, err, {.has_bar = has_bar});
  return {status, out.str(), err.str()};
}

inline HarnessOutcome run_command_line(const std::vector<std::string>& arguments,
                                       bool has_bar = false) {
  return run_program("bazel-bin/harness/harness", arguments, has_bar);
}

// File contents by path relative to `directory`.
inline std::map<std::string, std::string> files_below(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const std::filesystem::directory_entry& entry :
       std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    files[std::filesystem::relative(entry.path(), directory)] = read_file(entry.path());
  }
  return files;
}

class HarnessTest : public ::testing::Test {
 protected:
  HarnessTest() {
    std::filesystem::remove_all(scratch_);
    std::filesystem::create_directories(scratch_);
  }
  ~HarnessTest() override { std::filesystem::remove_all(scratch_); }

  HarnessOutcome run(std::vector<std::string> arguments, bool has_bar = false) const {
    arguments.insert(arguments.begin(), {"--output", output_});
    return run_command_line(std::move(arguments), has_bar);
  }

  std::string path(const std::string& name) const { return scratch_ + "/" + name; }
  std::map<std::string, std::string> reports() const { return files_below(output_); }
  nlohmann::json results() const { return nlohmann::json::parse(reports().at("results.json")); }
  std::vector<std::string> report_names() const {
    std::vector<std::string> names;
    for (const auto& [name, content] : reports()) names.push_back(name);
    return names;
  }

  // Expects one line containing `message`, and no reports.
  void expect_refusal(const HarnessOutcome& outcome, const std::string& message) const {
    EXPECT_EQ(outcome.status, 2) << message;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.starts_with("harness: ")) << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr(message));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(output_));
  }
  // Expects one line with `message`; existing reports stay.
  void expect_bad_usage(const std::vector<std::string>& arguments,
                        const std::string& message) const {
    const bool had_reports = std::filesystem::exists(output_);
    const HarnessOutcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << message;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "harness: " + message + "\n");
    EXPECT_EQ(std::filesystem::exists(output_), had_reports);
  }

  const std::string scratch_ =
      ::testing::TempDir() +
      ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name();
  const std::string output_ = scratch_ + "/reports";
};

}  // namespace torch_ir

// CliTest: a fixture for tests of torch-ir's commands.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

// Expects status 2, no output, and "torch-ir: MESSAGE" as the only error.
void expect_refused(const Outcome& outcome, const std::string& message);

// Expects status 2, no output, and `num_lines` lines of error that match `error`.
void expect_failed(const Outcome& outcome, const testing::Matcher<std::string>& error,
                   int64_t num_lines = 1);

class CliTest : public testing::Test {
 public:
  static Outcome torch_ir(const std::vector<std::string>& arguments);

 protected:
  CliTest();

  // Also expects `status` and no error; returns the output.
  static std::string printed(const std::vector<std::string>& arguments, int status = 0);

  // An archive of the tests of pt2.
  static std::string archive(const std::string& name) {
    return "src/torch_ir/exporter/pt2/testdata/" + name;
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // Writes a file into the folder; returns its path.
  std::string file(const std::string& name, const std::string& content) const;
  std::string graph_file(const std::string& name, const IR& ir) const;
  std::string tensor_file(const std::string& name,
                          const std::vector<std::pair<std::string, at::Tensor>>& tensors) const;
  std::vector<std::string> files() const;

  struct MaskedLinear {
    std::string graph;
    std::string weights;
    std::string inputs;
    std::string expected;
    at::Tensor output;
  };
  MaskedLinear masked_linear() const;

 private:
  std::string folder_;
};

}  // namespace torch_ir

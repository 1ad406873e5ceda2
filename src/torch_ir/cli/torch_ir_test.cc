// The program itself: exit statuses, streams and files as a shell sees them.

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "torch_ir/base/file.h"
#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

using testing::HasSubstr;

class TorchIrTest : public CliTest {
 protected:
  // Runs a shell command line in the test's folder; `torch-ir` in it is the program.
  Outcome shell(const std::string& command) const {
    const std::string program =
        std::filesystem::absolute(std::string(std::getenv("TEST_SRCDIR")) + "/" +
                                  std::getenv("TEST_WORKSPACE") + "/src/torch_ir/cli/torch-ir");
    const std::string line =
        "cd '" + path("") + "' && torch_ir='" + program + "' && { " + command + "; } >out 2>err";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(path("out")),
            read_file(path("err"))};
  }
};

TEST_F(TorchIrTest, PrintsToTheStandardOutput) {
  graph_file("model.json", masked_linear_graph());
  const Outcome outcome = shell("\"$torch_ir\" visualize model.json");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, ir_to_mermaid(masked_linear_graph()));
  EXPECT_EQ(outcome.err, "");
  graph_file("other.json", gather_with_index_graph());
  EXPECT_EQ(shell("\"$torch_ir\" diff model.json other.json").status, 1);
}

TEST_F(TorchIrTest, TakesPathsFromWhereTheUserIs) {
  std::filesystem::create_directory(path("elsewhere"));
  graph_file("model.json", masked_linear_graph());
  const Outcome outcome = shell(
      "BUILD_WORKING_DIRECTORY=\"$PWD\" && export BUILD_WORKING_DIRECTORY && cd elsewhere && "
      "\"$torch_ir\" info model.json -o summary.txt");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(read_file(path("summary.txt")), HasSubstr("Model: MaskedLinear\n"));
}

TEST_F(TorchIrTest, SaysWhyDotFailed) {
  graph_file("model.json", masked_linear_graph());
  expect_refused(
      shell("mkdir bin && printf '#!/bin/sh\\necho no fonts >&2\\nexit 3\\n' >bin/dot && chmod +x "
            "bin/dot && "
            "PATH=\"$PWD/bin:$PATH\" \"$torch_ir\" visualize model.json -o graph.png"),
      "Graphviz's 'dot' failed with exit status 3: no fonts");
}

}  // namespace
}  // namespace torch_ir

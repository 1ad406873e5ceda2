// Executors that run as servers: a command without placeholders.

#include <ATen/ops/equal.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "harness/backend/testing/command_backend_fixture.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::StartsWith;

// A server whose shell script runs `start` once, and `on_request` for each line $line with its
// number $n.
class ServerTest : public CommandBackendTest {
 protected:
  ServerTest() { save_weights_safetensors({{"mul", at::ones({1, 2})}}, folder_ + "/given"); }

  std::unique_ptr<Backend> server(const std::string& on_request, const std::string& start = "",
                                  bool has_intermediates = false) {
    write_file(folder_ + "/server.sh", "cd " + folder_ + "\nhand_in() { cp given \"" + files_ +
                                           "outputs.safetensors\"; }\necho >> starts\n" + start +
                                           "\nn=0\nwhile read -r line; do\n  n=$((n + 1))\n" +
                                           on_request + "\ndone\n");
    return raw_backend("exec sh " + folder_ + "/server.sh", has_intermediates);
  }

  void expect_run(Backend& backend) {
    EXPECT_TRUE(at::equal(backend.run(graph_case()).at(0), at::ones({1, 2})));
  }
  size_t num_starts() const { return read_file(folder_ + "/starts").size(); }

  const std::string files_ = folder_ + "/it's a folder/executor/";
};

constexpr const char* kAnswerOk = "hand_in; echo '{\"status\": \"ok\"}'";

TEST_F(ServerTest, IsStartedOnceAndReadsTheFilesOfEachRun) {
  const auto it = server(std::string("echo \"$line\" >> requests; ") + kAnswerOk);
  expect_run(*it);
  expect_run(*it);
  EXPECT_EQ(num_starts(), 1u);
  const std::string request =
      "{\"name\":\"Small\",\"ir\":\"" + files_ + "ir.json\",\"weights\":\"" + files_ +
      "weights.safetensors\",\"inputs\":\"" + files_ + "inputs.safetensors\",\"outputs\":\"" +
      files_ + "outputs.safetensors\",\"groups\":\"" + files_ + "groups.json\"}\n";
  EXPECT_EQ(read_file(folder_ + "/requests"), request + request);
  EXPECT_EQ(it->values(graph_case()), nullptr);
  EXPECT_EQ(it->last_report(), std::nullopt);
}

TEST_F(ServerTest, HandsBackIntermediatesWhereTheyAreAskedFor) {
  const std::string path = files_ + "intermediates.safetensors";
  const auto it = server("case \"$line\" in *'\"intermediates\":\"" + files_.substr(0, 5) +
                             "'*) cp given \"" + path + "\";; esac; " + kAnswerOk,
                         "", /*has_intermediates=*/true);
  EXPECT_TRUE(at::equal(it->values(graph_case())->next("mul"), at::ones({1, 2})));
  EXPECT_EQ(server(kAnswerOk, "", /*has_intermediates=*/true)->values(graph_case()), nullptr);
}

TEST_F(ServerTest, SaysWhatItDoesNotSupportAndWhatFailsAndStays) {
  const auto it = server(
      "echo noise >&2; case $n in\n"
      "1) echo '{\"status\": \"unsupported\", \"message\": \"no mul\"}';;\n"
      "2) echo '{\"status\": \"unsupported\"}';;\n"
      "3) printf '%s\\n' '{\"status\": \"error\", \"message\": \"a\\nb\"}';;\n"
      "4) echo '{\"status\": \"ok\", \"more\": [1]}';;\n"
      "*) " +
      std::string(kAnswerOk) + ";; esac");
  EXPECT_THAT([&] { it->run(graph_case()); },
              is_unsupported("The executor does not support the graph: no mul"));
  EXPECT_EQ(error_of_run(*it), "The executor does not support the graph; it printed: noise");
  EXPECT_EQ(error_of_run(*it), "The executor answered with an error: a | b");
  EXPECT_EQ(error_of_run(*it),
            "The executor answered ok but wrote no file {outputs}; it printed: noise");
  expect_run(*it);
  EXPECT_EQ(num_starts(), 1u);
}

TEST_F(ServerTest, ThatEndsCostsTheRunAtHand) {
  const auto it =
      server("[ $n = 1 ] || { echo no memory >&2; . ./end; }\n" + std::string(kAnswerOk));
  const std::string exited = " without an answer (a command without {ir} is run as a server)";
  const std::pair<std::string, std::string> ends[] = {
      {"exit 4", "exited with status 4" + exited},
      {"exit 0", "exited with status 0" + exited},
      {"kill -11 $$", "was killed by signal 11 (Segmentation fault) without an answer"}};
  for (const auto& [end, how] : ends) {
    write_file(folder_ + "/end", end);
    expect_run(*it);
    EXPECT_THAT(
        [&] { it->run(graph_case()); },
        testing::Throws<CommandFailure>(testing::AllOf(
            testing::Property(&CommandFailure::end, testing::Field(&CommandEnd::has_crashed, true)),
            testing::Property(&CommandFailure::what,
                              "The executor " + how + "; it printed: no memory"))));
  }
  expect_run(*it);
  EXPECT_EQ(num_starts(), 4u);
}

TEST_F(ServerTest, ThatAnswersNonsenseIsStartedAgain) {
  const auto expect = [&](const std::string& answer, const std::string& how) {
    // In one write, because a reader might otherwise see the second line later.
    write_file(folder_ + "/answer", answer + "\n");
    const auto it = server("if [ -e answer ]; then mv answer now; hand_in; cat now; else\n" +
                           std::string(kAnswerOk) + "\nfi");
    EXPECT_THAT(error_of_run(*it), StartsWith("The executor " + how));
    const size_t starts = num_starts();
    expect_run(*it);
    EXPECT_EQ(num_starts(), starts + 1) << answer;
  };
  const std::pair<std::string, std::string> answers[] = {
      {"hello", "not valid JSON: "},
      {"[]", "expected an object, found array"},
      {"{}", "missing key 'status'"},
      {R"({"status": "okay"})", "unknown status 'okay'; expected one of: ok, unsupported, error"},
      {R"({"status": "ok", "nodes": {"relu": 1}})",
       "/nodes/relu: expected a place or an object, found 1"},
      {R"({"status": "ok", "nodes": {"relu": {"metrics": {"load": [1]}}}})",
       "/nodes/relu/metrics/load: expected a number or text, found array"},
      {R"({"status": "ok", "nodes": {"rel": "npu"}})", "unknown node 'rel'; did you mean 'relu'?"}};
  for (const auto& [answer, problem] : answers) {
    expect(answer, "gave the invalid answer '" + answer + "': " + problem);
  }
  const std::string ok = R"({"status": "ok"})";
  expect(ok + "\n" + ok, "answered with more than one line");
}

TEST_F(ServerTest, ThatSpeaksUnaskedIsNotTakenForOneThatAnswers) {
  // The server waits until the test has read its answer.
  ASSERT_EQ(::mkfifo((folder_ + "/go").c_str(), 0600), 0);
  const auto it =
      server("hand_in; echo '{\"status\": \"ok\"}'; read -r go < go; echo more; echo > go");
  expect_run(*it);
  std::ofstream(folder_ + "/go") << "go\n";
  std::string line;
  std::getline(std::ifstream(folder_ + "/go"), line);
  EXPECT_EQ(error_of_run(*it), "The executor answered without a request; it printed nothing");
}

// Other keys, such as times, are ignored.
TEST_F(ServerTest, TellsWhereNodesRan) {
  const auto it = server(
      "hand_in; echo '{\"status\": \"ok\", \"seconds\": 0.5, \"nodes\": "
      "{\"mul\": {\"place\": \"host\", \"seconds\": 0.25, \"metrics\": {\"cycles\": 7, "
      "\"load\": 0.5, \"tile\": \"8x8\"}}, \"relu\": \"cpu-fallback\", \"linear\": \"host\"}}'");
  expect_run(*it);
  ASSERT_TRUE(it->last_report());
  EXPECT_EQ(it->last_report()->num_nodes, 3);
  EXPECT_THAT(it->last_report()->on_host(), ElementsAre("linear", "mul"));
  const auto nodes = it->last_report()->nodes;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[1].second.place, "cpu-fallback");
  EXPECT_EQ(nodes[2].first, "mul");
  EXPECT_EQ(nodes[2].second.op_type, "aten.mul.Tensor");
  EXPECT_THAT(nodes[2].second.metrics,
              ElementsAre(Pair("cycles", ExecutorMetric(int64_t{7})),
                          Pair("load", ExecutorMetric(0.5)), Pair("tile", ExecutorMetric("8x8"))));
}

TEST_F(ServerTest, EndsWithWhatItHasStarted) {
  const std::string fifo = folder_ + "/alive";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int alive = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  auto it = server(kAnswerOk, "exec 9> alive; sleep 1000 & echo > alive");
  expect_run(*it);
  it.reset();
  ::fcntl(alive, F_SETFL, 0);
  char byte = 0;
  EXPECT_EQ(::read(alive, &byte, 1), 1);
  // Blocks while the other end is open in any process.
  EXPECT_EQ(::read(alive, &byte, 1), 0);
  ::close(alive);
}

}  // namespace
}  // namespace torch_ir

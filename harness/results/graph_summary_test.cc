#include "harness/results/graph_summary.h"

#include <gtest/gtest.h>

#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

IR make_graph() {
  IR graph;
  graph.model_name = "Tiny";
  graph.pytorch_version = "2.13.0";
  graph.graph_inputs.push_back({.name = "x", .shape = {1, 2}, .dtype = "float32"});
  return graph;
}

TEST(GraphFingerprintTest, IsTheSameForAllVersionsOfPyTorch) {
  const IR graph = make_graph();
  IR newer = graph;
  newer.pytorch_version = "2.14.0";
  EXPECT_EQ(graph_fingerprint(newer), graph_fingerprint(graph));
  // What hashlib.sha1 says of the file without a version, so that baselines stay comparable.
  EXPECT_EQ(graph_fingerprint(graph), "811dc63c62d99265a1f8167c15c330913940e75b");
}

TEST(GraphFingerprintTest, TellsGraphsApart) {
  const IR graph = make_graph();
  IR renamed = graph;
  renamed.graph_inputs[0].name = "y";
  EXPECT_NE(graph_fingerprint(renamed), graph_fingerprint(graph));
  IR reshaped = graph;
  reshaped.graph_inputs[0].shape = {2, 1};
  EXPECT_NE(graph_fingerprint(reshaped), graph_fingerprint(graph));
}

TEST(GraphFingerprintTest, IsThatOfTheFile) {
  const IR graph = make_graph();
  EXPECT_EQ(graph_fingerprint(deserialize_ir(serialize_ir(graph))), graph_fingerprint(graph));
}

}  // namespace
}  // namespace torch_ir

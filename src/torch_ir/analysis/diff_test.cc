#include "torch_ir/analysis/diff.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TensorMeta value(const std::string& name, std::vector<int64_t> shape = {1, 4}) {
  return {.name = name, .shape = std::move(shape), .dtype = "float32", .producer_node = name};
}

OpNode call(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
            AttributeMap attrs = {}) {
  OpNode node = {.name = name,
                 .op_type = "aten." + op + ".default",
                 .inputs = {},
                 .outputs = {value(name)},
                 .attrs = std::move(attrs)};
  for (const std::string& input : inputs) {
    node.inputs.push_back(value(input));
    if (input.starts_with("p_")) node.inputs.back().producer_node.reset();
  }
  return node;
}

// Two layers with a ReLU after each, and their sum.
IR two_layers() {
  IR ir;
  ir.model_name = "Net";
  ir.pytorch_version = "2.13.0";
  ir.graph_inputs = {value("x")};
  ir.nodes = {call("linear", "linear", {"x", "p_a"}), call("relu", "relu", {"linear"}),
              call("linear_1", "linear", {"relu", "p_b"}), call("relu_1", "relu", {"linear_1"}),
              call("add", "add", {"relu", "relu_1"}, {{"alpha", 1}})};
  ir.graph_outputs = {value("add")};
  for (const std::string letter : {"a", "b"}) {
    ir.weights.push_back({.name = letter + ".weight", .shape = {1, 4}, .dtype = "float32"});
    ir.weight_name_mapping.insert("p_" + letter, letter + ".weight");
  }
  return ir;
}

std::vector<std::string> texts(const std::vector<Change>& changes) {
  std::vector<std::string> lines;
  for (const Change& change : changes) lines.push_back(change_text(change));
  return lines;
}

std::vector<std::string> texts(const GraphDiff& diff) { return texts(diff.changes); }

std::vector<std::string> changes_of(const std::function<void(IR&)>& mutate) {
  IR changed = two_layers();
  mutate(changed);
  return texts(diff(two_layers(), changed));
}

TEST(Diff, FindsNoneInEqualGraphs) {
  const GraphDiff none = diff(two_layers(), two_layers());
  EXPECT_TRUE(none.is_equal());
  EXPECT_THAT(none.renames, IsEmpty());
  EXPECT_EQ(summary_text(none), "no difference");
  EXPECT_TRUE(diff(IR(), IR()).is_equal());
}

TEST(Diff, IgnoresModulePathsAndSaysSo) {
  IR moved = two_layers();
  moved.nodes[1].module = "act";
  const GraphDiff same = diff(two_layers(), moved);
  EXPECT_TRUE(same.is_equal());
  EXPECT_THAT(texts(same.renames), ElementsAre("relu (aten.relu.default): module nothing -> act"));
  EXPECT_EQ(summary_text(same), "no difference; 1 module path changed");
}

TEST(Diff, NamesModelAndVersion) {
  EXPECT_THAT(changes_of([](IR& ir) {
                ir.model_name = "Net2";
                ir.pytorch_version = "";
              }),
              ElementsAre("model name changed: 'Net' -> 'Net2'",
                          "PyTorch version changed: '2.13.0' -> ''"));
}

TEST(Diff, NamesInputs) {
  EXPECT_THAT(changes_of([](IR& ir) { ir.graph_inputs.push_back(value("y", {})); }),
              ElementsAre("input added: y, float32 []"));
  EXPECT_THAT(changes_of([](IR& ir) { ir.graph_inputs[0].dtype = "float16"; }),
              ElementsAre("input changed: x float32 [1, 4] -> float16 [1, 4]"));
}

TEST(Diff, TakesAnInputOfAnotherNameInTheSamePlace) {
  EXPECT_THAT(changes_of([](IR& ir) {
                ir.graph_inputs[0].name = "tokens";
                ir.nodes[0].inputs[0].name = "tokens";
              }),
              ElementsAre("input changed: tokens name x -> tokens"));
}

TEST(Diff, NamesWeightsAndTheirMapping) {
  EXPECT_THAT(changes_of([](IR& ir) {
                ir.weights.push_back({.name = "c", .shape = {2}, .dtype = "int64"});
                ir.weight_name_mapping.insert("p_c", "c");
              }),
              ElementsAre("weight added: c, int64 [2]"));
  EXPECT_THAT(changes_of([](IR& ir) { ir.weight_name_mapping["p_a"] = "b.weight"; }),
              ElementsAre("weight mapping changed: p_a a.weight -> b.weight"));
  EXPECT_THAT(changes_of([](IR& ir) {
                ir.weights[0].shape = {8, 4};
                ir.nodes[0].inputs[1].shape = {8, 4};
              }),
              ElementsAre("weight changed: a.weight float32 [1, 4] -> float32 [8, 4]"));
}

TEST(Diff, NamesConstants) {
  IR old = two_layers();
  old.constants.insert("mask", at::tensor({1.0f, 0.0f}));
  IR now = old;
  now.constants["mask"] = at::tensor({1.0f, -0.0f});
  EXPECT_THAT(texts(diff(old, now)),
              ElementsAre("constant changed: mask values 0 at [1] -> -0, 1 of 2 elements differ"));
  now.constants["mask"] = at::zeros({3});
  EXPECT_THAT(texts(diff(old, now)),
              ElementsAre("constant changed: mask float32 [2] -> float32 [3]"));
  EXPECT_THAT(texts(diff(old, two_layers())), ElementsAre("constant removed: mask, float32 [2]"));
}

TEST(Diff, NamesFixedInputsOutputsRangesAndGuards) {
  EXPECT_THAT(changes_of([](IR& ir) {
                ir.constant_inputs.set("flag", true);
                ir.range_constraints.push_back({"s0", 2, std::nullopt});
                ir.guards.push_back("x.size()[0] != 5");
                ir.constant_outputs.push_back({1, Attribute()});
              }),
              ElementsAre("fixed input changed: flag nothing -> True",
                          "range changed: s0 nothing -> 2 to any",
                          "guard changed: x.size()[0] != 5 nothing -> checked",
                          "output added: fixed output 1, None"));
}

TEST(Diff, NamesAttributes) {
  EXPECT_THAT(changes_of([](IR& ir) { ir.nodes[4].attrs.set("alpha", 2); }),
              ElementsAre("add (aten.add.default): alpha 1 -> 2"));
  EXPECT_THAT(changes_of([](IR& ir) { ir.nodes[4].attrs = {{"beta", "x"}}; }),
              ElementsAre("add (aten.add.default): beta nothing -> 'x'",
                          "add (aten.add.default): alpha 1 -> nothing"));
}

TEST(Diff, NamesShapesWhereTheyAreMade) {
  EXPECT_THAT(changes_of([](IR& ir) {
                ir.nodes[1].outputs[0].shape = {1, 8};
                ir.nodes[2].inputs[0].shape = {1, 8};
                ir.nodes[4].inputs[0].shape = {1, 8};
              }),
              ElementsAre("relu (aten.relu.default): result float32 [1, 4] -> float32 [1, 8]"));
  EXPECT_THAT(changes_of([](IR& ir) { ir.nodes[4].inputs[0].shape = {1, 8}; }),
              ElementsAre("add (aten.add.default): input 0 float32 [1, 4] -> float32 [1, 8]"));
}

TEST(Diff, NamesWhatReadsSomethingElse) {
  EXPECT_THAT(changes_of([](IR& ir) { ir.nodes[4].inputs[0].name = "linear"; }),
              ElementsAre("add (aten.add.default): input 0 relu -> linear"));
  EXPECT_THAT(changes_of([](IR& ir) { ir.nodes[4].inputs.pop_back(); }),
              ElementsAre("add (aten.add.default): inputs [relu, relu_1] -> [relu]"));
  EXPECT_THAT(changes_of([](IR& ir) { ir.graph_outputs[0].name = "relu_1"; }),
              ElementsAre("output changed: output 0 add -> relu_1"));
}

TEST(Diff, NamesAnotherOperatorInTheSamePlace) {
  EXPECT_THAT(changes_of([](IR& ir) { ir.nodes[3].op_type = "aten.gelu.default"; }),
              ElementsAre("operator replaced: relu_1 aten.relu.default -> aten.gelu.default"));
}

TEST(Diff, NamesWhatMoved) {
  IR old = two_layers();
  old.nodes.insert(old.nodes.begin() + 2, call("neg", "neg", {"relu"}));
  IR now = old;
  std::rotate(now.nodes.begin() + 2, now.nodes.begin() + 3, now.nodes.begin() + 5);
  EXPECT_THAT(texts(diff(old, now)),
              ElementsAre("operator moved: neg (aten.neg.default) place 2 -> 4"));
}

// One more ReLU in front shifts all names after it.
TEST(Diff, MatchesNodesWhateverTheirNames) {
  IR now = two_layers();
  now.nodes.insert(now.nodes.begin(), call("relu", "relu", {"x"}));
  now.nodes[1].inputs[0].name = "relu";
  now.nodes[2].name = now.nodes[2].outputs[0].name = "relu_1";
  now.nodes[3].inputs[0].name = "relu_1";
  now.nodes[4].name = now.nodes[4].outputs[0].name = "relu_2";
  now.nodes[5].inputs[0].name = "relu_1";
  now.nodes[5].inputs[1].name = "relu_2";
  const GraphDiff changes = diff(two_layers(), now);
  EXPECT_THAT(texts(changes),
              ElementsAre("operator added: relu (aten.relu.default), float32 [1, 4]",
                          "linear (aten.linear.default): input 0 x -> relu"));
  EXPECT_THAT(texts(changes.renames), ElementsAre("operator renamed: relu -> relu_1",
                                                  "operator renamed: relu_1 -> relu_2"));
  EXPECT_EQ(summary_text(changes),
            "1 operator added, 1 operator input changed; 2 operators renamed");
}

// Among many equal places, the names decide.
TEST(Diff, TakesOutTheOneWhoseNameIsGone) {
  IR old = two_layers();
  old.nodes.clear();
  std::string last = "x";
  for (const std::string name : {"a", "b", "c", "d", "e"}) {
    old.nodes.push_back(call(name, "relu", {last}));
    last = name;
  }
  old.graph_outputs = {value("e")};
  for (size_t gone = 1; gone + 1 < old.nodes.size(); ++gone) {
    IR now = old;
    now.nodes[gone + 1].inputs[0].name = old.nodes[gone - 1].name;
    now.nodes.erase(now.nodes.begin() + static_cast<ptrdiff_t>(gone));
    const std::string name = old.nodes[gone].name;
    EXPECT_THAT(texts(diff(old, now)),
                ElementsAre("operator removed: " + name + " (aten.relu.default), float32 [1, 4]",
                            old.nodes[gone + 1].name + " (aten.relu.default): input 0 " + name +
                                " -> " + old.nodes[gone - 1].name));
    EXPECT_THAT(texts(diff(now, old)), SizeIs(2));
    EXPECT_EQ(diff(now, old).changes[0].name, name);
  }
}

TEST(Diff, LooksIntoConditions) {
  IR old = two_layers();
  OpNode condition = call("cond", "cond", {"x"});
  condition.graphs.push_back(IRGraph{.graph_inputs = {value("y")},
                                   .graph_outputs = {value("r")},
                                   .nodes = {call("r", "relu", {"y"}, {{"k", 1}})}});
  old.nodes.push_back(condition);
  IR now = old;
  now.nodes.back().graphs[0].nodes[0].attrs.set("k", 2);
  EXPECT_THAT(texts(diff(old, now)),
              ElementsAre("in cond, graph 0: r (aten.relu.default): k 1 -> 2"));
  now.nodes.back().graphs.push_back({});
  EXPECT_THAT(texts(diff(old, now)),
              ElementsAre("in cond, graph 0: r (aten.relu.default): k 1 -> 2",
                          "cond (aten.cond.default): graphs 1 -> 2"));
}

TEST(Diff, WritesOneLineWhateverTheFilesHold) {
  const auto lines = changes_of([](IR& ir) { ir.model_name = "a\nb\x1b[31m"; });
  EXPECT_THAT(lines, ElementsAre("model name changed: 'Net' -> 'a\\x0ab\\x1b[31m'"));
}

// The graphs of the registry.
std::vector<IR> reference_graphs() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("reports/reference/ir")) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<IR> graphs;
  for (const auto& file : files) graphs.push_back(load_ir(file));
  return graphs;
}

ChangeKind mirrored(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kOperatorAdded:
      return ChangeKind::kOperatorRemoved;
    case ChangeKind::kOperatorRemoved:
      return ChangeKind::kOperatorAdded;
    case ChangeKind::kOutputAdded:
      return ChangeKind::kOutputRemoved;
    case ChangeKind::kOutputRemoved:
      return ChangeKind::kOutputAdded;
    default:
      return kind;
  }
}

// The reverse comparison has the same kinds, with additions and removals swapped.
void expect_symmetric(const IR& old, const IR& now) {
  std::vector<ChangeKind> forward;
  std::vector<ChangeKind> backward;
  for (const Change& change : diff(old, now).changes) forward.push_back(change.kind);
  for (const Change& change : diff(now, old).changes) backward.push_back(mirrored(change.kind));
  std::ranges::sort(forward);
  std::ranges::sort(backward);
  EXPECT_EQ(forward, backward);
}

TEST(Diff, NamesExactlyTheOneMutation) {
  std::mt19937 random(3);
  for (const IR& graph : reference_graphs()) {
    SCOPED_TRACE(graph.model_name);
    EXPECT_TRUE(diff(graph, graph).is_equal());
    for (int round = 0; round < 20; ++round) {
      const size_t place = random() % graph.nodes.size();
      const std::string& name = graph.nodes[place].name;
      SCOPED_TRACE(name);

      IR attribute = graph;
      attribute.nodes[place].attrs.set("made_up", 7);
      EXPECT_THAT(
          texts(diff(graph, attribute)),
          ElementsAre(name + " (" + graph.nodes[place].op_type + "): made_up nothing -> 7"));

      IR shape = graph;
      shape.nodes[place].outputs[0].shape.push_back(3);
      const GraphDiff shapes = diff(graph, shape);
      EXPECT_EQ(shapes.changes.at(0).kind, ChangeKind::kShape);
      EXPECT_EQ(shapes.changes.at(0).name, name);

      IR replaced = graph;
      replaced.nodes[place].op_type = "aten.made_up.default";
      const GraphDiff replacement = diff(graph, replaced);
      ASSERT_THAT(replacement.changes, SizeIs(1));
      EXPECT_EQ(replacement.changes[0].kind, ChangeKind::kOperatorReplaced);
      EXPECT_EQ(replacement.changes[0].name, name);

      // One more node, which nothing reads, shifts all names after it.
      IR longer = graph;
      for (size_t i = place; i < graph.nodes.size(); ++i) longer.nodes[i].name += "_shifted";
      OpNode added = graph.nodes[place];
      added.name = "made_up";
      for (TensorMeta& output : added.outputs) output.name = "made_up_" + output.name;
      longer.nodes.insert(longer.nodes.begin() + static_cast<ptrdiff_t>(place), added);
      const GraphDiff addition = diff(graph, longer);
      ASSERT_THAT(addition.changes, SizeIs(1)) << ::testing::PrintToString(texts(addition));
      EXPECT_EQ(addition.changes[0].kind, ChangeKind::kOperatorAdded);
      expect_symmetric(graph, longer);

      IR rewired = graph;
      if (rewired.nodes[place].inputs.empty()) continue;
      TensorMeta& input = rewired.nodes[place].inputs[0];
      input.name =
          input.name == graph.graph_inputs[0].name ? "made_up" : graph.graph_inputs[0].name;
      const GraphDiff wires = diff(graph, rewired);
      ASSERT_THAT(wires.changes, SizeIs(1)) << ::testing::PrintToString(texts(wires));
      EXPECT_EQ(wires.changes[0].kind, ChangeKind::kOperatorInputs);
      EXPECT_EQ(wires.changes[0].property, "input 0");
      EXPECT_EQ(wires.changes[0].name, name);
      expect_symmetric(graph, rewired);
    }
  }
}

// Another front end gives all values other names, and one more node is inserted.
TEST(Diff, IsSmallWhereAllNamesChangeAndANodeComes) {
  for (const IR& graph : reference_graphs()) {
    SCOPED_TRACE(graph.model_name);
    IR renamed = graph;
    std::map<std::string, std::string> names;
    for (OpNode& node : renamed.nodes) {
      node.name = "n" + std::to_string(names.size());
      for (TensorMeta& output : node.outputs) {
        output.name = names[output.name] = "n" + std::to_string(names.size());
      }
    }
    const auto rename = [&](std::vector<TensorMeta>& values) {
      for (TensorMeta& value : values) {
        if (names.contains(value.name)) value.name = names[value.name];
      }
    };
    for (OpNode& node : renamed.nodes) rename(node.inputs);
    rename(renamed.graph_outputs);
    const GraphDiff same = diff(graph, renamed);
    EXPECT_TRUE(same.is_equal()) << ::testing::PrintToString(texts(same));

    const size_t place = renamed.nodes.size() / 2;
    OpNode added = call("added", "made_up", {renamed.nodes[place].outputs[0].name});
    size_t num_readers = 0;
    for (size_t i = place + 1; i < renamed.nodes.size(); ++i) {
      for (TensorMeta& input : renamed.nodes[i].inputs) {
        if (input.name != added.inputs[0].name) continue;
        input.name = "added";
        ++num_readers;
      }
    }
    renamed.nodes.insert(renamed.nodes.begin() + static_cast<ptrdiff_t>(place) + 1, added);
    EXPECT_THAT(texts(diff(graph, renamed)), SizeIs(::testing::Le(1 + 2 * num_readers)));
  }
}

TEST(Diff, TellsUnrelatedGraphsApart) {
  const std::vector<IR> graphs = reference_graphs();
  for (const IR& a : graphs) {
    for (const IR& b : graphs) EXPECT_EQ(diff(a, b).is_equal(), &a == &b);
  }
}

TEST(Diff, TakesLargeGraphs) {
  IR old = two_layers();
  while (old.nodes.size() < 20000) {
    const std::string last = old.nodes.back().name;
    old.nodes.push_back(call("n" + std::to_string(old.nodes.size()), "relu", {last}));
  }
  IR now = old;
  now.nodes.erase(now.nodes.begin() + 10000);
  now.nodes[10000].inputs[0].name = old.nodes[9999].name;
  EXPECT_THAT(texts(diff(old, now)), SizeIs(2));
  std::mt19937 random(4);
  for (OpNode& node : now.nodes) node.op_type = random() % 2 == 0 ? "a.b.c" : "a.b.d";
  EXPECT_FALSE(diff(old, now).is_equal());
}

}  // namespace
}  // namespace torch_ir

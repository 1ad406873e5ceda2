#include "torch_ir/analysis/diff.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <random>

#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/program_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Value value(std::vector<int64_t> shape = {1, 4}) {
  return {.shape = std::move(shape), .dtype = c10::kFloat};
}

// Adds a call of "aten.OP.default".
ValueId add_call(Graph& graph, const std::string& name, const std::string& op,
                 const std::vector<ValueId>& inputs, const std::vector<Argument>& attributes = {}) {
  std::vector<Argument> arguments;
  for (const ValueId input : inputs) arguments.push_back({"", input});
  std::ranges::copy(attributes, std::back_inserter(arguments));
  return add_node(graph, name, "aten." + op + ".default", std::move(arguments), value());
}

// Two layers with a ReLU after each, and their sum.
Program two_layers() {
  Program program;
  program.model_name = "Net";
  program.torch_version = "2.13.0";
  const ValueId x = add_input(program, "x", value());
  const ValueId a = add_input(program, "p_a", value(), InputKind::kParameter, "a.weight");
  const ValueId b = add_input(program, "p_b", value(), InputKind::kParameter, "b.weight");
  const ValueId linear = add_call(program, "linear", "linear", {x, a});
  const ValueId relu = add_call(program, "relu", "relu", {linear});
  const ValueId linear_1 = add_call(program, "linear_1", "linear", {relu, b});
  const ValueId relu_1 = add_call(program, "relu_1", "relu", {linear_1});
  program.outputs = {add_call(program, "add", "add", {relu, relu_1}, {{"alpha", Attribute(1)}})};
  return program;
}

ValueId id(const Graph& graph, const std::string& name) { return graph.find(name).value(); }

// Moves the last node.
void move_last(Graph& graph, size_t place) {
  std::rotate(graph.nodes.begin() + static_cast<ptrdiff_t>(place), graph.nodes.end() - 1,
              graph.nodes.end());
}

void rename(Graph& graph, size_t node, const std::string& name) {
  graph.nodes[node].name = graph[graph.nodes[node].outputs[0]].name = name;
}

std::vector<std::string> texts(const std::vector<Change>& changes) {
  std::vector<std::string> lines;
  for (const Change& change : changes) lines.push_back(change_text(change));
  return lines;
}

std::vector<std::string> texts(const GraphDiff& diff) { return texts(diff.changes); }

TEST(Diff, FindsNoneInEqualGraphsWhateverTheirModulePaths) {
  const GraphDiff none = diff(two_layers(), two_layers());
  EXPECT_TRUE(none.is_equal());
  EXPECT_THAT(none.renames, IsEmpty());
  EXPECT_EQ(summary_text(none), "no difference");
  EXPECT_TRUE(diff(Program(), Program()).is_equal());
  Program moved = two_layers();
  moved.nodes[1].origin.module = "act";
  const GraphDiff same = diff(two_layers(), moved);
  EXPECT_TRUE(same.is_equal());
  EXPECT_THAT(texts(same.renames), ElementsAre("relu (aten.relu.default): module nothing -> act"));
  EXPECT_EQ(summary_text(same), "no difference; 1 module path changed");
}

TEST(Diff, NamesWhatChanged) {
  const struct {
    void (*make)(Program&);
    std::vector<std::string> texts;
  } changes[] = {
      {[](Program& it) {
         it.model_name = "Net2";
         it.torch_version = "";
       },
       {"model name changed: 'Net' -> 'Net2'", "PyTorch version changed: '2.13.0' -> ''"}},
      // One line, whatever the files hold.
      {[](Program& it) { it.model_name = "a\nb\x1b[31m"; },
       {"model name changed: 'Net' -> 'a\\x0ab\\x1b[31m'"}},
      {[](Program& it) { add_input(it, "y", value({})); }, {"input added: y, float32 []"}},
      {[](Program& it) { it[id(it, "x")].dtype = c10::kHalf; },
       {"input changed: x float32 [1, 4] -> float16 [1, 4]"}},
      // An input of another name in the same place.
      {[](Program& it) { it[id(it, "x")].name = "tokens"; },
       {"input changed: tokens name x -> tokens"}},
      {[](Program& it) {
         const Value weight{.shape = {2}, .dtype = c10::kLong};
         add_input(it, "p_c", weight, InputKind::kParameter, "c");
       },
       {"weight added: c, int64 [2]"}},
      {[](Program& it) { std::swap(it.inputs[1].target, it.inputs[2].target); },
       {"weight mapping changed: p_a a.weight -> b.weight",
        "weight mapping changed: p_b b.weight -> a.weight"}},
      {[](Program& it) { it[id(it, "p_a")].shape = {8, 4}; },
       {"weight changed: a.weight float32 [1, 4] -> float32 [8, 4]"}},
      {[](Program& it) {
         it.constant_inputs.set("flag", true);
         it.range_constraints.push_back({"s0", 2, std::nullopt});
         it.guards.push_back("x.size()[0] != 5");
         it.constant_outputs.push_back({1, Attribute()});
       },
       {"fixed input changed: flag nothing -> True", "range changed: s0 nothing -> 2 to any",
        "guard changed: x.size()[0] != 5 nothing -> checked",
        "output added: fixed output 1, None"}},
      {[](Program& it) { it.nodes[4].arguments[2] = {"alpha", Attribute(2)}; },
       {"add (aten.add.default): alpha 1 -> 2"}},
      {[](Program& it) { it.nodes[4].arguments[2] = {"beta", Attribute("x")}; },
       {"add (aten.add.default): beta nothing -> 'x'",
        "add (aten.add.default): alpha 1 -> nothing"}},
      // A shape, where it is made.
      {[](Program& it) { it[id(it, "relu")].shape = {1, 8}; },
       {"relu (aten.relu.default): result float32 [1, 4] -> float32 [1, 8]"}},
      {[](Program& it) { it.nodes[4].arguments[0].value = id(it, "linear"); },
       {"add (aten.add.default): input 0 relu -> linear"}},
      {[](Program& it) { it.nodes[4].arguments.erase(it.nodes[4].arguments.begin() + 1); },
       {"add (aten.add.default): inputs [relu, relu_1] -> [relu]"}},
      {[](Program& it) { it.outputs[0] = id(it, "relu_1"); },
       {"output changed: output 0 add -> relu_1"}},
      {[](Program& it) { it.mutations = {{.output = 0, .placeholder = id(it, "x")}}; },
       {"output changed: output 0 new value of nothing -> x"}},
      {[](Program& it) { it.nodes[3].target = "aten.gelu.default"; },
       {"operator replaced: relu_1 aten.relu.default -> aten.gelu.default"}},
      {[](Program& it) {
         it.nodes[1].target = "aten.relu_.default";
         add_call(it, "neg", "neg", {it.outputs[0]});
         move_last(it, 1);
       },
       {"operator added: neg (aten.neg.default), float32 [1, 4]",
        "operator replaced: relu aten.relu.default -> aten.relu_.default"}},
  };
  for (const auto& [make, expected] : changes) {
    Program changed = two_layers();
    make(changed);
    EXPECT_EQ(texts(diff(two_layers(), changed)), expected);
    EXPECT_TRUE(diff(changed, changed).is_equal());
  }
}

TEST(Diff, NamesConstants) {
  Program old = two_layers();
  old.constants.insert("mask", at::tensor({1.0f, 0.0f}));
  Program now = old;
  now.constants["mask"] = at::tensor({1.0f, -0.0f});
  EXPECT_THAT(texts(diff(old, now)),
              ElementsAre("constant changed: mask values 0 at [1] -> -0, 1 of 2 elements differ, "
                          "by up to 0"));
  now.constants["mask"] = at::zeros({3});
  EXPECT_THAT(texts(diff(old, now)),
              ElementsAre("constant changed: mask float32 [2] -> float32 [3]"));
  EXPECT_THAT(texts(diff(old, two_layers())), ElementsAre("constant removed: mask, float32 [2]"));
}

TEST(Diff, NamesTensorsOfOtherArguments) {
  const auto index = [](const ValueList& indices) {
    Program program = two_layers();
    add_node(program, "index", "aten.index.Tensor",
             {{"self", id(program, "x")}, {"indices", indices}}, value());
    return program;
  };
  const ValueId relu = id(two_layers(), "relu");
  EXPECT_THAT(texts(diff(index({relu}), index({std::nullopt, relu}))),
              ElementsAre("index (aten.index.Tensor): input 1 as indices[0] -> as indices[1]"));
}

// Of two calls that differ in all else, the one of the same module is the partner.
TEST(Diff, MatchesNodesOfTheSameModule) {
  const auto calls = [](const std::vector<std::pair<std::string, std::string>>& names) {
    Program program;
    const ValueId x = add_input(program, "x", value());
    for (const auto& [name, module] : names) {
      program.outputs.push_back(add_call(program, name, "relu", {x}));
      program.nodes.back().origin.module = module;
    }
    return program;
  };
  const Program one = calls({{"a", "second"}});
  EXPECT_THAT(diff(one, calls({{"p", "first"}, {"q", "second"}})).old_of_new,
              ElementsAre(std::nullopt, std::optional<size_t>(0)));
  EXPECT_THAT(diff(one, calls({{"p", "second"}, {"q", "first"}})).old_of_new,
              ElementsAre(std::optional<size_t>(0), std::nullopt));
}

TEST(Diff, NamesWhatMoved) {
  Program old = two_layers();
  add_call(old, "neg", "neg", {id(old, "relu")});
  move_last(old, 2);
  Program now = old;
  std::rotate(now.nodes.begin() + 2, now.nodes.begin() + 3, now.nodes.begin() + 5);
  EXPECT_THAT(texts(diff(old, now)),
              ElementsAre("operator moved: neg (aten.neg.default) place 2 -> 4"));
}

// One more ReLU in front shifts all names after it.
TEST(Diff, MatchesNodesWhateverTheirNames) {
  Program now = two_layers();
  now.nodes[0].arguments[0].value = add_call(now, "first", "relu", {id(now, "x")});
  move_last(now, 0);
  rename(now, 4, "relu_2");
  rename(now, 2, "relu_1");
  rename(now, 0, "relu");
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
  Program old;
  ValueId last = add_input(old, "x", value());
  for (const char* name : {"a", "b", "c", "d", "e"}) last = add_call(old, name, "relu", {last});
  old.outputs = {last};
  for (size_t gone = 1; gone + 1 < old.nodes.size(); ++gone) {
    Program now = old;
    now.nodes[gone + 1].arguments = old.nodes[gone].arguments;
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
  Graph branch;
  const ValueId y = add_input(branch, "y", value());
  branch.outputs = {add_call(branch, "r", "relu", {y}, {{"k", Attribute(1)}})};
  Program old = two_layers();
  add_call(old, "cond", "cond", {id(old, "x")});
  old.nodes.back().graphs = {branch};
  Program now = old;
  now.nodes.back().graphs[0].nodes[0].arguments[1].value = Attribute(2);
  EXPECT_THAT(texts(diff(old, now)),
              ElementsAre("in cond, graph 0: r (aten.relu.default): k 1 -> 2"));
  now.nodes.back().graphs.emplace_back();
  EXPECT_THAT(texts(diff(old, now)),
              ElementsAre("in cond, graph 0: r (aten.relu.default): k 1 -> 2",
                          "cond (aten.cond.default): graphs 1 -> 2"));
}

// The graphs of the registry.
std::vector<Program> reference_graphs() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("reports/reference/ir")) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<Program> graphs;
  for (const auto& file : files) graphs.push_back(resolve(load_ir(file)));
  return graphs;
}

ChangeKind mirrored(ChangeKind kind) {
  using enum ChangeKind;
  for (const auto& [added, removed] :
       {std::pair(kOperatorAdded, kOperatorRemoved), {kOutputAdded, kOutputRemoved}}) {
    if (kind == added) return removed;
    if (kind == removed) return added;
  }
  return kind;
}

// The reverse comparison has the same kinds, with additions and removals swapped.
void expect_symmetric(const Program& old, const Program& now) {
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
  for (const Program& graph : reference_graphs()) {
    SCOPED_TRACE(graph.model_name);
    EXPECT_TRUE(diff(graph, graph).is_equal());
    for (int round = 0; round < 20; ++round) {
      const size_t place = random() % graph.nodes.size();
      const std::string& name = graph.nodes[place].name;
      SCOPED_TRACE(name);

      Program attribute = graph;
      attribute.nodes[place].arguments.push_back({"made_up", Attribute(7)});
      EXPECT_THAT(texts(diff(graph, attribute)),
                  ElementsAre(name + " (" + graph.nodes[place].target + "): made_up nothing -> 7"));

      Program shape = graph;
      shape[shape.nodes[place].outputs[0]].shape.push_back(3);
      const GraphDiff shapes = diff(graph, shape);
      EXPECT_EQ(shapes.changes.at(0).kind, ChangeKind::kShape);
      EXPECT_EQ(shapes.changes.at(0).name, name);

      Program replaced = graph;
      replaced.nodes[place].target = "aten.made_up.default";
      const GraphDiff replacement = diff(graph, replaced);
      ASSERT_THAT(replacement.changes, SizeIs(1));
      EXPECT_EQ(replacement.changes[0].kind, ChangeKind::kOperatorReplaced);
      EXPECT_EQ(replacement.changes[0].name, name);

      // One more node, which nothing reads, shifts all names after it.
      Program longer = graph;
      for (size_t i = place; i < graph.nodes.size(); ++i) longer.nodes[i].name += "_shifted";
      Node added = graph.nodes[place];
      added.name = "made_up";
      for (ValueId& output : added.outputs) {
        Value copy = graph[output];
        copy.name.insert(0, "made_up_");
        output = longer.add_value(copy);
      }
      longer.nodes.insert(longer.nodes.begin() + static_cast<ptrdiff_t>(place), added);
      const GraphDiff addition = diff(graph, longer);
      ASSERT_THAT(addition.changes, SizeIs(1)) << ::testing::PrintToString(texts(addition));
      EXPECT_EQ(addition.changes[0].kind, ChangeKind::kOperatorAdded);
      expect_symmetric(graph, longer);

      Program rewired = graph;
      auto* input = std::get_if<ValueId>(&rewired.nodes[place].arguments.at(0).value);
      const ValueId first = graph.user_inputs().at(0);
      if (input == nullptr || graph.inputs[0].value == first) continue;
      *input = *input == first ? graph.inputs[0].value : first;
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
  for (const Program& graph : reference_graphs()) {
    SCOPED_TRACE(graph.model_name);
    Program renamed = graph;
    for (Node& node : renamed.nodes) {
      node.name = "n" + node.name;
      for (const ValueId output : node.outputs) renamed[output].name.insert(0, "n");
    }
    const GraphDiff same = diff(graph, renamed);
    EXPECT_TRUE(same.is_equal()) << ::testing::PrintToString(texts(same));

    const size_t place = renamed.nodes.size() / 2;
    const ValueId read = renamed.nodes[place].outputs[0];
    const ValueId added = add_call(renamed, "added", "made_up", {read});
    move_last(renamed, place + 1);
    size_t num_readers = 0;
    for (size_t i = place + 2; i < renamed.nodes.size(); ++i) {
      for (Argument& argument : renamed.nodes[i].arguments) {
        for_each_value(argument, [&](ValueId& id) {
          num_readers += id == read ? 1 : 0;
          if (id == read) id = added;
        });
      }
    }
    EXPECT_THAT(texts(diff(graph, renamed)), SizeIs(::testing::Le(1 + 2 * num_readers)));
  }
}

TEST(Diff, TellsUnrelatedGraphsApart) {
  const std::vector<Program> graphs = reference_graphs();
  for (const Program& a : graphs) {
    for (const Program& b : graphs) EXPECT_EQ(diff(a, b).is_equal(), &a == &b);
  }
}

TEST(Diff, TakesLargeGraphs) {
  Program old = two_layers();
  while (old.nodes.size() < 20000) {
    const ValueId last = old.nodes.back().outputs[0];
    add_call(old, "n" + std::to_string(old.nodes.size()), "relu", {last});
  }
  Program now = old;
  now.nodes[10001].arguments = now.nodes[10000].arguments;
  now.nodes.erase(now.nodes.begin() + 10000);
  EXPECT_THAT(texts(diff(old, now)), SizeIs(2));
  std::mt19937 random(4);
  for (Node& node : now.nodes) node.target = random() % 2 == 0 ? "a.b.c" : "a.b.d";
  EXPECT_FALSE(diff(old, now).is_equal());
}

TEST(DiffWeights, SaysByHowMuchValuesChanged) {
  StateDict old = {{"w", at::ones({2, 3})},
                   {"ids", at::arange(4)},
                   {"same", at::full({2}, std::numeric_limits<double>::quiet_NaN())},
                   {"other", at::ones({2})},
                   {"unknown", at::empty({2}, at::device(at::kMeta))}};
  StateDict now;
  for (const auto& item : old) now.insert(item.key(), item.value().clone());
  now["other"] = at::ones({3});
  now["w"][1][0] = 1.5;
  now["w"][1][2] = -1;
  now["ids"][3] = 5;
  GraphDiff changes;
  diff_weights(changes, old, now);
  EXPECT_THAT(texts(changes),
              ElementsAre("weight changed: w values 1 at [1, 0] -> 1.5, 2 of 6 elements "
                          "differ, by up to 2",
                          "weight changed: ids values 3 at [3] -> 5, 1 of 4 elements "
                          "differ, by up to 2"));
}

TEST(DiffWeights, TakesConjugatedValuesAndTheLargestIntegers) {
  StateDict old;
  old.insert("c", at::full({2}, c10::complex<double>(1, 2)));
  old.insert("n", at::zeros({1}, at::kLong).view(at::kUInt64));
  StateDict now;
  now.insert("c", old["c"].conj());
  now.insert("n", at::full({1}, -1, at::kLong).view(at::kUInt64));
  GraphDiff changes;
  diff_weights(changes, old, now);
  EXPECT_THAT(texts(changes),
              ElementsAre("weight changed: c values 1+2j at [0] -> 1-2j, 2 of 2 elements differ",
                          "weight changed: n values 0 at [0] -> 18446744073709551615, 1 of 1 "
                          "elements differ, by up to 1.84e+19"));
}

}  // namespace
}  // namespace torch_ir

#include "torch_ir/operators/operator_facts.h"

#include <gtest/gtest.h>

#include <set>

#include "torch_ir/ir/binding.h"
#include "torch_ir/operators/argument_shapes.h"
#include "torch_ir/operators/argument_values.h"
#include "torch_ir/operators/operator_table.h"

namespace torch_ir {
namespace {

TEST(OperatorFactsTest, AnOverloadHasTheFactsOfItsOperator) {
  EXPECT_EQ(facts_of("aten.max.dim").property, "picked_values");
  EXPECT_EQ(facts_of("aten.max.other").property, "");
  EXPECT_TRUE(facts_of("aten.max.dim").is_reduction);
  EXPECT_TRUE(facts_of("aten.max.default").is_reduction);
  EXPECT_FALSE(facts_of("aten.relu6_.default").returns_new_tensor);
  EXPECT_EQ(facts_of("no.such.operator").multiply_adds, "");
}

TEST(OperatorFactsTest, AnOperatorHasTheFactsOfTheLongestBeginning) {
  EXPECT_EQ(facts_of("torchao.quantize_affine.default").quantization, "quantize");
  EXPECT_EQ(facts_of("torchao.choose_qparams_affine.default").quantization, "other");
  EXPECT_EQ(facts_of("aten.conv_transpose1d.default").multiply_adds, "transposed_convolution");
  EXPECT_TRUE(facts_of("aten.conv_transpose1d.default").returns_new_tensor);
  // Otherwise a state that it reads makes its weights state.
  EXPECT_TRUE(facts_of("aten.gru.input").returns_new_tensor);
  EXPECT_TRUE(facts_of("_operator.mul").runs_on_host);
  EXPECT_TRUE(facts_of("quantized_decomposed.dequantize_per_tensor.tensor").returns_new_tensor);
}

TEST(OperatorFactsTest, AnOperatorOutOfPlace) {
  EXPECT_EQ(out_of_place("aten.relu_.default"), "aten.relu.default");
  EXPECT_EQ(out_of_place("aten.relu.default"), "aten.relu.default");
  EXPECT_EQ(out_of_place("aten.__and__.Tensor"), "aten.__and__.Tensor");
  EXPECT_EQ(out_of_place("_operator.and_"), "_operator.and_");
}

TEST(OperatorFactsTest, RowsAreSortedByName) {
  EXPECT_TRUE(std::ranges::is_sorted(rows_of_facts()));
  EXPECT_EQ(std::ranges::adjacent_find(rows_of_facts()), rows_of_facts().end());
}

TEST(OperatorFactsTest, ChecksAndRefusalsOfAllRowsExist) {
  for (const std::string_view row : rows_of_facts()) {
    EXPECT_EQ(facts_of(row).refusal.empty(), refusal(row).empty()) << row;
  }
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op) continue;
    EXPECT_NO_THROW(find_value_check(*op)) << name;
    if (facts_of(*op).shape_check.empty()) continue;
    // For lack of arguments.
    EXPECT_THROW(check_argument_shapes(*op, {}), c10::Error) << name;
  }
}

// Those that are refused may be operators of TorchScript only.
TEST(OperatorFactsTest, RowsNameOperators) {
  std::set<std::string> known;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const std::string op_type = op_type_name(name);
    known.insert({op_type, op_type.substr(0, op_type.rfind('.'))});
  }
  for (const std::string_view row : rows_of_facts()) {
    const bool is_refused = !facts_of(row).refusal.empty();
    if (!row.starts_with("aten.") || row.ends_with('*') || is_refused) continue;
    EXPECT_TRUE(known.contains(std::string(row))) << row;
  }
}

}  // namespace
}  // namespace torch_ir

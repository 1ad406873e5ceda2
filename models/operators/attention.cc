// Attention and recurrent networks, whole and in cells.
#include "models/operators/case_table.h"

namespace torch_ir {
namespace {

OperatorTable attention() {
  return {
      {"scaled_dot_product_attention",
       kFloats,
       {{"usual", "x[2,2,4,8]:-1..1, x[2,2,4,8]:-1..1, x[2,2,4,8]:-1..1"},
        {"causal", "x[1,2,5,8]:-1..1, x[1,2,5,8]:-1..1, x[1,2,5,8]:-1..1, is_causal=True",
         "causal"},
        {"causal_longer", "x[1,2,3,8]:-1..1, x[1,2,5,8]:-1..1, x[1,2,5,8]:-1..1, is_causal=True",
         "causal, fewer queries than keys"},
        {"mask", "x[1,2,3,8]:-1..1, x[1,2,5,8]:-1..1, x[1,2,5,8]:-1..1, x[3,5]", "an added mask"},
        {"boolean_mask",
         "x[1,2,3,8]:-1..1, x[1,2,4,8]:-1..1, x[1,2,4,8]:-1..1, bool[3,4]{1,0,1,1,0,1,1}",
         "a boolean mask"},
        {"batched_mask",
         "x[2,2,3,8]:-1..1, x[2,2,4,8]:-1..1, x[2,2,4,8]:-1..1, bool[2,1,1,4]{1,1,1,0,1,1,0,0}",
         "padding of keys, broadcast"},
        {"cross", "x[2,2,3,8]:-1..1, x[2,2,6,8]:-1..1, x[2,2,6,4]:-1..1",
         "fewer queries than keys, smaller values"},
        {"scale", "x[1,2,4,8]:-1..1, x[1,2,4,8]:-1..1, x[1,2,4,8]:-1..1, scale=0.5",
         "another scale"},
        {"grouped", "x[1,4,3,8]:-1..1, x[1,2,3,8]:-1..1, x[1,2,3,8]:-1..1, enable_gqa=True",
         "two heads of queries for one of keys"},
        {"three_dims", "x[2,4,8]:-1..1, x[2,4,8]:-1..1, x[2,4,8]:-1..1", "without heads"},
        {"one_query", "x[1,2,1,8]:-1..1, x[1,2,7,8]:-1..1, x[1,2,7,8]:-1..1",
         "one query, as when tokens are generated"},
        {"masked_row",
         "x[1,1,2,4]:-1..1, x[1,1,3,4]:-1..1, x[1,1,3,4]:-1..1, bool[2,3]{1,1,0,0,0,0}",
         "a query that sees no key"}}},
      {"_scaled_dot_product_flash_attention_for_cpu",
       kFloats,
       {{"usual", "x[2,2,4,8]:-1..1, x[2,2,4,8]:-1..1, x[2,2,4,8]:-1..1"},
        {"causal", "x[1,2,5,8]:-1..1, x[1,2,5,8]:-1..1, x[1,2,5,8]:-1..1, is_causal=True",
         "causal"},
        {"mask", "x[1,2,3,8]:-1..1, x[1,2,5,8]:-1..1, x[1,2,5,8]:-1..1, attn_mask=x[3,5]",
         "an added mask", kWide}}},
      {"_scaled_dot_product_attention_math",
       kFloats,
       {{"usual", "x[2,2,4,8]:-1..1, x[2,2,4,8]:-1..1, x[2,2,4,8]:-1..1"}}},
  };
}

// Parameters of one layer for 3 inputs and 4 hidden units, with 1, 3 or 4 gates.
OperatorTable recurrent() {
  constexpr Dtypes kTypes = kWide | kBF16;
  const std::vector<CaseRow> plain = {
      {"usual",
       "x[5,2,3]:-1..1, x[1,2,4]:-1..1, [x[4,3]:-0.5..0.5, x[4,4]:-0.5..0.5, x[4]:-0.5..0.5, "
       "x[4]:-0.5..0.5], True, 1, 0.0, False, False, False"},
      {"bidirectional",
       "x[5,2,3]:-1..1, x[2,2,4]:-1..1, [x[4,3]:-0.5..0.5, x[4,4]:-0.5..0.5, x[4,3]:-0.5..0.5, "
       "x[4,4]:-0.5..0.5], False, 1, 0.0, False, True, False",
       "both directions, no biases"},
      {"two_layers",
       "x[2,5,3]:-1..1, x[2,2,4]:-1..1, [x[4,3]:-0.5..0.5, x[4,4]:-0.5..0.5, x[4]:-0.5..0.5, "
       "x[4]:-0.5..0.5, x[4,4]:-0.5..0.5, x[4,4]:-0.5..0.5, x[4]:-0.5..0.5, x[4]:-0.5..0.5], "
       "True, 2, 0.0, False, False, True",
       "two layers, the batch first"}};
  const std::vector<CaseRow> cell = {
      {"usual", "x[2,3]:-1..1, x[2,4]:-1..1, x[4,3]:-0.5..0.5, x[4,4]:-0.5..0.5, x[4], x[4]"},
      {"no_bias", "x[2,3]:-1..1, x[2,4]:-1..1, x[4,3]:-0.5..0.5, x[4,4]:-0.5..0.5", "no biases"}};
  return {
      {"lstm.input",
       kTypes,
       {{"usual",
         "x[5,2,3]:-1..1, [x[1,2,4]:-1..1, x[1,2,4]:-1..1], [x[16,3]:-0.5..0.5, "
         "x[16,4]:-0.5..0.5, x[16]:-0.5..0.5, x[16]:-0.5..0.5], True, 1, 0.0, False, False, False"},
        {"bidirectional",
         "x[5,2,3]:-1..1, [x[2,2,4]:-1..1, x[2,2,4]:-1..1], [x[16,3]:-0.5..0.5, "
         "x[16,4]:-0.5..0.5, x[16,3]:-0.5..0.5, x[16,4]:-0.5..0.5], False, 1, 0.0, False, True, "
         "False",
         "both directions, no biases"},
        {"two_layers",
         "x[2,5,3]:-1..1, [x[2,2,4]:-1..1, x[2,2,4]:-1..1], [x[16,3]:-0.5..0.5, "
         "x[16,4]:-0.5..0.5, x[16]:-0.5..0.5, x[16]:-0.5..0.5, x[16,4]:-0.5..0.5, "
         "x[16,4]:-0.5..0.5, x[16]:-0.5..0.5, x[16]:-0.5..0.5], True, 2, 0.0, False, False, True",
         "two layers, the batch first"},
        {"projected",
         "x[5,2,3]:-1..1, [x[1,2,2]:-1..1, x[1,2,4]:-1..1], [x[16,3]:-0.5..0.5, "
         "x[16,2]:-0.5..0.5, x[16]:-0.5..0.5, x[16]:-0.5..0.5, x[2,4]:-0.5..0.5], True, 1, 0.0, "
         "False, False, False",
         "the output is projected"}}},
      {"gru.input",
       kTypes,
       {{"usual",
         "x[5,2,3]:-1..1, x[1,2,4]:-1..1, [x[12,3]:-0.5..0.5, x[12,4]:-0.5..0.5, "
         "x[12]:-0.5..0.5, x[12]:-0.5..0.5], True, 1, 0.0, False, False, False"},
        {"bidirectional",
         "x[5,2,3]:-1..1, x[2,2,4]:-1..1, [x[12,3]:-0.5..0.5, x[12,4]:-0.5..0.5, "
         "x[12,3]:-0.5..0.5, x[12,4]:-0.5..0.5], False, 1, 0.0, False, True, False",
         "both directions, no biases"},
        {"batch_first",
         "x[2,5,3]:-1..1, x[1,2,4]:-1..1, [x[12,3]:-0.5..0.5, x[12,4]:-0.5..0.5, "
         "x[12]:-0.5..0.5, x[12]:-0.5..0.5], True, 1, 0.0, False, False, True",
         "the batch first"}}},
      {"rnn_tanh.input", kTypes, plain},
      {"rnn_relu.input", kTypes, plain},
      {"lstm_cell",
       kTypes,
       {{"usual",
         "x[2,3]:-1..1, [x[2,4]:-1..1, x[2,4]:-1..1], x[16,3]:-0.5..0.5, x[16,4]:-0.5..0.5, "
         "x[16], x[16]"},
        {"no_bias",
         "x[2,3]:-1..1, [x[2,4]:-1..1, x[2,4]:-1..1], x[16,3]:-0.5..0.5, x[16,4]:-0.5..0.5",
         "no biases"}}},
      {"gru_cell",
       kTypes,
       {{"usual",
         "x[2,3]:-1..1, x[2,4]:-1..1, x[12,3]:-0.5..0.5, x[12,4]:-0.5..0.5, x[12], x[12]"}}},
      {"rnn_tanh_cell", kTypes, cell},
      {"rnn_relu_cell", kTypes, cell},
  };
}

const bool registered_attention =
    register_operator_cases([] { return make_cases("attention", attention()); });
const bool registered_recurrent =
    register_operator_cases([] { return make_cases("recurrent", recurrent()); });

}  // namespace
}  // namespace torch_ir

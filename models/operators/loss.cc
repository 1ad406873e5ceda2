// Losses. Reductions: 0 none, 1 mean, 2 sum.
#include "models/operators/case_table.h"

namespace torch_ir {
namespace {

OperatorTable losses() {
  const std::vector<CaseRow> regression = {{"mean", "x[3,4], x[3,4]"},
                                           {"none", "x[3,4], x[3,4], 0", "element by element"},
                                           {"sum", "x[3,4], x[3,4], 2", "the sum"},
                                           {"empty", "x[0], x[0]", "no elements: NaN"}};
  const std::vector<CaseRow> classes = {
      {"mean", "x[4,5]:domain, int64[4]{0,4,2,2}"},
      {"none", "x[4,5]:domain, int64[4]{0,4,2,2}, None, 0", "row by row"},
      {"sum", "x[4,5]:domain, int64[4]{0,4,2,2}, None, 2", "the sum"},
      {"weights", "x[4,5]:domain, int64[4]{0,4,2,2}, x[5]:0.5..2", "a weight a class"},
      {"ignored", "x[4,5]:domain, int64[4]{0,-100,2,2}", "a row that does not count"},
      {"ignore_index", "x[4,5]:domain, int64[4]{0,4,2,2}, None, 1, 2", "a class that does not"},
      {"images", "x[2,3,2,2]:domain, int64[2,2,2]{0,2,1,1}", "positions of images"}};
  const std::string_view kWithTarget = "x[3,4], x[3,4]{1,-1,-1}";
  return {
      {"mse_loss", kFloats, regression},
      {"l1_loss", kFloats, regression},
      {"smooth_l1_loss",
       kFloats,
       {{"mean", "x[3,4], x[3,4]"},
        {"none", "x[3,4], x[3,4], 0", "elements"},
        {"beta", "x[3,4], x[3,4], 2, 0.5", "another bound, the sum"},
        {"beta_zero", "x[3,4], x[3,4], 1, 0.0", "magnitudes"}}},
      {"huber_loss",
       kFloats,
       {{"mean", "x[3,4], x[3,4]"},
        {"none", "x[3,4], x[3,4], 0", "elements"},
        {"delta", "x[3,4], x[3,4], 2, 0.5", "another bound, the sum"}}},
      {"binary_cross_entropy",
       kFloats,
       {{"mean", "x[3,4]:0.0625..0.9375, x[3,4]:0..1"},
        {"none", "x[3,4]:0.0625..0.9375, x[3,4]:0..1, None, 0", "element by element"},
        {"weights", "x[3,4]:0.0625..0.9375, x[3,4]:0..1, x[4]:0.5..2, 2", "weights, the sum"},
        {"edges", "x[4]{0,1,0,1}, x[4]{0,1,1,0}, None, 0", "logarithms of 0 are at least -100"}}},
      {"binary_cross_entropy_with_logits",
       kFloats,
       {{"mean", "x[3,4], x[3,4]:0..1"},
        {"weights", "x[3,4], x[3,4]:0..1, x[4]:0.5..2, x[4]:0.5..2, 0", "both weights"},
        {"large", "x[4]{100,-100,100,-100}, x[4]{0,0,1,1}, None, None, 0", "large numbers"}}},
      {"nll_loss_nd", kFloats, classes, "-4..0"},
      {"cross_entropy_loss", kFloats,
       [&] {
         std::vector<CaseRow> rows = classes;
         rows.push_back(
             {"smoothing", "x[4,5], int64[4]{0,4,2,2}, None, 1, -100, 0.25", "smoothed"});
         rows.push_back({"probabilities", "x[4,5], x[4,5]:0..0.25", "targets are probabilities"});
         return rows;
       }()},
      {"nll_loss", kFloats, {{"usual", "x[4,5]:-4..0, int64[4]{0,4,2,2}"}}},
      {"nll_loss2d", kFloats, {{"usual", "x[2,3,2,2]:-4..0, int64[2,2,2]{0,2,1,1}"}}},
      {"nll_loss_forward",
       kFloats,
       {{"usual", "x[4,5]:-4..0, int64[4]{0,4,2,2}, None, 1, -100"},
        {"weights", "x[4,5]:-4..0, int64[4]{0,4,2,2}, x[5]:0.5..2, 1, 2",
         "weights, a class that does not count"}}},
      {"nll_loss2d_forward",
       kFloats,
       {{"usual", "x[2,3,2,2]:-4..0, int64[2,2,2]{0,2,1,1}, None, 1, -100"}}},
      {"kl_div",
       kFloats,
       {{"mean", "x[3,4]:-4..0, x[3,4]:0.0625..1"},
        {"zeros", "x[3,4]:-4..0, x[3,4]{0,0.5}, 0", "targets of 0 cost nothing"},
        {"log_target", "x[3,4]:-4..0, x[3,4]:-4..0, 2, log_target=True", "logarithms of targets"}}},
      {"soft_margin_loss", kFloats, {{"mean", kWithTarget}}},
      {"margin_ranking_loss",
       kFloats,
       {{"mean", "x[5], x[5], x[5]{1,-1}"},
        {"margin", "x[5], x[5], x[5]{1,-1}, 0.5, 2", "a margin"}}},
      {"hinge_embedding_loss", kFloats, {{"mean", kWithTarget}}},
      {"cosine_embedding_loss", kFloats, {{"mean", "x[4,3], x[4,3], x[4]{1,-1}"}}},
      {"triplet_margin_loss",
       kFloats,
       {{"mean", "x[4,3], x[4,3], x[4,3]"},
        {"swap", "x[4,3], x[4,3], x[4,3], 1, 2, 1e-6, True, 0", "swapped"}}},
      {"multi_margin_loss", kWide, {{"mean", "x[4,5], int64[4]{0,4,2,2}"}}},
      {"multilabel_margin_loss", kWide, {{"mean", "x[2,4], int64[2,4]{3,0,-1,1,0,-1,2,3}"}}},
      {"poisson_nll_loss",
       kFloats,
       {{"log_input", "x[3,4], x[3,4]:0..4, True, False, 1e-8, 1"},
        {"full", "x[3,4]:0.5..4, x[3,4]:0..4, False, True, 1e-8, 2",
         "with Stirling's term, the sum"}}},
      {"ctc_loss.IntList",
       kWide,
       {{"mean", "x[6,2,4]:-4..-1, int64[2,3]:1..4, [6,5], [3,2]"},
        {"none", "x[6,2,4]:-4..-1, int64[2,3]:1..4, [6,5], [3,2], 0, 0", "one by one"}}},
  };
}

const bool registered_loss = register_operator_cases([] { return make_cases("loss", losses()); });

}  // namespace
}  // namespace torch_ir

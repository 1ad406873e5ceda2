#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "torch_ir/exporter/meta/meta_cases.h"

namespace torch_ir {
namespace {

using at::Tensor;

MetaCases indexings() {
  const Tensor table = floats({7, 4});
  return {
      META_CASE("Embedding", at::embedding(a, b), {table, indices({2, 3})}),
      META_CASE("EmbeddingScalar", at::embedding(a, b), {table, indices({})}),
      META_CASE("EmbeddingEmpty", at::embedding(a, b), {table, indices({0})}),
      META_CASE("EmbeddingBag", at::embedding_bag(a, b, c), {table, indices({6}), indices({2})}),
      META_CASE("EmbeddingBagMean", at::embedding_bag(a, b, c, false, 1),
                {table, indices({6}), indices({2})}),
      META_CASE("EmbeddingBagMax", at::embedding_bag(a, b, c, false, 2),
                {table, indices({6}), indices({2})}),
      META_CASE("IndexSelect", at::index_select(a, -1, b), {table, indices({3})}),
      META_CASE("IndexSelectInt", at::index_select(a, 0, b), {table, indices({3}).to(at::kInt)}),
      META_CASE("IndexSelectScalar", at::index_select(a, 0, b), {floats({}), indices({1})}),
      META_CASE("IndexSelectTransposed", at::index_select(a, 1, b),
                {channels_last({2, 3, 4, 5}), indices({3})}),
      META_CASE("Index", at::index(a, {b}), {table, indices({2, 3})}),
      META_CASE("IndexSecond", at::index(a, {{}, b}), {table, indices({2, 3})}),
      META_CASE("IndexTwo", at::index(a, {b, c}), {table, indices({2, 1}), indices({3})}),
      META_CASE("IndexPut", at::index_put(a, {b}, c), {table, indices({2}), floats({4})}),
      META_CASE("IndexAdd", at::index_add(a, 0, b, c), {table, indices({2}), floats({2, 4})}),
      META_CASE("IndexCopy", at::index_copy(a, 0, b, c), {table, indices({2}), floats({2, 4})}),
      META_CASE("IndexFill", at::index_fill(a, 0, b, 1), {table, indices({2})}),
      META_CASE("Gather", at::gather(a, 1, b), {table, indices({2, 3})}),
      META_CASE("Scatter", at::scatter(a, 1, b, c), {table, indices({2, 3}), floats({2, 3})}),
      META_CASE("ScatterAdd", at::scatter_add(a, 1, b, c),
                {table, indices({2, 3}), floats({2, 3})}),
      META_CASE("ScatterReduce", at::scatter_reduce(a, 1, b, c, "amax"),
                {table, indices({2, 3}), floats({2, 3})}),
      META_CASE("Take", at::take(a, b), {table, indices({2, 3})}),
      META_CASE("TakeTransposed", at::take(a, b), {table.t(), indices({2, 3}).t()}),
      META_CASE("TakeAlongDim", at::take_along_dim(a, b, 1), {table, indices({7, 3})}),
      META_CASE("MaskedFill", at::masked_fill(a, b, 0), {table, at::zeros({4}, at::kBool)}),
      META_CASE("MaskedScatter", at::masked_scatter(a, b, c),
                {table, at::zeros({4}, at::kBool), floats({28})}),
      META_CASE("Searchsorted", at::searchsorted(a, b), {at::arange(5.0), floats({2, 3})}),
      META_CASE("SearchsortedInt", at::searchsorted(a, b, true),
                {at::arange(5.0), floats({2, 3}).t()}),
      META_CASE("SearchsortedNumber", at::searchsorted(a, 3), {at::arange(5.0)}),
      META_CASE("Bucketize", at::bucketize(a, b), {floats({2, 3}), at::arange(5.0)}),
      META_CASE("BucketizeTransposed", at::bucketize(a, b), {floats({2, 3}).t(), at::arange(5.0)}),
      META_CASE("BucketizeNumber", at::bucketize(3, a, true), {at::arange(5.0)}),
      META_CASE("RepeatInterleave", at::repeat_interleave(a, 3, 1), {table}),
      META_CASE("RepeatInterleaveSize", at::repeat_interleave(a, b, 1, 6),
                {table, at::ones({4}, at::kLong) + at::tensor({1, 1, 0, 0})}),
      META_CASE("NonzeroStatic", at::nonzero_static(a, 5), {table}),
      META_CASE("Multinomial", at::multinomial(a, 3), {table}),
      META_CASE("MultinomialVector", at::multinomial(a, 9, true), {floats({4})}),
      META_CASE("Flip", at::flip(a, {0}), {table}),
      META_CASE("FlipChannelsLast", at::flip(a, {2, 3}), {channels_last({2, 3, 4, 5})}),
      META_CASE("FlipStrided", at::flip(a, {0, 1}), {floats({8, 6}).slice(1, 0, 6, 2)}),
      META_CASE("FlipScalar", at::flip(a, {}), {floats({})}),
      META_CASE("Roll", at::roll(a, 1, 0), {table}),
      META_CASE("RollTwo", at::roll(a, {1, 2}, {0, 1}), {table.t()}),
      META_CASE("RollAll", at::roll(a, 1), {table.t()}),
      META_CASE("RollChannelsLast", at::roll(a, 1, 1), {channels_last({2, 3, 4, 5})}),
      META_CASE("RollEmpty", at::roll(a, 1, 0), {floats({0, 3})}),
      META_CASE("Rot90", at::rot90(a), {table}),
      META_CASE("Tril", at::tril(a), {table}),
      META_CASE("Triu", at::triu(a, 1), {table.t()}),
      META_CASE("TrilIndices", at::tril_indices(3, 4, 0, a.options().dtype(at::kLong)), {table}),
      META_CASE("OneHot", at::one_hot(a, 5), {indices({2, 3})}),
      META_CASE("Topk", at::topk(a, 2), {table}),
      META_CASE("Sort", at::sort(a, 0), {table.t()}),
      META_CASE("Argsort", at::argsort(a), {table}),
      META_CASE("Unbind", at::unbind(a, 1), {table}),
      META_CASE("Where", at::where(b, a, c), {table, at::zeros({4}, at::kBool), floats({})}),
      META_CASE("WhereMixed", at::where(b, a, c),
                {table, at::zeros({7, 1}, at::kBool), floats({4}).to(at::kDouble)}),
      META_CASE("WhereNumber", at::where(b, a, 2), {table.t(), at::zeros({7}, at::kBool)}),
  };
}
INSTANTIATE_META_CASES(Indexing, indexings);

}  // namespace
}  // namespace torch_ir

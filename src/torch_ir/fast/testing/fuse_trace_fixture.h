// FuseTrace: the fixture of tests of the level `fast`, and graphs of convolutions for them.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/Version.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/runtime/graph/execution_options.h"
#include "torch_ir/runtime/testing/eager_graph.h"

namespace torch_ir {

using Calls = std::vector<std::string>;

inline constexpr const char* kConvolution = "onednn::convolution";
inline constexpr const char* kProduct = "onednn::inner_product";

class FuseTrace : public testing::Test {
 protected:
  void SetUp() override {
    if (!onednn_version()) GTEST_SKIP() << "built without oneDNN";
  }
  void TearDown() override { at::set_num_threads(threads_); }

 private:
  const int threads_ = at::get_num_threads();
};

inline bool has_avx512() { return at::get_cpu_capability() == "AVX512"; }

inline bool has_onednn_2() { return onednn_version()->starts_with("2."); }

// The name of a convolution by Winograd's algorithm, which oneDNN 2 has for AVX-512 only, and
// oneDNN 3 no more.
inline std::string winograd() {
  const bool has_it = has_avx512() && has_onednn_2();
  return has_it ? "onednn::convolution_winograd" : kConvolution;
}

// What is wrong at level `fast`, if not exactly these calls are made, or the results are not
// accepted; empty if nothing is.
inline std::string fault_at_fast(const EagerGraph& graph, const Calls& expected,
                                 const SecondJudge& judge = nullptr) {
  const Calls calls = calls_at_fast(graph);
  if (calls != expected) return "calls are " + testing::PrintToString(calls);
  return difference_at_fast(graph, judge);
}

// The same, with `count` calls of `name` among others.
inline std::string fault_at_fast(const EagerGraph& graph, const std::string& name, int64_t count,
                                 const SecondJudge& judge = nullptr) {
  const auto found = std::ranges::count(calls_at_fast(graph), name);
  if (found != count) return fmt::format("{} calls of {}, not {}", found, name, count);
  return difference_at_fast(graph, judge);
}

// The same, where no call is LibTorch's.
inline std::string fault_without_aten(const EagerGraph& graph) {
  for (const std::string& call : calls_at_fast(graph)) {
    if (call.starts_with("aten::")) return call;
  }
  return difference_at_fast(graph);
}

inline Attribute pair(int64_t number) { return Attribute::list({number, number}); }

// Calls `aten.add.Tensor` for "add.Tensor", and `aten.relu.default` for "relu".
inline V aten(EagerGraph& graph, const std::string& name, std::vector<EagerArgument> arguments) {
  const bool has_overload = name.find('.') != std::string::npos;
  return graph.call1("aten." + name + (has_overload ? "" : ".default"), std::move(arguments));
}

inline V view(EagerGraph& graph, const V& x, const std::vector<int64_t>& sizes) {
  return aten(graph, "view", {x, Attribute::list(sizes)});
}

// Two numbers for each dimension, the last one first.
inline V padded(EagerGraph& graph, const V& x, const std::vector<int64_t>& padding,
                double value = 0) {
  return aten(graph, "pad", {x, Attribute::list(padding), "constant", value});
}

struct ConvolutionCase {
  int64_t batch = 1;
  int64_t in = 16;
  int64_t out = 16;
  int64_t size = 12;
  int64_t kernel = 3;
  int64_t stride = 1;
  int64_t padding = kernel / 2;
  int64_t dilation = 1;
  int64_t groups = 1;
};

inline V convolution(EagerGraph& graph, const V& x, const std::string& name,
                     const ConvolutionCase& shape, bool has_bias = true) {
  const V weight =
      graph.weight(name + ".weight",
                   at::randn({shape.out, shape.in / shape.groups, shape.kernel, shape.kernel}) /
                       static_cast<double>(shape.kernel * 4));
  EagerArgument bias;
  if (has_bias) bias = graph.weight(name + ".bias", at::randn({shape.out}));
  return aten(graph, "conv2d",
              {x, weight, bias, pair(shape.stride), pair(shape.padding), pair(shape.dilation),
               shape.groups});
}

inline V pointwise(EagerGraph& graph, const V& x, const std::string& name) {
  return convolution(graph, x, name, {.kernel = 1});
}

inline V image(EagerGraph& graph, const ConvolutionCase& shape = {}) {
  return graph.input("x", at::randn({shape.batch, shape.in, shape.size, shape.size}));
}

inline V batch_norm(EagerGraph& graph, const V& x, const std::string& name, int64_t channels = 16) {
  return aten(
      graph, "batch_norm",
      {x, graph.weight(name + ".weight", at::randn({channels})),
       graph.weight(name + ".bias", at::randn({channels})),
       graph.weight(name + ".running_mean", at::randn({channels})),
       graph.weight(name + ".running_var", at::rand({channels}) + 0.5), false, 0.1, 1e-5, false});
}

}  // namespace torch_ir

// Random small convolutional networks at level `fast`: within 1e-4 of eager calls, whatever their
// shapes, in-place calls and branches are.

#include <ATen/TensorOperators.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "torch_ir/executor/testing/fast_graph.h"

namespace torch_ir {
namespace {

class RandomNetwork {
 public:
  explicit RandomNetwork(uint64_t seed) : random_(seed) {
    at::manual_seed(seed);
    const int64_t channels = pick({1, 3, 8, 16, 20, 32});
    const V image =
        graph.input("x", at::randn({pick({1, 1, 2}), channels, 5 + below(12), 5 + below(12)}));
    images_.push_back(image);
    const int64_t num_layers = 1 + below(8);
    for (int64_t i = 0; i < num_layers; ++i) {
      try {
        add_layer();
      } catch (const c10::Error&) {
        // Not a node: a kernel that is larger than its image.
      }
    }
    for (int64_t i = 0; i < 1 + below(2); ++i) add_head();
    graph.output(images_.back());
  }

  EagerGraph graph;

 private:
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  int64_t pick(const std::vector<int64_t>& items) {
    return items[static_cast<size_t>(below(static_cast<int64_t>(items.size())))];
  }
  V pick_image() {
    return images_[static_cast<size_t>(below(static_cast<int64_t>(images_.size())))];
  }
  const at::Tensor& value(const V& image) { return graph.value(image); }
  V weight(const at::Tensor& tensor) {
    return graph.weight("w" + std::to_string(num_weights_++), tensor);
  }

  void add_layer() {
    switch (below(8)) {
      case 0:
        return add_pooling();
      case 1:
        return join();
      case 2:
        return add_activation(pick_image());
      default:
        return add_convolution();
    }
  }

  void add_convolution() {
    const V source = below(3) == 0 ? pick_image() : images_.back();
    const int64_t channels = value(source).size(1);
    const bool is_depthwise = below(4) == 0;
    const int64_t groups = is_depthwise ? channels : 1;
    const int64_t outputs = is_depthwise ? channels : pick({4, 16, 24, 32});
    const int64_t kernel = pick({1, 3, 3, 5});
    const auto pair = [](int64_t a, int64_t b) {
      return Attribute::list({static_cast<int>(a), static_cast<int>(b)});
    };
    const int64_t padding = kernel / 2;
    const int64_t stride = pick({1, 1, 1, 2});
    const double scale = 1.0 / std::sqrt(static_cast<double>(kernel * kernel * channels / groups));
    const at::Tensor parameters = at::randn({outputs, channels / groups, kernel, kernel}) * scale;
    EagerArgument bias;
    if (below(2) == 0) bias = weight(at::randn({outputs}));
    V image =
        graph.call1("aten.conv2d.default", {source, weight(parameters), bias, pair(stride, stride),
                                            pair(padding, below(3) == 0 ? 0 : padding), pair(1, 1),
                                            Attribute(static_cast<int>(groups))});
    images_.push_back(image);
    if (value(image).numel() == 0) return;
    if (below(3) != 0) image = normalized(image);
    if (value(source).sizes() == value(image).sizes() && below(2) == 0) {
      image = graph.call1(below(2) == 0 ? "aten.add_.Tensor" : "aten.add.Tensor", {image, source});
      images_.push_back(image);
    }
    if (below(4) != 0) add_activation(image);
  }

  V normalized(const V& image) {
    const int64_t channels = value(image).size(1);
    const V result =
        graph.call1("aten.batch_norm.default",
                    {image, weight(at::rand({channels}) + 0.5), weight(at::randn({channels})),
                     weight(at::randn({channels}) * 0.1), weight(at::rand({channels}) + 0.5),
                     Attribute(false), Attribute(0.1), Attribute(1e-5), Attribute(true)});
    images_.push_back(result);
    return result;
  }

  void add_activation(const V& image) {
    static const std::vector<std::string> names = {
        "aten.relu", "aten.relu_", "aten.hardswish", "aten.hardswish_",
        "aten.silu", "aten.silu_", "aten.sigmoid",   "aten.hardsigmoid_",
        "aten.tanh", "aten.gelu",  "aten.relu6",     "aten.leaky_relu_",
    };
    const std::string& name = names[static_cast<size_t>(below(static_cast<int64_t>(names.size())))];
    images_.push_back(graph.call1(name + ".default", {image}));
  }

  void add_pooling() {
    const V source = images_.back();
    if (value(source).size(2) < 3 || value(source).size(3) < 3) return;
    const auto pair = [](int a, int b) { return Attribute::list({a, b}); };
    if (below(2) == 0) {
      images_.push_back(
          graph.call1("aten.max_pool2d.default", {source, pair(3, 3), pair(2, 2), pair(1, 1)}));
    } else {
      images_.push_back(
          graph.call1("aten.avg_pool2d.default", {source, pair(2, 2), pair(2, 2), pair(0, 0)}));
    }
  }

  // Of channels, or a product of a gate of one pixel.
  void join() {
    const V a = images_.back();
    const V b = pick_image();
    const at::Tensor& left = value(a);
    const at::Tensor& right = value(b);
    if (left.size(2) == right.size(2) && left.size(3) == right.size(3)) {
      images_.push_back(graph.call1("aten.cat.default", {VList{a, b}, Attribute(1)}));
    } else if (left.size(1) == right.size(1)) {
      const V mean = graph.call1("aten.mean.dim", {b, Attribute::list({2, 3}), Attribute(true)});
      images_.push_back(graph.call1("aten.mul.Tensor", {a, mean}));
    }
  }

  void add_head() {
    const V source = pick_image();
    const int64_t channels = value(source).size(1);
    if (value(source).numel() == 0) return;
    const V pooled =
        graph.call1("aten.adaptive_avg_pool2d.default", {source, Attribute::list({1, 1})});
    const V flat = graph.call1("aten.flatten.using_ints", {pooled, Attribute(1), Attribute(-1)});
    graph.output(graph.call1("aten.linear.default",
                             {flat, weight(at::randn({10, channels})), weight(at::randn({10}))}));
  }

  std::mt19937_64 random_;
  std::vector<V> images_;
  int num_weights_ = 0;
};

TEST(RandomNetworks, AreWithinTheToleranceAtLevelFast) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const EagerGraph graph = RandomNetwork(seed).graph;
    std::string nodes;
    for (const OpNode& node : graph.ir.nodes) nodes += node.op_type + " ";
    ASSERT_EQ(difference_at_fast(graph), "") << "seed " << seed << ": " << nodes;
  }
}

}  // namespace
}  // namespace torch_ir

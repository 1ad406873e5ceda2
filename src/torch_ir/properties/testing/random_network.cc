#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <string>
#include <utility>

#include "torch_ir/properties/testing/random_graph.h"

namespace torch_ir {
namespace {

Attribute both(int64_t number) { return Attribute::list({number, number}); }

// Each move reads the last image or an earlier one.
class NetworkMaker {
 public:
  explicit NetworkMaker(const std::vector<size_t>& shape) {
    at::manual_seed(1);
    const auto choice = [&](size_t i) { return i < shape.size() ? shape[i] : 0; };
    const auto size = [&](size_t i) { return static_cast<int64_t>(5 + choice(i) % 12); };
    const int64_t images = choice(0) % 3 == 2 ? 2 : 1;
    const int64_t channels = pick<int64_t>({8, 1, 3, 16, 20, 32}, choice(0) / 3);
    images_.push_back(graph_.input("x", at::randn({images, channels, size(1), size(2)})));
  }

  EagerGraph make(const std::vector<Move>& moves) {
    for (const Move& move : moves) {
      try {
        make_move(move);
      } catch (const c10::Error&) {
        // Not a node: a kernel larger than its image, images that do not fit.
      }
    }
    add_head(images_.back());
    graph_.output(images_.back());
    return std::move(graph_);
  }

 private:
  void make_move(const Move& move) {
    static const std::vector<void (NetworkMaker::*)(const Choices&)> kMoves = {
        &NetworkMaker::add_activation, &NetworkMaker::add_convolution,
        &NetworkMaker::add_norm,       &NetworkMaker::add_convolution,
        &NetworkMaker::add_image,      &NetworkMaker::add_norm,
        &NetworkMaker::add_pooling,    &NetworkMaker::join,
        &NetworkMaker::add_gate,       &NetworkMaker::add_convolution,
        &NetworkMaker::add_activation, &NetworkMaker::add_output,
    };
    (this->*pick(kMoves, move.kind))(move.choices);
  }

  const at::Tensor& value(const V& image) const { return graph_.value(image); }
  V image(size_t choice) const {
    return choice % 3 != 0 ? images_.back() : pick(images_, choice / 3);
  }
  V weight(const at::Tensor& tensor) {
    return graph_.weight("w" + std::to_string(num_weights_++), tensor);
  }
  void add(const std::string& op_type, std::vector<EagerArgument> arguments) {
    const V made = graph_.call1(op_type, std::move(arguments));
    if (value(made).numel() > 0) images_.push_back(made);
  }

  void add_convolution(const Choices& c) {
    const V source = image(c[0]);
    const int64_t channels = value(source).size(1);
    const bool is_depthwise = c[1] % 4 == 3;
    const int64_t groups = is_depthwise ? channels : 1;
    const int64_t outputs = is_depthwise ? channels : pick<int64_t>({16, 4, 24, 32}, c[1] / 4);
    const int64_t kernel = pick<int64_t>({3, 1, 3, 5}, c[2]);
    const int64_t stride = pick<int64_t>({1, 1, 1, 2}, c[2] / 4);
    const int64_t dilation = pick<int64_t>({1, 1, 1, 2}, c[2] / 16);
    const int64_t padding = pick<int64_t>({kernel / 2, kernel / 2, 0}, c[3]);
    const double scale = 1.0 / std::sqrt(static_cast<double>(kernel * kernel * channels / groups));
    const at::Tensor parameters = at::randn({outputs, channels / groups, kernel, kernel}) * scale;
    EagerArgument bias;
    if (c[3] / 3 % 2 == 0) bias = weight(at::randn({outputs}));
    add("aten.conv2d.default",
        {source, weight(parameters), bias, both(stride), both(padding), both(dilation), groups});
  }

  void add_norm(const Choices& c) {
    const V source = image(c[0]);
    const int64_t channels = value(source).size(1);
    add("aten.batch_norm.default",
        {source, weight(at::rand({channels}) + 0.5), weight(at::randn({channels})),
         weight(at::randn({channels}) * 0.1), weight(at::rand({channels}) * 0.5 + 1e-3), false, 0.1,
         pick<double>({1e-5, 1e-3}, c[1]), true});
  }

  void add_activation(const Choices& c) {
    static const std::vector<std::string> kNames = {
        "aten.relu",  "aten.relu_",   "aten.hardswish",    "aten.hardswish_", "aten.silu",
        "aten.silu_", "aten.sigmoid", "aten.hardsigmoid_", "aten.tanh",       "aten.gelu",
        "aten.relu6", "aten.elu",     "aten.leaky_relu_",  "aten.selu",       "aten.hardtanh",
    };
    add(pick(kNames, c[1]) + ".default", {image(c[0])});
  }

  void add_image(const Choices& c) {
    static const std::vector<std::string> kNames = {"aten.add.Tensor", "aten.add_.Tensor",
                                                    "aten.mul.Tensor"};
    const std::string& name = pick(kNames, c[2]);
    std::vector<EagerArgument> arguments = {image(c[0]), pick(images_, c[1])};
    if (name != "aten.mul.Tensor" && c[3] % 4 == 3) arguments.emplace_back(0.5);
    add(name, std::move(arguments));
  }

  void add_pooling(const Choices& c) {
    const V source = image(c[0]);
    switch (c[1] % 3) {
      case 0:
        return add("aten.max_pool2d.default", {source, both(3), both(2), both(1)});
      case 1:
        return add("aten.avg_pool2d.default", {source, both(2), both(2), both(0)});
      default:
        return add("aten.avg_pool2d.default",
                   {source, both(3), both(1), both(1), false, c[2] % 2 == 0});
    }
  }

  void join(const Choices& c) {
    add("aten.cat.default", {VList{image(c[0]), pick(images_, c[1])}, 1});
  }

  void add_gate(const Choices& c) {
    const V source = image(c[0]);
    const V mean = graph_.call1("aten.mean.dim", {source, Attribute::list({2, 3}), true});
    add("aten.mul.Tensor", {source, graph_.call1("aten.sigmoid.default", {mean})});
  }

  void add_output(const Choices& c) { graph_.output(image(c[0])); }

  void add_head(const V& source) {
    const int64_t channels = value(source).size(1);
    const V pooled = graph_.call1("aten.adaptive_avg_pool2d.default", {source, both(1)});
    const V flat = graph_.call1("aten.flatten.using_ints", {pooled, 1, -1});
    graph_.output(graph_.call1("aten.linear.default",
                               {flat, weight(at::randn({10, channels})), weight(at::randn({10}))}));
  }

  EagerGraph graph_;
  std::vector<V> images_;
  int num_weights_ = 0;
};

}  // namespace

EagerGraph make_network(const NetworkMoves& moves) {
  return NetworkMaker(moves.outputs).make(moves.moves);
}

}  // namespace torch_ir

#include "harness/benchmark/eager_models.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/add.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/div.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/flatten.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/index.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/split.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/transpose.h>

#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using at::Tensor;
using Tensors = std::vector<Tensor>;

// The values of a model, or of a part of it.
class Values {
 public:
  Values(const StateDict& weights, const StateDict& constants)
      : weights_(weights), constants_(constants) {}

  Values part(const std::string& name) const {
    Values result = *this;
    result.prefix_ += name + ".";
    return result;
  }

  bool has(const std::string& name) const { return find(name) != nullptr; }

  Tensor get(const std::string& name) const {
    if (const Tensor* value = find(name)) return *value;
    throw Error("eager models need a value for '" + prefix_ + name + "', and there is none");
  }

 private:
  const Tensor* find(const std::string& name) const {
    const Tensor* weight = weights_.find(prefix_ + name);
    return weight != nullptr ? weight : constants_.find(prefix_ + name);
  }

  const StateDict& weights_;
  const StateDict& constants_;
  std::string prefix_;
};

// Calls with their weights.

struct Linear {
  explicit Linear(const Values& values) : weight(values.get("weight")) {
    if (values.has("bias")) bias = values.get("bias");
  }
  Tensor operator()(const Tensor& x) const { return at::linear(x, weight, bias); }

  Tensor weight;
  std::optional<Tensor> bias;
};

struct Conv2d {
  Conv2d(const Values& values, int64_t stride_, int64_t padding_)
      : weight(values.get("weight")), stride(stride_), padding(padding_) {
    if (values.has("bias")) bias = values.get("bias");
  }
  Tensor operator()(const Tensor& x) const {
    return at::conv2d(x, weight, bias, {stride, stride}, {padding, padding});
  }

  Tensor weight;
  std::optional<Tensor> bias;
  int64_t stride;
  int64_t padding;
};

struct BatchNorm {
  explicit BatchNorm(const Values& values)
      : weight(values.get("weight")),
        bias(values.get("bias")),
        mean(values.get("running_mean")),
        var(values.get("running_var")) {}
  Tensor operator()(const Tensor& x) const {
    return at::batch_norm(x, weight, bias, mean, var, /*training=*/false, /*momentum=*/0.1,
                          /*eps=*/1e-5, /*cudnn_enabled=*/false);
  }

  std::optional<Tensor> weight;
  std::optional<Tensor> bias;
  std::optional<Tensor> mean;
  std::optional<Tensor> var;
};

struct LayerNorm {
  explicit LayerNorm(const Values& values)
      : weight(values.get("weight")), bias(values.get("bias")), width(weight->size(0)) {}
  Tensor operator()(const Tensor& x) const {
    return at::layer_norm(x, {width}, weight, bias, /*eps=*/1e-5, /*cudnn_enable=*/false);
  }

  std::optional<Tensor> weight;
  std::optional<Tensor> bias;
  int64_t width;
};

Conv2d conv3x3(const Values& values) { return {values, /*stride=*/1, /*padding=*/1}; }

// Models.

ModelFn masked_linear(const Values& values) {
  return [linear = Linear(values.part("linear")), mask = values.get("mask")](const Tensors& in) {
    return Tensors{at::mul(linear(in[0]), mask)};
  };
}

ModelFn buffer_vs_constant(const Values& values) {
  return [linear = Linear(values.part("linear")), scale = values.get("scale"),
          offset = values.get("offset")](const Tensors& in) {
    return Tensors{at::add(at::mul(linear(in[0]), scale), offset)};
  };
}

ModelFn gather_with_index(const Values& values) {
  const c10::List<std::optional<Tensor>> indices({std::nullopt, values.get("indices")});
  return [linear = Linear(values.part("linear")), indices](const Tensors& in) {
    return Tensors{at::index(linear(in[0]), indices)};
  };
}

ModelFn recurrent_unroll(const Values& values) {
  return [cell = Linear(values.part("cell"))](const Tensors& in) {
    Tensor state = in[0];
    for (int step = 0; step < 5; ++step) state = at::tanh(cell(state));
    return Tensors{state};
  };
}

ModelFn weight_tying(const Values& values) {
  return [embedding = values.get("embedding.weight"), first = Linear(values.part("transform.0")),
          second = Linear(values.part("transform.2")),
          bias = std::optional<Tensor>(values.get("output_bias"))](const Tensors& in) {
    const Tensor hidden = second(at::relu(first(at::embedding(embedding, in[0]))));
    return Tensors{at::linear(hidden, embedding, bias)};
  };
}

struct Attention {
  explicit Attention(const Values& values)
      : q_proj(values.part("q_proj")),
        k_proj(values.part("k_proj")),
        v_proj(values.part("v_proj")),
        out_proj(values.part("out_proj")) {}

  static Tensor heads(const Tensor& x, int64_t length) {
    return at::transpose(x.view({1, length, 4, 16}), 1, 2);
  }
  Tensor operator()(const Tensor& query, const Tensor& context, int64_t length) const {
    const Tensor q = heads(q_proj(query), 16);
    const Tensor k = heads(k_proj(context), length);
    const Tensor v = heads(v_proj(context), length);
    const Tensor scores = at::div(at::matmul(q, at::transpose(k, -2, -1)), 4.0);
    const Tensor found = at::matmul(at::softmax(scores, -1), v);
    return out_proj(at::transpose(found, 1, 2).contiguous().view({1, 16, 64}));
  }

  Linear q_proj;
  Linear k_proj;
  Linear v_proj;
  Linear out_proj;
};

ModelFn self_attention(const Values& values) {
  return
      [attend = Attention(values)](const Tensors& in) { return Tensors{attend(in[0], in[0], 16)}; };
}

ModelFn cross_attention(const Values& values) {
  return
      [attend = Attention(values)](const Tensors& in) { return Tensors{attend(in[0], in[1], 32)}; };
}

ModelFn transformer_block(const Values& values) {
  return [attend = Attention(values), norm1 = LayerNorm(values.part("norm1")),
          norm2 = LayerNorm(values.part("norm2")), up = Linear(values.part("ffn.0")),
          down = Linear(values.part("ffn.2"))](const Tensors& in) {
    const Tensor hidden = norm1(at::add(in[0], attend(in[0], in[0], 16)));
    return Tensors{norm2(at::add(hidden, down(at::gelu(up(hidden)))))};
  };
}

ModelFn siamese_encoder(const Values& values) {
  const Values encoder = values.part("encoder");
  const auto encode = [conv1 = conv3x3(encoder.part("0")), conv2 = conv3x3(encoder.part("3")),
                       conv3 = conv3x3(encoder.part("6")),
                       linear = Linear(encoder.part("10"))](const Tensor& x) {
    Tensor y = at::max_pool2d(at::relu(conv1(x)), {2, 2}, {2, 2});
    y = at::max_pool2d(at::relu(conv2(y)), {2, 2}, {2, 2});
    y = at::adaptive_avg_pool2d(at::relu(conv3(y)), {1, 1});
    return linear(at::flatten(y, 1));
  };
  return [encode](const Tensors& in) { return Tensors{encode(in[0]), encode(in[1])}; };
}

ModelFn multi_task_head(const Values& values) {
  const Values backbone = values.part("backbone");
  const auto encode = [conv1 = conv3x3(backbone.part("0")), bn1 = BatchNorm(backbone.part("1")),
                       conv2 = conv3x3(backbone.part("4")),
                       bn2 = BatchNorm(backbone.part("5"))](const Tensor& x) {
    const Tensor y = at::max_pool2d(at::relu(bn1(conv1(x))), {2, 2}, {2, 2});
    return at::flatten(at::adaptive_avg_pool2d(at::relu(bn2(conv2(y))), {4, 4}), 1);
  };
  const auto head = [](const Values& part) {
    return [first = Linear(part.part("0")), second = Linear(part.part("2"))](const Tensor& x) {
      return second(at::relu(first(x)));
    };
  };
  return [encode, classify = head(values.part("classifier")),
          locate = head(values.part("aux_head"))](const Tensors& in) {
    const Tensor features = encode(in[0]);
    return Tensors{classify(features), locate(features)};
  };
}

struct ResBlock {
  explicit ResBlock(const Values& values, int64_t stride = 1)
      : conv1(values.part("conv1"), stride, 1),
        bn1(values.part("bn1")),
        conv2(values.part("conv2"), 1, 1),
        bn2(values.part("bn2")) {
    if (stride == 1) return;
    shortcut.emplace(values.part("downsample.0"), stride, 0);
    shortcut_bn.emplace(values.part("downsample.1"));
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor y = bn2(conv2(at::relu(bn1(conv1(x)))));
    return at::relu(at::add(y, shortcut ? (*shortcut_bn)((*shortcut)(x)) : x));
  }

  Conv2d conv1;
  BatchNorm bn1;
  Conv2d conv2;
  BatchNorm bn2;
  std::optional<Conv2d> shortcut;
  std::optional<BatchNorm> shortcut_bn;
};

Tensor pool_and_classify(const Tensor& x, const Linear& classify) {
  return classify(at::flatten(at::adaptive_avg_pool2d(x, {1, 1}), 1));
}

ModelFn deep_res_net(const Values& values) {
  std::vector<ResBlock> blocks;
  for (const char* name : {"res_block1", "res_block2", "res_block3"}) {
    blocks.emplace_back(values.part(name));
  }
  return [conv1 = conv3x3(values.part("conv1")), bn1 = BatchNorm(values.part("bn1")), blocks,
          fc = Linear(values.part("fc"))](const Tensors& in) {
    Tensor x = at::relu(bn1(conv1(in[0])));
    for (const ResBlock& block : blocks) x = block(x);
    return Tensors{pool_and_classify(x, fc)};
  };
}

ModelFn resnet18(const Values& values) {
  std::vector<ResBlock> blocks;
  for (const int layer : {1, 2, 3, 4}) {
    const Values part = values.part("layer" + std::to_string(layer));
    blocks.emplace_back(part.part("0"), layer == 1 ? 1 : 2);
    blocks.emplace_back(part.part("1"));
  }
  return [conv1 = Conv2d(values.part("conv1"), 2, 3), bn1 = BatchNorm(values.part("bn1")), blocks,
          fc = Linear(values.part("fc"))](const Tensors& in) {
    Tensor x = at::max_pool2d(at::relu(bn1(conv1(in[0]))), {3, 3}, {2, 2}, {1, 1});
    for (const ResBlock& block : blocks) x = block(x);
    return Tensors{pool_and_classify(x, fc)};
  };
}

struct DenseLayer {
  explicit DenseLayer(const Values& values)
      : bn(values.part("bn")), conv(conv3x3(values.part("conv"))) {}
  Tensor operator()(const Tensor& x) const { return at::cat({x, conv(at::relu(bn(x)))}, 1); }

  BatchNorm bn;
  Conv2d conv;
};

ModelFn dense_block(const Values& values) {
  std::vector<DenseLayer> layers;
  for (const char* name : {"dense1", "dense2", "dense3", "dense4"}) {
    layers.emplace_back(values.part(name));
  }
  return [conv1 = conv3x3(values.part("conv1")), bn1 = BatchNorm(values.part("bn1")), layers,
          bn2 = BatchNorm(values.part("transition.0")),
          conv2 = Conv2d(values.part("transition.2"), 1, 0),
          fc = Linear(values.part("fc"))](const Tensors& in) {
    Tensor x = at::relu(bn1(conv1(in[0])));
    for (const DenseLayer& layer : layers) x = layer(x);
    return Tensors{pool_and_classify(at::avg_pool2d(conv2(at::relu(bn2(x))), {2, 2}, {2, 2}), fc)};
  };
}

struct GptLayer {
  explicit GptLayer(const Values& values)
      : norm1(values.part("norm1")),
        qkv(values.part("qkv")),
        proj(values.part("proj")),
        norm2(values.part("norm2")),
        up(values.part("up")),
        down(values.part("down")) {}

  static Tensor heads(const Tensor& x) { return at::transpose(x.view({1, 64, 4, 64}), 1, 2); }
  Tensor attend(const Tensor& x, const Tensor& mask) const {
    const Tensors parts = at::split(qkv(x), 256, -1);
    const Tensor q = heads(parts[0]);
    const Tensor k = heads(parts[1]);
    const Tensor v = heads(parts[2]);
    const Tensor scores = at::masked_fill(at::div(at::matmul(q, at::transpose(k, -2, -1)), 8.0),
                                          mask, -std::numeric_limits<double>::infinity());
    const Tensor found = at::matmul(at::softmax(scores, -1), v);
    return proj(at::transpose(found, 1, 2).contiguous().view({1, 64, 256}));
  }
  Tensor operator()(const Tensor& x, const Tensor& mask) const {
    const Tensor y = at::add(x, attend(norm1(x), mask));
    return at::add(y, down(at::gelu(up(norm2(y)))));
  }

  LayerNorm norm1;
  Linear qkv;
  Linear proj;
  LayerNorm norm2;
  Linear up;
  Linear down;
};

ModelFn gpt(const Values& values) {
  const Values transformer = values.part("transformer");
  std::vector<GptLayer> layers;
  for (const int i : {0, 1, 2, 3}) {
    layers.emplace_back(transformer.part("layer" + std::to_string(i)));
  }
  return [embedding = values.get("embedding.weight"), position = values.get("position"), layers,
          mask = transformer.get("mask"), norm = LayerNorm(values.part("norm")),
          head = Linear(values.part("head"))](const Tensors& in) {
    Tensor x = at::add(at::embedding(embedding, in[0]), position);
    for (const GptLayer& layer : layers) x = layer(x, mask);
    return Tensors{head(norm(x))};
  };
}

const std::map<std::string, ModelFn (*)(const Values&)>& makers() {
  static const std::map<std::string, ModelFn (*)(const Values&)> result = {
      {"BufferVsConstant", buffer_vs_constant},
      {"CrossAttention", cross_attention},
      {"DeepResNet", deep_res_net},
      {"DenseBlock", dense_block},
      {"GPT", gpt},
      {"GatherWithIndex", gather_with_index},
      {"MaskedLinear", masked_linear},
      {"MultiTaskHead", multi_task_head},
      {"RecurrentUnroll", recurrent_unroll},
      {"ResNet18", resnet18},
      {"SelfAttention", self_attention},
      {"SiameseEncoder", siamese_encoder},
      {"TransformerBlock", transformer_block},
      {"WeightTying", weight_tying},
  };
  return result;
}

}  // namespace

bool has_eager_model(const std::string& name) { return makers().contains(name); }

ModelFn eager_model(const std::string& name, const StateDict& weights, const StateDict& constants) {
  const auto maker = makers().find(name);
  if (maker == makers().end()) {
    throw Error("model '" + name + "' has no eager calls: add them to eager_models.cc");
  }
  return maker->second(Values(weights, constants));
}

}  // namespace torch_ir

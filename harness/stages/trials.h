// Trials: the runs of a model on different inputs. A graph with dynamic dimensions also runs at
// other sizes than those of its example.
//
// The first trial has the model's normal values, the second zeros and ones, the third large
// magnitudes, and further ones other normal values. Values depend only on the seed and the names of
// model and input (weights/seeded_tensor.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/ir/program.h"
#include "torch_ir/registry/registry.h"
#include "torch_ir/weights/seeded_tensor.h"

namespace torch::nn {
class Module;
}

namespace torch_ir {

inline constexpr double kLargeMagnitude = 1e3;

// "normal values", "zeros and ones", "large magnitudes", "normal values 2", ..., counting from 0.
std::string trial_name(int trial);

// Adds the name of a trial to the first line of `message`: "It differs (with zeros and ones)." The
// first trial, whose name is empty here, adds nothing.
std::string with_trial(std::string message, const std::string& trial);

struct TrialInput {
  std::string name;
  at::Tensor normal;
  // The range of normal values.
  std::optional<ValueRange> range = std::nullopt;
  // Whether the graph may be specialized for it.
  bool is_number = false;
};

struct TrialInputs {
  std::string name;
  std::vector<at::Tensor> inputs;
  std::string problem = {};
};

// Whether they are one-dimensional whole numbers in order, as offsets, positions and lengths are.
bool is_ordered(const at::Tensor& numbers);

// Returns the values of `trial` in the shape and dtype of `input.normal`. Whole numbers stay in
// their range: zeros and ones become the numbers closest to 0 and 1, large magnitudes the ends of
// the range. Without a range they may be indices, and only normal values are others: all move by
// one drawn step around the circle from the least to the greatest, so that different ones stay
// different. Booleans, masks of 0 and 1, and ordered numbers stay.
at::Tensor trial_values(int trial, const TrialInput& input, uint64_t seed,
                        const std::string& model);

// Returns the first `count` trials after the normal one whose inputs are new, with the strides of
// the normal ones. If there are fewer, the problem of the last one says so.
std::vector<TrialInputs> value_trials(int count, const std::vector<TrialInput>& inputs,
                                      uint64_t seed, const std::string& model);

// The inputs of `program` at the ends of the ranges of its sizes, and at sizes between, or on the
// way from there to the example's, where its ranges and guards allow them. Sizes are at least 1. If
// a range has no end, or the graph would need much memory or time there, they are at most twice the
// example's. `example` has one input for each graph input. Sizes that the model is given as a
// number stay. Names are "s0 = 2, s1 = 9".
//
// The values of the example are repeated, ordered ones (is_ordered) each where it is. If all were
// within a size that becomes too small, as offsets and positions are, they shrink with it.
std::vector<TrialInputs> size_trials(const Program& program,
                                     const std::vector<at::Tensor>& example);

// Returns the inputs of `model`, uniform in their ranges (weights/seeded_tensor.h).
std::vector<at::Tensor> seeded_inputs(const ModelSpec& spec, uint64_t seed,
                                      const std::string& model);

// Fills the parameters of `module` within their parameter_range, and buffers that have a
// buffer_range. Other buffers stay unchanged.
void fill_weights(torch::nn::Module& module, uint64_t seed, const std::string& model);

}  // namespace torch_ir

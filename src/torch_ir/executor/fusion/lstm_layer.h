// run_lstm_layer: the steps of one LSTM layer, in one direction, for few sequences.
//
// For lstm_rules.cc. Each step multiplies a vector by the recurrent weights, which is a matter of
// reading them: LibTorch and oneDNN (2.6.3) take twice as long for 128 units, ten times for 32.
#pragma once

#include <cstdint>

namespace torch_ir {

// Weights are packed in panels of so many columns.
constexpr int64_t kLstmPanel = 64;

struct LstmLayer {
  int64_t num_steps;
  int64_t num_sequences;
  // A multiple of 16.
  int64_t num_units;
  // From the last step to the first.
  bool is_reverse;
  // [steps, sequences, 4 units], in the order input, forget, cell, output: what inputs and biases
  // add to the gates. Written.
  float* gates;
  // [4 units / kLstmPanel, units, kLstmPanel]: the recurrent weights.
  const float* weights;
  // [sequences, units]: the first state and cell, in memory that becomes the last.
  float* state;
  float* cell;
  // [steps, sequences, units]
  float* outputs;
};

void run_lstm_layer(const LstmLayer& layer);

}  // namespace torch_ir

#include "torch_ir/executor/fusion/lstm_layer.h"

#include <algorithm>

#include "torch_ir/executor/kernels/clones.h"

// A function of a vector is a part of those that are compiled several times.
#define TORCH_IR_PART inline __attribute__((always_inline))

namespace torch_ir {
namespace {

constexpr int64_t kLanes = 16;
using Floats [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;
using Integers [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = int32_t;

// Vectors are passed by reference: how they are passed by value depends on the processor.

// x = e^x for x in [-87, 87], to which it is clipped: 2^n e^r with a polynomial for e^r, that of
// the Cephes library (expf).
TORCH_IR_PART void exponentiate(Floats& x) {
  const Floats least = Floats{} - 87.0F;
  const Floats most = Floats{} + 87.0F;
  x = x < least ? least : x;
  x = x > most ? most : x;
  const Floats half = x < Floats{} ? Floats{} - 0.5F : Floats{} + 0.5F;
  Integers exponent = __builtin_convertvector(x * 1.44269504F + half, Integers);
  const Floats n = __builtin_convertvector(exponent, Floats);
  const Floats r = x - n * 0.693359375F + n * 2.12194440e-4F;
  Floats p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  exponent = (exponent + 127) << 23;
  x = (p * r * r + r + 1.0F) * reinterpret_cast<Floats&>(exponent);
}

TORCH_IR_PART void apply_sigmoid(Floats& x) {
  x = -x;
  exponentiate(x);
  x = 1.0F / (x + 1.0F);
}

TORCH_IR_PART void apply_tanh(Floats& x) {
  x = x * 2.0F;
  apply_sigmoid(x);
  x = x * 2.0F - 1.0F;
}

TORCH_IR_PART Floats& lanes(float* data) { return *reinterpret_cast<Floats*>(data); }
TORCH_IR_PART const Floats& lanes(const float* data) {
  return *reinterpret_cast<const Floats*>(data);
}

// gates += weights * state
TORCH_IR_PART void add_product(const float* state, const float* weights, int64_t num_units,
                               float* gates) {
  for (int64_t column = 0; column < 4 * num_units; column += kLstmPanel) {
    float* const panel = gates + column;
    Floats a = lanes(panel);
    Floats b = lanes(panel + kLanes);
    Floats c = lanes(panel + 2 * kLanes);
    Floats d = lanes(panel + 3 * kLanes);
    for (int64_t k = 0; k < num_units; ++k, weights += kLstmPanel) {
      a += state[k] * lanes(weights);
      b += state[k] * lanes(weights + kLanes);
      c += state[k] * lanes(weights + 2 * kLanes);
      d += state[k] * lanes(weights + 3 * kLanes);
    }
    lanes(panel) = a;
    lanes(panel + kLanes) = b;
    lanes(panel + 2 * kLanes) = c;
    lanes(panel + 3 * kLanes) = d;
  }
}

TORCH_IR_PART void update(const float* gates, int64_t num_units, float* cell, float* output) {
  for (int64_t unit = 0; unit < num_units; unit += kLanes) {
    Floats input = lanes(gates + unit);
    Floats forget = lanes(gates + num_units + unit);
    Floats candidate = lanes(gates + 2 * num_units + unit);
    Floats out = lanes(gates + 3 * num_units + unit);
    apply_sigmoid(input);
    apply_sigmoid(forget);
    apply_tanh(candidate);
    apply_sigmoid(out);
    Floats next = forget * lanes(cell + unit) + input * candidate;
    lanes(cell + unit) = next;
    apply_tanh(next);
    lanes(output + unit) = out * next;
  }
}

}  // namespace

// For several generations of processors.
TORCH_IR_CLONES("arch=x86-64-v4", "arch=x86-64-v3", "default")
void run_lstm_layer(const LstmLayer& layer) {
  const int64_t num_units = layer.num_units;
  for (int64_t sequence = 0; sequence < layer.num_sequences; ++sequence) {
    const float* state = layer.state + sequence * num_units;
    for (int64_t i = 0; i < layer.num_steps; ++i) {
      const int64_t step = layer.is_reverse ? layer.num_steps - 1 - i : i;
      const int64_t row = step * layer.num_sequences + sequence;
      float* const gates = layer.gates + row * 4 * num_units;
      float* const output = layer.outputs + row * num_units;
      add_product(state, layer.weights, num_units, gates);
      update(gates, num_units, layer.cell + sequence * num_units, output);
      state = output;
    }
    std::copy_n(state, num_units, layer.state + sequence * num_units);
  }
}

}  // namespace torch_ir

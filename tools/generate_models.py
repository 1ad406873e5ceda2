#!/usr/bin/env python3
"""Writes a C++ file that registers many small models, no two of them alike.

    generate_models.py COUNT OUTPUT.cc

For measuring what the harness costs by itself, see measure_harness.py: the models are rows of a
table, so that a thousand of them compile as fast as one.
"""

import random
import sys

OPERATORS = ["relu", "tanh", "neg", "sigmoid", "abs", "double_it", "add_one", "square"]

HEADER = """// Written by tools/generate_models.py.

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "torch_ir/registry/registry.h"

namespace torch_ir {
namespace {

using Operator = at::Tensor (*)(const at::Tensor&);

at::Tensor relu(const at::Tensor& x) { return at::relu(x); }
at::Tensor tanh(const at::Tensor& x) { return at::tanh(x); }
at::Tensor neg(const at::Tensor& x) { return at::neg(x); }
at::Tensor sigmoid(const at::Tensor& x) { return at::sigmoid(x); }
at::Tensor abs(const at::Tensor& x) { return at::abs(x); }
at::Tensor double_it(const at::Tensor& x) { return x * 2; }
at::Tensor add_one(const at::Tensor& x) { return x + 1; }
at::Tensor square(const at::Tensor& x) { return x * x; }

struct Row {
  const char* name;
  std::vector<int64_t> shape;
  std::vector<Operator> operators;
};

const Row kRows[] = {
"""

FOOTER = """};

const bool registered = [] {
  for (const Row& row : kRows) {
    const auto forward = [&row](const std::vector<at::Tensor>& inputs) {
      at::Tensor x = inputs.at(0);
      for (const Operator op : row.operators) x = op(x);
      return std::vector<at::Tensor>{x};
    };
    register_model(row.name, {.inputs = {{.shape = row.shape}}, .categories = {"generated"}},
                   [forward] { return Model(ModelFn(forward)); });
  }
  return true;
}();

}  // namespace
}  // namespace torch_ir
"""


def rows(count):
    generator = random.Random(0)
    seen = set()
    while len(seen) < count:
        shape = tuple(generator.randint(1, 8) for _ in range(generator.randint(1, 3)))
        operators = tuple(generator.choice(OPERATORS) for _ in range(generator.randint(2, 8)))
        if (shape, operators) in seen:
            continue
        name = f"Generated{len(seen):05}"
        seen.add((shape, operators))
        yield '    {"%s", {%s}, {%s}},\n' % (
            name,
            ", ".join(map(str, shape)),
            ", ".join(operators),
        )


def main():
    if len(sys.argv) != 3 or not sys.argv[1].isdecimal():
        sys.exit("usage: generate_models.py COUNT OUTPUT.cc")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(HEADER)
        file.writelines(rows(int(sys.argv[1])))
        file.write(FOOTER)


if __name__ == "__main__":
    main()

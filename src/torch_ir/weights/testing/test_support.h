// For the tests of this folder: paths, values of pickles as text, and hand-written pickles.
#pragma once

#include <string>

#include "torch_ir/base/file.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

// Prints as Python does: {'a': (1, True), 'w': tensor(float32, [2, 3])}. Tensors without values.
std::string text_of(const PickleValue& value);

// Compares dtypes, shapes and bits.
void expect_same_tensors(const at::Tensor& actual, const at::Tensor& expected);
void expect_same_tensors(const StateDict& actual, const StateDict& expected);

ByteRange range_of(const std::string& bytes);

// A file of testdata/, and one in the temporary folder.
std::string weights_testdata(const std::string& name);
std::string temporary_path(const std::string& name);

std::string little_endian(uint64_t value, size_t size);

// The instruction that makes a str of at most 255 bytes.
std::string pickled_text(const std::string& text);

}  // namespace torch_ir

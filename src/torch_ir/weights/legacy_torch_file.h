// What torch.save wrote before PyTorch 1.6, and still writes with
// `_use_new_zipfile_serialization=False`: pickles in a row, and the storages behind them.
//
// Used by torch_file.h.
#pragma once

#include <string_view>

#include "torch_ir/base/file.h"
#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

// Whether `bytes` begin like a pickle.
bool looks_like_legacy_torch_file(std::string_view bytes);

// The data lie in little-endian order, whatever machine wrote them. Throws WeightError, which does
// not name the file; also for the tar archives of the first
// versions of PyTorch.
PickleDocument read_legacy_torch_file(const ByteRange& bytes);

}  // namespace torch_ir

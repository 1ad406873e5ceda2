// What Python's torch.save wrote, as plain data.
//
// Used by pt.h for weights and by the `.pt2` reader for pickled constants and example inputs.
// Nothing in the file is executed: the pickle may name only what torch_rules.cc lists, and whatever
// else it names is refused by that name.
#pragma once

#include <string>
#include <string_view>

#include "torch_ir/base/file.h"
#include "torch_ir/base/zip_archive.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

// Whether `bytes` begin like a file of torch.save or torch::save: a zip archive, or the pickle or
// tar archive that PyTorch wrote before version 1.6, which are refused.
bool looks_like_torch_file(std::string_view bytes);

// Reads the zip format, and archives that C++ wrote (torch::save, torch::pickle_save, TorchScript).
// Tensors are on the CPU, wherever they were before; they are views of mapped storages, and share
// memory where they shared it. Throws WeightError; `name` is what messages call the file, such as
// "model.pt2: data/sample_inputs/model.pt".
PickleDocument load_torch_file(ByteRange bytes, const std::string& name);
// The same for a zip archive that is already open.
PickleDocument load_torch_file(const ZipArchive& archive);

// The state dict in what a file holds: a dict from names to tensors; under names that end in
// "_extra_state" it may have anything, which is left out. It is `value` itself, or the only one
// that can be reached by keys that are strings. `key`, where it is not empty, says which: a key of
// `value`, or several joined by dots. Of objects of TorchScript, the tensors by dotted name.
//
// Throws WeightError, which does not name the file: "holds several state dicts, ...".
StateDict find_state_dict(const PickleValue& value, const std::string& key = {});

}  // namespace torch_ir

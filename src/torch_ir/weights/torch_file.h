// Reads files of Python's torch.save as plain data.
//
// Nothing in the file is executed: the pickle may use only what torch_rules.cc lists.
#pragma once

#include <string>
#include <string_view>

#include "torch_ir/base/file.h"
#include "torch_ir/base/zip_archive.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

inline constexpr std::string_view kWeightsAdvice =
    "save the weights with torch.save or as safetensors";

// Whether `bytes` begin like a zip archive, or like the pickle or tar archive that PyTorch wrote
// before version 1.6, which is rejected when loaded.
bool looks_like_torch_file(std::string_view bytes);

// Reads the zip format, and archives that C++ wrote (torch::save, torch::pickle_save, TorchScript).
// Tensors are on the CPU, whatever their original device; they are views of mapped storages, and
// share memory where they did. Throws WeightError; messages call the file `name`, such as
// "model.pt2: data/sample_inputs/model.pt".
PickleDocument load_torch_file(ByteRange bytes, const std::string& name,
                               ForeignNames foreign = ForeignNames::kRefused);
PickleDocument load_torch_file(const ZipArchive& archive);

// Finds the state dict in `value`: a dict from names to tensors, in which names that end in
// "_extra_state" may have anything and are left out. It is `value` itself, or the only one that
// string keys lead to, if `value` has no foreign values, or the one at `key`: a key of `value`, or
// several joined by dots. A TorchScript object gives its tensors by dotted name.
//
// Throws WeightError, without the file's name: "holds several state dicts, ...".
StateDict find_state_dict(const PickleValue& value, const std::string& key = {});

}  // namespace torch_ir

// Where things are in a `.pt2` archive, and its weights and constants.
//
// PyTorch has written three layouts:
//   up to 2.7   serialized_exported_program.json and pickles beside it, at the root of the zip
//   2.8         ROOT/models/NAME.json, pickles ROOT/data/{weights,constants}/NAME.pt
//   from 2.9    ROOT/models/NAME.json, raw storages in ROOT/data/{weights,constants}, and a JSON
//               configuration that says which weight is where
// Which of them it is ends here: the other readers get entries.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

#include <functional>
#include <optional>
#include <string>

#include "torch_ir/base/zip_archive.h"
#include "torch_ir/exporter/exported_program.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

// Weights or constants: the entry of a pickle, or of a configuration with storages.
struct PayloadEntries {
  std::string pickle = {};
  std::string config = {};
  // Where the storages of a configuration are, ending in '/'.
  std::string folder = {};
};

struct Pt2Archive {
  ZipArchive zip;
  // The JSON of the model.
  std::string program;
  PayloadEntries weights;
  PayloadEntries constants;
  // The pickle of the example inputs; nothing where the archive has no such entry.
  std::optional<std::string> example_inputs;
};

// Throws ExportError: for what is no zip archive, for archives of other kinds, with what they are
// and what to do, for several models none of which is called "model", and for what is missing.
Pt2Archive open_pt2_archive(const std::string& path);

// By name, in the order of the archive; objects that are no tensors among them. Tensors are made
// when they are asked for; those that share memory in the archive share it here. A maker throws
// ExportError that names archive and tensor where the archive's bytes do not make the tensor that
// it says, or it is no plain tensor.
using Payload = torch::OrderedDict<std::string, std::function<at::Tensor()>>;

// Reads the pickle or the configuration of `entries` in `archive`, which must outlive what is
// returned. Throws ExportError.
Payload open_payload(const Pt2Archive& archive, const PayloadEntries& entries);

// Parameters and buffers of `program`, then what the state dict has beyond that; the values of
// lifted constants become program.constants. Throws ExportError, naming `archive`, for a weight
// that is missing, or whose shape or dtype is another than the graph says.
StateDict take_weights(const std::string& archive, const Payload& weights, const Payload& constants,
                       ExportedProgram& program);

}  // namespace torch_ir

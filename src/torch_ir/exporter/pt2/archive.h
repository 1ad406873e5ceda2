// Finds the entries of a `.pt2` archive, and reads its weights and constants.
//
// This file hides the three layouts of PyTorch, and that of ExecuTorch, from the other readers:
//   up to 2.7   serialized_exported_program.json and pickles beside it, at the root of the zip
//   2.8         ROOT/models/NAME.json, pickles ROOT/data/{weights,constants}/NAME.pt
//   from 2.9    ROOT/models/NAME.json, raw storages in ROOT/data/{weights,constants}, and a JSON
//               configuration that says which weight is where
//   .etrecord   PROGRAM, the JSON, and pickles PROGRAM_{state_dict,constants,example_inputs}, where
//               PROGRAM is exported_program, edge_dialect_exported_program/forward, ...
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

#include <functional>
#include <optional>
#include <string>

#include "torch_ir/base/zip_archive.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/program.h"

namespace torch_ir {

struct PayloadEntries {
  std::string pickle = {};
  std::string config = {};
  // The storages of a configuration, ending in '/'.
  std::string folder = {};
};

struct Pt2Archive {
  ByteRange read_weights(const std::string& entry) const {
    return bytes == WeightBytes::kChecked ? zip.read(entry) : zip.map(entry);
  }

  ZipArchive zip;
  std::string program;
  PayloadEntries weights;
  PayloadEntries constants;
  std::optional<std::string> example_inputs;
  WeightBytes bytes = WeightBytes::kChecked;
};

// Opens the program called `name`; without a name, the only one or the one called "model". Throws
// ExportError for files that are not zip archives, for other kinds of archives, with advice, for
// several programs without a choice, for an unknown name, and for missing entries.
Pt2Archive open_pt2_archive(const std::string& path, const std::string& name = {});

// By name, in archive order, including objects that are not tensors. Tensors are made on demand and
// share memory as in the archive; those without values are undefined. A maker throws ExportError
// that names archive and tensor if the archive's bytes do not fit the tensor, or it is not a plain
// tensor.
using Payload = torch::OrderedDict<std::string, std::function<at::Tensor()>>;

// Reads the pickle or configuration of `entries` in `archive`, which must outlive the result.
// Throws ExportError.
Payload open_payload(const Pt2Archive& archive, const PayloadEntries& entries);

// Returns the parameters and buffers of `program`, then the rest of the state dict, and moves
// lifted constants and buffers that are not persistent to program.constants. Those without values
// are on the meta device. Throws ExportError, naming `archive`, for a weight that is missing, or
// whose shape or dtype differs from the graph.
StateDict take_weights(const std::string& archive, const Payload& weights, const Payload& constants,
                       Program& program);

}  // namespace torch_ir

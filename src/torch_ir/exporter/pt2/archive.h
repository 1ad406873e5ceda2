// Where things are in a `.pt2` archive.
//
// PyTorch has written three layouts:
//   up to 2.7   serialized_exported_program.json and pickles beside it, at the root of the zip
//   2.8         ROOT/models/NAME.json, pickles ROOT/data/{weights,constants}/NAME.pt
//   from 2.9    ROOT/models/NAME.json, raw storages in ROOT/data/{weights,constants}, and a JSON
//               configuration that says which weight is where
// Which of them it is ends here: the other readers get entries.
#pragma once

#include <optional>
#include <string>

#include "torch_ir/base/zip_archive.h"

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

}  // namespace torch_ir

#include "torch_ir/exporter/pt2/pt2.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/archive.h"
#include "torch_ir/exporter/pt2/example_inputs.h"
#include "torch_ir/exporter/pt2/payload.h"
#include "torch_ir/exporter/pt2/read_program.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/weights/torch_file.h"

namespace torch_ir {
namespace {

constexpr const char* kInputAdvice = "give inputs with --inputs FILE.safetensors";

// What `read` returns; whatever goes wrong below is an ExportError.
template <class Read>
auto as_export_error(Read read) {
  try {
    return read();
  } catch (const ExportError&) {
    throw;
  } catch (const Error& error) {
    throw ExportError(error, error.what());
  }
}

// What `read` returns; its errors are about `place`.
template <class Read>
auto about(const std::string& place, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw ExportError(error, place + ": " + error.what());
  }
}

std::string program_of(const Pt2Archive& archive) {
  return archive.zip.name() + ": " + printable(archive.program);
}

JsonValue read_json(const Pt2Archive& archive) {
  const ByteRange bytes = archive.zip.read(archive.program);
  return about(program_of(archive), [&] { return parse_json(bytes.text()); });
}

Pt2Model read_model(const std::string& path) {
  const Pt2Archive archive = open_pt2_archive(path);
  const JsonValue root = read_json(archive);
  const std::string stem = std::filesystem::path(path).stem().string();
  Pt2Model model{about(program_of(archive), [&] { return read_program(root, stem); })};
  repair_known_faults(model.program);
  const Payload weights = open_payload(archive, archive.weights);
  const Payload constants = open_payload(archive, archive.constants);
  model.weights = take_weights(path, weights, constants, model.program);
  return model;
}

std::optional<StateDict> read_example_inputs(const std::string& path) {
  const Pt2Archive archive = open_pt2_archive(path);
  if (!archive.example_inputs) return std::nullopt;
  const ByteRange bytes = archive.zip.read(*archive.example_inputs);
  if (bytes.size == 0) return std::nullopt;
  const std::string entry = path + ": " + printable(*archive.example_inputs);
  const PickleDocument document = load_torch_file(bytes, entry);
  if (document->is_none()) return std::nullopt;
  const JsonValue root = read_json(archive);
  return about(entry, [&] { return name_example_inputs(*document, root); });
}

StateDict read_examples(const std::string& path) {
  std::optional<StateDict> examples;
  try {
    examples = read_pt2_example_inputs(path);
  } catch (const Error& error) {
    throw Error(std::string(error.what()) + "; " + kInputAdvice);
  }
  if (!examples) throw Error(path + ": the archive has no example inputs; " + kInputAdvice);
  return *std::move(examples);
}

}  // namespace

bool is_pt2_archive(const std::string& path) { return looks_like_zip(map_file(path).text()); }

Pt2Model read_pt2(const std::string& path) {
  return as_export_error([&] { return read_model(path); });
}

std::optional<StateDict> read_pt2_example_inputs(const std::string& path) {
  return as_export_error([&] { return read_example_inputs(path); });
}

std::vector<at::Tensor> example_graph_inputs(const std::string& path, const IR& ir) {
  const StateDict examples = read_examples(path);
  std::vector<at::Tensor> tensors;
  for (const TensorMeta& input : ir.graph_inputs) {
    const at::Tensor* tensor = examples.find(input.name);
    if (tensor == nullptr) {
      throw Error(path + ": the archive has no example for the input '" + printable(input.name) +
                  "'; " + kInputAdvice);
    }
    tensors.push_back(*tensor);
  }
  return tensors;
}

}  // namespace torch_ir

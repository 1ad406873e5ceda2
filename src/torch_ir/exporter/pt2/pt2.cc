#include "torch_ir/exporter/pt2/pt2.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/archive.h"
#include "torch_ir/exporter/pt2/example_inputs.h"
#include "torch_ir/exporter/pt2/json_fields.h"
#include "torch_ir/exporter/pt2/known_faults.h"
#include "torch_ir/exporter/pt2/payload.h"
#include "torch_ir/exporter/pt2/read_program.h"
#include "torch_ir/exporter/pt2/take_weights.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/weights/torch_file.h"

namespace torch_ir {
namespace {

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

// What `read` returns; its messages are about the entry that holds the model.
template <class Read>
auto of_program(const Pt2Archive& archive, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw ExportError(error, fmt::format("{}: {}: {}", archive.zip.name(),
                                         printable(archive.program), error.what()));
  }
}

JsonValue read_json(const Pt2Archive& archive) {
  const ByteRange bytes = archive.zip.read(archive.program);
  return of_program(archive, [&] { return parse_json(bytes.text()); });
}

Pt2Model read_model(const std::string& path) {
  const Pt2Archive archive = open_pt2_archive(path);
  const JsonValue root = read_json(archive);
  const std::string stem = std::filesystem::path(path).stem().string();
  Pt2Model model{of_program(archive, [&] { return read_program(root, stem); })};
  repair_known_faults(model.program);
  const std::unique_ptr<Payload> weights = open_payload(archive, archive.weights);
  const std::unique_ptr<Payload> constants = open_payload(archive, archive.constants);
  model.weights = take_weights(path, *weights, *constants, model.program);
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
  try {
    return name_example_inputs(*document, root);
  } catch (const Error& error) {
    throw ExportError(error, fmt::format("{}: {}", entry, error.what()));
  }
}

}  // namespace

bool is_pt2_archive(const std::string& path) { return looks_like_zip(map_file(path).text()); }

Pt2Model read_pt2(const std::string& path) {
  return as_export_error([&] { return read_model(path); });
}

std::optional<StateDict> read_pt2_example_inputs(const std::string& path) {
  return as_export_error([&] { return read_example_inputs(path); });
}

}  // namespace torch_ir

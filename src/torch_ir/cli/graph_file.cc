#include "torch_ir/cli/graph_file.h"

#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/validate.h"

namespace torch_ir {
namespace {

// "m.json is not well formed: PROBLEM (and 2 more: see 'torch-ir validate m.json')"
std::string describe(const std::string& path, const std::vector<std::string>& problems) {
  std::string text = path + " is not well formed: " + problems.front();
  if (problems.size() > 1) {
    text += " (and " + std::to_string(problems.size() - 1) + " more: see 'torch-ir validate " +
            path + "')";
  }
  return text;
}

// Whether the reader of archives is to say what is wrong with it, where anything is.
bool is_called_archive(const std::string& path) {
  return path.ends_with(".pt2") || path.ends_with(".safetensors");
}

}  // namespace

GraphFile read_graph_file(const std::string& path) {
  if (!is_pt2_archive(path) && !is_called_archive(path)) {
    return {.ir = load_ir(path), .weights = std::nullopt};
  }
  Pt2Model model = read_pt2(path);
  try {
    return {.ir = convert_exported_program(model.program),
            .weights = std::move(model.weights),
            .origins = origins_of(model.program)};
  } catch (const ConversionError& error) {
    throw ConversionError(path + ": " + error.what());
  }
}

GraphFile load_graph_file(const std::string& path) {
  GraphFile file = read_graph_file(path);
  const std::vector<std::string> problems = find_problems(file.ir);
  if (!problems.empty()) throw ValidationError(describe(path, problems));
  return file;
}

}  // namespace torch_ir

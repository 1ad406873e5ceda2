// Writes the models that the benchmarks time, for tools/peers_benchmark.py:
//
//   save_benchmark_models DIR
//
// makes DIR/MODEL with ir.json, weights.safetensors, inputs.safetensors and expected.safetensors,
// which is what eager computes.

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "harness/benchmark/benchmark_models.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

void save(const RegisteredModel& model, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  const Subject subject = make_subject(model, 0);
  const IR ir = extract(model, subject);
  serialize(ir, directory / "ir.json");
  save_tensors(ir, subject.weights, subject.inputs, run_eagerly(subject.model, subject.inputs),
               directory);
}

int save_all(const char* directory) {
  try {
    enter_user_directory();
    for (const RegisteredModel& model : list_benchmark_models()) {
      save(model, std::filesystem::path(directory) / model.name);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace torch_ir

int main(int argc, char** argv) {
  if (argc == 2) return torch_ir::save_all(argv[1]);
  fmt::print(stderr, "usage: save_benchmark_models DIR\n");
  return 2;
}

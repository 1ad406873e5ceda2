// Results of the harness: plain data, made by the process that ran a model, read by the reports.
//
// Nothing in here depends on time, host or paths: the same run gives the same results.
#ifndef TORCH_IR_HARNESS_RESULT_H_
#define TORCH_IR_HARNESS_RESULT_H_

#include <c10/core/Device.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/executor/execution_options.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {

// The stages of the pipeline, in order.
enum class Stage { kExtract, kSerialize, kExecute, kVerify };

inline constexpr std::array kStages = {Stage::kExtract, Stage::kSerialize, Stage::kExecute,
                                       Stage::kVerify};

// "extract", "serialize", "execute", "verify".
std::string_view stage_name(Stage stage);

// What a run was asked for, as far as it can change a result.
struct RunSettings {
  uint64_t seed = 0;
  Tolerance tolerance = {.rtol = 1e-4, .atol = 1e-4};
  int threads = 1;
  // How the graph runs; the reference always runs eagerly, on the CPU.
  Optimization optimization = Optimization::kExact;
  c10::Device device = c10::Device(c10::kCPU);
  bool save_tensors = false;
};

struct Failure {
  Stage stage = Stage::kExtract;
  std::string message = {};
  // The last lines that the model's process printed, when it ended without saying why.
  std::string output = {};
};

// Where an imported model and its tensors come from. Names of files, without their folders.
struct Origin {
  std::string archive = {};
  // Empty where the archive's example inputs were used.
  std::string inputs = {};
  // Empty where the archive's own operators said what is expected.
  std::string expected = {};
};

struct ModelResult {
  std::string name = {};
  std::string description = {};
  std::vector<std::string> categories = {};
  // Of an archive; nothing for a model of the registry.
  std::optional<Origin> origin = std::nullopt;
  // How many of kStages passed.
  size_t num_passed_stages = 0;
  // Why the model failed in the stage after those.
  std::optional<Failure> failure = std::nullopt;
  // The graph, without the values of constants; from the stage extract on.
  std::optional<IR> graph = std::nullopt;
  // From the stage verify on.
  std::optional<VerificationReport> verification = std::nullopt;

  // All stages passed.
  bool passed() const { return !failure && num_passed_stages == kStages.size(); }
};

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_RESULT_H_

#include "harness/divergence/part_process.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/process/supervise.h"
#include "harness/results/result_fields.h"
#include "harness/stages/stages.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

// A folder beside that of the part, which has what is no part of a reproducer.
constexpr const char* kRunSuffix = ".run";

// Gives whether it ran out of memory, as far as the process lives to tell.
bool run_given_part(const std::string& directory, const RunSettings& settings,
                    const TellNews& tell) {
  const IR ir = load_ir(directory + "/ir.json");
  StateDict weights;
  if (const std::string file = directory + "/weights.safetensors"; fs::exists(file)) {
    weights = load_weights(file);
  }
  const std::vector<at::Tensor> inputs = read_inputs(directory + "/inputs.safetensors", ir);
  at::set_num_threads(settings.threads);
  const std::unique_ptr<Backend> backend = open_backend(settings, directory + kRunSuffix);
  at::manual_seed(settings.seed);
  tell("begun");
  const AllocationWatch memory;
  try {
    backend->run(ir, weights, inputs);
  } catch (const OutputError&) {
    throw;
  } catch (const std::exception& error) {
    return failure_kind(Stage::kExecute, error, memory) == FailureKind::kOutOfMemory;
  }
  return false;
}

}  // namespace

PartRun run_part(const std::string& directory, const RunSettings& settings,
                 const PartLimits& limits) {
  // Where this fails, writing to it says why.
  std::error_code error;
  fs::remove_all(directory + kRunSuffix, error);
  PartRun run;
  WorkRequest request{
      .content = {{"directory", directory}, {"settings", json_fields::write(settings)}},
      .limits = {.time = limits.run,
                 .counts_from_news = true,
                 .deadline = limits.deadline,
                 .memory = limits.memory}};
  bool is_sent = false;
  supervise({.task = kPartTask,
             .next =
                 [&](size_t) {
                   return std::exchange(is_sent, true) ? std::nullopt : std::optional(request);
                 },
             .on_news = [&](size_t, const WorkJson&) { run.has_begun = true; },
             .on_answer =
                 [&](size_t, const WorkJson& is_out_of_memory, const WorkEnd*) {
                   if (is_out_of_memory) run.end = PartEnd{.kind = FailureKind::kOutOfMemory};
                 },
             .on_end =
                 [&](size_t, const WorkEnd& end) {
                   run.is_cut_off = end.is_cut_off;
                   const bool is_crash = end.kind == FailureKind::kCrashed;
                   // What ends before it has begun was not ended by the graph.
                   if (end.is_cut_off || (is_crash && !run.has_begun)) return;
                   run.end = PartEnd{.kind = end.kind,
                                     .description = is_crash ? end.description : std::string()};
                 }});
  return run;
}

DoRequest run_part_task(const WorkJson& /*setup*/) {
  return [](const WorkJson& request, const TellNews& tell) -> WorkJson {
    RunSettings settings;
    json_fields::read(request.at("settings"), settings);
    return run_given_part(request.at("directory"), settings, tell);
  };
}

}  // namespace torch_ir

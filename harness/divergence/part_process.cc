#include "harness/divergence/part_process.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <poll.h>
#include <sys/wait.h>

#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/process/child_process.h"
#include "harness/results/result_fields.h"
#include "harness/stages/child_main.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/subprocess.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The argument that makes a program such a child: with the folder of the part.
constexpr std::string_view kPartFlag = "--run-part-in=";
// A folder beside it, which has what is no part of a reproducer.
constexpr const char* kRunSuffix = ".run";
constexpr const char* kSettingsFile = "/settings.json";
// Are there when the graph has begun to run, and when its run has ended.
constexpr const char* kBegunFile = "/begun";
constexpr const char* kEndedFile = "/ended";

// How often is looked at what it does.
constexpr int kPatienceMilliseconds = 20;

void mark(const std::string& path) {
  write_output([&] { write_file(path, ""); });
}

void run_given_part(const std::string& directory) {
  const std::string own = directory + kRunSuffix;
  RunSettings settings;
  json_fields::parse(read_file(own + kSettingsFile),
                     [&](const json_fields::Json& json) { json_fields::read(json, settings); });
  const IR ir = load_ir(directory + "/ir.json");
  StateDict weights;
  if (const std::string file = directory + "/weights.safetensors"; fs::exists(file)) {
    weights = load_weights(file);
  }
  const std::vector<at::Tensor> inputs = read_inputs(directory + "/inputs.safetensors", ir);
  at::set_num_threads(settings.threads);
  const std::unique_ptr<Backend> backend = open_backend(settings, own);
  at::manual_seed(settings.seed);
  mark(own + kBegunFile);
  try {
    backend->run(ir, weights, inputs);
  } catch (const OutputError&) {
    throw;
  } catch (const std::exception& error) {
    // As the parent knows it of a process that said no more.
    if (failure_kind(Stage::kExecute, error) == FailureKind::kOutOfMemory) throw std::bad_alloc();
  }
  mark(own + kEndedFile);
}

PartEnd end_of(int status, const std::string& output) {
  const FailureKind kind = kind_of_crash(output);
  return {.kind = kind,
          .description = kind == FailureKind::kCrashed ? describe_wait_status(status) : ""};
}

void wait_a_little(const ChildProcess& process) {
  pollfd news[] = {{.fd = process.output_descriptor(), .events = POLLIN, .revents = 0},
                   {.fd = process.exit_descriptor(), .events = POLLIN, .revents = 0}};
  ::poll(news, 2, kPatienceMilliseconds);
}

}  // namespace

PartRun run_part(const std::string& directory, const RunSettings& settings,
                 const PartLimits& limits) {
  const std::string own = directory + kRunSuffix;
  // Where this fails, writing to it says why.
  std::error_code error;
  fs::remove_all(own, error);
  fs::create_directory(own, error);
  write_output([&] { write_file(own + kSettingsFile, json_fields::write(settings).dump()); });
  ChildProcess process({std::string(kPartFlag) + directory});
  PartRun run;
  std::optional<Clock::time_point> run_deadline;
  while (true) {
    wait_a_little(process);
    process.read_output();
    const std::optional<int> status = process.poll();
    run.has_begun = fs::exists(own + kBegunFile);
    if (status) {
      rethrow_output_error(*status, process.output());
      const bool is_ended_by_graph = run.has_begun && !fs::exists(own + kEndedFile);
      if (is_ended_by_graph) run.end = end_of(*status, process.output());
      return run;
    }
    const Clock::time_point now = Clock::now();
    run.is_cut_off = now >= limits.deadline;
    if (run.is_cut_off) return run;
    if (run.has_begun && !run_deadline) {
      run_deadline = now + std::chrono::duration_cast<Clock::duration>(limits.run);
    }
    if (run_deadline && now >= *run_deadline) {
      run.end = PartEnd{.kind = FailureKind::kTimedOut};
    } else if (limits.memory && resident_bytes()[process.id()] > *limits.memory) {
      run.end = PartEnd{.kind = FailureKind::kOutOfMemory};
    }
    if (run.end) return run;
  }
}

std::optional<int> run_part_as_child(int argc, char** argv) {
  if (argc != 2 || !std::string_view(argv[1]).starts_with(kPartFlag)) return std::nullopt;
  return child_main([&] { run_given_part(argv[1] + kPartFlag.size()); });
}

}  // namespace torch_ir

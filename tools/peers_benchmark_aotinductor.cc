// Times packages of AOTInductor without the overhead of Python; peers_benchmark.py compiles and
// calls it.
//
// Functions return null or false if they fail; `peer_error` returns the reason.

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <chrono>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

namespace {

struct Peer {
  explicit Peer(const char* path) : loader(path, "model", /*run_single_threaded=*/true) {}

  torch::inductor::AOTIModelPackageLoader loader;
  std::vector<at::Tensor> inputs;
};

std::string last_error;

// Returns the result of `action`, or `failed` if it throws.
template <class Result, class Action>
Result guarded(Result failed, const Action& action) {
  try {
    return action();
  } catch (const std::exception& error) {
    last_error = error.what();
    return failed;
  }
}

double cpu_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

}  // namespace

extern "C" {

const char* peer_error() { return last_error.c_str(); }

void* peer_load(const char* path) {
  return guarded<void*>(nullptr, [&] { return new Peer(path); });
}

// Adds an input in the caller's memory, of int64 or float32.
bool peer_add_input(void* peer, void* data, const int64_t* sizes, int64_t dim, bool is_int64) {
  return guarded(false, [&] {
    const c10::InferenceMode inference_mode;
    static_cast<Peer*>(peer)->inputs.push_back(at::from_blob(
        data, at::IntArrayRef(sizes, static_cast<size_t>(dim)), is_int64 ? at::kLong : at::kFloat));
    return true;
  });
}

// Runs `iterations` times and writes their real time and CPU time, in nanoseconds.
bool peer_time(void* peer, int64_t iterations, double times[2]) {
  return guarded(false, [&] {
    const c10::InferenceMode inference_mode;
    auto& [loader, inputs] = *static_cast<Peer*>(peer);
    const auto start = std::chrono::steady_clock::now();
    const double cpu_start = cpu_nanoseconds();
    for (int64_t i = 0; i < iterations; ++i) loader.run(inputs);
    times[1] = cpu_nanoseconds() - cpu_start;
    const std::chrono::duration<double, std::nano> real = std::chrono::steady_clock::now() - start;
    times[0] = real.count();
    return true;
  });
}

}  // extern "C"

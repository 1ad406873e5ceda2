// Parallel loops on the OpenMP threads of LibTorch, and a limit to one thread.
//
// at::parallel_for of LibTorch's headers starts threads only in code compiled with -fopenmp, for
// which each compiler takes a runtime of its own. This calls the runtime that LibTorch has loaded.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

// Weak, as libraries may be built without them.
extern "C" {
void GOMP_parallel(void (*function)(void*), void* data, unsigned num_threads, unsigned flags)
    __attribute__((weak));
int omp_get_max_threads() __attribute__((weak));
int omp_get_num_threads() __attribute__((weak));
int omp_get_thread_num() __attribute__((weak));
int omp_in_parallel() __attribute__((weak));
void omp_set_num_threads(int num_threads) __attribute__((weak));
int MKL_Set_Num_Threads_Local(int num_threads) __attribute__((weak));
}

namespace torch_ir {

// Limits OpenMP and MKL to one thread while it lives, for calls too small to gain from more. In a
// new thread, call at::get_num_threads() first: it sets LibTorch's number of threads there.
class OneThread {
 public:
  explicit OneThread(bool is_wanted = true) {
    if (!is_wanted || omp_get_max_threads == nullptr || omp_get_max_threads() == 1) return;
    num_threads_ = omp_get_max_threads();
    omp_set_num_threads(1);
    if (MKL_Set_Num_Threads_Local != nullptr) mkl_threads_ = MKL_Set_Num_Threads_Local(1);
  }
  ~OneThread() {
    if (num_threads_ == 0) return;
    omp_set_num_threads(num_threads_);
    if (MKL_Set_Num_Threads_Local != nullptr) MKL_Set_Num_Threads_Local(mkl_threads_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int num_threads_ = 0;
  // MKL's own setting; 0 if it follows OpenMP.
  int mkl_threads_ = 0;
};

// Calls body(first, end) for parts of [0, count), at most one for each thread. All but the last are
// equal and have `grain` elements or more; `grain` is 1 or more. Rethrows what a part throws.
template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  struct Work {
    const Body& body;
    int64_t count;
    int64_t grain;
    std::atomic_flag has_error = ATOMIC_FLAG_INIT;
    std::exception_ptr error = nullptr;

    void run_part() {
      const int64_t parts = std::min<int64_t>(omp_get_num_threads(), count / grain);
      const int64_t size = (count + parts - 1) / parts;
      const int64_t first = omp_get_thread_num() * size;
      if (first >= count) return;
      try {
        body(first, std::min(first + size, count));
      } catch (...) {
        if (!has_error.test_and_set()) error = std::current_exception();
      }
    }
  };
  if (count <= grain || GOMP_parallel == nullptr || omp_get_max_threads() == 1 ||
      omp_in_parallel()) {
    if (count > 0) body(0, count);
    return;
  }
  Work work{body, count, grain};
  GOMP_parallel([](void* data) { static_cast<Work*>(data)->run_part(); }, &work, 0, 0);
  if (work.error) std::rethrow_exception(work.error);
}

}  // namespace torch_ir

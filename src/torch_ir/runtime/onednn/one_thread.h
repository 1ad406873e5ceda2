// OneThread: limits OpenMP and MKL to one thread while it lives, for calls too small to gain from
// more.
#pragma once

// Weak, as libraries may be built without them.
extern "C" {
int omp_get_max_threads() __attribute__((weak));
void omp_set_num_threads(int num_threads) __attribute__((weak));
int MKL_Set_Num_Threads_Local(int num_threads) __attribute__((weak));
}

namespace torch_ir {

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

}  // namespace torch_ir

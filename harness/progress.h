// Progress: what a person sees while models run.
//
// A line for each model that has finished; on a terminal also a bar with what runs now.
#ifndef TORCH_IR_HARNESS_PROGRESS_H_
#define TORCH_IR_HARNESS_PROGRESS_H_

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "torch_ir/harness/result.h"

namespace torch_ir {

class Progress {
 public:
  // Lines go to `lines`, the bar to `bar`; either may be null.
  Progress(size_t num_models, std::ostream* lines, std::ostream* bar);
  // Takes the bar away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void start(const std::string& model);
  void finish(const ModelResult& result);

 private:
  void draw_bar();
  void clear_bar();

  size_t num_models_;
  std::ostream* lines_;
  std::ostream* bar_;
  size_t num_finished_ = 0;
  size_t num_failed_ = 0;
  std::vector<std::string> running_;
};

// "DenseBlock  PASSED  max diff 0", "DenseBlock  FAILED  in execute: ...".
std::string result_line(const ModelResult& result);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_PROGRESS_H_

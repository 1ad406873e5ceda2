// Progress: what a person sees while models run.
//
// A line for each model that has finished; on a terminal also a bar with what runs now and since
// when. With one job the lines are the same in every run.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/results/result.h"

namespace torch_ir {

struct ProgressOptions {
  // Columns for the names of models in lines.
  size_t name_width = 0;
  // Whether verdicts in lines have a colour.
  bool has_colours = false;
  // Columns of the terminal that shows the bar, asked for whenever it is drawn.
  std::function<int()> width = [] { return 80; };
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

class Progress {
 public:
  // Lines go to `lines`, the bar to `bar`; either may be null.
  Progress(size_t num_models, std::ostream* lines, std::ostream* bar,
           ProgressOptions options = ProgressOptions());
  // Takes the bar away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void start(const std::string& model);
  void finish(const Result& result);
  // To be called a few times a second: time passes.
  void tick();

 private:
  std::string bar_text() const;
  void draw_bar();
  void clear_bar();

  size_t num_models_;
  std::ostream* lines_;
  std::ostream* bar_;
  ProgressOptions options_;
  std::chrono::steady_clock::time_point start_;
  size_t num_finished_ = 0;
  size_t num_bad_ = 0;
  std::vector<std::string> running_;
  // What the terminal shows.
  std::string drawn_;
};

// "DenseBlock  PASSED  max diff 0", "DenseBlock  FAILED  crashed in execute: ...". The name is
// filled up to `name_width` columns.
std::string result_line(const Result& result, bool has_colours = false, size_t name_width = 0);

}  // namespace torch_ir

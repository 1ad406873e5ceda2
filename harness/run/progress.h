// Progress: prints a line for each finished model and, on a terminal, a bar with the running ones.
// With one job the lines are the same in every run.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace torch_ir {

struct Result;

struct ProgressOptions {
  size_t name_width = 0;
  bool has_colours = false;
  // The folder of the reports, as the user typed it.
  std::string reports = "reports";
  // Returns the columns of the terminal, for each drawing of the bar.
  std::function<int()> width = [] { return 80; };
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

class Progress {
 public:
  // Either stream may be null.
  Progress(size_t num_models, std::ostream* lines, std::ostream* bar,
           ProgressOptions options = ProgressOptions());
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void start(const std::string& model);
  // The verdict is known, and the search for a reproducer goes on.
  void judge(const Result& result);
  void finish(const Result& result);
  // To be called a few times a second, to update the time.
  void tick();

 private:
  void print_verdict(const Result& result);
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
  std::string drawn_;
};

// "DenseBlock  PASSED  max abs. error 0", "DenseBlock  FAILED  crashed in execute: ...", with the
// name padded to `name_width` columns.
std::string result_line(const Result& result, bool has_colours = false, size_t name_width = 0);

// What else is to be known of the values, in a line below with a newline: "    state not compared:
// 'b_k'"; empty if nothing is.
std::string finding_line(const Result& result);

// "    reproducer: 2 nodes in reports/repro/DenseBlock" with a newline; empty without one.
std::string reproducer_line(const Result& result, const std::string& reports);

}  // namespace torch_ir

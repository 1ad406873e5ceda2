// Where a process that posix_spawn starts reads from and writes to. Used by what starts one: the
// harness itself, for a model, and the shell, for an executor.
#pragma once

#include <spawn.h>

#include <string>

namespace torch_ir {

class SpawnActions {
 public:
  // Reads nothing; standard output and standard error go to the descriptor `output`.
  explicit SpawnActions(int output);
  ~SpawnActions();
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  // The process starts in `directory`.
  void change_directory(const std::string& directory);

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

}  // namespace torch_ir

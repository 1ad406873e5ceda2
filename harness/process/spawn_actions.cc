#include "harness/process/spawn_actions.h"

#include <fcntl.h>
#include <unistd.h>

namespace torch_ir {

SpawnActions::SpawnActions(int output) {
  posix_spawn_file_actions_init(&actions_);
  posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
}

SpawnActions::~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }

void SpawnActions::change_directory(const std::string& directory) {
  posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
}

}  // namespace torch_ir

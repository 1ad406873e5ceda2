#include "harness/report/work_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".torch-ir-run-";
constexpr std::string_view kPattern = "XXXXXX";

// Not inherited by children: the lock ends with this process.
int open_directory(const fs::path& directory) {
  return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// A lock on a directory while it lives.
class Lock {
 public:
  Lock(const fs::path& directory, int operation) : descriptor_(open_directory(directory)) {
    is_held_ = descriptor_ >= 0 && ::flock(descriptor_, operation) == 0;
  }
  ~Lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  bool is_held() const { return is_held_; }
  // For its owner to close.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
  bool is_held_ = false;
};

// By its name, which nobody else gives to a directory.
bool is_work_directory(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kPrefix) && name.size() == kPrefix.size() + kPattern.size();
}

// Removes the directories in `parent` that no run holds. Where the file system has no locks, none.
void remove_stale(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; entry != end; entry.increment(error)) {
    if (!is_work_directory(entry->path())) continue;
    const Lock lock(entry->path(), LOCK_EX | LOCK_NB);
    if (!lock.is_held()) continue;
    std::error_code ignored;
    fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace

WorkDirectory::WorkDirectory(const fs::path& parent) {
  make_directory(parent);
  // Nobody looks for stale directories while a new one is not locked yet.
  const Lock parent_lock(parent, LOCK_EX);
  if (parent_lock.is_held()) remove_stale(parent);
  std::string name = (parent / (std::string(kPrefix).append(kPattern))).string();
  if (::mkdtemp(name.data()) == nullptr) throw cannot_write(parent, strerror(errno));
  path_ = name;
  lock_ = Lock(path_, LOCK_EX).release();
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path, const std::string& reason) {
  return Error("cannot write the reports to '" + path.string() + "': " + reason);
}

void make_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error) return;
  std::error_code ignored;
  throw cannot_write(directory,
                     fs::is_regular_file(directory, ignored) ? "it is a file" : error.message());
}

}  // namespace torch_ir

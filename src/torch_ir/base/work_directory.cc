#include "torch_ir/base/work_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPattern = "XXXXXX";

// Not inherited by children: the lock ends with this process.
int open_directory(const fs::path& directory) {
  return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// A lock on a directory while it lives. It is waited for no longer than `patience`: whoever may
// read a directory may lock it, and never let go.
class Lock {
 public:
  explicit Lock(const fs::path& directory, std::chrono::milliseconds patience = kBriefly)
      : descriptor_(open_directory(directory)) {
    constexpr std::chrono::milliseconds kPause(10);
    if (descriptor_ < 0) return;
    while (!(is_held_ = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0)) {
      if (errno != EWOULDBLOCK || patience <= kPause) return;
      std::this_thread::sleep_for(kPause);
      patience -= kPause;
    }
  }
  ~Lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  // Not where the file system has no locks.
  bool is_held() const { return is_held_; }
  // For its owner to close.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  static constexpr std::chrono::milliseconds kBriefly = std::chrono::milliseconds(200);

  int descriptor_;
  bool is_held_ = false;
};

// By its name, which nobody else gives to a directory.
bool is_work_directory(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kWorkDirectoryPrefix) &&
         name.size() == kWorkDirectoryPrefix.size() + kPattern.size();
}

// Where the file system has no locks, none.
void remove_unlocked(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; entry != end; entry.increment(error)) {
    if (!is_work_directory(entry->path())) continue;
    const Lock lock(entry->path(), std::chrono::milliseconds(0));
    if (!lock.is_held()) continue;
    std::error_code ignored;
    fs::remove_all(entry->path(), ignored);
  }
}

// Tells whether it was missing.
bool make_parent(const fs::path& parent) {
  std::error_code error;
  const bool is_made = fs::create_directories(parent, error);
  if (!error) return is_made;
  std::error_code ignored;
  throw Error("cannot make the folder '" + parent.string() +
              "': " + (fs::is_regular_file(parent, ignored) ? "it is a file" : error.message()));
}

}  // namespace

WorkDirectory::WorkDirectory(const fs::path& parent) {
  has_made_parent_ = make_parent(parent);
  // Nobody looks for stale directories while a new one is not locked yet.
  const Lock parent_lock(parent);
  if (parent_lock.is_held()) remove_unlocked(parent);
  std::string name = (parent / (std::string(kWorkDirectoryPrefix).append(kPattern))).string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error("cannot write to '" + parent.string() + "': " + strerror(errno));
  }
  path_ = name;
  lock_ = Lock(path_).release();
}

void remove_stale_work_directories(const fs::path& parent) {
  const Lock parent_lock(parent);
  if (parent_lock.is_held()) remove_unlocked(parent);
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
  // Only where it is empty.
  if (has_made_parent_) fs::remove(path_.parent_path(), ignored);
}

// --- move_files ---

namespace {

[[noreturn]] void fail_to_replace(const fs::path& path, const std::string& reason) {
  throw Error("cannot write '" + path.string() + "': " + reason);
}

bool is_folder_name(const std::string& name) { return name.ends_with('/'); }

// With its "/" a link would be followed.
fs::path path_of(const fs::path& root, const std::string& name) {
  return root / name.substr(0, name.size() - (is_folder_name(name) ? 1 : 0));
}

// Those that `names` lie in, outer ones first.
std::set<std::string> folders_above(const std::vector<std::string>& names) {
  std::set<std::string> folders;
  for (const std::string& name : names) {
    for (size_t at = name.find('/'); at != name.npos && at + 1 < name.size();
         at = name.find('/', at + 1)) {
      folders.insert(name.substr(0, at));
    }
  }
  return folders;
}

// Everything in `folder` reaches the disk. A few files one by one, as the disk may have much to do
// for others; of many each would take milliseconds, and all that is on its way takes less.
void flush(const fs::path& folder) {
  constexpr size_t kFew = 100;
  std::vector<fs::path> paths = {folder};
  std::error_code error;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(folder, error), end; it != end; it.increment(error)) {
    if (!it->is_symlink(ignored)) paths.push_back(it->path());
  }
  if (error) fail_to_replace(folder, error.message());
  const bool is_many = paths.size() > kFew;
  if (is_many) paths.resize(1);
  for (const fs::path& path : paths) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int result = descriptor < 0 ? -1 : is_many ? ::syncfs(descriptor) : ::fsync(descriptor);
    const int reason = errno;
    if (descriptor >= 0) ::close(descriptor);
    // Some file systems refuse it for folders.
    if (result != 0 && reason != EINVAL) fail_to_replace(path, strerror(reason));
  }
}

// Its list of names.
void flush_folder(const fs::path& folder) {
  const int descriptor = open_directory(folder);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

void check_replaceable(const fs::path& to, const std::vector<std::string>& names) {
  std::error_code ignored;
  for (const std::string& folder : folders_above(names)) {
    const fs::file_status status = fs::symlink_status(to / folder, ignored);
    if (!fs::exists(status) || fs::is_directory(status)) continue;
    fail_to_replace(to / folder, fs::is_symlink(status) ? "it is a symbolic link" : "it is a file");
  }
  for (const std::string& name : names) {
    const fs::path path = path_of(to, name);
    const fs::file_status status = fs::symlink_status(path, ignored);
    if (!fs::exists(status) || fs::is_symlink(status)) continue;
    if (fs::is_directory(status) == is_folder_name(name)) continue;
    fail_to_replace(path, is_folder_name(name) ? "it is a file" : "it is a directory");
  }
}

void move_files(const fs::path& from, const fs::path& to, const std::vector<std::string>& names) {
  check_replaceable(to, names);
  // Where `to` is not finished itself, that is for the one who finishes it.
  if (!is_in_work_directory(to.string())) flush(from);
  const std::set<std::string> folders = folders_above(names);
  std::error_code error;
  std::vector<std::pair<fs::path, fs::path>> aside;
  bool has_moved = false;
  const auto put_aside = [&](const std::string& name) {
    const fs::path target = path_of(to, name);
    const fs::path place = from / (".aside-" + std::to_string(aside.size()));
    if (fs::exists(fs::symlink_status(target, error))) {
      fs::rename(target, place, error);
      if (!error) aside.emplace_back(place, target);
    }
    if (error && error != std::errc::no_such_file_or_directory) {
      fail_to_replace(target, error.message());
    }
  };
  try {
    if (!names.empty()) put_aside(names.back());
    for (const std::string& folder : folders) {
      if (!fs::exists(from / folder, error)) continue;
      fs::create_directories(to / folder, error);
      if (error) fail_to_replace(to / folder, error.message());
    }
    for (const std::string& name : names) {
      const fs::path source = path_of(from, name);
      const bool is_there = fs::exists(source, error);
      if (is_folder_name(name) || !is_there) put_aside(name);
      if (!is_there) continue;
      fs::rename(source, path_of(to, name), error);
      if (error) fail_to_replace(path_of(to, name), error.message());
      has_moved = true;
    }
  } catch (const Error&) {
    // What is aside would go with `from`; the last one only says that all belong together.
    for (const auto& [place, target] : aside) {
      const bool is_last = target == path_of(to, names.back());
      if (!fs::exists(target, error) && !(is_last && has_moved)) fs::rename(place, target, error);
    }
    throw;
  }
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    // Only where it is empty.
    fs::remove(to / *folder, error);
  }
  flush_folder(to);
  for (const std::string& folder : folders) flush_folder(to / folder);
}

}  // namespace torch_ir

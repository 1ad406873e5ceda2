#include "torch_ir/base/work_directory.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
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
#include "torch_ir/base/subprocess.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPattern = "XXXXXX";

// Not inherited by children: the lock ends with this process.
int open_directory(const fs::path& directory) {
  return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

using std::chrono::milliseconds;

// How long to wait for a lock: to remove what was left, and to exchange what is finished.
constexpr milliseconds kBriefly(200);
constexpr milliseconds kLong(10'000);

// A lock on a directory while it lives. It is waited for no longer than `patience`: whoever may
// read a directory may lock it, and never let go.
class Lock {
 public:
  Lock(const fs::path& directory, milliseconds patience) : descriptor_(open_directory(directory)) {
    constexpr milliseconds kPause(10);
    if (descriptor_ < 0) return;
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      is_taken_ = errno == EWOULDBLOCK;
      if (!is_taken_ || patience <= milliseconds(0)) return;
      std::this_thread::sleep_for(kPause);
      patience -= kPause;
    }
    is_taken_ = false;
    is_held_ = true;
  }
  ~Lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  bool is_held() const { return is_held_; }
  // By another. Neither is so where the file system has no locks.
  bool is_taken() const { return is_taken_; }
  // For its owner to close.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
  bool is_held_ = false;
  bool is_taken_ = false;
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
    const Lock lock(entry->path(), milliseconds(0));
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
  const Lock parent_lock(parent, kBriefly);
  if (parent_lock.is_held()) remove_unlocked(parent);
  std::string name = (parent / (std::string(kWorkDirectoryPrefix).append(kPattern))).string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error("cannot write to '" + parent.string() + "': " + strerror(errno));
  }
  path_ = name;
  lock_ = Lock(path_, kBriefly).release();
}

void remove_stale_work_directories(const fs::path& parent) {
  const Lock parent_lock(parent, kBriefly);
  if (parent_lock.is_held()) remove_unlocked(parent);
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
  // Only where it is empty.
  if (has_made_parent_) fs::remove(path_.parent_path(), ignored);
}

// --- replace_together ---

namespace {

[[noreturn]] void fail_to_replace(const fs::path& path, const std::string& reason) {
  throw Error("cannot write '" + path.string() + "': " + reason);
}

// The folder `path`, open. Throws Error.
class OpenFolder {
 public:
  explicit OpenFolder(const fs::path& path) : descriptor_(open_directory(path)) {
    if (descriptor_ < 0) fail_to_replace(path, strerror(errno));
  }
  ~OpenFolder() { ::close(descriptor_); }
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;

  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

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

// All that is in `folder`, and itself. Throws Error.
std::vector<fs::path> paths_below(const fs::path& folder) {
  std::vector<fs::path> paths = {folder};
  std::error_code error;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(folder, error), end; it != end; it.increment(error)) {
    if (!it->is_symlink(ignored)) paths.push_back(it->path());
  }
  if (error) fail_to_replace(folder, error.message());
  return paths;
}

// Everything in `folder` reaches the disk. A few files one by one, as the disk may have much to do
// for others; of many each would take milliseconds, and all that is on its way takes less.
void flush(const fs::path& folder) {
  constexpr size_t kFew = 100;
  const std::vector<fs::path> paths = paths_below(folder);
  const bool is_many = paths.size() > kFew;
  for (const fs::path& path : is_many ? std::vector<fs::path>{folder} : paths) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int result = descriptor < 0 ? -1 : is_many ? ::syncfs(descriptor) : ::fsync(descriptor);
    const int reason = errno;
    if (descriptor >= 0) ::close(descriptor);
    // Some file systems refuse it for folders.
    if (result != 0 && reason != EINVAL) fail_to_replace(path, strerror(reason));
  }
}

// The functions from here to run_apart run between fork and exit: they may call the system and
// nothing else.

// Exchanges what the folders `a` and `b` have as `name`, either of which may be nothing. Doing it
// again undoes it. 0, or what the system says.
int exchange(int a, int b, const char* name) {
  if (::renameat2(a, name, b, name, RENAME_EXCHANGE) == 0) return 0;
  // Nothing in one of them, or a file system that can not (NFS): then it takes three steps.
  constexpr const char* kAside = ".torch-ir-aside";
  const auto move = [](int from, const char* name_from, int to, const char* name_to) {
    return ::renameat(from, name_from, to, name_to) == 0 || errno == ENOENT;
  };
  if (!move(b, name, a, kAside)) return errno;
  if (!move(a, name, b, name)) {
    const int reason = errno;
    move(a, kAside, b, name);
    return reason;
  }
  return move(a, kAside, a, name) ? 0 : errno;
}

// What became of an exchange: of which name, and 0 or why not.
struct ExchangeEnd {
  size_t index = 0;
  int reason = 0;
};

ExchangeEnd exchange_all(int a, int b, const std::vector<std::string>& names,
                         const std::vector<std::string>& folders) {
  ExchangeEnd end;
  for (const std::string& folder : folders) {
    for (const int root : {a, b}) {
      if (::mkdirat(root, folder.c_str(), 0777) != 0 && errno != EEXIST) end.reason = errno;
    }
  }
  while (end.index < names.size() && end.reason == 0) {
    end.reason = exchange(a, b, names[end.index].c_str());
    if (end.reason == 0) ++end.index;
  }
  if (end.reason != 0) {
    for (size_t i = end.index; i-- > 0;) exchange(a, b, names[i].c_str());
  }
  for (size_t i = folders.size(); i-- > 0;) ::unlinkat(b, folders[i].c_str(), AT_REMOVEDIR);
  return end;
}

// Calls `work` in a process that lives on when this one, or its group, is killed; and waits for it.
template <class Work>
ExchangeEnd run_apart(const Work& work) {
  ExchangeEnd end{.reason = EINTR};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {.reason = errno};
  const pid_t process = ::fork();
  if (process == 0) {
    ::setsid();
    end = work();
    ::signal(SIGPIPE, SIG_IGN);
    const ssize_t size = ::write(ends[1], &end, sizeof(end));
    ::_exit(size == sizeof(end) ? 0 : 1);
  }
  const int reason = errno;
  ::close(ends[1]);
  if (process > 0) {
    while (::read(ends[0], &end, sizeof(end)) < 0 && errno == EINTR) {
    }
    wait_for_process(process);
  }
  ::close(ends[0]);
  return process < 0 ? ExchangeEnd{.reason = reason} : end;
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
    // With its "/" a link would be followed.
    const bool is_folder = name.ends_with('/');
    const fs::path path = to / name.substr(0, name.size() - (is_folder ? 1 : 0));
    const fs::file_status status = fs::symlink_status(path, ignored);
    if (!fs::exists(status) || fs::is_symlink(status)) continue;
    if (fs::is_directory(status) == is_folder) continue;
    fail_to_replace(path, is_folder ? "it is a file" : "it is a directory");
  }
}

void replace_together(const fs::path& from, const fs::path& to, std::vector<std::string> names) {
  check_replaceable(to, names);
  const std::set<std::string> above = folders_above(names);
  const std::vector<std::string> folders(above.begin(), above.end());
  for (std::string& name : names) {
    if (name.ends_with('/')) name.pop_back();
  }
  if (!is_in_work_directory(to.string())) flush(from);
  const OpenFolder source(from);
  const OpenFolder target(to);
  // Held by the process of the exchange too, for as long as that takes.
  const Lock lock(to, kLong);
  if (lock.is_taken()) fail_to_replace(to, "another process keeps it locked");
  const ExchangeEnd end =
      run_apart([&] { return exchange_all(source.get(), target.get(), names, folders); });
  if (end.reason != 0) {
    fail_to_replace(end.index < names.size() ? to / names[end.index] : to, strerror(end.reason));
  }
  ::fsync(target.get());
  for (const std::string& folder : folders) {
    const int descriptor = open_directory(to / folder);
    if (descriptor < 0) continue;
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

}  // namespace torch_ir

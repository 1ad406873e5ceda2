#include "torch_ir/base/work_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPattern = "XXXXXX";
// Part of the name until the directory is locked, which is then never taken for a stale one.
constexpr std::string_view kUnlocked = "new-";

// Returns the locked descriptor of `directory`; -1 if another process holds the lock or the file
// system has no locks.
int lock_directory(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

bool is_work_directory(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kWorkDirectoryPrefix) &&
         name.size() == kWorkDirectoryPrefix.size() + kPattern.size();
}

bool make_parent(const fs::path& parent) {
  std::error_code error;
  const bool is_made = fs::create_directories(parent, error);
  if (!error) return is_made;
  std::error_code ignored;
  throw Error("cannot create the folder '" + parent.string() +
              "': " + (fs::is_regular_file(parent, ignored) ? "it is a file" : error.message()));
}

[[noreturn]] void fail_to_replace(const fs::path& path, const std::string& reason) {
  throw Error("cannot write '" + path.string() + "': " + reason);
}

bool is_folder_name(const std::string& name) { return name.ends_with('/'); }

// A trailing "/" would follow a link.
fs::path path_of(const fs::path& root, const std::string& name) {
  return root / name.substr(0, name.size() - (is_folder_name(name) ? 1 : 0));
}

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

// Flushes everything in `folder`. A few files are flushed one by one, as the disk may be busy with
// others; for many files, syncing the file system is faster.
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
    // Some file systems refuse to flush folders.
    if (result != 0 && reason != EINVAL) fail_to_replace(path, strerror(reason));
  }
}

}  // namespace

void remove_stale_work_directories(const fs::path& parent) {
  std::error_code error;
  const std::string unlocked = std::string(kWorkDirectoryPrefix).append(kUnlocked);
  for (fs::directory_iterator entry(parent, error), end; entry != end; entry.increment(error)) {
    // Empty, left by a killed process. One that is still alive makes another.
    if (entry->path().filename().string().starts_with(unlocked)) ::rmdir(entry->path().c_str());
    if (!is_work_directory(entry->path())) continue;
    const int lock = lock_directory(entry->path());
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(entry->path(), ignored);
    ::close(lock);
  }
}

WorkDirectory::WorkDirectory(const fs::path& parent) {
  has_made_parent_ = make_parent(parent);
  remove_stale_work_directories(parent);
  const auto fail = [&](const std::string& reason) {
    throw Error("cannot write to '" + parent.string() + "': " + reason);
  };
  const fs::path prefix = parent / kWorkDirectoryPrefix;
  std::error_code error;
  do {
    std::string unlocked = prefix.string().append(kUnlocked).append(kPattern);
    if (::mkdtemp(unlocked.data()) == nullptr) fail(strerror(errno));
    if (lock_ >= 0) ::close(lock_);
    lock_ = lock_directory(unlocked);
    path_ = prefix.string() + unlocked.substr(unlocked.size() - kPattern.size());
    fs::rename(unlocked, path_, error);
  } while (error == std::errc::no_such_file_or_directory);
  if (error) fail(error.message());
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
  // Removes only an empty folder.
  if (has_made_parent_) fs::remove(path_.parent_path(), ignored);
}

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
  // If `to` is a work directory, its owner flushes it.
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
    // Files put aside would be deleted with `from`. The last name marks a complete set, so it is
    // not restored once something has moved.
    for (const auto& [place, target] : aside) {
      const bool is_last = target == path_of(to, names.back());
      if (!fs::exists(target, error) && !(is_last && has_moved)) fs::rename(place, target, error);
    }
    throw;
  }
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    // Removes only empty folders.
    fs::remove(to / *folder, error);
  }
  flush_folder(to);
  for (const std::string& folder : folders) flush_folder(to / folder);
}

}  // namespace torch_ir

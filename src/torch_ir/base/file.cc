#include "torch_ir/base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const std::string& path, const std::string& reason) {
  throw Error(std::string(what) + " '" + path + "': " + reason);
}

[[noreturn]] void fail_with_errno(const char* what, const std::string& path) {
  fail(what, path, std::strerror(errno));
}

class ReadDescriptor {
 public:
  explicit ReadDescriptor(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) fail_with_errno("cannot open", path);
    const std::string problem = problem_of_kind();
    if (problem.empty()) return;
    ::close(descriptor_);
    fail("cannot read", path, problem);
  }
  ~ReadDescriptor() { ::close(descriptor_); }
  ReadDescriptor(const ReadDescriptor&) = delete;
  ReadDescriptor& operator=(const ReadDescriptor&) = delete;

  int get() const { return descriptor_; }
  bool is_regular() const { return S_ISREG(status_.st_mode); }
  bool is_pipe() const { return S_ISFIFO(status_.st_mode); }
  // Zero unless the file is regular.
  size_t size() const { return static_cast<size_t>(status_.st_size); }

 private:
  std::string problem_of_kind() {
    if (::fstat(descriptor_, &status_) != 0) return std::strerror(errno);
    if (S_ISDIR(status_.st_mode)) return "it is a directory";
    const bool is_null = S_ISCHR(status_.st_mode) && status_.st_rdev == makedev(1, 3);
    return is_regular() || is_pipe() || is_null ? "" : "it is neither a regular file nor a pipe";
  }

  int descriptor_;
  struct stat status_ = {};
};

// Waits until a pipe has data or its last writer is gone; reading earlier would report its end.
void wait_for_writer(int descriptor) {
  constexpr int kForEver = -1;
  pollfd pipe = {.fd = descriptor, .events = POLLIN, .revents = 0};
  while (::poll(&pipe, 1, kForEver) < 0 && errno == EINTR) {
  }
  ::fcntl(descriptor, F_SETFL, O_RDONLY);
}

// Returns the descriptor of this process that `path` names, directly or through a link:
// /dev/stdout, or what a shell gives for >(...). -1 for other paths: the rest of /proc may lead
// anywhere.
int descriptor_of(const fs::path& path) {
  std::error_code ignored;
  const fs::path descriptors = fs::canonical("/proc/self/fd", ignored);
  const fs::path linked = path.parent_path() / fs::read_symlink(path, ignored);
  for (const fs::path& it : {path, linked}) {
    if (descriptors.empty() || fs::canonical(it.parent_path(), ignored) != descriptors) continue;
    const std::string name = it.filename().string();
    int number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) return number;
  }
  return -1;
}

std::string temporary_name(const fs::path& target, unsigned number) {
  const std::string name =
      "." + target.filename().string().substr(0, kMaxNameBytes) + ".torch-ir-tmp";
  return (target.parent_path() / name).string() + (number == 0 ? "" : "-" + std::to_string(number));
}

// Removes the temporary file `path` if no process is writing to it.
void remove_if_left(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat opened = {};
  struct stat named = {};
  const bool is_left = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
                       ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
                       opened.st_ino == named.st_ino;
  if (is_left) ::unlink(path.c_str());
  ::close(descriptor);
}

// Creates and locks a file; -1 if the name is taken or the system refuses.
int create_locked(const std::string& path, mode_t mode) {
  while (true) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0) return -1;
    // Some file systems have no locks; stale files are not found there.
    while (::flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat status = {};
    ::fstat(descriptor, &status);
    if (status.st_nlink > 0) return descriptor;
    // Another process took the file for a stale one before it was locked.
    ::close(descriptor);
  }
}

}  // namespace

bool is_in_work_directory(std::string_view path) {
  return path.find("/" + std::string(kWorkDirectoryPrefix)) != path.npos ||
         path.starts_with(kWorkDirectoryPrefix);
}

std::string read_file(const std::string& path) {
  const ReadDescriptor file(path);
  std::string content;
  size_t size = 0;
  if (file.is_pipe()) wait_for_writer(file.get());
  while (true) {
    // One byte more than expected shows the end of a regular file without growing.
    if (size == content.size()) content.resize(size == 0 ? file.size() + 1 : 2 * size);
    const ssize_t count = ::read(file.get(), content.data() + size, content.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno("cannot read", path);
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  content.resize(size);
  return content;
}

void write_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
  return true;
}

void flush_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    fail("cannot write", path_, "it is a directory");
  }
  const int open_file = descriptor_of(path);
  const bool is_there = ::lstat(path.c_str(), &status) == 0;
  if (open_file >= 0) {
    descriptor_ = ::fcntl(open_file, F_DUPFD_CLOEXEC, 0);
  } else if (is_there && S_ISREG(status.st_mode)) {
    open_temporary(status.st_mode & 0777);
    // The umask must not change a mode that the owner chose.
    if (descriptor_ >= 0 && status.st_uid == ::geteuid()) {
      ::fchmod(descriptor_, status.st_mode & 0777);
    }
  } else if (!is_there || S_ISLNK(status.st_mode)) {
    open_temporary(0666);
  } else {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  }
  if (descriptor_ < 0) fail_with_errno("cannot write", path_);
}

void AtomicFile::open_temporary(mode_t mode) {
  // The number of processes that may write the same file at once.
  constexpr unsigned kMaxNames = 1000;
  for (unsigned number = 0; number < kMaxNames; ++number) {
    temporary_ = temporary_name(path_, number);
    remove_if_left(temporary_);
    descriptor_ = create_locked(temporary_, mode);
    if (descriptor_ >= 0 || errno != EEXIST) return;
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  ::close(descriptor_);
}

void AtomicFile::write(std::string_view bytes) {
  if (!write_all(descriptor_, bytes)) fail_with_errno("cannot write", path_);
}

void AtomicFile::commit() {
  const bool is_flushed = !temporary_.empty() && !is_in_work_directory(path_);
  bool done = !is_flushed || ::fsync(descriptor_) == 0;
  // Close last: until the rename, the lock shows that the file is not stale.
  done = done && (temporary_.empty() || std::rename(temporary_.c_str(), path_.c_str()) == 0);
  if (done) temporary_.clear();
  done = done && ::close(std::exchange(descriptor_, -1)) == 0;
  if (!done) fail_with_errno("cannot write", path_);
  if (!is_flushed) return;
  const fs::path folder = fs::path(path_).parent_path();
  flush_folder(folder.empty() ? "." : folder.string());
}

ByteRange map_file(const std::string& path) {
  const ReadDescriptor file(path);
  if (!file.is_regular()) fail("cannot map", path, "it is not a regular file");
  const size_t size = file.size();
  if (size == 0) return {};
  // With a reservation, a file larger than memory could not be mapped writable.
  void* data =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.get(), 0);
  if (data == MAP_FAILED) fail_with_errno("cannot map", path);
  return {static_cast<std::byte*>(data), size,
          std::shared_ptr<void>(data, [size](void* pages) { ::munmap(pages, size); })};
}

std::string user_path(const std::string& path) {
  const char* directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (path.empty())
    return directory == nullptr ? std::filesystem::current_path().string() : directory;
  return directory == nullptr ? path : (std::filesystem::path(directory) / path).string();
}

void enter_user_directory() {
  const char* directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (directory == nullptr || ::chdir(directory) == 0) return;
  throw Error(std::string("cannot change to BUILD_WORKING_DIRECTORY '") + directory +
              "': " + std::strerror(errno));
}

}  // namespace torch_ir

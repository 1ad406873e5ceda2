#include "torch_ir/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path, const std::string& reason) {
  throw Error(std::string(what) + " '" + path + "': " + reason);
}

[[noreturn]] void fail_with_errno(const char* what, const std::string& path) {
  fail(what, path, std::strerror(errno));
}

// A file opened for reading, closed at the end of the scope.
class ReadDescriptor {
 public:
  explicit ReadDescriptor(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail_with_errno("cannot open", path);
    if (::fstat(descriptor_, &status_) == 0 && !S_ISDIR(status_.st_mode)) return;
    const std::string reason =
        S_ISDIR(status_.st_mode) ? "it is a directory" : std::strerror(errno);
    ::close(descriptor_);
    fail("cannot read", path, reason);
  }
  ~ReadDescriptor() { ::close(descriptor_); }
  ReadDescriptor(const ReadDescriptor&) = delete;
  ReadDescriptor& operator=(const ReadDescriptor&) = delete;

  int get() const { return descriptor_; }
  bool is_regular() const { return S_ISREG(status_.st_mode); }
  // Zero for what is no regular file.
  size_t size() const { return static_cast<size_t>(status_.st_size); }

 private:
  int descriptor_;
  struct stat status_ = {};
};

// `path` with symbolic links followed, as far as it exists.
std::string resolve_links(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string target = resolved;
  std::free(resolved);
  return target;
}

// No other writer, in this process or another one, has this name.
std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> count = 0;
  return target + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(count++);
}

}  // namespace

std::string read_file(const std::string& path) {
  const ReadDescriptor file(path);
  std::string content;
  size_t size = 0;
  while (true) {
    // One byte more than expected, so that the end of a regular file is seen without growing.
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

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(resolve_links(path)) {
  struct stat status = {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("cannot write", path_, "it is a directory");
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = temporary_name(target_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) fail_with_errno("cannot write", path_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno("cannot write", path_);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

void AtomicFile::commit() {
  bool done = ::close(std::exchange(descriptor_, -1)) == 0;
  if (temporary_.empty()) {
    if (!done) fail_with_errno("cannot write", path_);
    return;
  }
  done = done && std::rename(temporary_.c_str(), target_.c_str()) == 0;
  if (done) return;
  const std::string reason = std::strerror(errno);
  ::unlink(temporary_.c_str());
  fail("cannot write", path_, reason);
}

std::shared_ptr<MappedFile> MappedFile::open(const std::string& path) {
  const ReadDescriptor file(path);
  if (!file.is_regular()) fail("cannot map", path, "it is no regular file");
  void* data = nullptr;
  if (file.size() > 0) {
    // Without a reservation, or a file larger than the memory could not be mapped writable.
    data = ::mmap(nullptr, file.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                  file.get(), 0);
    if (data == MAP_FAILED) fail_with_errno("cannot map", path);
  }
  return std::shared_ptr<MappedFile>(new MappedFile(static_cast<std::byte*>(data), file.size()));
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(data_, size_);
}

ByteRange map_file(const std::string& path) {
  std::shared_ptr<MappedFile> file = MappedFile::open(path);
  std::byte* data = file->data();
  const size_t size = file->size();
  return {data, size, std::move(file)};
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

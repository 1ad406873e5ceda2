// A staging directory, and the move of finished files out of it.
//
// Programs that write several files into a folder of the user's make them in a WorkDirectory inside
// that folder, and move them when all are finished.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace torch_ir {

// A hidden folder, locked for as long as it lives. The next process that works in the same place
// removes the folders of killed processes, but not those in use.
class WorkDirectory {
 public:
  // Creates it in `parent`. A missing `parent` is created too, and removed again if it stays empty.
  // Throws Error on failure.
  explicit WorkDirectory(const std::filesystem::path& parent);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool has_made_parent_ = false;
  int lock_ = -1;
};

void remove_stale_work_directories(const std::filesystem::path& parent);

// Throws Error if existing files in `to` keep move_files from moving `names`.
void check_replaceable(const std::filesystem::path& to, const std::vector<std::string>& names);

// Moves `names` from `from` to `to`, a folder in the same file system, in their order: "a.md",
// "ir/a.json", or "repro/a/" for a folder with its content. A name that `from` lacks is removed
// from `to`. Folders above a name are created, and removed when they become empty; other files in
// them stay. Everything is flushed before the first name changes. The last name is removed first
// and moved last: whenever this process ends, each file is the old or the new one, whole, and if
// the last one exists, all belong together. Throws Error, before anything changes, when
// - a file would replace a folder, or a folder a file;
// - a folder above a name is a symbolic link or a file (a link that has the name itself is replaced
//   and not followed; `to` may be one);
// and when the system refuses. Folders and files that were removed or replaced as a whole end up in
// `from`.
void move_files(const std::filesystem::path& from, const std::filesystem::path& to,
                const std::vector<std::string>& names);

}  // namespace torch_ir

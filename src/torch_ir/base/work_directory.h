// A staging directory, and the move of finished files out of it.
//
// For whoever writes more than one file into a folder of the user's: `import`, suites, the reports
// of a run. They are made in a WorkDirectory inside that folder, and take their places when all of
// them are finished.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace torch_ir {

// A hidden folder, locked for as long as it lives: what a process left that was killed is removed
// by the next one that works in the same place, and what belongs to one that runs is not.
class WorkDirectory {
 public:
  // In `parent`, which is made where it is missing, and then goes again where nothing has come to
  // be in it. Throws Error when this can not be.
  explicit WorkDirectory(const std::filesystem::path& parent);
  // Removes it.
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool has_made_parent_ = false;
  int lock_ = -1;
};

// Removes what killed processes have left in `parent`.
void remove_stale_work_directories(const std::filesystem::path& parent);

// Throws Error where move_files could not give `names` to `to`, because of what is there.
void check_replaceable(const std::filesystem::path& to, const std::vector<std::string>& names);

// Moves what `from`, a folder in the same file system, has as `names` to `to`, in their order:
// "a.md", "ir/a.json", or "repro/a/" for a folder with all that is in it. A name that `from` has
// not goes from `to`. Folders above a name are made, and removed where they become empty; what else
// is in them stays. Everything has reached the disk before the first name changes. What has the
// last name goes first and comes last: whenever this process ends, each file is the old or the new
// one, whole, and where the last one is there, all belong together. Throws Error, before anything
// changes, when
// - a file is to stand where a folder is, or a folder where a file is: it would not be ours;
// - what is above a name is a symbolic link or a file (a link that has the name itself is replaced
//   and not followed; `to` may be one);
// and when the system refuses. `from` has what was there before.
void move_files(const std::filesystem::path& from, const std::filesystem::path& to,
                const std::vector<std::string>& names);

}  // namespace torch_ir

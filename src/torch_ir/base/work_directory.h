// WorkDirectory: where files lie that are not finished. And replace_together: the moment when they
// are.
//
// For whoever writes more than one file into a folder of the user's: `import`, suites, the reports
// of a run. They are made in a WorkDirectory inside that folder, and take their places all at once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace torch_ir {

// A hidden folder, locked for as long as it lives: what a process left that was killed is removed
// by the next one that works in the same place, and what belongs to one that runs is not. Where
// somebody keeps `parent` locked, nothing is removed.
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

// Throws Error where replace_together could not give `names` to `to`, because of what is there.
void check_replaceable(const std::filesystem::path& to, const std::vector<std::string>& names);

// Gives `to` what `from`, a folder in the same file system, has as `names`, and `from` what `to`
// had: "a.md", "ir/a.json", or "repro/a/" for a folder with all that is in it. A name that `from`
// has not goes from `to`. Folders above a name are made, and removed where they become empty; what
// else is in them stays. Throws Error, and `to` is as it was, when
// - a file is to stand where a folder is, or a folder where a file is: it would not be ours;
// - what is above a name is a symbolic link or a file (a link that has the name itself is replaced
//   and not followed; `to` may be one);
// - somebody keeps `to` locked for ten seconds;
// - the system refuses, but for what the end of the next paragraph says.
//
// Everything has reached the disk before the first name changes. They change in a process of their
// own, in a session of its own: killing this one, or its process group, at any moment leaves all
// of the old or, a moment later, all of the new. What ends that process too in the milliseconds of
// the change (a power failure, the end of a whole container or cgroup) leaves each name whole, and
// maybe not all of the same kind; where this process is left to tell, it throws Error. So does a
// system that refuses a change and then refuses to take back an earlier one. Two processes that do
// this in one folder wait for each other.
void replace_together(const std::filesystem::path& from, const std::filesystem::path& to,
                      std::vector<std::string> names);

}  // namespace torch_ir

// Archives (`.pt2`) as models of a run: what `--pt2` gives, found on the disk.
//
// Called by the harness program and by the tests of single archives, before anything runs.
#ifndef TORCH_IR_HARNESS_SELECTION_ARCHIVE_H_
#define TORCH_IR_HARNESS_SELECTION_ARCHIVE_H_

#include <string>
#include <vector>

namespace torch_ir {

// The category of every archive.
inline constexpr const char* kImportedCategory = "imported";

// What the user gave: an archive, or a folder of archives. Paths; `inputs` and `expected` are for
// an archive and may be empty.
struct ArchiveArgument {
  std::string path;
  std::string inputs = {};
  std::string expected = {};
};

// An archive, and the tensors that it is verified with.
struct Archive {
  // Of its page: that of the file, without ".pt2".
  std::string name;
  std::string path;
  // Where empty, the example inputs of the archive.
  std::string inputs = {};
  // Where empty, what the operators of the archive compute.
  std::string expected = {};

  bool operator==(const Archive&) const = default;
};

// The archives that `arguments` are about: in their order, those of a folder by name. Where no
// tensors are given for NAME.pt2, they are NAME.inputs.safetensors and NAME.expected.safetensors
// beside it, as far as these are there. Throws Error for what is not there, and for archives that
// would have the same page as another one, as the summary, or as one of the models called `taken`.
std::vector<Archive> find_archives(const std::vector<ArchiveArgument>& arguments,
                                   const std::vector<std::string>& taken);

// The last part of `path`: what a report may say of it.
std::string file_name(const std::string& path);

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_SELECTION_ARCHIVE_H_

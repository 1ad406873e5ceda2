#include "harness/stages/failure.h"

#include <c10/util/Exception.h>

#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

namespace torch_ir {
namespace {

template <class... Errors>
bool is_any_of(const std::exception& exception) {
  return ((dynamic_cast<const Errors*>(&exception) != nullptr) || ...);
}

bool is_out_of_memory(const std::exception& exception) {
  if (is_any_of<std::bad_alloc, c10::OutOfMemoryError>(exception)) return true;
  // LibTorch's allocator for the CPU throws a general error, which may be part of another by now.
  const std::string_view text = exception.what();
  return text.find("DefaultCPUAllocator: can't allocate memory") != std::string_view::npos;
}

FailureKind extract_failure(const std::exception& exception) {
  if (is_any_of<LoadError>(exception)) return FailureKind::kLoadFailed;
  const auto* error = dynamic_cast<const Error*>(&exception);
  return error != nullptr && error->is_unsupported() ? FailureKind::kExtractUnsupported
                                                     : FailureKind::kExtractFailed;
}

void remove_all(std::string& text, const std::string& part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

}  // namespace

std::string without_folder(std::string text, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  // The relative one last, for it is the end of the absolute one.
  for (const fs::path& path : {fs::weakly_canonical(absolute, error), absolute, fs::path(folder)}) {
    if (!path.empty()) remove_all(text, (path / "").string());
  }
  return text;
}

FailureKind failure_kind(Stage stage, const std::exception& exception) {
  if (is_out_of_memory(exception)) return FailureKind::kOutOfMemory;
  if (stage == Stage::kExtract) return extract_failure(exception);
  if (is_any_of<SerializeMismatch>(exception)) return FailureKind::kSerializeMismatch;
  if (is_any_of<OutputMismatch>(exception)) return FailureKind::kOutputMismatch;
  const bool is_load =
      stage == Stage::kSerialize ||
      is_any_of<LoadError, SerializationError, ValidationError, WeightError>(exception);
  return is_load ? FailureKind::kLoadFailed : FailureKind::kExecuteFailed;
}

}  // namespace torch_ir

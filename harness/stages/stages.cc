#include "harness/stages/stages.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/StringUtil.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "torch_ir/base/printable.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/tensor_text.h"

namespace torch_ir {
namespace {

template <class... Errors>
bool is_any_of(const std::exception& exception) {
  return ((dynamic_cast<const Errors*>(&exception) != nullptr) || ...);
}

std::atomic<int64_t> num_refused_allocations = 0;

// With what to fill new memory, and the bytes behind it.
std::optional<int> fill_byte;
constexpr size_t kFilledBehind = 4096;

// Counts the requests that LibTorch's allocator refuses.
class CountingAllocator : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator& own) : own_(own) {}

  c10::DataPtr allocate(size_t size) override {
    try {
      if (!fill_byte || size == 0) return own_.allocate(size);
      c10::DataPtr memory = own_.allocate(size + kFilledBehind);
      std::memset(memory.get(), *fill_byte, size + kFilledBehind);
      return memory;
    } catch (const c10::Error&) {
      ++num_refused_allocations;
      throw;
    }
  }
  c10::DeleterFnPtr raw_deleter() const override { return own_.raw_deleter(); }
  void copy_data(void* to, const void* from, size_t size) const override {
    own_.copy_data(to, from, size);
  }

 private:
  c10::Allocator& own_;
};

}  // namespace

void write_output(const std::function<void()>& write) {
  try {
    write();
  } catch (const Error& error) {
    if (is_any_of<SerializationError, WeightError>(error)) throw;
    throw OutputError(error.what());
  }
}

std::optional<std::string> error_of(const std::function<void()>& run) {
  try {
    run();
    return std::nullopt;
  } catch (const OutputError&) {
    throw;
  } catch (const std::exception& error) {
    return message_text(error);
  }
}

Program serialize(const IR& ir, const std::string& path) {
  if (!path.empty()) write_output([&] { save_ir(ir, path); });
  const IR read = path.empty() ? deserialize_ir(serialize_ir(ir)) : load_ir(path);
  if (!(read == ir)) {
    throw SerializeMismatch((path.empty() ? "the text" : path) +
                            " does not read back as the IR that was written");
  }
  return resolve(read);
}

std::string without_folder(std::string text, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  // The relative path comes last, because it is the end of the absolute one.
  for (const fs::path& path : {fs::weakly_canonical(absolute, error), absolute, fs::path(folder)}) {
    if (!path.empty()) c10::ReplaceAll(text, (path / "").string(), "");
  }
  return text;
}

AllocationWatch::AllocationWatch() {
  static CountingAllocator counting(*c10::GetCPUAllocator());
  constexpr uint8_t kAboveDefault = 1;
  c10::SetCPUAllocator(&counting, kAboveDefault);
  num_refused_before_ = num_refused_allocations;
}

bool AllocationWatch::has_refused() const { return num_refused_allocations > num_refused_before_; }

std::string reference_problem(const std::function<std::vector<at::Tensor>()>& run) {
  const AllocationWatch watch;
  const auto end = c10::make_scope_exit([before = num_refused_allocations.load()] {
    fill_byte.reset();
    num_refused_allocations = before;
  });
  const auto run_on = [&](int byte) {
    fill_byte = byte;
    return run();
  };
  try {
    const VerificationReport report =
        compare_outputs(run_on(0), run_on(0xff), {}, {.fixed = kExactTolerance});
    if (report.is_valid) return "";
    return "two runs of the model differ, as where it reads memory that nobody wrote";
  } catch (const std::exception& error) {
    return "the model raises " + headline(message_text(error));
  }
}

bool is_unsupported(const std::exception& exception) {
  const auto* error = dynamic_cast<const Error*>(&exception);
  return error != nullptr && error->is_unsupported();
}

FailureKind failure_kind(Stage stage, const std::exception& exception,
                         const AllocationWatch& memory) {
  const bool is_out_of_memory =
      memory.has_refused() || is_any_of<std::bad_alloc, c10::OutOfMemoryError>(exception);
  if (is_out_of_memory) return FailureKind::kOutOfMemory;
  if (stage == Stage::kExtract && !is_any_of<LoadError>(exception)) {
    return is_unsupported(exception) ? FailureKind::kExtractUnsupported
                                     : FailureKind::kExtractFailed;
  }
  if (is_any_of<SerializeMismatch>(exception)) return FailureKind::kSerializeMismatch;
  if (is_any_of<OutputMismatch>(exception)) return FailureKind::kOutputMismatch;
  const bool is_load =
      stage == Stage::kSerialize ||
      is_any_of<LoadError, SerializationError, ValidationError, WeightError>(exception);
  return is_load ? FailureKind::kLoadFailed : FailureKind::kExecuteFailed;
}

}  // namespace torch_ir

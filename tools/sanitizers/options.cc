// The default options of the sanitizers' runtimes, and suppressions for LibTorch, which is built
// without sanitizers. ASAN_OPTIONS, UBSAN_OPTIONS and TSAN_OPTIONS in the environment override
// them.
//
// <sanitizer/*_interface.h> declares these functions.

extern "C" {

// On some machines the sandboxes of tests forbid the ptrace that leak detection needs. It then
// fails with a message; ASAN_OPTIONS=detect_leaks=0 turns it off.
const char* __asan_default_options() {
  return
      // Tests expect that LibTorch fails to allocate; the program must not end.
      "allocator_may_return_null=1:"
      // LibTorch's vectors have no annotations.
      "detect_container_overflow=0:"
      // Initializers of several units register models and operators.
      "check_initialization_order=1:strict_init_order=0:"
      "detect_stack_use_after_return=1";
}

const char* __ubsan_default_options() { return "print_stacktrace=1"; }

const char* __tsan_default_options() { return "second_deadlock_stack=1"; }

const char* __lsan_default_suppressions() {
  return
      // Singletons of LibTorch, which live as long as the program.
      "leak:libtorch_cpu.so\n"
      "leak:libc10.so\n"
      // Thread buffers that OpenMP keeps for the next parallel region.
      "leak:libgomp\n";
}

const char* __tsan_default_suppressions() {
  return
      // Without instrumentation, the runtime does not see how LibTorch and OpenMP synchronize. This
      // also ignores our own functions while LibTorch or OpenMP calls them.
      "called_from_lib:libtorch_cpu.so\n"
      "called_from_lib:libc10.so\n"
      "called_from_lib:libgomp*.so\n"
      // The last owner of a tensor or a storage deletes it. Only the reference count, which
      // LibTorch decrements, shows that another owner released it before: for a storage when the
      // tensor is destroyed, for a tensor when the arguments of a call are dropped.
      "race:c10::intrusive_ptr<c10::StorageImpl*>::reset_not_null_\n"
      "race:c10::intrusive_ptr<c10::TensorImpl*>::reset_not_null_\n"
      // Registrations with LibTorch's dispatcher are released after the dispatcher itself.
      "mutex:torch::Library::~Library\n";
}
}

// What the sanitizers' runtimes ask every program that is built with one: defaults, and what in
// LibTorch, which is built without them, is not to be reported. ASAN_OPTIONS, UBSAN_OPTIONS,
// TSAN_OPTIONS in the environment go before.
//
// The functions are those that <sanitizer/*_interface.h> declares for this purpose.

extern "C" {

// The sandboxes of tests forbid the ptrace that leak detection needs on some machines; there it
// says so and fails, and ASAN_OPTIONS=detect_leaks=0 turns it off.
const char* __asan_default_options() {
  return
      // Memory that LibTorch fails to get is a failure that tests expect, not the end.
      "allocator_may_return_null=1:"
      // Checked in our own containers only: LibTorch's vectors have no annotations.
      "detect_container_overflow=0:"
      // Registration of models and operators happens in initializers of several units.
      "check_initialization_order=1:strict_init_order=0:"
      "detect_stack_use_after_return=1";
}

const char* __ubsan_default_options() { return "print_stacktrace=1"; }

const char* __tsan_default_options() { return "second_deadlock_stack=1"; }

const char* __lsan_default_suppressions() {
  return
      // Singletons of LibTorch that live as long as the program.
      "leak:libtorch_cpu.so\n"
      "leak:libc10.so\n"
      // Buffers of threads that OpenMP keeps for the next parallel region.
      "leak:libgomp\n";
}

const char* __tsan_default_suppressions() {
  return
      // Without instrumentation the runtime does not see how LibTorch and OpenMP synchronize. Our
      // own functions are not watched either while one of these calls them.
      "called_from_lib:libtorch_cpu.so\n"
      "called_from_lib:libc10.so\n"
      "called_from_lib:libgomp*.so\n"
      // The last of those who hold a tensor or a storage deletes it. That another let go of it
      // before is seen by its count alone, which LibTorch lowers: of a storage as it destroys the
      // tensor, of a tensor as it drops the arguments of a call.
      "race:c10::intrusive_ptr<c10::StorageImpl*>::reset_not_null_\n"
      "race:c10::intrusive_ptr<c10::TensorImpl*>::reset_not_null_\n"
      // What was registered with LibTorch's dispatcher is let go after the dispatcher itself.
      "mutex:torch::Library::~Library\n";
}
}

// What workers and their supervisors say to each other. Each message is a line of JSON: an object
// with one of these keys.
#pragma once

namespace torch_ir {

// The argument that makes a program a worker.
inline constexpr const char* kWorkerFlag = "--worker";

// To a worker: the name of its task and its setup, first; then requests.
inline constexpr const char* kTaskKey = "task";
inline constexpr const char* kSetupKey = "setup";

// From it, of the request at hand.
inline constexpr const char* kNewsKey = "news";
inline constexpr const char* kAnswerKey = "answer";
// A file that cannot be written, which ends the run.
inline constexpr const char* kOutputErrorKey = "output_error";
// The process ends for want of memory.
inline constexpr const char* kOutOfMemoryKey = "out_of_memory";

}  // namespace torch_ir

// The worker: another process of this program, which handles requests one after the other.
//
// Each kind of work is a task: models, single calls, parts of graphs, suites. supervise.h starts
// and watches workers. A line of JSON comes in for each request; a line goes out for each piece of
// news (the stage, results so far) and for the answer.
#pragma once

#include <c10/util/Exception.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "torch_ir/base/error.h"

namespace torch_ir {

using WorkJson = nlohmann::ordered_json;

// The protocol: each message is a line of JSON, an object with one of these keys.

inline constexpr const char* kWorkerFlag = "--worker";

// To a worker: first its task's name and setup, and the libraries that the sender has loaded
// (load_library.h), which it loads too; then requests.
inline constexpr const char* kTaskKey = "task";
inline constexpr const char* kSetupKey = "setup";
inline constexpr const char* kLibrariesKey = "libraries";

// From a worker, about the current request.
inline constexpr const char* kNewsKey = "news";
inline constexpr const char* kAnswerKey = "answer";
inline constexpr const char* kOutputErrorKey = "output_error";
inline constexpr const char* kInputErrorKey = "input_error";
inline constexpr const char* kOutOfMemoryKey = "out_of_memory";

// The harness cannot write a file of its own; ends the run.
class OutputError : public Error {
 public:
  using Error::Error;
};

// The harness was given files that do not go together; ends the run, too.
class InputError : public Error {
 public:
  using Error::Error;
};

using TellNews = std::function<void(const WorkJson& news)>;

// Handles one request and returns the answer. An OutputError or an InputError ends the run, any
// other exception the process.
using DoRequest = std::function<WorkJson(const WorkJson& request, const TellNews& tell)>;

using WorkTask = std::function<DoRequest(const WorkJson& setup)>;

// A small process, the keeper, stands between the harness and each process that runs models.
// Everything that a model or an executor's shell starts belongs to the keeper, whatever group or
// session it moves to. When the model's process or the harness ends, the keeper ends the rest, then
// itself.
//
// Limits: SIGKILL ends a keeper and SIGSTOP stops it until the harness ends it, so a model that
// kills its parent dies with it but leaves behind what it started. The keeper waits two seconds for
// processes that cannot be killed (another user's, or held by the system).
//
// ChildProcess's child calls this first. It returns in a new process; the calling one stays as its
// keeper, ends as that ends, and does not return. Returns a descriptor of the original standard
// input, whose place /dev/null takes. Throws Error if the system refuses.
int continue_under_keeper();

// Every program that runs models must call this first in main. In a worker, handles requests and
// returns the exit status, printing the error that ends it; otherwise returns nothing.
std::optional<int> run_as_worker(int argc, char** argv,
                                 const std::map<std::string, WorkTask>& tasks);

// Prints LibTorch's warnings without the clock and thread of its own handler, because reports
// include the last lines of a model and must be reproducible. Install it on the main thread.
class PlainWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override;
};

}  // namespace torch_ir

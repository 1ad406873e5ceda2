// The worker: another process of this program, which handles requests one by one.
//
// Each kind of work is a task: models, single calls, parts of graphs, suites. supervise.h starts
// and watches workers. A worker reads a line of JSON for each request, and writes a line for each
// piece of news (the stage, results so far) and for the answer.
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

// To a worker: first the name and setup of its task, and the libraries to load (load_library.h),
// which are those of the sender; then requests.
inline constexpr const char* kTaskKey = "task";
inline constexpr const char* kSetupKey = "setup";
inline constexpr const char* kLibrariesKey = "libraries";

// From a worker, about the current request.
inline constexpr const char* kNewsKey = "news";
inline constexpr const char* kAnswerKey = "answer";
inline constexpr const char* kOutputErrorKey = "output_error";
inline constexpr const char* kInputErrorKey = "input_error";
inline constexpr const char* kOutOfMemoryKey = "out_of_memory";

using TellNews = std::function<void(const WorkJson& news)>;

// Handles one request and returns the answer. An OutputError or an InputError ends the run; any
// other exception ends the process.
using DoRequest = std::function<WorkJson(const WorkJson& request, const TellNews& tell)>;

using WorkTask = std::function<DoRequest(const WorkJson& setup)>;

// Turns this process into a keeper, and returns in a new process below it. The child of
// ChildProcess calls it first.
//
// A keeper is a small process between the harness and each process that runs models. All processes
// that a model or an executor's shell starts are descendants of the keeper, even in another group
// or session. When the model's process or the harness ends, the keeper kills the others, and ends
// the same way as the model's process.
//
// Limits: SIGKILL ends a keeper, and SIGSTOP stops it until the harness ends it. So a model that
// kills its parent dies too, but processes that it started go on. The keeper waits two seconds for
// processes that cannot be killed (another user's, or held by the system).
//
// Returns a descriptor of the original standard input, which /dev/null replaces. Throws Error if
// the system refuses.
int continue_under_keeper();

// Every program that runs models must call this first in main. In a worker, handles requests,
// prints the error if one ends it, and returns the exit status; otherwise returns nothing.
std::optional<int> run_as_worker(int argc, char** argv,
                                 const std::map<std::string, WorkTask>& tasks);

// Prints LibTorch's warnings without the time and thread that LibTorch's own handler adds, because
// reports include the last lines of a model and must be reproducible. To be installed on the main
// thread.
class PlainWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override;
};

}  // namespace torch_ir

// The worker: this program once more, as a process that does what it is asked, one request after
// the other, until it is told to stop.
//
// Models, single calls, parts of graphs and suites are all handled by workers, each kind by a task
// of its own; supervise.h starts and watches them. A line of JSON comes in for each request, and a
// line goes out when it is done, and before that whenever there is news: which stage it is in, what
// is known so far.
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

// What workers and their supervisors say to each other. Each message is a line of JSON: an object
// with one of these keys.

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

// Thrown when the harness cannot write a file of its own: not the fault of a model, and the end of
// a run.
class OutputError : public Error {
 public:
  using Error::Error;
};

// Sends news of the request at hand.
using TellNews = std::function<void(const WorkJson& news)>;

// Does one request and gives the answer. An OutputError ends the run; anything else that it throws
// ends the process.
using DoRequest = std::function<WorkJson(const WorkJson& request, const TellNews& tell)>;

// What a worker is told before the first request makes it ready.
using WorkTask = std::function<DoRequest(const WorkJson& setup)>;

// Between the harness and each process that runs models stands a small one, its keeper. All that a
// model, or the shell of an executor, starts belongs to the keeper, whatever group or session it
// moves to; and when the model's process has ended, or the harness has, however it ended, the
// keeper ends the rest and then itself.
//
// Two limits. No signal ends a keeper but SIGKILL, and SIGSTOP stops it until the harness ends it:
// a model that kills its parent dies with it, and what the model has started lives on. And what
// cannot be killed, a process that has become another user or that the system holds, is waited for
// two seconds.
//
// Called first by a child that ChildProcess started: what returns is a new process that goes on;
// the one that called stays as its keeper, ends as that ends, and does not return. Throws Error
// when the system refuses. Gives a descriptor of what was the standard input, which is nothing
// now.
int continue_under_keeper();

// Called first in the main function of every program that runs models: when the process is a
// worker, works, under a keeper (see above), and gives the exit status; otherwise nothing. The
// message of what ends it is printed.
std::optional<int> run_as_worker(int argc, char** argv,
                                 const std::map<std::string, WorkTask>& tasks);

// LibTorch's warnings on standard error as they are, without the clock and the thread that its own
// handler puts in front: what a model printed last is part of the reports, which are the same for
// the same model. Held by the process that runs a model, on its main thread.
class PlainWarnings : public c10::WarningHandler {
 public:
  // "warning: ...", a line or more.
  void process(const c10::Warning& warning) override;
};

}  // namespace torch_ir

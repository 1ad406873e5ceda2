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

// Called first in the main function of every program that runs models: when the process is a
// worker, works, under a keeper (keeper.h), and gives the exit status; otherwise nothing. The
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

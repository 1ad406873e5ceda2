#include "harness/process/worker.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "harness/process/keeper.h"
#include "harness/process/worker_messages.h"

namespace torch_ir {
namespace {

// Of this process, for the handler of std::terminate.
int worker_channel = -1;

void send_line(std::string_view line) {
  while (!line.empty()) {
    const ssize_t size = ::send(worker_channel, line.data(), line.size(), MSG_NOSIGNAL);
    if (size < 0 && errno != EINTR) return;
    if (size > 0) line.remove_prefix(static_cast<size_t>(size));
  }
}

void send_message(const char* key, const WorkJson& content) {
  // Messages of models may hold any bytes; those that are not UTF-8 are replaced.
  WorkJson message = WorkJson::object();
  message[key] = content;
  send_line(message.dump(-1, ' ', false, WorkJson::error_handler_t::replace) + "\n");
}

// Without an allocation.
void send_out_of_memory() { send_line("{\"out_of_memory\": true}\n"); }

std::terminate_handler usual_terminate = nullptr;

// What nobody catches, in whatever thread.
[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    send_out_of_memory();
  } catch (...) {
  }
  usual_terminate();
  std::abort();
}

// Lines that come in, one at a time.
class LineReader {
 public:
  std::optional<std::string> next() {
    size_t end = 0;
    while ((end = text_.find('\n')) == std::string::npos) {
      char buffer[1 << 16];
      const ssize_t size = ::read(worker_channel, buffer, sizeof(buffer));
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return std::nullopt;
      text_.append(buffer, static_cast<size_t>(size));
    }
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

 private:
  std::string text_;
};

void work(const std::map<std::string, WorkTask>& tasks) {
  LineReader lines;
  const std::optional<std::string> first = lines.next();
  if (!first) return;
  const WorkJson start = WorkJson::parse(*first);
  const DoRequest do_request = tasks.at(start.at(kTaskKey))(start.at(kSetupKey));
  const TellNews tell = [](const WorkJson& news) { send_message(kNewsKey, news); };
  while (const std::optional<std::string> line = lines.next()) {
    send_message(kAnswerKey, do_request(WorkJson::parse(*line), tell));
  }
}

}  // namespace

std::optional<int> run_as_worker(int argc, char** argv,
                                 const std::map<std::string, WorkTask>& tasks) {
  if (argc != 2 || std::string_view(argv[1]) != kWorkerFlag) return std::nullopt;
  PlainWarnings warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  try {
    worker_channel = continue_under_keeper();
    usual_terminate = std::set_terminate(on_terminate);
    work(tasks);
    return 0;
  } catch (const OutputError& error) {
    send_message(kOutputErrorKey, error.what());
    return EX_IOERR;
  } catch (const std::bad_alloc& error) {
    send_out_of_memory();
    std::fprintf(stderr, "%s\n", error.what());
    return EX_SOFTWARE;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EX_SOFTWARE;
  }
}

void PlainWarnings::process(const c10::Warning& warning) {
  std::fprintf(stderr, "warning: %s\n", warning.msg().c_str());
}

}  // namespace torch_ir

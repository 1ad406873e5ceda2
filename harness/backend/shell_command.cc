#include "harness/backend/shell_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxLines = 3;
// The end of a command is noticed within this time even if its output stays open.
constexpr int kPatienceMilliseconds = 100;
// The shell reports a command killed by a signal as this plus the signal.
constexpr int kShellSignalBase = 128;
// The maximum length of a server's answer, in bytes.
constexpr size_t kMostAnswer = size_t{16} << 20;

std::string_view word_in_braces(std::string_view text) {
  const size_t end = text.find('}');
  if (!text.starts_with('{') || end == std::string_view::npos) return {};
  const std::string_view word = text.substr(1, end - 1);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return std::ranges::all_of(word, is_letter) ? word : std::string_view();
}

// "{ir}, {weights} and {inputs}"
std::string list_text(const std::vector<std::string>& placeholders) {
  std::string text;
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const bool is_last = i + 1 == placeholders.size();
    text += fmt::format("{}{{{}}}", i == 0 ? "" : is_last ? " and " : ", ", placeholders[i]);
  }
  return text;
}

// Paths are always quoted separately, so a placeholder inside quotes closes and reopens them.
std::vector<std::pair<std::string, std::string>> parse(std::string_view rest) {
  std::vector<std::pair<std::string, std::string>> pieces(1);
  std::string quote;
  const auto append = [&](size_t length) {
    pieces.back().first += rest.substr(0, length);
    rest.remove_prefix(length);
  };
  while (!rest.empty()) {
    const char c = rest.front();
    const std::string_view word = word_in_braces(rest);
    const std::string_view literal = c == '{' ? word_in_braces(rest.substr(1)) : "";
    const bool is_escaped = c == '\\' && quote != "'" && rest.size() > 1;
    if (is_escaped || rest.starts_with("${")) {
      append(2);
    } else if (!literal.empty() && rest.substr(literal.size() + 3).starts_with('}')) {
      rest.remove_prefix(1);
      append(literal.size() + 2);
      rest.remove_prefix(1);
    } else if (!word.empty()) {
      pieces.back().first += quote;
      pieces.back().second = word;
      pieces.emplace_back(quote, "");
      rest.remove_prefix(word.size() + 2);
    } else {
      if (quote.empty() && (c == '\'' || c == '"')) {
        quote = c;
      } else if (quote == std::string(1, c)) {
        quote.clear();
      }
      append(1);
    }
  }
  return pieces;
}

pid_t start(const std::string& line, SpawnOptions options, const std::string& directory) {
  options.directory = directory;
  int reason = 0;
  const pid_t pid = spawn({"/bin/sh", "-c", line}, options, reason);
  if (reason == 0) return pid;
  throw Error("cannot start /bin/sh in '" + printable(directory) + "': " + strerror(reason));
}

void print(std::string_view text) { write_all(STDERR_FILENO, text); }

int follow(pid_t pid, OutputPipe& pipe) {
  for (pipe.read(print); pipe.descriptor() >= 0; pipe.read(print)) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid) {
      pipe.read(print);
      return status;
    }
    pollfd news{.fd = pipe.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&news, 1, kPatienceMilliseconds);
  }
  return wait_for_process(pid);
}

int signal_of_shell(int status) {
  const int signal = WIFEXITED(status) ? WEXITSTATUS(status) - kShellSignalBase : 0;
  return signal > 0 && signal < NSIG ? signal : 0;
}

std::string describe(int status) {
  std::string text = describe_wait_status(status);
  const int signal = signal_of_shell(status);
  if (signal == 0) return text;
  return text + ", as for signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

}  // namespace

CommandTemplate::CommandTemplate(const std::string& text,
                                 const std::vector<std::string>& placeholders)
    : pieces_(parse(text)) {
  for (const auto& [before, word] : pieces_) {
    if (word.empty() || std::ranges::find(placeholders, word) != placeholders.end()) continue;
    throw Error(
        fmt::format("unknown placeholder {{{0}}}; expected {1}{2} ({{{{{0}}}}} is the text "
                    "{{{0}}})",
                    word, list_text(placeholders), suggest(word, placeholders)));
  }
  if (!has_placeholders()) return;
  for (const std::string& placeholder : placeholders) {
    if (std::ranges::find(pieces_, placeholder, &Piece::second) != pieces_.end()) continue;
    throw Error(fmt::format("missing {{{}}} in the command '{}'; expected {}", placeholder,
                            printable(text), list_text(placeholders)));
  }
}

std::string CommandTemplate::fill(const std::map<std::string, std::string>& paths) const {
  std::string line;
  for (const auto& [before, word] : pieces_) {
    line += before;
    if (word.empty()) continue;
    line += '\'';
    // A quote cannot stand inside single quotes.
    for (const char c : paths.at(word)) line += c == '\'' ? "'\\''" : std::string(1, c);
    line += '\'';
  }
  return line;
}

CommandEnd run_shell_command(const std::string& line, const std::string& directory) {
  OutputPipe pipe;
  const int output = pipe.writing_end();
  const pid_t pid = start(line, {.output = output, .error = output}, directory);
  pipe.close_writing_end();
  const int status = follow(pid, pipe);
  CommandEnd end;
  end.output = pipe.tail();
  if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
  end.succeeded = end.exit_status == 0;
  end.has_crashed = WIFSIGNALED(status) || signal_of_shell(status) != 0;
  end.description = describe(status);
  return end;
}

ShellServer::ShellServer(const std::string& line, const std::string& directory) {
  if (::pipe2(input_, O_CLOEXEC) != 0) {
    throw Error(std::string("cannot create a pipe: ") + strerror(errno));
  }
  try {
    pid_ = start(line,
                 {.input = input_[0],
                  .output = answers_.writing_end(),
                  .error = errors_.writing_end(),
                  .is_apart = true},
                 directory);
  } catch (...) {
    for (const int end : input_) ::close(end);
    throw;
  }
  answers_.close_writing_end();
  errors_.close_writing_end();
}

ShellServer::~ShellServer() {
  // Before waiting, because the id of the group may be reused afterwards.
  ::kill(-pid_, SIGKILL);
  wait_for_process(pid_);
  for (const int end : input_) ::close(end);
}

void ShellServer::read() {
  errors_.read(print);
  answers_.read([&](std::string_view text) { text_ += text; });
}

std::optional<int> ShellServer::wait() {
  while (true) {
    // Checked before reading, so that all output of an ended process is read. WNOWAIT leaves the
    // process to the destructor.
    siginfo_t end = {};
    ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG | WNOWAIT);
    read();
    if (text_.find('\n') != text_.npos || text_.size() > kMostAnswer) return std::nullopt;
    if (end.si_pid == pid_) {
      return end.si_code == CLD_EXITED ? W_EXITCODE(end.si_status, 0)
                                       : W_EXITCODE(0, end.si_status);
    }
    pollfd news[] = {{.fd = answers_.descriptor(), .events = POLLIN, .revents = 0},
                     {.fd = errors_.descriptor(), .events = POLLIN, .revents = 0}};
    ::poll(news, std::size(news), kPatienceMilliseconds);
  }
}

std::optional<std::string> ShellServer::ask(const std::string& request, CommandEnd& end) {
  read();
  if (!text_.empty()) {
    end.description = "answered without a request";
    return std::nullopt;
  }
  if (!write_all(input_[1], request + '\n')) {
    throw Error(std::string("cannot send a line: ") + strerror(errno));
  }
  const std::optional<int> status = wait();
  end.output = errors_.tail();
  end.has_crashed = status.has_value();
  if (status && WIFEXITED(*status)) end.exit_status = WEXITSTATUS(*status);
  const size_t length = text_.find('\n');
  if (status) {
    end.description = describe(*status) + " without an answer";
  } else if (length == text_.npos) {
    end.description = fmt::format("answered with more than {} bytes in one line", kMostAnswer);
  } else if (length + 1 != text_.size()) {
    end.description = "answered with more than one line";
  } else {
    text_.pop_back();
    // Not before a request: a server that cannot be started has already said so.
    errors_.forget();
    return std::exchange(text_, "");
  }
  return std::nullopt;
}

std::string last_lines(const std::string& output) {
  std::vector<std::string> lines;
  std::string_view rest = output;
  while (!rest.empty() && lines.size() < kMaxLines) {
    const size_t begin = rest.rfind('\n') + 1;
    std::string_view line = rest.substr(begin);
    rest = rest.substr(0, begin == 0 ? 0 : begin - 1);
    // A progress bar shows the text after its last carriage return.
    while (line.ends_with('\r')) line.remove_suffix(1);
    line = line.substr(line.rfind('\r') + 1);
    const size_t first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos) lines.push_back(printable(line.substr(first)));
  }
  std::ranges::reverse(lines);
  return fmt::format("{}", fmt::join(lines, " | "));
}

}  // namespace torch_ir

#include "torch_ir/visualize/svg.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/subprocess.h"
#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {
namespace {

// Limits for a single drawing, which Graphviz lays out in less than a second: the nodes, and the
// nodes that arrows pass, since long arrows cost the most.
constexpr size_t kMaxNodesInOneDrawing = 400;
constexpr size_t kMaxPassedNodes = 600;
constexpr size_t kNodesPerSection = 100;
// Makes sections about three times as high as wide.
constexpr double kColumnsPerRow = 5;
// For the second attempt, after a timeout.
constexpr size_t kFewerNodes = 200;
constexpr double kFewerTime = 0.1;
// Graphviz's search for better layouts often would not end.
constexpr std::string_view kQuickLayout = "nslimit=2; nslimit1=2; mclimit=0.3;";

// `dot` was killed because it took too long.
class GraphvizTimeout : public Error {
 public:
  using Error::Error;
};

// A nameless file for a stream of a child. With pipes, parent and child could wait for each other.
class StreamFile {
 public:
  StreamFile() : file_(std::tmpfile()) {
    if (file_ == nullptr) fail("make a temporary file");
  }

  int descriptor() const { return fileno(file_.get()); }

  void write(const std::string& text) {
    const size_t count = std::fwrite(text.data(), 1, text.size(), file_.get());
    if (count != text.size() || std::fflush(file_.get()) != 0) fail("write a temporary file");
    std::rewind(file_.get());
  }

  std::string read() {
    std::rewind(file_.get());
    std::string text;
    char buffer[1 << 16];
    while (const size_t count = std::fread(buffer, 1, sizeof(buffer), file_.get())) {
      text.append(buffer, count);
    }
    if (std::ferror(file_.get())) fail("read a temporary file");
    return text;
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw Error(std::string("cannot ") + what + ": " + std::strerror(errno));
  }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

pid_t start_dot(const std::string& format, const SpawnOptions& streams) {
  int reason = 0;
  const pid_t child = spawn({"dot", "-T" + format}, streams, reason);
  if (reason == 0) return child;
  if (reason != ENOENT) {
    throw Error(std::string("cannot run Graphviz's 'dot': ") + std::strerror(reason));
  }
  throw Error("Graphviz's 'dot', which draws " + format +
              " files, is not on the PATH: install graphviz, or write .mmd or .dot instead");
}

// Waits for `child` and returns its status. Kills it at the limit, and throws.
int wait_for_dot(pid_t child, std::chrono::duration<double> time_limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() - start > time_limit) {
      kill(child, SIGKILL);
      wait_for_process(child);
      throw GraphvizTimeout("Graphviz's 'dot' took more than " +
                            std::to_string(std::llround(time_limit.count())) + " s");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

// Renders `dot_text` with the `dot` on the PATH. Throws GraphvizTimeout, and Error if `dot` is
// missing or fails.
std::string render(const std::string& dot_text, const std::string& format,
                   std::chrono::duration<double> time_limit, const SvgOptions& options) {
  StreamFile input;
  StreamFile output;
  StreamFile errors;
  input.write(dot_text);
  const SpawnOptions streams = {
      .input = input.descriptor(), .output = output.descriptor(), .error = errors.descriptor()};
  const int status = wait_for_dot(start_dot(format, streams), time_limit);
  std::string image = output.read();
  const std::string messages = errors.read();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || image.empty()) {
    const std::string how = WIFSIGNALED(status)
                                ? "was ended by signal " + std::to_string(WTERMSIG(status))
                                : "failed with exit status " + std::to_string(WEXITSTATUS(status));
    throw Error("Graphviz's 'dot' " + how + (messages.empty() ? "" : ": " + messages));
  }
  if (options.on_warning && !messages.empty()) options.on_warning("Graphviz: " + messages);
  return image;
}

// The most nodes that the arrows of one section of `size` nodes pass; values from outside start at
// the top of the section.
size_t count_passed_nodes(const IR& ir, size_t size) {
  // Positions of the makers of values, counted from 1; 0 for inputs.
  std::unordered_map<std::string_view, size_t> places;
  for (const TensorMeta& input : ir.graph_inputs) places.try_emplace(input.name, 0);
  size_t most = 0;
  size_t passed = 0;
  for (size_t i = 0; i < ir.nodes.size(); ++i) {
    const size_t begin = i / size * size;
    if (i == begin) passed = 0;
    for (const TensorMeta& input : ir.nodes[i].inputs) {
      const auto place = places.find(input.name);
      if (place != places.end()) passed += i - std::max(place->second, begin);
    }
    most = std::max(most, passed);
    for (const TensorMeta& output : ir.nodes[i].outputs) places.try_emplace(output.name, i + 1);
  }
  return most;
}

struct Picture {
  size_t max_nodes;
  std::vector<GraphSketch> sketches = {};
  std::string image = {};
};

Picture draw(const IR& ir, const std::string& title, const std::string& format,
             const SvgOptions& options, size_t max_nodes,
             std::chrono::duration<double> time_limit) {
  const bool is_one = std::min(ir.nodes.size(), max_nodes) <= kMaxNodesInOneDrawing &&
                      count_passed_nodes(ir, kMaxNodesInOneDrawing) <= kMaxPassedNodes;
  Picture picture{.max_nodes = max_nodes};
  std::string layout(kQuickLayout);
  if (is_one) {
    picture.sketches.push_back(sketch_graph(ir, {.nodes = static_cast<int64_t>(max_nodes)}));
  } else {
    picture.sketches = sketch_sections(ir, kNodesPerSection, max_nodes);
    const double columns = std::ceil(std::sqrt(kColumnsPerRow * picture.sketches.size()));
    if (count_passed_nodes(ir, kNodesPerSection) > kMaxPassedNodes) layout += " splines=line;";
    // An array, aligned at the top, in the order of the positions.
    layout += " pack=24; packmode=\"array_tu" + std::to_string(std::lround(columns)) + "\";";
  }
  const std::string dot = write_dot(
      title, picture.sketches,
      {.layout = layout, .highlighted_node = options.highlighted_node, .is_ordered = !is_one});
  picture.image = render(dot, format, time_limit, options);
  return picture;
}

Picture draw(const IR& ir, const std::string& title, const std::string& format,
             const SvgOptions& options) {
  try {
    return draw(ir, title, format, options, options.max_nodes, options.time_limit);
  } catch (const GraphvizTimeout&) {
    if (std::min(ir.nodes.size(), options.max_nodes) <= kFewerNodes) throw;
    return draw(ir, title, format, options, kFewerNodes, options.time_limit * kFewerTime);
  }
}

std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return result;
}

std::unordered_map<std::string, std::string> names_of(const Picture& picture) {
  std::unordered_map<std::string, std::string> names;
  for (const GraphSketch& sketch : picture.sketches) {
    for (const auto& mark : sketch.marks) {
      const Box* box = std::get_if<Box>(&mark);
      if (box != nullptr && !box->name.empty()) names[box->id] = printable_name(box->name);
    }
  }
  return names;
}

std::string description(const IR& ir, const Picture& picture) {
  const size_t num_nodes = ir.nodes.size();
  std::string text = "A graph of " + std::to_string(num_nodes) +
                     (num_nodes == 1 ? " node" : " nodes") +
                     ", from its inputs at the top to its outputs at the bottom. Dashed arrows "
                     "are weights.";
  if (picture.sketches.size() > 1) {
    text += " It is drawn in sections of " + std::to_string(kNodesPerSection) +
            " nodes, in columns from left to right.";
  }
  if (num_nodes > picture.max_nodes) text += " Nodes after the first ones are counted, not drawn.";
  return text;
}

std::string_view title_in(std::string_view line) {
  constexpr std::string_view kOpen = "<title>";
  constexpr std::string_view kClose = "</title>";
  if (!line.starts_with(kOpen) || !line.ends_with(kClose)) return {};
  line.remove_prefix(kOpen.size());
  line.remove_suffix(kClose.size());
  return line;
}

// Styles that nearly all texts share, moved to the root.
constexpr std::string_view kTextStyles[] = {" text-anchor=\"middle\"",
                                            " font-family=\"Helvetica,sans-Serif\""};

std::string without_text_styles(std::string_view line) {
  std::string result(line);
  for (const std::string_view style : kTextStyles) {
    const size_t at = result.find(style);
    if (at != std::string::npos) result.erase(at, style.size());
  }
  return result;
}

// Puts names in place of identifiers, and drops what differs between versions of Graphviz.
std::string finish(std::string_view svg, const std::string& title, const std::string& about,
                   const std::unordered_map<std::string, std::string>& names) {
  std::string result = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  const size_t root = svg.find("<svg");
  svg.remove_prefix(root == std::string_view::npos ? 0 : root);
  const size_t end_of_root = svg.find('>') + 1;
  std::string tag(svg.substr(0, end_of_root));
  std::ranges::replace(tag, '\n', ' ');
  for (const std::string_view style : kTextStyles) tag.insert(4, style);
  tag.insert(4, " role=\"img\" aria-labelledby=\"graph-title graph-description\"");
  result += tag + "\n<title id=\"graph-title\">" + xml_text(title) +
            "</title>\n<desc id=\"graph-description\">" + xml_text(about) + "</desc>\n";
  svg.remove_prefix(end_of_root);
  while (!svg.empty()) {
    const size_t length = std::min(svg.find('\n'), svg.size());
    const std::string_view line = svg.substr(0, length);
    svg.remove_prefix(std::min(length + 1, svg.size()));
    if (line.empty() || line.starts_with("<!--")) continue;
    if (const std::string_view id = title_in(line); !id.empty()) {
      const auto name = names.find(std::string(id));
      if (name != names.end()) result += "<title>" + xml_text(name->second) + "</title>\n";
    } else {
      result += (line.starts_with("<text ") ? without_text_styles(line) : std::string(line)) + '\n';
    }
  }
  return result;
}

std::string title_of(const IR& ir, const SvgOptions& options) {
  return printable_name(options.title.empty() ? ir.model_name : options.title);
}

}  // namespace

std::string ir_to_svg(const IR& ir, const SvgOptions& options) {
  const std::string title = title_of(ir, options);
  const Picture picture = draw(ir, title, "svg", options);
  return finish(picture.image, title, description(ir, picture), names_of(picture));
}

std::string ir_to_png(const IR& ir, const SvgOptions& options) {
  return draw(ir, title_of(ir, options), "png", options).image;
}

}  // namespace torch_ir

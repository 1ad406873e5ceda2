#include "torch_ir/visualize/svg.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <ranges>
#include <sstream>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/subprocess.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/visualize/colours.h"
#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/sketch.h"

namespace torch_ir {
namespace {

// The most pictures in one SVG; the boxes of the last ones cannot be opened.
constexpr size_t kMaxPictures = 300;
// Height of the line above a picture that leads back, and of the legend.
constexpr double kLineHeight = 28;
// Larger pictures are reduced to this size or that of the first one.
constexpr double kMinWidth = 720;
constexpr double kMinHeight = 900;
// Graphviz's search for better layouts often takes too long.
constexpr std::string_view kQuickLayout = "nslimit=2; nslimit1=2; mclimit=0.3;";
// Drawings of folded parts have few boxes.
constexpr std::string_view kFoldedLayout = "nslimit=20; nslimit1=20;";

// A nameless file for a stream of a child. With pipes, parent and child could wait for each other.
using StreamFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

StreamFile make_stream_file() {
  StreamFile file(std::tmpfile(), std::fclose);
  if (!file) throw Error(std::string("cannot make a temporary file: ") + std::strerror(errno));
  return file;
}

std::string path_of(const StreamFile& file) {
  return "/proc/self/fd/" + std::to_string(fileno(file.get()));
}

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
      throw Error("Graphviz's 'dot' took more than " +
                  std::to_string(std::llround(time_limit.count())) +
                  " s; draw modules, or fewer nodes");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

// Renders `dot_text` with the `dot` on the PATH. Throws Error if `dot` is missing, fails or takes
// too long.
std::string render(const std::string& dot_text, const std::string& format,
                   const SvgOptions& options) {
  const StreamFile input = make_stream_file();
  const StreamFile output = make_stream_file();
  const StreamFile errors = make_stream_file();
  write_file(path_of(input), dot_text);
  std::rewind(input.get());
  const SpawnOptions streams = {
      .input = fileno(input.get()), .output = fileno(output.get()), .error = fileno(errors.get())};
  const int status = wait_for_dot(start_dot(format, streams), options.time_limit);
  std::string image = read_file(path_of(output));
  const std::string messages = read_file(path_of(errors));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || image.empty()) {
    const std::string how = WIFSIGNALED(status)
                                ? "was ended by signal " + std::to_string(WTERMSIG(status))
                                : "failed with exit status " + std::to_string(WEXITSTATUS(status));
    throw Error("Graphviz's 'dot' " + how + (messages.empty() ? "" : ": " + messages));
  }
  if (options.on_warning && !messages.empty()) options.on_warning("Graphviz: " + messages);
  return image;
}

struct Picture {
  // The part whose inside it shows.
  const Part* part = nullptr;
  // The picture that has a box for this one; none for the first one.
  std::optional<size_t> parent = std::nullopt;
  std::string title = {};
  GraphSketch sketch = {};
};

// The pictures of a graph: one, or one for each part if parts are folded.
struct Album {
  // Stay in place while more are added.
  std::deque<Picture> pictures;
  // For each box of a part, the picture of its inside.
  std::unordered_map<const Part*, size_t> opened;
  bool is_folded = false;

  const std::string& title() const { return pictures[0].title; }
};

std::string picture_id(size_t picture) { return "picture-" + std::to_string(picture); }

// Adds a picture for each box of a part. A box in frames is "model › layers.0-11 ×12 › self_attn".
void add_pictures_of_boxes(size_t picture, Album& album) {
  std::vector<std::string> path;
  for (const auto& mark : album.pictures[picture].sketch.marks) {
    if (const auto* frame = std::get_if<PartFrame>(&mark)) path.push_back(frame->title + " › ");
    if (std::holds_alternative<PartFrameEnd>(mark)) path.pop_back();
    const auto* box = std::get_if<Box>(&mark);
    if (box == nullptr || box->part == nullptr || album.pictures.size() == kMaxPictures) continue;
    album.opened.emplace(box->part, album.pictures.size());
    std::string title = std::accumulate(path.begin(), path.end(), std::string()) + box->title;
    album.pictures.push_back({.part = box->part, .parent = picture, .title = std::move(title)});
  }
}

Album draw_album(const Program& program, const Sketchbook& book, const SvgOptions& options,
                 bool opens_boxes) {
  const Part& root = book.root();
  Album album;
  album.is_folded = options.max_nodes == kAllNodes && Sketchbook::is_folded(root, options.depth);
  album.pictures.push_back(
      {.part = &root,
       .title = printable_name(options.title.empty() ? program.model_name : options.title),
       .sketch = album.is_folded ? book.draw(root, options.depth)
                                 : book.draw_nodes(root, {.nodes = options.max_nodes})});
  for (size_t i = 0; i < album.pictures.size() && opens_boxes; ++i) {
    if (i > 0) album.pictures[i].sketch = book.draw(*album.pictures[i].part);
    add_pictures_of_boxes(i, album);
  }
  return album;
}

size_t node_index(const Graph& graph, const std::string& name) {
  const auto node = std::ranges::find(graph.nodes, name, &Node::name);
  const bool is_known = node != graph.nodes.end() && !name.empty();
  return is_known ? static_cast<size_t>(node - graph.nodes.begin())
                  : std::numeric_limits<size_t>::max();
}

std::string render(const Graph& graph, const Album& album, const std::string& format,
                   const SvgOptions& options) {
  const DotOptions dot{.layout = std::string(album.is_folded ? kFoldedLayout : kQuickLayout),
                       .highlighted_node = node_index(graph, options.highlighted_node)};
  std::string text;
  for (const Picture& picture : album.pictures)
    text += write_dot(album.title(), picture.sketch, dot);
  return render(text, format, options);
}

std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return result;
}

std::string attribute(std::string_view name, std::string_view value) {
  std::string result = " " + std::string(name) + "=\"";
  for (const char c : xml_text(value)) result += c == '"' ? "&quot;" : std::string(1, c);
  return result + "\"";
}

std::string description(const Graph& graph, const Album& album, const SvgOptions& options) {
  const size_t num_nodes = graph.nodes.size();
  std::string text = "A graph of " + std::to_string(num_nodes) +
                     (num_nodes == 1 ? " node" : " nodes") +
                     ", from its inputs at the top to its outputs at the bottom.";
  text += album.is_folded ? " Modules are folded: click one to open it."
                          : " Dashed arrows are weights.";
  if (static_cast<int64_t>(num_nodes) > options.max_nodes) {
    text += " Nodes after the first ones are counted, not drawn.";
  }
  return text;
}

// The text from the first `open` to the next `close`; empty at the end of `text` if there is none.
std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const size_t begin = text.find(open);
  if (begin == text.npos) return text.substr(text.size());
  text.remove_prefix(begin + open.size());
  return text.substr(0, text.find(close));
}

std::string without(std::string text, std::string_view open, std::string_view close = "") {
  const size_t begin = text.find(open);
  if (begin == text.npos) return text;
  return text.erase(begin, text.find(close, begin + open.size()) + close.size() - begin);
}

// Styles that nearly all texts share, moved to the root.
constexpr std::string_view kAnchor = " text-anchor=\"middle\"";
constexpr std::string_view kFont = " font-family=\"Helvetica,sans-Serif\"";

// "3-8,13-18"
std::string ranges_text(const std::vector<size_t>& nodes) {
  std::string text;
  for (size_t i = 0; i < nodes.size();) {
    const size_t first = nodes[i++];
    size_t last = first;
    while (i < nodes.size() && nodes[i] == last + 1) last = nodes[i++];
    text += (text.empty() ? "" : ",") + std::to_string(first) +
            (last == first ? "" : "-" + std::to_string(last));
  }
  return text;
}

using Scales = std::vector<ColourScale>;

// One SVG document of Graphviz: the attributes and the content of its root.
struct Drawing {
  std::string view_box;
  double width = 0;
  double height = 0;
  std::string body;
};

std::string open_box(const Box& box, std::string tag, const Album& album, const Scales& scales) {
  tag.resize(tag.rfind('"'));
  for (const ColourScale& scale : scales) {
    if (const auto colour = scale.find(box)) tag += fmt::format(" {}-{}", scale.name, *colour);
  }
  tag += '"';
  if (!box.nodes.empty()) tag += attribute("data-nodes", ranges_text(box.nodes));
  const auto opened = album.opened.find(box.part);
  const std::string id = opened == album.opened.end() ? "" : picture_id(opened->second);
  if (!id.empty()) tag += attribute("data-opens", id);
  tag += ">\n";
  if (!box.name.empty()) tag += "<title>" + xml_text(printable_name(box.name)) + "</title>\n";
  if (!id.empty()) tag += "<a href=\"#" + id + "\">\n";
  return tag;
}

// Puts names and data in place of identifiers, and drops differences between versions of Graphviz.
Drawing finish(std::string_view svg, const Picture& picture, const Album& album,
               const Scales& scales) {
  Drawing drawing;
  drawing.view_box = between(svg, "viewBox=\"", "\"");
  double origin = 0;
  std::istringstream(drawing.view_box) >> origin >> origin >> drawing.width >> drawing.height;
  std::unordered_map<std::string_view, const Box*> boxes;
  for (const auto& mark : picture.sketch.marks) {
    if (const Box* box = std::get_if<Box>(&mark)) boxes.emplace(box->id, box);
  }
  std::istringstream lines{std::string(svg.substr(svg.find('>') + 1))};
  // The tag of a group, until its title identifies it.
  std::string group;
  bool is_link = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("<!--")) continue;
    if (line.starts_with("<g ")) {
      // Identifiers of several pictures would be the same.
      group = without(line, " id=\"", "\"");
      continue;
    }
    if (line.starts_with("<title>")) {
      const auto box = boxes.find(between(line, "<title>", "</title>"));
      const bool is_box = box != boxes.end();
      is_link = is_box && album.opened.contains(box->second->part);
      line = is_box ? open_box(*box->second, std::move(group), album, scales) : group + '\n';
    } else if (line == "</g>" && is_link) {
      line = "</a></g>\n";
      is_link = false;
    } else if (line.starts_with("<text ")) {
      line = without(without(std::move(line), kAnchor), kFont) + '\n';
    } else {
      line += '\n';
    }
    drawing.body += line;
  }
  return drawing;
}

// The line above a picture, with links to the pictures around it.
std::string way_back(const Album& album, const Picture& picture) {
  std::string text = xml_text(picture.title);
  for (std::optional<size_t> at = picture.parent; at; at = album.pictures[*at].parent) {
    text = "<a href=\"#" + picture_id(*at) + "\">" + xml_text(album.pictures[*at].title) +
           "</a> › " + text;
  }
  return "<text class=\"way-back\" text-anchor=\"start\" x=\"8\" y=\"19\" font-size=\"14\">" +
         text + "</text>\n";
}

// The line that explains the colours; sets `x` to its length.
std::string legend(const ColourScale& scale, double y, double& x) {
  // Helvetica's digits and letters are at most so wide on average.
  constexpr double kCharacterWidth = 7;
  std::string text = "<g class=\"legend\" text-anchor=\"start\" font-size=\"12\">\n";
  x = 8;
  const auto write = [&](std::string_view label) {
    text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x, y + 15, xml_text(label));
    x += kCharacterWidth * static_cast<double>(label.size()) + 10;
  };
  write(fmt::format("{}:", scale.title));
  for (const Colour& colour : scale.colours) {
    text += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"22\" height=\"14\" stroke=\"black\"{}/>\n",
                        x, y + 4, attribute("fill", colour.fill));
    x += 27;
    write(colour.label);
  }
  return text + "</g>\n";
}

std::string style_of(const Album& album, const ColourScale& scale) {
  std::string style = "<style>\n";
  if (album.is_folded) {
    style +=
        ".picture:target{display:inline}.picture:target~.first{display:none}"
        "a{cursor:pointer}.way-back a{fill:#0b5cad;text-decoration:underline}\n";
  }
  for (size_t i = 0; i < scale.colours.size(); ++i) {
    style += fmt::format(".{0}-{1} polygon,.{0}-{1} path{{fill:{2}}}.{0}-{1} text{{fill:{3}}}\n",
                         scale.name, i, scale.colours[i].fill, scale.colours[i].text);
  }
  return style + "</style>\n";
}

std::string metadata(const Graph& graph, const SvgOptions& options, const Scales& scales) {
  using Json = nlohmann::ordered_json;
  const std::vector<std::string> modules = module_paths(graph);
  Json nodes = Json::array();
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    std::string outputs;
    for (const ValueId id : node.outputs) {
      const Value& output = graph[id];
      if (!outputs.empty()) outputs += ", ";
      outputs += shape_text(output) + " " + dtype_name(output.dtype);
    }
    Json row = {printable_name(node.name), printable_name(node.target),
                modules[i].empty() ? "" : printable_name(modules[i]), outputs};
    if (!options.figures.empty()) {
      const auto number = [](const std::optional<double>& value) {
        if (!value) return Json();
        return std::isfinite(*value) ? Json(*value) : Json(std::isnan(*value) ? "nan" : "inf");
      };
      row.push_back(number(options.figures[i].max_diff));
      row.push_back(number(options.figures[i].seconds));
    }
    nodes.push_back(std::move(row));
  }
  Json scales_json = Json::array();
  for (const ColourScale& scale : scales) {
    Json colours = Json::array();
    for (const Colour& colour : scale.colours) {
      colours.push_back({colour.label, colour.fill, colour.text});
    }
    scales_json.push_back({{"name", scale.name}, {"title", scale.title}, {"colours", colours}});
  }
  const Json json = {{"nodes", nodes}, {"scales", scales_json}};
  return "<metadata>" + xml_text(json.dump(-1, ' ', false, Json::error_handler_t::replace)) +
         "</metadata>\n";
}

}  // namespace

std::string draw_svg(const Program& program, const SvgOptions& options) {
  const Sketchbook book(program, options.module);
  const Album album = draw_album(program, book, options, /*opens_boxes=*/true);
  const std::string image = render(program, album, "svg", options);
  const Scales scales = colour_scales(program, options.figures);

  std::vector<Drawing> drawings;
  std::string_view rest = image;
  for (const Picture& picture : album.pictures) {
    const std::string_view svg = between(rest, "<svg", "</svg>");
    rest.remove_prefix(static_cast<size_t>(svg.data() + svg.size() - rest.data()));
    drawings.push_back(finish(svg, picture, album, scales));
  }
  const auto room = [&](double Drawing::* side, double least) {
    const double most = std::ranges::max(drawings | std::views::transform(side));
    return std::max(drawings[0].*side, std::min(most, least));
  };
  const double way_back_height = album.is_folded ? kLineHeight : 0;
  double key_width = 0;
  const std::string key = legend(scales.back(), way_back_height, key_width);
  const double top = way_back_height + kLineHeight;
  const double room_width = std::max(room(&Drawing::width, kMinWidth), key_width);
  const double room_height = room(&Drawing::height, kMinHeight);
  const std::string width = fmt::format("{}", std::ceil(room_width));
  const std::string height = fmt::format("{}", std::ceil(room_height + top));
  std::string result =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg role=\"img\" aria-labelledby=\"graph-title graph-description\"" +
      std::string(kFont) + std::string(kAnchor) + attribute("width", width + "pt") +
      attribute("height", height + "pt") + attribute("viewBox", "0 0 " + width + " " + height) +
      " xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n"
      "<title id=\"graph-title\">" +
      xml_text(album.title()) + "</title>\n<desc id=\"graph-description\">" +
      xml_text(description(program, album, options)) + "</desc>\n" +
      metadata(program, options, scales) + style_of(album, scales.back()) +
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + key;
  // The first picture comes last, so that a style can hide it while another one is open.
  for (size_t i = drawings.size(); i-- > 0;) {
    const Drawing& drawing = drawings[i];
    const Picture& picture = album.pictures[i];
    result += "<g" + attribute("class", i == 0 ? "picture first" : "picture") +
              attribute("id", picture_id(i)) + (i == 0 ? "" : " display=\"none\"") +
              attribute("data-title", picture.title);
    if (picture.parent) result += attribute("data-parent", picture_id(*picture.parent));
    result += ">\n";
    if (picture.parent) result += way_back(album, picture);
    const double shown_width = std::min(drawing.width, room_width);
    result += fmt::format(
        "<svg x=\"{:g}\" y=\"{}\" width=\"{:g}\" height=\"{:g}\" viewBox=\"{}\" "
        "preserveAspectRatio=\"xMidYMin\">\n{}</svg>\n</g>\n",
        (room_width - shown_width) / 2, top, shown_width, std::min(drawing.height, room_height),
        drawing.view_box, drawing.body);
  }
  return result + "</svg>\n";
}

std::string draw_png(const Program& program, const SvgOptions& options) {
  const Sketchbook book(program, options.module);
  return render(program, draw_album(program, book, options, /*opens_boxes=*/false), "png", options);
}

}  // namespace torch_ir

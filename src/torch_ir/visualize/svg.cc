#include "torch_ir/visualize/svg.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/subprocess.h"
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
// Larger pictures are reduced to this size or that of the first one; smaller ones stay as they are.
constexpr double kMinWidth = 720;
constexpr double kMinHeight = 900;
// Graphviz's search for better layouts often takes too long.
constexpr std::string_view kQuickLayout = "nslimit=2; nslimit1=2; mclimit=0.3;";
// Drawings of folded parts have few boxes.
constexpr std::string_view kFoldedLayout = "nslimit=20; nslimit1=20;";

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
  StreamFile input;
  StreamFile output;
  StreamFile errors;
  input.write(dot_text);
  const SpawnOptions streams = {
      .input = input.descriptor(), .output = output.descriptor(), .error = errors.descriptor()};
  const int status = wait_for_dot(start_dot(format, streams), options.time_limit);
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

struct Picture {
  GraphSketch sketch;
  // The picture that has a box for this one; none for the first one.
  std::optional<size_t> parent = std::nullopt;
  std::string title = {};
};

std::string picture_id(size_t picture) { return "picture-" + std::to_string(picture); }

// The pictures of a graph: one, or one for each part if parts are folded.
struct Album {
  std::vector<Picture> pictures;
  // For each box of a part, the picture of its inside.
  std::unordered_map<const Part*, size_t> opened;
  bool is_folded = false;
};

// A box in frames is "model › layers.0-11 ×12 › self_attn".
void add_pictures_of_boxes(size_t picture, Album& album, std::vector<const Part*>& parts) {
  std::vector<std::string> titles;
  // Adding pictures moves the sketch.
  const auto marks = album.pictures[picture].sketch.marks;
  for (const auto& mark : marks) {
    if (const auto* frame = std::get_if<PartFrame>(&mark)) titles.push_back(frame->title);
    if (std::holds_alternative<PartFrameEnd>(mark)) titles.pop_back();
    const auto* box = std::get_if<Box>(&mark);
    if (box == nullptr || box->part == nullptr || album.pictures.size() == kMaxPictures) continue;
    std::string title;
    for (const std::string& outer : titles) title += outer + " › ";
    album.opened.emplace(box->part, album.pictures.size());
    album.pictures.push_back({.sketch = {}, .parent = picture, .title = title + box->title});
    parts.push_back(box->part);
  }
}

Album draw_album(const Sketchbook& book, const SvgOptions& options, bool opens_boxes) {
  const Part& root = book.root();
  Album album;
  if (options.max_nodes != kAllNodes || !Sketchbook::is_folded(root, options.depth)) {
    album.pictures.push_back({.sketch = book.draw_nodes(root, {.nodes = options.max_nodes})});
    return album;
  }
  album.is_folded = true;
  album.pictures.push_back({.sketch = book.draw(root, options.depth)});
  std::vector<const Part*> parts = {&root};
  for (size_t i = 0; i < album.pictures.size() && opens_boxes; ++i) {
    if (i > 0) album.pictures[i].sketch = book.draw(*parts[i]);
    add_pictures_of_boxes(i, album, parts);
  }
  return album;
}

size_t node_index(const IR& ir, const std::string& name) {
  const auto node = std::ranges::find(ir.nodes, name, &OpNode::name);
  return node == ir.nodes.end() || name.empty() ? std::numeric_limits<size_t>::max()
                                                : static_cast<size_t>(node - ir.nodes.begin());
}

std::string render(const IR& ir, const Album& album, const std::string& title,
                   const std::string& format, const SvgOptions& options) {
  const DotOptions dot{.layout = std::string(album.is_folded ? kFoldedLayout : kQuickLayout),
                       .highlighted_node = node_index(ir, options.highlighted_node)};
  std::string text;
  for (const Picture& picture : album.pictures) text += write_dot(title, picture.sketch, dot);
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

std::string description(const IR& ir, const Album& album, const SvgOptions& options) {
  const size_t num_nodes = ir.nodes.size();
  std::string text = "A graph of " + std::to_string(num_nodes) +
                     (num_nodes == 1 ? " node" : " nodes") +
                     ", from its inputs at the top to its outputs at the bottom.";
  text += album.is_folded ? " Modules are folded: a click on one shows what is inside."
                          : " Dashed arrows are weights.";
  if (static_cast<int64_t>(num_nodes) > options.max_nodes) {
    text += " Nodes after the first ones are counted, not drawn.";
  }
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

// "3-8,13-18"; adjacent copies are joined.
std::string ranges_text(const BoxNodes& nodes) {
  std::string text;
  for (size_t i = 0; i < nodes.shifts.size();) {
    const size_t begin = nodes.begin + nodes.shifts[i];
    size_t end = nodes.end + nodes.shifts[i++];
    for (; i < nodes.shifts.size() && nodes.begin + nodes.shifts[i] == end; ++i) {
      end = nodes.end + nodes.shifts[i];
    }
    text += (text.empty() ? "" : ",") + std::to_string(begin) +
            (end == begin + 1 ? "" : "-" + std::to_string(end - 1));
  }
  return text;
}

struct Size {
  double width = 0;
  double height = 0;
};

// One SVG document of Graphviz: the attributes and the content of its root.
struct Drawing {
  std::string view_box;
  Size size;
  std::string body;
};

// Puts names and data in place of identifiers, and drops differences between versions of Graphviz.
class Finisher {
 public:
  Finisher(const Album& album, const Colouring& colouring) : album_(album), colouring_(colouring) {}

  // Takes the next document from `svg`.
  Drawing finish(std::string_view& svg, const Picture& picture) const {
    Drawing drawing;
    svg.remove_prefix(std::min(svg.find("<svg"), svg.size()));
    const size_t end_of_root = svg.find('>') + 1;
    drawing.view_box = value_in(svg.substr(0, end_of_root), "viewBox");
    std::istringstream numbers(drawing.view_box);
    numbers >> drawing.size.width >> drawing.size.height >> drawing.size.width >>
        drawing.size.height;
    svg.remove_prefix(end_of_root);
    const size_t end = svg.find("</svg>");
    drawing.body = finish_lines(svg.substr(0, end), boxes_of(picture));
    svg.remove_prefix(std::min(end, svg.size()));
    return drawing;
  }

 private:
  using Boxes = std::unordered_map<std::string_view, const Box*>;

  static Boxes boxes_of(const Picture& picture) {
    Boxes boxes;
    for (const auto& mark : picture.sketch.marks) {
      const Box* box = std::get_if<Box>(&mark);
      if (box != nullptr) boxes.emplace(box->id, box);
    }
    return boxes;
  }

  static std::string value_in(std::string_view tag, const std::string& name) {
    const size_t begin = tag.find(name + "=\"") + name.size() + 2;
    return std::string(tag.substr(begin, tag.find('"', begin) - begin));
  }

  std::string finish_lines(std::string_view lines, const Boxes& boxes) const {
    std::string result;
    // The tag of a group, until its title identifies it.
    std::string group;
    bool is_link = false;
    while (!lines.empty()) {
      const size_t length = std::min(lines.find('\n'), lines.size());
      const std::string_view line = lines.substr(0, length);
      lines.remove_prefix(std::min(length + 1, lines.size()));
      if (line.empty() || line.starts_with("<!--")) continue;
      if (line.starts_with("<g ")) {
        group = without_id(line);
      } else if (const std::string_view id = title_in(line); !id.empty()) {
        const auto box = boxes.find(id);
        result += box == boxes.end() ? group + '\n' : open_box(*box->second, group, is_link);
        group.clear();
      } else if (line == "</g>" && is_link) {
        result += "</a></g>\n";
        is_link = false;
      } else {
        result +=
            (line.starts_with("<text ") ? without_text_styles(line) : std::string(line)) + '\n';
      }
    }
    return result;
  }

  // Identifiers of several pictures would be the same.
  std::string without_id(std::string_view tag) const {
    std::string result(tag);
    const size_t id = result.find(" id=\"");
    if (album_.is_folded && id != std::string::npos) {
      result.erase(id, result.find('"', id + 5) + 1 - id);
    }
    return result;
  }

  std::string open_box(const Box& box, std::string tag, bool& is_link) const {
    const bool has_nodes = box.kind == BoxKind::kOperator || box.part != nullptr;
    const std::string classes = colouring_.classes_of(box);
    constexpr std::string_view kClass = "class=\"node";
    const size_t at = tag.find(kClass);
    if (!classes.empty() && at != tag.npos) tag.insert(at + kClass.size(), " " + classes);
    std::string data;
    const auto picture = album_.opened.find(box.part);
    is_link = picture != album_.opened.end();
    if (has_nodes) data += attribute("data-nodes", ranges_text(box.nodes));
    if (is_link) data += attribute("data-opens", picture_id(picture->second));
    tag.insert(tag.size() - 1, data);
    tag += '\n';
    if (!box.name.empty()) tag += "<title>" + xml_text(printable_name(box.name)) + "</title>\n";
    if (is_link) tag += "<a href=\"#" + picture_id(picture->second) + "\">\n";
    return tag;
  }

  const Album& album_;
  const Colouring& colouring_;
};

// The line above a picture, with links to the pictures around it.
std::string way_back(const Album& album, size_t picture, const std::string& title) {
  std::string text = xml_text(album.pictures[picture].title);
  for (std::optional<size_t> at = album.pictures[picture].parent; at;
       at = album.pictures[*at].parent) {
    const std::string& name = *at == 0 ? title : album.pictures[*at].title;
    text = "<a href=\"#" + picture_id(*at) + "\">" + xml_text(name) + "</a> › " + text;
  }
  return "<text class=\"way-back\" text-anchor=\"start\" x=\"8\" y=\"19\" font-size=\"14\">" +
         text + "</text>\n";
}

std::string legend(const ColourScale& scale, double y, double& width) {
  // Helvetica's digits and letters are at most so wide on average.
  constexpr double kCharacterWidth = 7;
  std::ostringstream text;
  double x = 8;
  const auto write = [&](const std::string& label) {
    text << "<text x=\"" << x << "\" y=\"" << y + 15 << "\">" << xml_text(label) << "</text>\n";
    x += kCharacterWidth * static_cast<double>(label.size()) + 10;
  };
  text << "<g class=\"legend\" text-anchor=\"start\" font-size=\"12\">\n";
  write(scale.title + ":");
  for (const Colour& colour : scale.colours) {
    text << "<rect x=\"" << x << "\" y=\"" << y + 4
         << "\" width=\"22\" height=\"14\" stroke=\"black\" fill=\"" << colour.fill << "\"/>\n";
    x += 27;
    write(colour.label);
  }
  text << "</g>\n";
  width = x;
  return text.str();
}

std::string style_of(const Album& album, const ColourScale* scale) {
  std::string style;
  if (album.is_folded) {
    style +=
        ".picture:target{display:inline}.picture:target~.first{display:none}"
        "a{cursor:pointer}.way-back a{fill:#0b5cad;text-decoration:underline}\n";
  }
  for (size_t i = 0; scale != nullptr && i < scale->colours.size(); ++i) {
    const std::string name = "." + scale->name + "-" + std::to_string(i);
    const Colour& colour = scale->colours[i];
    style += name + " polygon," + name + " path{fill:" + std::string(colour.fill) + "}" + name +
             " text{fill:" + std::string(colour.text) + "}\n";
  }
  return style.empty() ? "" : "<style>\n" + style + "</style>\n";
}

std::string metadata(const IR& ir, const Colouring& colouring) {
  using Json = nlohmann::ordered_json;
  const std::vector<std::string> modules = module_paths(ir);
  Json nodes = Json::array();
  for (size_t i = 0; i < ir.nodes.size(); ++i) {
    const OpNode& node = ir.nodes[i];
    std::string outputs;
    for (const TensorMeta& output : node.outputs) {
      outputs += (outputs.empty() ? "" : ", ") + shape_text(output) + " " + output.dtype;
    }
    Json row = {printable_name(node.name), printable_name(node.op_type),
                modules[i].empty() ? "" : printable_name(modules[i]), outputs};
    if (const NodeFigures* figures = colouring.figures_of(i)) {
      const auto number = [](const std::optional<double>& value) {
        if (!value) return Json();
        return std::isfinite(*value) ? Json(*value) : Json(std::isnan(*value) ? "nan" : "inf");
      };
      row.push_back(number(figures->max_diff));
      row.push_back(number(figures->seconds));
    }
    nodes.push_back(std::move(row));
  }
  Json scales = Json::array();
  for (const ColourScale& scale : colouring.scales()) {
    Json colours = Json::array();
    for (const Colour& colour : scale.colours) {
      colours.push_back({colour.label, colour.fill, colour.text});
    }
    scales.push_back({{"name", scale.name}, {"title", scale.title}, {"colours", colours}});
  }
  const Json json = {{"nodes", nodes}, {"scales", scales}};
  return "<metadata>" + xml_text(json.dump(-1, ' ', false, Json::error_handler_t::replace)) +
         "</metadata>\n";
}

std::string number_text(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string title_of(const IR& ir, const SvgOptions& options) {
  return printable_name(options.title.empty() ? ir.model_name : options.title);
}

}  // namespace

std::string ir_to_svg(const IR& ir, const SvgOptions& options) {
  const std::string title = title_of(ir, options);
  const Sketchbook book(ir, options.module);
  const Album album = draw_album(book, options, /*opens_boxes=*/true);
  const std::string image = render(ir, album, title, "svg", options);
  const Colouring colouring(ir, options.figures);
  const ColourScale* scale = colouring.find(options.colour_by);

  const Finisher finisher(album, colouring);
  std::vector<Drawing> drawings;
  Size room;
  std::string_view rest = image;
  for (const Picture& picture : album.pictures) {
    drawings.push_back(finisher.finish(rest, picture));
    room.width = std::max(room.width, drawings.back().size.width);
    room.height = std::max(room.height, drawings.back().size.height);
  }
  const Size& first = drawings[0].size;
  room.width = std::max(first.width, std::min(room.width, kMinWidth));
  room.height = std::max(first.height, std::min(room.height, kMinHeight));
  double top = album.is_folded ? kLineHeight : 0;
  std::string key;
  if (scale != nullptr) {
    double width = 0;
    key = legend(*scale, top, width);
    room.width = std::max(room.width, width);
    top += kLineHeight;
  }
  const std::string width = number_text(std::ceil(room.width));
  const std::string height = number_text(std::ceil(room.height + top));
  const bool is_plain = top == 0;
  std::string result =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg role=\"img\" aria-labelledby=\"graph-title graph-description\"" +
      std::string(kTextStyles[1]) + std::string(kTextStyles[0]) + attribute("width", width + "pt") +
      attribute("height", height + "pt") +
      attribute("viewBox", is_plain ? drawings[0].view_box : "0 0 " + width + " " + height) +
      " xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n"
      "<title id=\"graph-title\">" +
      xml_text(title) + "</title>\n<desc id=\"graph-description\">" +
      xml_text(description(ir, album, options)) + "</desc>\n" + metadata(ir, colouring) +
      style_of(album, scale);
  if (is_plain) return result + drawings[0].body + "</svg>\n";
  result += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + key;
  // The first picture comes last, so that a style can hide it while another one is open.
  for (size_t i = drawings.size(); i-- > 0;) {
    const Drawing& drawing = drawings[i];
    const double shown_width = std::min(drawing.size.width, room.width);
    result += "<g" + attribute("class", i == 0 ? "picture first" : "picture") +
              attribute("id", picture_id(i)) + (i == 0 ? "" : " display=\"none\"") +
              attribute("data-title", i == 0 ? title : album.pictures[i].title);
    if (const auto parent = album.pictures[i].parent) {
      result += attribute("data-parent", picture_id(*parent));
    }
    result += ">\n";
    if (i > 0) result += way_back(album, i, title);
    result += "<svg" + attribute("x", number_text((room.width - shown_width) / 2)) +
              attribute("y", number_text(top)) + attribute("width", number_text(shown_width)) +
              attribute("height", number_text(std::min(drawing.size.height, room.height))) +
              attribute("viewBox", drawing.view_box) + " preserveAspectRatio=\"xMidYMin\">\n" +
              drawing.body + "</svg>\n</g>\n";
  }
  return result + "</svg>\n";
}

std::string ir_to_png(const IR& ir, const SvgOptions& options) {
  const Sketchbook book(ir, options.module);
  const Album album = draw_album(book, options, /*opens_boxes=*/false);
  return render(ir, album, title_of(ir, options), "png", options);
}

}  // namespace torch_ir

// Tests the Mermaid text of graphs with arbitrary names: each line has one of the few valid forms.
//
// With MERMAID_PAGE the diagrams are written to that file, for the real parser:
// `node harness/report/mermaid_test.mjs FILE`.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "torch_ir/ir/resolve.h"
#include "torch_ir/properties/testing/random_graph.h"
#include "torch_ir/visualize/mermaid.h"

namespace torch_ir {
namespace {

using Names = std::vector<std::string>;

const Names kPieces = {
    "end",       "subgraph", "click",        "\"",   "`",      "%%",    "%%{init",
    "]",         "/]",       "-->",          "|",    "#quot;", ";",     "<b>",
    "\n",        "www.a.b",  "1. ",          "- ",   "__a__",  "class", "default",
    "o",         "x",        "{{",           "\\",   "&amp;",  " ",     "https://",
    "fa:fa-car", "\xc3\xa9", "\xe2\x80\xa8", "\xff", "$$"};

// Arbitrary bytes, and characters with a meaning in Mermaid, Markdown or HTML.
rc::Gen<std::string> any_name() {
  const auto pieces = rc::gen::container<Names>(
      rc::gen::oneOf(rc::gen::arbitrary<std::string>(), rc::gen::elementOf(kPieces)));
  return rc::gen::map(rc::gen::resize(4, pieces), [](const Names& parts) {
    std::string name;
    for (const std::string& part : parts) name += part;
    return name;
  });
}

// Renames everything in `program`; some names may be equal.
Program with_names(Program program, const Names& names) {
  size_t next = 0;
  const auto rename = [&](std::string& name) { name = pick(names, next++); };
  rename(program.model_name);
  for (Value& value : program.values) rename(value.name);
  for (Node& node : program.nodes) {
    rename(node.name);
    rename(node.target);
  }
  return program;
}

// Replaces bytes outside ASCII, which are all plain text, by letters.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::ranges::replace_if(line, [](unsigned char c) { return c >= 0x80; }, 'x');
    lines.push_back(line);
  }
  return lines;
}

// Quoted text must hold only letters, a little punctuation and entity codes, and be no list.
const std::string kLabel = R"re((?!- |\d+[.)] )(?:[A-Za-z0-9 .,_/()?:-]|#(?:\d+|quot);)+)re";
const std::string kText = kLabel + "(?:<br/>" + kLabel + ")?";

const std::regex kFlowchartLine(R"re(    \w+\[(?:"|/"|\\"))re" + kText +
                                R"re((?:"|"/)\]|    \w+ -(?:-|\.-)>(?:\|")re" + kLabel +
                                R"re("\|)? \w+)re");
const std::regex kPieLine("    \"" + kLabel + "\" : [1-9]\\d*");

bool has_form(const std::string& text, const std::string& start, const std::regex& line_form) {
  const std::vector<std::string> lines = lines_of(text);
  const auto fits = [&](const std::string& line) { return std::regex_match(line, line_form); };
  return text.starts_with(start) && std::all_of(lines.begin() + 1, lines.end(), fits);
}

void write_diagram(const std::string& text) {
  const char* const page = std::getenv("MERMAID_PAGE");
  if (page != nullptr) std::ofstream(page, std::ios::app) << "```mermaid\n" << text << "```\n";
}

RC_GTEST_PROP(EveryGraph, IsDrawnByMermaidWhateverItsNames, (const GraphMoves& moves)) {
  const auto names = *rc::gen::nonEmpty(rc::gen::container<Names>(any_name()));
  const Program program = with_names(resolve(make_graph(moves).ir), names);
  const std::string flowchart = draw_mermaid(program).text;
  const std::string pie = generate_op_distribution_pie(program);
  write_diagram(flowchart);
  write_diagram(pie);
  RC_ASSERT(has_form(flowchart, "flowchart TD\n", kFlowchartLine));
  RC_ASSERT(has_form(pie, "pie showData", kPieLine));
}

}  // namespace
}  // namespace torch_ir

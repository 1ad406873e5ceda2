// The sections of a model's page: each is a function that makes its data, and a row of kSections.
#pragma once

#include <kainjow/mustache.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/report/page_text.h"
#include "harness/report/pages.h"

namespace torch_ir {

struct ModelPage {
  const Result& result;
  const RunContext& context;
  const GraphPicture& picture;
  // May include the model's calls.
  const std::vector<Result>& cases;
};

// The data of a section; nothing if the page leaves it out.
using SectionData = std::optional<kainjow::mustache::data>;

SectionData places_section(const ModelPage& page);
SectionData verification_section(const ModelPage& page);
// Outputs, rounded values and values of nodes, in one table.
SectionData values_section(const ModelPage& page);
SectionData arithmetic_section(const ModelPage& page);
SectionData node_section(const ModelPage& page);
SectionData float_section(const ModelPage& page);
// The nodes of a split model with the results of their calls.
SectionData calls_section(const ModelPage& page);
SectionData reproducer_section(const ModelPage& page);
SectionData modules_section(const ModelPage& page);
SectionData graph_section(const ModelPage& page);

// A row for each value, without columns that no value fills.
Table values_table(const std::vector<ValueDetail>& values);

// Tables that index.html has too: the most important values, those of the node that differs first,
// and what is folded, by title.
Table values_of_run(const Result& result);
Table statistics_table(const std::optional<Divergence>& divergence);
std::vector<std::pair<std::string, Table>> node_lists(const NodeReport& report);

struct Section {
  // In templates/model_page.md.mustache.
  const char* name;
  SectionData (*make)(const ModelPage& page);
};

inline constexpr Section kSections[] = {
    {"places", places_section},        {"verification", verification_section},
    {"values_of_run", values_section}, {"arithmetic", arithmetic_section},
    {"node_report", node_section},     {"against", float_section},
    {"calls", calls_section},          {"reproducer", reproducer_section},
    {"modules", modules_section},      {"graph", graph_section}};

}  // namespace torch_ir

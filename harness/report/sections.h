// The sections of a model's page, in Markdown. Each is empty if the page leaves it out.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/report/page_text.h"
#include "harness/report/pages.h"

namespace torch_ir {

std::string places_section(const Result& result, bool has_times);
std::string verification_section(const Result& result);
// Outputs, rounded values and values of nodes, in one table.
std::string values_section(const Result& result);
std::string arithmetic_section(const Result& result);
std::string node_section(const Result& result);
std::string float_section(const Result& result);
// The nodes of a split model with the results of their calls, which are among `cases`.
std::string calls_section(const Result& result, const std::vector<Result>& cases);
std::string reproducer_section(const Result& result, const RunContext& context);
std::string graph_summary_section(const Result& result);
std::string graph_section(const Result& result, const GraphPicture& picture);

// A row for each value, without columns that no value fills.
Table values_table(const std::vector<ValueDetail>& values);

// Tables that index.html has too: the most important values, those of the node that differs first,
// and what is folded, by title.
Table values_of_run(const Result& result);
Table statistics_table(const std::optional<Divergence>& divergence);
std::vector<std::pair<std::string, Table>> node_lists(const NodeReport& report);

}  // namespace torch_ir

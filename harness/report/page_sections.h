// The sections of a model's page, as data for its template.
//
// Called by model_page.cc only.
#pragma once

#include <kainjow/mustache.hpp>
#include <string>

#include "harness/report/pages.h"

namespace torch_ir {

// What the outputs are compared with, in the places that say it.
struct Reference {
  // "the graph computes what ..."
  std::string verdict;
  // "2 outputs compared with ..."
  std::string detail;
  // "the graph gives 1, ... 2"
  std::string worst;
  // A sentence.
  std::string explanation;
};

Reference reference_of(const ModelResult& result);

// Trials, outputs and tolerances; of a result that has trials.
kainjow::mustache::data verification_section(const ModelResult& result, const RunContext& context);

kainjow::mustache::data node_section(const NodeReport& report, const RunContext& context);

// Of a result that has a reproducer.
kainjow::mustache::data reproducer_section(const ModelResult& result, const RunContext& context);

kainjow::mustache::data graph_section(const std::string& name, const IR& ir,
                                      const RunContext& context, const GraphPicture& picture);

}  // namespace torch_ir

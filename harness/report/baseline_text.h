// What has changed since an earlier run, in words, for pages and for terminals.
#pragma once

#include <string>

#include "harness/report/pages.h"
#include "harness/results/baseline.h"

namespace torch_ir {

// For SUMMARY.md.
ChangesSection changes_section(const BaselineComparison& comparison, const std::string& file);

// A few lines for a terminal, the worst first: at most twenty models, and of each graph at most ten
// changes. Here and above `file` is the baseline, as the user named it.
std::string baseline_text(const BaselineComparison& comparison, const std::string& file);

}  // namespace torch_ir

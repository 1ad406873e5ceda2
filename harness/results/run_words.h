// What people call the settings and the environment of a run.
//
// Called by whatever shows them: pages, and what says how two runs differ.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/results/result.h"

namespace torch_ir {

// "rtol 0.0001, atol 0.0001, or as registered".
std::string tolerance_rule_text(const RunSettings& settings);

// Names and values of the settings that say what a run computes, in the same order for all runs;
// the value may be empty. What it tells beside that, and keeps, is not among them.
std::vector<std::pair<std::string, std::string>> settings_in_words(const RunSettings& settings);

// The name of an entry of an Environment.
std::string environment_name(const std::string& key);

}  // namespace torch_ir

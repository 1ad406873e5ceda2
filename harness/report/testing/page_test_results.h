// What tests of the pages share.
#pragma once

#include <gmock/gmock.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "harness/report/pages.h"
#include "harness/results/testing/test_results.h"

namespace torch_ir {

inline void expect_in(const std::string& page, std::initializer_list<const char*> texts) {
  for (const char* text : texts) EXPECT_THAT(page, ::testing::HasSubstr(text));
}

inline std::string summary_of(const std::vector<Result>& results, const Coverage& coverage = {},
                              const RunContext& context = {},
                              const std::vector<Result>& cases = {}) {
  return render_summary(
      {.coverage = coverage, .context = context, .results = results, .cases = cases});
}

}  // namespace torch_ir

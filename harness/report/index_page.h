// OUT/index.html: a run in one file, to filter, sort, search and look into.
//
// The page needs nothing beside itself: no network and no server, so that it works wherever a
// browser gets hold of it. Data and pictures lie in it and are parsed when they are looked at.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/pages.h"
#include "harness/results/results_file.h"

namespace torch_ir {

// Gives what lies in svg/<Model>.svg, or says why there is none. Called once for each model with a
// graph, in their order, and not any more once the page is full.
using PictureOf = std::function<GraphPicture(const ModelResult& result)>;

// Pictures beyond this size, each and together, are linked to and not part of the page.
inline constexpr size_t kMaxIndexPicture = 4 << 20;
inline constexpr size_t kMaxIndexPictures = 48 << 20;

// `changes` is what has changed since an earlier run, where there is one to compare with. The same
// results, pictures and context give the same bytes. Figures are those of this machine,
// also in a portable context.
void write_index(const std::vector<ModelResult>& results, const Coverage& coverage,
                 const RunContext& context, const PictureOf& picture_of,
                 const std::optional<ChangesSection>& changes,
                 const std::vector<ModelResult>& cases, const PutText& put);

// The same as one text.
std::string render_index(const std::vector<ModelResult>& results, const Coverage& coverage,
                         const RunContext& context, const PictureOf& picture_of,
                         const std::optional<ChangesSection>& changes = std::nullopt,
                         const std::vector<ModelResult>& cases = {});

}  // namespace torch_ir

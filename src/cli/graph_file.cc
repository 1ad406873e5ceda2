#include "torch_ir/cli/graph_file.h"

#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/validate.h"

namespace torch_ir {
namespace {

// "m.json is not well formed: PROBLEM (and 2 more: see 'torch-ir validate m.json')"
std::string describe(const std::string& path, const std::vector<std::string>& problems) {
  std::string text = path + " is not well formed: " + problems.front();
  if (problems.size() > 1) {
    text += " (and " + std::to_string(problems.size() - 1) + " more: see 'torch-ir validate " +
            path + "')";
  }
  return text;
}

}  // namespace

IR load_valid_graph(const std::string& path) {
  IR ir = load_ir(path);
  const std::vector<std::string> problems = find_problems(ir);
  if (!problems.empty()) throw ValidationError(describe(path, problems));
  return ir;
}

IR load_graph_to_show(const std::string& path, Console& console) {
  IR ir = load_ir(path);
  const std::vector<std::string> problems = find_problems(ir);
  if (!problems.empty()) console.warn(describe(path, problems));
  return ir;
}

}  // namespace torch_ir

#include "harness/results/run_words.h"

#include <fmt/format.h>

#include <map>

#include "torch_ir/executor/graph/execution_options.h"

namespace torch_ir {

std::string tolerance_rule_text(const RunSettings& settings) {
  const Tolerance& fixed = settings.tolerance.fixed;
  const std::string text = settings.tolerance.by_dtype
                               ? "by dtype"
                               : fmt::format("rtol {}, atol {}", fixed.rtol, fixed.atol);
  return text + (settings.tolerance_wins ? "" : ", or as registered");
}

std::vector<std::pair<std::string, std::string>> settings_in_words(const RunSettings& settings) {
  return {
      {"seed", std::to_string(settings.seed)},
      {"tolerance", tolerance_rule_text(settings)},
      {"trials", std::to_string(settings.trials)},
      {"threads", std::to_string(settings.threads)},
      {"optimization", optimization_name(settings.optimization)},
      {"device", settings.device.str()},
      {"backend", settings.backend},
      {"executor", settings.executor},
      {"last stage", std::string(stage_name(settings.last_stage))},
  };
}

std::string environment_name(const std::string& key) {
  static const std::map<std::string, std::string> names = {
      {"libtorch", "LibTorch"}, {"cpu_capability", "CPU instructions"},
      {"blas", "BLAS"},         {"lapack", "LAPACK"},
      {"mkl", "MKL"},           {"onednn", "oneDNN"},
      {"openmp", "OpenMP"},     {"compiler", "compiler"}};
  const auto known = names.find(key);
  return known == names.end() ? key : known->second;
}

}  // namespace torch_ir

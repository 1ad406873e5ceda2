#include "torch_ir/exporter/pt2/archive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

constexpr const char* kAdvice = "write a .pt2 archive with torch.export.save";
constexpr const char* kArchiveVersion = "0";
constexpr const char* kOldestLayoutMajor = "8";
constexpr std::string_view kModelsFolder = "models/";
constexpr std::string_view kModelSuffix = ".json";
constexpr const char* kDefaultModel = "model";

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw ExportError(fmt::format("{}: {}", path, what));
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw ExportError(kNotSupported, fmt::format("{}: {}", path, what));
}

bool has_entry(const ZipArchive& zip, std::string_view suffix) {
  return std::ranges::any_of(zip.entries(),
                             [&](const std::string& entry) { return entry.ends_with(suffix); });
}

bool has_folder(const ZipArchive& zip, std::string_view folder) {
  return std::ranges::any_of(zip.entries(), [&](const std::string& entry) {
    return entry.find(folder) != std::string::npos;
  });
}

std::string read_text(const ZipArchive& zip, const std::string& entry) {
  constexpr size_t kLongest = 64;
  std::string text(zip.read(entry).text().substr(0, kLongest));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// The first of `names` that is an entry.
std::optional<std::string> find_entry(const ZipArchive& zip,
                                      std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (zip.has(name)) return name;
  }
  return std::nullopt;
}

std::string get_entry(const ZipArchive& zip, const std::string& path,
                      std::initializer_list<const char*> names) {
  if (auto entry = find_entry(zip, names)) return std::move(*entry);
  fail(path, fmt::format("the entry '{}' is missing", *names.begin()));
}

// "8.7", of which the first number breaks.
void check_oldest_version(const ZipArchive& zip, const std::string& path) {
  const std::string version = read_text(zip, get_entry(zip, path, {"version"}));
  if (version.substr(0, version.find('.')) == kOldestLayoutMajor) return;
  refuse(path, fmt::format("the entry 'version' is '{}', and version {}.x is read here",
                           printable(version), kOldestLayoutMajor));
}

Pt2Archive open_oldest_layout(const ZipArchive& zip, const std::string& path) {
  check_oldest_version(zip, path);
  Pt2Archive archive{zip, "serialized_exported_program.json", {}, {}, {}};
  archive.weights.pickle =
      get_entry(zip, path, {"serialized_state_dict.pt", "serialized_state_dict.json"});
  archive.constants.pickle =
      get_entry(zip, path, {"serialized_constants.pt", "serialized_constants.json"});
  archive.example_inputs = find_entry(zip, {"serialized_example_inputs.pt"});
  return archive;
}

// "ROOT/" for the entry "ROOT/archive_format"; or of the models, where that entry is missing.
// Refuses another one, as torch.export.load does.
std::optional<std::string> find_root(const ZipArchive& zip, const std::string& path) {
  std::optional<std::string> found;
  for (const std::string& entry : zip.entries()) {
    const size_t root = entry.find('/') + 1;
    const std::string_view rest = std::string_view(entry).substr(root);
    const bool is_model = rest.starts_with(kModelsFolder) && rest.ends_with(kModelSuffix);
    if (root == 0 || (rest != "archive_format" && !is_model)) continue;
    const std::string folder = entry.substr(0, root);
    if (found && *found != folder) {
      fail(path, fmt::format("has two root folders, '{}' and '{}'", printable(*found),
                             printable(folder)));
    }
    found = folder;
  }
  return found;
}

std::vector<std::string> find_models(const ZipArchive& zip, const std::string& root) {
  const std::string folder = root + std::string(kModelsFolder);
  std::vector<std::string> models;
  for (const std::string& entry : zip.entries()) {
    if (!entry.starts_with(folder) || !entry.ends_with(kModelSuffix)) continue;
    models.push_back(
        entry.substr(folder.size(), entry.size() - folder.size() - kModelSuffix.size()));
  }
  return models;
}

std::string choose_model(const std::vector<std::string>& models, const std::string& path) {
  if (models.size() == 1) return models[0];
  if (std::ranges::find(models, kDefaultModel) != models.end()) return kDefaultModel;
  std::vector<std::string> shown;
  for (const std::string& model : models) shown.push_back("'" + printable(model) + "'");
  refuse(path, fmt::format("has {} models, {}, and none is called '{}'; save the one that is meant "
                           "with torch.export.save",
                           models.size(), fmt::join(shown, ", "), kDefaultModel));
}

void check_entry(const ZipArchive& zip, const std::string& path, const std::string& entry,
                 const char* expected) {
  if (!zip.has(entry)) return;
  const std::string found = read_text(zip, entry);
  if (found == expected) return;
  refuse(path, fmt::format("the entry '{}' is '{}', and '{}' is read here", printable(entry),
                           printable(found), expected));
}

PayloadEntries find_payload(const ZipArchive& zip, const std::string& path,
                            const std::string& folder, const std::string& model, const char* kind) {
  PayloadEntries payload;
  payload.folder = folder;
  const std::string pickle = folder + model + ".pt";
  const std::string config = fmt::format("{}{}_{}_config.json", folder, model, kind);
  if (zip.has(pickle)) {
    payload.pickle = pickle;
  } else if (zip.has(config)) {
    payload.config = config;
  } else {
    fail(path, fmt::format("the entry '{}' is missing", printable(config)));
  }
  return payload;
}

Pt2Archive open_model(const ZipArchive& zip, const std::string& path, const std::string& root,
                      const std::string& model) {
  check_entry(zip, path, root + "archive_format", "pt2");
  check_entry(zip, path, root + "archive_version", kArchiveVersion);
  check_entry(zip, path, root + "byteorder", "little");
  Pt2Archive archive{
      zip, root + std::string(kModelsFolder) + model + std::string(kModelSuffix), {}, {}, {}};
  archive.weights = find_payload(zip, path, root + "data/weights/", model, "weights");
  archive.constants = find_payload(zip, path, root + "data/constants/", model, "constants");
  const std::string example_inputs = fmt::format("{}data/sample_inputs/{}.pt", root, model);
  if (zip.has(example_inputs)) archive.example_inputs = example_inputs;
  return archive;
}

[[noreturn]] void refuse_other_archive(const ZipArchive& zip, const std::string& path) {
  if (has_folder(zip, "data/aotinductor/")) {
    refuse(path,
           fmt::format("is a package of AOTInductor, compiled code without a graph; {}", kAdvice));
  }
  if (has_entry(zip, "/constants.pkl") || has_folder(zip, "/code/")) {
    refuse(path, fmt::format("is a TorchScript archive; {}", kAdvice));
  }
  if (has_entry(zip, "/data.pkl")) {
    refuse(path,
           fmt::format("is a file of torch.save, which holds weights but no graph; {}", kAdvice));
  }
  fail(path,
       fmt::format("is a zip archive without an exported program: no entry models/NAME.json; {}",
                   kAdvice));
}

}  // namespace

Pt2Archive open_pt2_archive(const std::string& path) {
  const ByteRange bytes = map_file(path);
  if (!looks_like_zip(bytes.text())) {
    fail(path,
         fmt::format("is no .pt2 archive: it does not begin as zip archives do; {}", kAdvice));
  }
  const ZipArchive zip = ZipArchive::open(bytes, path);
  if (zip.has("serialized_exported_program.json")) return open_oldest_layout(zip, path);
  const auto root = find_root(zip, path);
  if (!root) refuse_other_archive(zip, path);
  const std::vector<std::string> models = find_models(zip, *root);
  if (models.empty()) refuse_other_archive(zip, path);
  return open_model(zip, path, *root, choose_model(models, path));
}

}  // namespace torch_ir

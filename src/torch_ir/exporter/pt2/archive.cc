#include "torch_ir/exporter/pt2/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/foreign_file.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

constexpr const char* kAdvice = "write a .pt2 archive with torch.export.save";
constexpr const char* kDefaultModel = "model";
constexpr const char* kOldestProgram = "serialized_exported_program.json";
constexpr const char* kRecordedWeights = "_state_dict";
constexpr std::string_view kModelsFolder = "models/";
constexpr std::string_view kModelSuffix = ".json";

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw ExportError(fmt::format("{}: {}", path, what));
}

class Opener {
 public:
  Opener(const std::string& path, const std::string& name, const ByteRange& bytes)
      : path_(path), name_(name), zip_(ZipArchive::open(bytes, path)) {}

  Pt2Archive open() const {
    if (zip_.has(kOldestProgram)) {
      if (!name_.empty()) choose_model({kDefaultModel});
      return open_oldest_layout();
    }
    std::vector<std::string> recorded = zip_.entries();
    std::erase_if(recorded, [&](const auto& entry) { return !zip_.has(entry + kRecordedWeights); });
    if (!recorded.empty()) return open_recorded(choose_model(recorded));
    const auto root = find_root();
    const std::vector<std::string> models = root ? find_models(*root) : std::vector<std::string>();
    if (models.empty()) refuse_other_archive();
    return open_model(*root, choose_model(models));
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw ExportError(kNotSupported, fmt::format("{}: {}", path_, what));
  }

  std::optional<std::string> find_entry(std::initializer_list<std::string> names) const {
    for (const std::string& name : names) {
      if (zip_.has(name)) return name;
    }
    return std::nullopt;
  }

  std::string get_entry(std::initializer_list<std::string> names) const {
    if (auto entry = find_entry(names)) return std::move(*entry);
    fail(path_, fmt::format("missing entry '{}'", printable(*names.begin())));
  }

  std::string read_text(const std::string& entry) const {
    constexpr size_t kLongest = 64;
    std::string text(zip_.read(entry).text().substr(0, kLongest));
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
  }

  void check_entry(const std::string& entry, const char* expected) const {
    if (!zip_.has(entry)) return;
    const std::string found = read_text(entry);
    if (found == expected) return;
    refuse(fmt::format("unsupported entry '{}': expected '{}', found '{}'", printable(entry),
                       expected, printable(found)));
  }

  Pt2Archive open_oldest_layout() const {
    // "8.7"; a new first number means a breaking change.
    const std::string version = read_text(get_entry({"version"}));
    if (version.substr(0, version.find('.')) != "8") {
      refuse(
          fmt::format("unsupported entry 'version': expected 8.x, found '{}'", printable(version)));
    }
    Pt2Archive archive{zip_, kOldestProgram, {}, {}, {}};
    archive.weights.pickle = get_entry({"serialized_state_dict.pt", "serialized_state_dict.json"});
    archive.constants.pickle = get_entry({"serialized_constants.pt", "serialized_constants.json"});
    archive.example_inputs = find_entry({"serialized_example_inputs.pt"});
    return archive;
  }

  Pt2Archive open_recorded(const std::string& program) const {
    return {zip_,
            program,
            {.pickle = program + kRecordedWeights},
            {.pickle = get_entry({program + "_constants"})},
            find_entry({program + "_example_inputs"})};
  }

  // "ROOT/" from the entry "ROOT/archive_format", or without it from the models. Rejects a second
  // root, as torch.export.load does.
  std::optional<std::string> find_root() const {
    std::optional<std::string> found;
    for (const std::string& entry : zip_.entries()) {
      const size_t root = entry.find('/') + 1;
      const std::string_view rest = std::string_view(entry).substr(root);
      const bool is_model = rest.starts_with(kModelsFolder) && rest.ends_with(kModelSuffix);
      if (root == 0 || (rest != "archive_format" && !is_model)) continue;
      const std::string folder = entry.substr(0, root);
      if (found && *found != folder) {
        fail(path_, fmt::format("has two root folders, '{}' and '{}'", printable(*found),
                                printable(folder)));
      }
      found = folder;
    }
    return found;
  }

  std::vector<std::string> find_models(const std::string& root) const {
    const std::string folder = root + std::string(kModelsFolder);
    std::vector<std::string> models;
    for (const std::string& entry : zip_.entries()) {
      if (!entry.starts_with(folder) || !entry.ends_with(kModelSuffix)) continue;
      models.push_back(
          entry.substr(folder.size(), entry.size() - folder.size() - kModelSuffix.size()));
    }
    return models;
  }

  std::string choose_model(const std::vector<std::string>& models) const {
    if (models.size() == 1 && name_.empty()) return models[0];
    const std::string wanted = name_.empty() ? kDefaultModel : name_;
    if (std::ranges::find(models, wanted) != models.end()) return wanted;
    const std::string names = quoted_list(models);
    if (name_.empty()) {
      refuse(fmt::format("has {} programs ({}); choose one with --program", models.size(), names));
    }
    throw NoSuchProgram(
        fmt::format("{}: has no program '{}'; it has {}", path_, printable(name_), names));
  }

  PayloadEntries find_payload(const std::string& root, const std::string& model,
                              const char* kind) const {
    PayloadEntries payload;
    payload.folder = fmt::format("{}data/{}/", root, kind);
    const std::string pickle = payload.folder + model + ".pt";
    if (zip_.has(pickle)) {
      payload.pickle = pickle;
    } else {
      payload.config = get_entry({fmt::format("{}{}_{}_config.json", payload.folder, model, kind)});
    }
    return payload;
  }

  Pt2Archive open_model(const std::string& root, const std::string& model) const {
    check_entry(root + "archive_format", "pt2");
    check_entry(root + "archive_version", "0");
    check_entry(root + "byteorder", "little");
    return {zip_, root + std::string(kModelsFolder) + model + std::string(kModelSuffix),
            find_payload(root, model, "weights"), find_payload(root, model, "constants"),
            find_entry({fmt::format("{}data/sample_inputs/{}.pt", root, model)})};
  }

  [[noreturn]] void refuse_other_archive() const {
    const std::string what = describe_foreign_archive(zip_.entries(), kAdvice);
    if (!what.empty()) refuse(what);
    fail(path_,
         fmt::format(
             "is a zip archive without an exported program: missing entry models/NAME.json; {}",
             kAdvice));
  }

  const std::string& path_;
  const std::string& name_;
  const ZipArchive zip_;
};

}  // namespace

Pt2Archive open_pt2_archive(const std::string& path, const std::string& name) {
  const ByteRange bytes = map_file(path);
  if (!looks_like_zip(bytes.text())) {
    const std::string what = describe_foreign_file(bytes.text(), kAdvice);
    if (!what.empty()) throw ExportError(kNotSupported, fmt::format("{}: {}", path, what));
    fail(path, fmt::format("not a .pt2 archive (not a zip file); {}", kAdvice));
  }
  return Opener(path, name, bytes).open();
}

}  // namespace torch_ir

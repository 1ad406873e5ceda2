#include "models/operators/case_table.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "models/operators/call_text.h"
#include "torch_ir/base/characters.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCommonTable = "common.cases";
constexpr std::string_view kExtension = ".cases";
// The default of an operator's rows after the first.
constexpr std::string_view kMainDtypes = "main";

// LibTorch 2.6 lacks this dtype, and has no cases of it.
constexpr std::string_view kNewDtype = "float8_e8m0fnu";

// A bit for each dtype.
using Dtypes = uint64_t;

constexpr Dtypes bit_of(c10::ScalarType dtype) { return Dtypes{1} << static_cast<int>(dtype); }

struct TableFile {
  std::string path;
  std::string text;
};

// Rows and blocks refer to the text of their file.
struct Row {
  std::string_view variant;
  std::string_view arguments;
  std::string_view note = {};
  Dtypes dtypes = 0;
};

struct Block {
  std::string category;
  std::vector<std::string_view> operators = {};
  Dtypes dtypes = 0;
  CallContext context = {};
  CaseProperty property = CaseProperty::kValues;
  // In units of epsilon; 0 for the usual tolerance.
  double tolerance = 0;
  std::string_view tolerance_reason = {};
  std::vector<Row> rows = {};
};

// Everything that was read, kept alive by the cases. Nothing in it moves.
struct Tables {
  std::deque<TableFile> files;
  std::deque<Block> blocks;

  // Prefixes `what` with the file, line and column of `place`.
  std::string message(std::string_view place, const std::string& what) const {
    for (const TableFile& file : files) {
      const char* const begin = file.text.data();
      if (place.data() < begin || place.data() > begin + file.text.size()) continue;
      const std::string_view before(begin, static_cast<size_t>(place.data() - begin));
      return fmt::format("{}:{}:{}: {}", file.path, std::ranges::count(before, '\n') + 1,
                         before.size() - (before.rfind('\n') + 1) + 1, what);
    }
    return what;
  }
};

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// Removes and returns the part before `end`, or everything if there is no `end`.
std::string_view take_until(std::string_view& text, char end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts = {trimmed(take_until(text, separator))};
  while (!text.empty()) parts.push_back(trimmed(take_until(text, separator)));
  return parts;
}

// Definitions that files share: the common file comes first, each other file adds to a copy.
struct Scope {
  std::map<std::string_view, Dtypes> dtypes;
  std::map<std::string_view, std::vector<Row>> rows;
};

template <class Value>
void define(std::map<std::string_view, Value>& all, std::string_view name, Value value) {
  if (!all.emplace(name, std::move(value)).second) {
    throw TextError(name, fmt::format("duplicate definition '{}'", name));
  }
}

class TableReader {
 public:
  TableReader(Tables& tables, Scope& scope, std::string category)
      : tables_(tables), scope_(scope), category_(std::move(category)) {}

  void read(std::string_view text) {
    while (!text.empty()) {
      const std::string_view line = take_until(text, '\n');
      const std::string_view content = trimmed(line);
      if (content.empty() || content.front() == '#') continue;
      if (content.data() == line.data()) {
        begin_block(content);
      } else if (rows_ == nullptr) {
        throw TextError(content, "a row needs an operator above it");
      } else if (content.find('|') != std::string_view::npos) {
        rows_->push_back(read_row(content));
      } else {
        read_setting(content);
      }
    }
  }

 private:
  void begin_block(std::string_view line) {
    std::string_view rest = line;
    const std::string_view head = take_until(rest, ':');
    const std::vector<std::string_view> names = split(head, ',');
    if (head.size() == line.size() || std::ranges::count(names, std::string_view()) > 0) {
      throw TextError(line, "expected an operator, a colon and its dtypes");
    }
    block_ = nullptr;
    rows_ = nullptr;
    if (head.starts_with("dtypes ")) {
      define(scope_.dtypes, trimmed(head.substr(7)), read_dtypes(trimmed(rest)));
    } else if (head.starts_with("rows ")) {
      const std::string_view name = trimmed(head.substr(5));
      define(scope_.rows, name, {});
      rows_ = &scope_.rows[name];
    } else {
      block_ = &tables_.blocks.emplace_back(Block{.category = category_});
      block_->operators = names;
      block_->dtypes = read_dtypes(trimmed(rest));
      rows_ = &block_->rows;
    }
  }

  Dtypes read_dtypes(std::string_view text) const {
    Dtypes dtypes = 0;
    for (const std::string_view name : split(text, ' ')) {
      const auto set = scope_.dtypes.find(name);
      if (set != scope_.dtypes.end()) {
        dtypes |= set->second;
      } else if (const auto dtype = find_dtype(name)) {
        dtypes |= bit_of(*dtype);
      } else if (name != kNewDtype && (!name.empty() || text.empty())) {
        throw TextError(name, fmt::format("unknown dtype '{}'", name));
      }
    }
    return dtypes;
  }

  Row read_row(std::string_view line) const {
    const std::vector<std::string_view> fields = split(line, '|');
    Row row{.variant = fields[0],
            .arguments = fields.size() > 1 ? fields[1] : fields[0].substr(0, 0)};
    if (row.variant.empty() || !std::ranges::all_of(row.variant, is_name_part)) {
      throw TextError(
          row.variant,
          fmt::format("'{}' is not a valid variant: use letters, digits and '_'", row.variant));
    }
    check_arguments(row.arguments);
    if (fields.size() > 2) row.note = fields[2];
    if (fields.size() > 3) row.dtypes = read_dtypes(fields[3]);
    if (fields.size() > 4) throw TextError(fields[4], "a row has at most four columns");
    return row;
  }

  void read_setting(std::string_view line) {
    std::string_view value = line;
    const std::string_view name = take_until(value, ' ');
    value = trimmed(value);
    if (name == "use") {
      const auto shared = scope_.rows.find(value);
      if (shared == scope_.rows.end()) {
        throw TextError(value, fmt::format("unknown rows '{}'", value));
      }
      // A copy, as rows may name themselves.
      const std::vector<Row> rows = shared->second;
      rows_->insert(rows_->end(), rows.begin(), rows.end());
      return;
    }
    using Setter = void (*)(Block&, std::string_view);
    static const std::map<std::string_view, Setter> setters = {
        {"domain", [](Block& it, std::string_view text) { it.context.domain = read_range(text); }},
        {"other_domain",
         [](Block& it, std::string_view text) { it.context.other_domain = read_range(text); }},
        {"property", [](Block& it, std::string_view text) { it.property = read_property(text); }},
        {"tolerance", &read_tolerance},
    };
    const auto setter = setters.find(name);
    if (setter == setters.end()) {
      throw TextError(name, fmt::format("expected a row (VARIANT | ARGUMENTS), 'use', 'domain', "
                                        "'other_domain', 'property' or 'tolerance', not '{}'",
                                        name));
    }
    if (block_ == nullptr) throw TextError(name, "only operators can have a " + std::string(name));
    setter->second(*block_, value);
  }

  static CaseProperty read_property(std::string_view text) {
    try {
      return parse_property(text);
    } catch (const Error& error) {
      throw TextError(text, error.what());
    }
  }

  // "4 eps: sums are rounded".
  static void read_tolerance(Block& block, std::string_view text) {
    std::string_view reason = text;
    std::string_view number = take_until(reason, ':');
    const char* const end = number.data() + number.size();
    const auto [unit, error] = std::from_chars(number.data(), end, block.tolerance);
    block.tolerance_reason = trimmed(reason);
    if (std::string_view(unit, end) != " eps" || !(block.tolerance > 0) ||
        block.tolerance_reason.empty()) {
      throw TextError(text, "expected 'N eps: REASON'");
    }
  }

  Tables& tables_;
  Scope& scope_;
  const std::string category_;
  Block* block_ = nullptr;
  std::vector<Row>* rows_ = nullptr;
};

// The machine epsilon of dtypes with a tolerance in the tables.
std::optional<double> epsilon_of(c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Half) return std::numeric_limits<c10::Half>::epsilon();
  if (dtype == c10::ScalarType::BFloat16) return std::numeric_limits<c10::BFloat16>::epsilon();
  return std::nullopt;
}

// "aten.conv2d.default" for "conv2d", "aten.add.Tensor" for "add.Tensor"; whole names as they are.
std::string op_type_of(std::string_view op) {
  const auto num_dots = std::ranges::count(op, '.');
  if (num_dots > 1) return std::string(op);
  return fmt::format("aten.{}{}", op, num_dots == 1 ? "" : ".default");
}

class CaseMaker {
 public:
  CaseMaker(std::shared_ptr<const Tables> tables, Dtypes main)
      : tables_(std::move(tables)), main_(main) {}

  std::vector<OperatorCase> make() {
    for (const Block& block : tables_->blocks) {
      for (const std::string_view op : block.operators) {
        for (const Row& row : block.rows) make(block, op, row);
      }
    }
    return std::move(cases_);
  }

 private:
  void make(const Block& block, std::string_view op, const Row& row) {
    const Dtypes others = &row == block.rows.data() ? block.dtypes : block.dtypes & main_;
    const Dtypes dtypes = row.dtypes != 0 ? block.dtypes & row.dtypes : others;
    Dtypes& taken = taken_[{op, row.variant}];
    for (int i = 0; i < static_cast<int>(c10::ScalarType::NumOptions); ++i) {
      const auto dtype = static_cast<c10::ScalarType>(i);
      if ((dtypes & bit_of(dtype)) == 0) continue;
      make(block, op, row, dtype);
      if ((taken & bit_of(dtype)) != 0) {
        throw TextError(row.variant, "duplicate case '" + cases_.back().name() + "'");
      }
    }
    taken |= dtypes;
  }

  void make(const Block& block, std::string_view op, const Row& row, c10::ScalarType dtype) {
    OperatorCase& it = cases_.emplace_back();
    it.op_type = op_type_of(op);
    it.dtype = dtype;
    it.variant = row.variant;
    it.category = block.category;
    it.note = row.note;
    it.property = block.property;
    if (const auto epsilon = epsilon_of(dtype); epsilon && block.tolerance > 0) {
      it.tolerance = {.rtol = default_tolerance(dtype).rtol, .atol = block.tolerance * *epsilon};
      it.tolerance_reason = block.tolerance_reason;
    }
    it.arguments = [tables = tables_, &block, op, &row, dtype] {
      const std::string op_type = op_type_of(op);
      const std::string name = OperatorCase{op_type, dtype, std::string(row.variant)}.name();
      CallContext context = block.context;
      context.dtype = dtype;
      try {
        const c10::FunctionSchema* schema = find_schema(op_type);
        if (schema == nullptr) throw TextError(row.variant, "unknown operator");
        return read_arguments(row.arguments, *schema, context, name);
      } catch (const TextError& error) {
        throw Error(tables->message(error.place(), "case '" + name + "': " + error.what()));
      }
    };
  }

  std::shared_ptr<const Tables> tables_;
  Dtypes main_;
  std::map<std::pair<std::string_view, std::string_view>, Dtypes> taken_;
  std::vector<OperatorCase> cases_;
};

const bool registered_cases =
    register_operator_cases([] { return read_case_tables(find_case_tables()); });

}  // namespace

std::string find_case_tables() {
  constexpr const char* kAmongRunfiles = "torch_ir/models/operators";
  const fs::path program = fs::read_symlink("/proc/self/exe");
  std::vector<fs::path> places = {program.parent_path() / "../share/torch_ir/operators"};
  for (const char* variable : {"RUNFILES_DIR", "TEST_SRCDIR"}) {
    const char* directory = std::getenv(variable);
    if (directory != nullptr) places.push_back(fs::path(directory) / kAmongRunfiles);
  }
  places.push_back(program.string() + ".runfiles/" + kAmongRunfiles);
  std::string looked;
  for (const fs::path& place : places) {
    const std::string path = place.lexically_normal().string();
    std::error_code error;
    if (fs::exists(place / kCommonTable, error)) return path;
    looked += (looked.empty() ? "" : ", ") + path;
  }
  throw Error("cannot find the tables of operator cases (" + std::string(kCommonTable) +
              "); looked in " + looked);
}

std::vector<OperatorCase> read_case_tables(const std::string& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == kExtension) names.insert(entry.path().filename().string());
  }
  names.erase(std::string(kCommonTable));
  const auto tables = std::make_shared<Tables>();
  const auto read = [&](const std::string& name, Scope& scope) {
    const std::string path = folder + "/" + name;
    const TableFile& file = tables->files.emplace_back(TableFile{path, read_file(path)});
    TableReader(*tables, scope, fs::path(name).stem().string()).read(file.text);
  };
  Scope common;
  try {
    read(std::string(kCommonTable), common);
    for (const std::string& name : names) {
      Scope scope = common;
      read(name, scope);
    }
    const auto main = common.dtypes.find(kMainDtypes);
    if (main == common.dtypes.end()) {
      throw Error(folder + "/" + std::string(kCommonTable) + ": missing dtypes 'main'");
    }
    return CaseMaker(tables, main->second).make();
  } catch (const TextError& error) {
    throw Error(tables->message(error.place(), error.what()));
  }
}

}  // namespace torch_ir

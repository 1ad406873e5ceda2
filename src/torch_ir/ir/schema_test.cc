// Validates every IR file of the repository against the JSON Schema, with a third-party validator.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "torch_ir/base/file.h"
#include "torch_ir/ir/json_value.h"

namespace torch_ir {
namespace {

using nlohmann::json;

class SchemaTest : public ::testing::Test {
 protected:
  SchemaTest() {
    const json document = json(parse_json(read_file("src/torch_ir/ir/ir.schema.json")));
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(document),
                                            schema_);
  }

  // The problems that the schema finds in `document`; empty if it is valid.
  std::string problem(const json& document) {
    valijson::ValidationResults results;
    valijson::Validator validator;
    if (validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(document), &results)) {
      return {};
    }
    std::string text;
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
      for (const std::string& part : error.context) text += part;
      text += ": " + error.description + "; ";
    }
    return text;
  }

  valijson::Schema schema_;
};

std::vector<std::string> ir_files() {
  std::vector<std::string> paths;
  for (const char* folder : {"src/torch_ir/ir/testdata", "reports/reference/ir"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

TEST_F(SchemaTest, AcceptsEveryIrFile) {
  const std::vector<std::string> paths = ir_files();
  ASSERT_GE(paths.size(), 18u);
  for (const std::string& path : paths) {
    EXPECT_EQ(problem(json(parse_json(read_file(path)))), "") << path;
  }
}

TEST_F(SchemaTest, RefusesWhatTheReaderRefuses) {
  const json valid = json(parse_json(read_file("src/torch_ir/ir/testdata/version_2.json")));
  ASSERT_EQ(problem(valid), "");
  const auto refuses = [&](const char* pointer, const json& value) {
    json changed = valid;
    changed[json::json_pointer(pointer)] = value;
    EXPECT_NE(problem(changed), "") << pointer << " " << value;
  };
  refuses("/format_version", 3);
  refuses("/unknown", 1);
  refuses("/nodes", json::object());
  refuses("/nodes/0/op_type", 1);
  refuses("/nodes/0/graphs", 1);
  refuses("/graph_inputs/0/shape/0", -1);
  refuses("/graph_inputs/0/shape/0", "");
  refuses("/graph_inputs/0/dtype", "float31");
  refuses("/graph_outputs/0/scalar", "yes");
  refuses("/range_constraints/s0", json::array({1}));
  refuses("/guards", json::array({1}));
  refuses("/constant_outputs/0", json::object());
  refuses("/nodes/0/attrs/dim", json::object({{"name", "x"}}));
  json without = valid;
  without.erase("weights");
  EXPECT_NE(problem(without), "");
}

}  // namespace
}  // namespace torch_ir

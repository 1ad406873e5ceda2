#include "models/operators/case_table.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

constexpr const char* kCommon =
    "# Comments and empty lines are skipped.\n"
    "\n"
    "dtypes main: float32 bool\n"
    "dtypes floats: float32 float16\n"
    "rows shared:\n"
    "  usual | x[2]:domain, 2\n"
    "  other | x[3], 2     | another one | floats int64\n";

// A folder with the tables `common` and `text`, whose category is "mine".
std::string make_folder(const std::string& text, const std::string& common = kCommon) {
  const std::string folder = ::testing::TempDir() + "/case_table_test";
  std::filesystem::create_directories(folder);
  write_file(folder + "/common.cases", common);
  write_file(folder + "/mine.cases", text);
  write_file(folder + "/notes.txt", "Not a table.");
  return folder;
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (const OperatorCase& it : read_case_tables(make_folder(text))) names.push_back(it.name());
  return names;
}

TEST(CaseTableTest, MakesACaseOfEachRowAndDtype) {
  EXPECT_THAT(names_in("add.Scalar, mul.Scalar: floats int64 bool\n\tuse shared\r\n"),
              UnorderedElementsAre("aten.add.Scalar/float32/usual", "aten.add.Scalar/float16/usual",
                                   "aten.add.Scalar/int64/usual", "aten.add.Scalar/bool/usual",
                                   "aten.add.Scalar/float32/other", "aten.add.Scalar/float16/other",
                                   "aten.add.Scalar/int64/other", "aten.mul.Scalar/float32/usual",
                                   "aten.mul.Scalar/float16/usual", "aten.mul.Scalar/int64/usual",
                                   "aten.mul.Scalar/bool/usual", "aten.mul.Scalar/float32/other",
                                   "aten.mul.Scalar/float16/other", "aten.mul.Scalar/int64/other"));
  EXPECT_THAT(names_in("rows own:\n  first | x[2]\n"
                       "abs: float32 int64\n  use own\n  second | x[]"),
              UnorderedElementsAre("aten.abs.default/float32/first", "aten.abs.default/int64/first",
                                   "aten.abs.default/float32/second"));
}

TEST(CaseTableTest, TakesWholeNamesOfOperatorsAndFindsTheTablesOfThisProgram) {
  EXPECT_THAT(names_in("torchao.quantize_affine.default, aten.add.Tensor, neg: bool\n  own | x[2]"),
              UnorderedElementsAre("torchao.quantize_affine.default/bool/own",
                                   "aten.add.Tensor/bool/own", "aten.neg.default/bool/own"));
  EXPECT_TRUE(std::filesystem::exists(find_case_tables() + "/pointwise.cases"));
}

TEST(CaseTableTest, MakesEachValueOfAFloat8Dtype) {
  const std::vector<OperatorCase> cases =
      read_case_tables(make_folder("abs: float8_e4m3fn float8_e5m2\n  own | x[2,256]:special"));
  ASSERT_EQ(cases.size(), 2u);
  for (const OperatorCase& it : cases) {
    const at::Tensor values = it.arguments().front().toTensor();
    EXPECT_EQ(values.scalar_type(), it.dtype);
    const at::Tensor bytes = at::arange(256, at::kByte).expand({2, 256});
    EXPECT_TRUE(values.view(at::kByte).equal(bytes)) << it.name();
  }
}

TEST(CaseTableTest, TakesWhatTheBlockSays) {
  const std::vector<OperatorCase> cases =
      read_case_tables(make_folder("mul.Scalar: float16 float32\n"
                                   "  domain 3..4\n"
                                   "  property finite\n"
                                   "  tolerance 4 eps: products: rounded\n"
                                   "  use shared\n"));
  ASSERT_EQ(cases.size(), 4u);
  for (const OperatorCase& it : cases) {
    EXPECT_EQ(it.category, "mine");
    EXPECT_EQ(it.property, CaseProperty::kFinite);
    EXPECT_EQ(it.note, it.variant == "other" ? "another one" : "");
    EXPECT_EQ(it.tolerance.has_value(), it.dtype == at::kHalf);
    if (!it.tolerance) continue;
    EXPECT_EQ(it.tolerance->atol, 4.0 / 1024);
    EXPECT_EQ(it.tolerance_reason, "products: rounded");
  }
  const std::vector<c10::IValue> arguments = cases.front().arguments();
  ASSERT_EQ(arguments.size(), 2u);
  EXPECT_GE(arguments[0].toTensor().min().item<double>(), 3);
  EXPECT_EQ(arguments[1].toInt(), 2);
}

TEST(CaseTableTest, SaysWhereATableIsBroken) {
  const struct {
    std::string text;
    std::string problem;
  } kBroken[] = {
      {"abs\n", "1:1: expected an operator, a colon and its dtypes"},
      {"abs,, neg: bool\n", "1:1: expected an operator"},
      {"rows own:\n  usual | x[2]\n  use own\nabs: bool\n  use own\n",
       "2:3: duplicate case 'aten.abs.default/bool/usual'"},
      {"abs: float32 float31\n", "1:14: unknown dtype 'float31'"},
      {"abs:\n", "1:5: unknown dtype ''"},
      {"  usual | x[2]\n", "1:3: a row needs an operator above it"},
      {"dtypes halves: float16\n  usual | x[2]\n", "2:3: a row needs an operator above it"},
      {"abs: bool\n\n  dommain 1..2\n", "3:3: expected a row (VARIANT | ARGUMENTS)"},
      {"abs: bool\n  domain 1-2\n", "2:10: '1-2' is not a range: expected LOW..HIGH"},
      {"abs: bool\n  domain 2..1\n", "2:10: '2..1' is not a range"},
      {"rows own:\n  domain 1..2\n", "2:3: only operators can have a domain"},
      {"rows shared:\n", "1:6: duplicate definition 'shared'"},
      {"abs: bool\n  property odd\n", "2:12: unknown case property 'odd'"},
      {"abs: bool\n  tolerance 2 eps\n", "2:13: expected 'N eps: REASON'"},
      {"abs: bool\n  use own\n", "2:7: unknown rows 'own'"},
      {"abs: bool\n  a-b | x[2]\n", "2:3: 'a-b' is not a valid variant: use letters"},
      {"abs: bool\n  usual | x[2] | | bool | 3\n", "2:27: a row has at most four columns"},
      {"abs: bool\n  usual | x[2] | | boole\n", "2:20: unknown dtype 'boole'"},
      {"abs: bool\n  usual | x[2], , 3\n", "2:17: expected a value"},
      {"abs: bool\n  usual | x[2\n", "2:14: expected ']'"},
      {"abs: bool\n  usual | x[a]\n", "2:13: 'a' is not a number"},
      {"abs: bool\n  usual | x[2]{0,b}\n", "2:18: 'b' is not a number"},
      {"abs: bool\n  usual | y[2]\n", "2:11: unknown dtype 'y'"},
      {"abs: bool\n  usual | x[2]:strode\n", "2:16: unknown tensor word 'strode'"},
      {"abs: bool\n  usual | x[2]:3..\n", "2:16: '3..' is not a range"},
      {"abs: bool\n  usual | 'one\n", "2:15: expected '''"},
      {"abs: bool\n  usual | x[2]\n  usual | x[3]\n",
       "3:3: duplicate case 'aten.abs.default/bool/usual'"},
  };
  for (const auto& [text, problem] : kBroken) {
    const std::string folder = make_folder(text);
    EXPECT_THAT([&] { read_case_tables(folder); },
                ThrowsMessage<Error>(HasSubstr(folder + "/mine.cases:" + problem)))
        << text;
  }
  EXPECT_THAT([] { read_case_tables(make_folder("", "dtypes floats: float32\n")); },
              ThrowsMessage<Error>(HasSubstr("common.cases: missing dtypes 'main'")));
}

TEST(CaseTableTest, SaysWhichRowDoesNotFitItsOperator) {
  const struct {
    std::string text;
    std::string problem;
  } kUnfit[] = {
      {"no_such: bool\n  usual | x[2]\n",
       "2:3: case 'aten.no_such.default/bool/usual': unknown operator"},
      {"abs: bool\n  usual | \n",
       "2:3: case 'aten.abs.default/bool/usual': missing value for 'self'"},
      {"abs: bool\n  usual | x[2], 3\n",
       "2:11: case 'aten.abs.default/bool/usual': the operator does not take 1 of the values"},
      {"abs: bool\n  usual | other=x[2]\n", ": missing value for 'self'"},
      {"cat: bool\n  usual | [x[2]], [x[2]]\n", "2:20: "},
      {"abs: float32\n  usual | x[2]:channels_last\n", "2:11: "},
  };
  for (const auto& [text, problem] : kUnfit) {
    const std::vector<OperatorCase> cases = read_case_tables(make_folder(text));
    ASSERT_EQ(cases.size(), 1u) << text;
    EXPECT_THAT(cases[0].arguments, ThrowsMessage<Error>(HasSubstr(problem))) << text;
  }
}

}  // namespace
}  // namespace torch_ir

#include "runtime/data/csv.h"
#include "runtime/data/inspect.h"
#include "runtime/plan/error.h"
#include "tests/unit/runtime_data/temporary_file.h"

#include <gtest/gtest.h>

using namespace kft::run;

namespace {

DataPlan planFor(const std::string &path, std::string label = "y", int64_t classes = 10) {
  DataPlan plan;
  plan.path = path, plan.label = std::move(label), plan.targetKind = "class", plan.classes = classes;
  plan.format.kind = "csv";
  return plan;
}

void set(DataPlan &plan, const std::string &name, bool flag) {
  plan.format.args.push_back(
      {.name = name, .kind = Arg::Kind::Flag, .number = 0, .text = {}, .shape = {}, .flag = flag});
}
void set(DataPlan &plan, const std::string &name, const char *text) {
  plan.format.args.push_back({.name = name, .kind = Arg::Kind::Text, .number = 0, .text = text, .shape = {}});
}

std::vector<float> row(const Table &table, int64_t index) {
  std::vector<float> out(size_t(table.width));
  table.copyRow(index, out.data());
  return out;
}

using Floats = std::vector<float>;

// ":LINE: text" of the error that reading gives, or "" when it gives none.
std::string failure(const std::string &content, DataPlan plan = planFor("")) {
  TemporaryFile file(content);
  plan.path = file.path;
  try {
    inspect(plan);
  } catch (const Error &error) {
    EXPECT_EQ(error.code, ExitCode::Invalid);
    return (error.line ? ":" + std::to_string(error.line) + ": " : "") + error.text;
  }
  return "";
}

} // namespace

TEST(Csv, ReadsWhatPeopleWrite) {
  for (const char *content :
       {"a,b,y\n1,2.5,0\n-3,1e2,1\n", "a,b,y\r\n1,2.5,0\r\n-3,1e2,1\r\n", "a,b,y\n1,2.5,0\n-3,1e2,1",
        "\xef\xbb\xbf"
        "a,b,y\n1,2.5,0\n\n-3,1e2,1\n\n\n",
        "\"a\",\"b\",\"y\"\n\"1\", 2.5 ,0\n-3 ,\" 1e2\",1\n", "a,b,y\r1,2.5,0\r-3,1e2,1\r",
        "\n\na,b,y\n1,+2.5,0.0\n-3,100.,1\n"}) {
    TemporaryFile file(content);
    auto table = readCsv(file.path, planFor(file.path));
    ASSERT_EQ(table->rows, 2) << content;
    EXPECT_EQ(row(*table, 0), (Floats{1, 2.5})) << content;
    EXPECT_EQ(row(*table, 1), (Floats{-3, 100})) << content;
    EXPECT_EQ(table->classes, (std::vector<int32_t>{0, 1}));
    EXPECT_EQ(table->names, (std::vector<std::string>{"a", "b"}));
  }
}

TEST(Csv, NumbersAreRoundedOnce) {
  TemporaryFile file(
      "a,b,c,d,y\n0.1,123456.789,1.17549435e-38,0.000000000000000000123,0\n3.4028234e38,-0,.5,1e-400,0\n");
  auto table = readCsv(file.path, planFor(file.path));
  EXPECT_EQ(row(*table, 0), (Floats{0.1f, 123456.789f, 1.17549435e-38f, 1.23e-19f}));
  EXPECT_EQ(row(*table, 1), (Floats{3.4028234e38f, -0.0f, 0.5f, 0}));
}

TEST(Csv, ColumnsDelimiterHeaderAndScale) {
  TemporaryFile file("id\ty\tb\ta\nfirst \"x\"\t1\t8\t4\nsecond\t0\t2\t6\n");
  DataPlan plan = planFor(file.path);
  set(plan, "delimiter", "\t");
  plan.columns = {"a", "b"}, plan.scale = 0.5;
  auto table = readCsv(file.path, plan);
  EXPECT_EQ(row(*table, 0), (Floats{2, 4}));
  EXPECT_EQ(row(*table, 1), (Floats{3, 1}));

  TemporaryFile bare("5,6,1\n7,8,0\n");
  DataPlan noHeader = planFor(bare.path, "2");
  set(noHeader, "header", false);
  auto second = readCsv(bare.path, noHeader);
  EXPECT_EQ(second->rows, 2);
  EXPECT_EQ(row(*second, 1), (Floats{7, 8}));
  EXPECT_EQ(second->classes, (std::vector<int32_t>{1, 0}));
}

TEST(Csv, QuotedCellsKeepLinesCounted) {
  EXPECT_EQ(failure("note,a,y\n\"two\nlines, \"\"quoted\"\"\",1,0\nplain,x,0\n",
                    [] {
                      DataPlan plan = planFor("");
                      plan.columns = {"a"};
                      return plan;
                    }()),
            ":4: column `a`: `x` is not a number");
}

TEST(Csv, LabelMayBeTheOnlyWholeColumn) {
  TemporaryFile file("a,kind,b\n0.5,1,2.5\n1.5,0,4\n");
  DataPlan plan = planFor(file.path, "");
  plan.scale = 2;
  auto table = readCsv(file.path, plan);
  EXPECT_EQ(table->labelName, "kind");
  EXPECT_EQ(table->classes, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(row(*table, 1), (Floats{3, 8}));
  EXPECT_EQ(failure("a,b\n1,2\n", planFor("", "")),
            ":1: which column is the label? `a`, `b` hold whole numbers; say `label = …`");
  EXPECT_EQ(failure("a,b\n1.5,2.5\n", planFor("", "")),
            ":1: no column holds whole numbers only, so none can be the label; say `label = …`");
}

TEST(Csv, RealTargets) {
  TemporaryFile file("a,y\n1,2.5\n2,-1\n");
  DataPlan plan = planFor(file.path);
  plan.targetKind = "real", plan.classes = 0;
  EXPECT_EQ(readCsv(file.path, plan)->reals, (Floats{2.5, -1}));
  EXPECT_EQ(inspect(plan).highestClass, -1);
  plan.targetWidth = 3;
  EXPECT_THROW(inspect(plan), Error);
}

TEST(Csv, BadInputIsNamedAtItsLine) {
  EXPECT_EQ(failure(""), "the file is empty; a table with at least one row is needed");
  EXPECT_EQ(failure("\n \n\n"), "the file is empty; a table with at least one row is needed");
  EXPECT_EQ(failure("a,y\n"), ":1: there are no rows below the header");
  EXPECT_EQ(failure("a,y\n1,0\n2\n"), ":3: 1 cell; the header has 2");
  EXPECT_EQ(failure("a,y\n1,0\n2,0,9\n"), ":3: 3 cells; the header has 2");
  EXPECT_EQ(failure("a,y\n1,0\nabc,0\n"), ":3: column `a`: `abc` is not a number");
  EXPECT_EQ(failure("a,y\n1,0\n12abc,0\n"), ":3: column `a`: `12abc` is not a number");
  EXPECT_EQ(failure("a,y\n1,0\n,0\n"), ":3: column `a`: the cell is empty; a number is needed");
  EXPECT_EQ(failure("a,y\nNaN,0\n"), ":2: column `a`: `NaN` is not finite");
  EXPECT_EQ(failure("a,y\n-inf,0\n"), ":2: column `a`: `-inf` is not finite");
  EXPECT_EQ(failure("a,y\n1e39,0\n"), ":2: column `a`: the number is too large for a 32-bit float");
  EXPECT_EQ(failure("a,y\n1e999,0\n"), ":2: column `a`: the number is too large for a 32-bit float");
  EXPECT_EQ(failure("a,y\n1,10\n"),
            ":2: column `y`: label `10` is out of range; the model has 10 outputs, so labels are 0 to 9");
  EXPECT_EQ(failure("a,y\n1,-1\n"),
            ":2: column `y`: label `-1` is out of range; the model has 10 outputs, so labels are 0 to 9");
  EXPECT_EQ(failure("a,y\n1,1.5\n"), ":2: column `y`: label `1.5` is not a whole number; classes are counted from 0");
  EXPECT_EQ(failure("a,y\n1,cat\n"), ":2: column `y`: `cat` is not a number");
  EXPECT_EQ(failure("a,b\n1,2\n"), ":1: there is no label column `y`; there are `a`, `b`");
  EXPECT_EQ(failure("a;y\n1;2\n"),
            ":1: there is no label column `y`; the whole line is one column; if `;` divides the columns, say `datasets.csv(delimiter = \";\")`");
  EXPECT_EQ(failure("a\ty\n1\t2\n"),
            ":1: there is no label column `y`; the whole line is one column; if `\\t` divides the columns, say `datasets.csv(delimiter = \"\\t\")`");
  EXPECT_EQ(failure("1,2\n1,2\n"),
            ":1: there is no label column `y`; line 1 holds numbers; if the file has no header, say `header = false`");
  EXPECT_EQ(failure("y,y,a\n1,2,3\n"), ":1: column `y` appears twice; give the columns different names");
  EXPECT_EQ(failure("y\n1\n"), ":1: there is no feature column beside the label");
  EXPECT_EQ(failure("a,y\n\"1,0\n2,0\n"), ":2: a quote `\"` is never closed");
  EXPECT_EQ(failure("a,y\n\"1\"2,0\n"),
            ":2: text follows a closing quote; a `\"` inside a quoted cell is written twice");
  EXPECT_EQ(failure("a,y\n\x1b[31m,0\n"), ":2: column `a`: `\\x1b[31m` is not a number");
  EXPECT_EQ(failure(std::string("a,y\n1\0,0\n", 9)), ":2: column `a`: `1\\x00` is not a number");
  EXPECT_EQ(failure("\x1f\x8b\x08zip"), "this is a gzip file; unpack it first");
  DataPlan plan = planFor("");
  plan.columns = {"a", "zz"};
  EXPECT_EQ(failure("a,y\n1,0\n", plan), ":1: there is no column `zz`; there are `a`, `y`");
  plan.columns = {"a", "y"};
  EXPECT_EQ(failure("a,y\n1,0\n", plan), ":1: the label `y` is listed among the features");
  plan = planFor("");
  plan.inputShape = {8, 8};
  EXPECT_EQ(failure("a,y\n1,0\n", plan), "each row has 1 feature; the model's input [8, 8] takes 64");
}

TEST(Csv, MissingFile) {
  try {
    inspect(planFor("/nowhere/at/all.csv"));
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code, ExitCode::Missing);
    EXPECT_STREQ(error.what(), "/nowhere/at/all.csv: cannot open: No such file or directory");
  }
  EXPECT_THROW(inspect(planFor("/tmp")), Error);
}

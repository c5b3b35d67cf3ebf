#include "runtime/data/dataset.h"
#include "runtime/data/inspect.h"
#include "runtime/plan/error.h"
#include "tests/unit/runtime_data/temporary_file.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace kft::run;

namespace {

// Column `a` counts the rows, `b` is constant, `y` is the row modulo 3.
std::string counted(int rows) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < rows; ++i)
    text += std::to_string(i) + ",7," + std::to_string(i % 3) + "\n";
  return text;
}

DataPlan planFor(const std::string &path) {
  DataPlan plan;
  plan.path = path, plan.label = "y", plan.targetKind = "class", plan.classes = 3;
  plan.format.kind = "csv";
  return plan;
}

std::vector<float> firstColumn(const Dataset &data, Part part) {
  std::vector<float> out;
  for (int64_t i = 0; i < data.rows(part); ++i) {
    float row[2];
    int32_t label;
    data.copy(part, i, row, &label, nullptr);
    out.push_back(row[0]);
  }
  return out;
}

} // namespace

TEST(Dataset, SplitIsDisjointCompleteAndSeeded) {
  TemporaryFile file(counted(101));
  DataPlan plan = planFor(file.path);
  plan.testFraction = 0.25, plan.splitSeed = 7;
  Dataset data(plan), again(plan);
  EXPECT_EQ(data.rows(Part::Test), 26);
  auto train = firstColumn(data, Part::Train), test = firstColumn(data, Part::Test);
  EXPECT_EQ(train, firstColumn(again, Part::Train));
  std::set<float> all(train.begin(), train.end());
  all.insert(test.begin(), test.end());
  EXPECT_EQ(all.size(), 101u);
  plan.splitSeed = 8;
  EXPECT_NE(firstColumn(Dataset(plan), Part::Test), test);
}

TEST(Dataset, RowsKeepTheirLabels) {
  TemporaryFile file(counted(50));
  DataPlan plan = planFor(file.path);
  plan.testFraction = 0.5;
  Dataset data(plan);
  for (Part part : {Part::Train, Part::Test})
    for (int64_t i = 0; i < data.rows(part); ++i) {
      float row[2];
      int32_t label;
      data.copy(part, i, row, &label, nullptr);
      EXPECT_EQ(label, int(row[0]) % 3);
    }
}

TEST(Dataset, StandardNormalizationUsesTrainingRows) {
  TemporaryFile file(counted(100));
  DataPlan plan = planFor(file.path);
  plan.testFraction = 0.3, plan.normalize = "standard", plan.scale = 0.1;
  Dataset data(plan);
  auto train = firstColumn(data, Part::Train);
  double sum = 0, squares = 0;
  for (float x : train)
    sum += x, squares += double(x) * x;
  EXPECT_NEAR(sum / double(train.size()), 0, 1e-5);
  EXPECT_NEAR(squares / double(train.size()), 1, 1e-4);
  float row[2];
  int32_t label;
  data.copy(Part::Train, 0, row, &label, nullptr);
  EXPECT_NEAR(row[1], 0, 1e-6) << "a constant column becomes 0, not NaN";
}

TEST(Dataset, MinMax) {
  TemporaryFile file(counted(11));
  DataPlan plan = planFor(file.path);
  plan.normalize = "minmax";
  auto values = firstColumn(Dataset(plan), Part::Train);
  EXPECT_FLOAT_EQ(values[0], 0);
  EXPECT_FLOAT_EQ(values[10], 1);
  EXPECT_FLOAT_EQ(values[5], 0.5);
}

TEST(Dataset, TestFileOfItsOwn) {
  TemporaryFile file(counted(20)), test("a,b,y\n5,7,2\n"), other("a,c,y\n5,7,2\n");
  DataPlan plan = planFor(file.path);
  plan.testPath = test.path;
  DataFacts facts = inspect(plan);
  EXPECT_EQ(facts.rows, 20);
  EXPECT_EQ(facts.trainRows, 20);
  EXPECT_EQ(facts.testRows, 1);
  EXPECT_EQ(facts.highestClass, 2);
  plan.testPath = other.path;
  EXPECT_THROW(inspect(plan), Error);
}

TEST(Inspect, FactsOfTheFile) {
  TemporaryFile file("a,y\n1,1\n2,2\n");
  DataFacts facts = inspect(planFor(file.path));
  EXPECT_EQ(facts.features, 1);
  EXPECT_EQ(facts.columns, std::vector<std::string>{"a"});
  EXPECT_EQ(facts.label, "y");
  EXPECT_EQ(facts.lowestClass, 1);
  EXPECT_EQ(facts.highestClass, 2);
  EXPECT_EQ(facts.sha256, "4ff797e1e4d331f93197c49b15c0378c061a010ba91b9e3c44dddcc5e36d9bbd");
}

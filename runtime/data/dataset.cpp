#include "runtime/data/dataset.h"
#include "runtime/data/csv.h"
#include "runtime/data/npy.h"
#include "runtime/plan/error.h"
#include "runtime/tensor/random.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kft::run {

Dataset::Dataset(const DataPlan &plan, bool checkFinite)
    : targetWidth_(plan.targetKind == "class" ? 1 : plan.targetWidth), scale_(plan.scale) {
  table_ = open(plan.path, plan.format.text("labels", ""), plan, checkFinite);
  if (!plan.testPath.empty()) {
    if (plan.format.kind == "npy" && plan.format.text("test_labels", "").empty())
      throw Error(ExitCode::Invalid, plan.testPath, 0,
                  "a NumPy test file needs labels of its own: give `test_labels` in the format, or set rows aside with `split`");
    testTable_ = open(plan.testPath, plan.format.text("test_labels", ""), plan, checkFinite);
    if (testTable_->names != table_->names && !testTable_->names.empty())
      throw Error(ExitCode::Invalid, plan.testPath, 0,
                  "the columns are not those of the training file `" + plan.path + "`");
    trainRows_ = table_->rows, testRows_ = testTable_->rows;
  } else {
    if (!plan.format.text("test_labels", "").empty())
      throw Error(ExitCode::Invalid, plan.path, 0, "the format has `test_labels`, but the dataset names no `test` file");
    testRows_ = testRowsOf(table_->rows, plan.testFraction), trainRows_ = table_->rows - testRows_;
    if (testRows_) split_.emplace(uint64_t(table_->rows), streamKey(plan.splitSeed, Purpose::Split));
  }
  normalize(plan.normalize);
}

std::unique_ptr<Table> Dataset::open(const std::string &path, const std::string &labels, const DataPlan &plan,
                                     bool checkFinite) const {
  std::unique_ptr<Table> table;
  if (plan.format.kind == "csv")
    table = readCsv(path, plan);
  else if (plan.format.kind == "npy")
    table = readNpy(path, labels, plan, checkFinite);
  else
    throw Error(ExitCode::Invalid, "data of format `" + plan.format.kind + "` are not read; csv and npy are");
  if (!plan.inputShape.empty()) {
    int64_t needed = 1;
    std::string shape;
    for (int64_t extent : plan.inputShape)
      needed *= extent, shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    if (table->width != needed)
      throw Error(ExitCode::Invalid, path, 0,
                  "each row has " + std::to_string(table->width) + (table->width == 1 ? " feature" : " features") +
                      "; the model's input [" + shape + "] takes " + std::to_string(needed));
  }
  if (plan.targetKind != "class" && int64_t(table->reals.size()) != table->rows * targetWidth_)
    throw Error(ExitCode::Invalid, path, 0,
                "the model has " + std::to_string(targetWidth_) +
                    " outputs, but a CSV file gives one target a row; use NPY for more");
  return table;
}

// Computed from the training rows alone, in the order of the file, by every rank alike.
void Dataset::normalize(const std::string &how) {
  if (how.empty() || how == "none") return;
  if (how != "standard" && how != "minmax")
    throw Error(ExitCode::Invalid, "there is no way `" + how + "` to normalize; standard and minmax are known");
  size_t width = size_t(table_->width);
  std::vector<double> sums(width), squares(width);
  std::vector<float> row(width), low(width, std::numeric_limits<float>::infinity()),
      high(width, -std::numeric_limits<float>::infinity());
  auto eachTrainRow = [&](auto &&visit) {
    for (int64_t i = 0; i < trainRows_; ++i) {
      table_->copyRow(tableRow(Part::Train, i), row.data());
      for (size_t c = 0; c < width; ++c)
        visit(c, row[c]);
    }
  };
  factors_.resize(width), shifts_.resize(width);
  if (how == "minmax") {
    eachTrainRow([&](size_t c, float x) { low[c] = std::min(low[c], x), high[c] = std::max(high[c], x); });
    for (size_t c = 0; c < width; ++c) {
      double range = double(high[c]) - double(low[c]);
      factors_[c] = float(range > 0 ? 1 / range : 1);
      shifts_[c] = -low[c] * factors_[c];
    }
    return;
  }
  // Two passes: the sum of squares alone loses all digits when a column's mean is large.
  eachTrainRow([&](size_t c, float x) { sums[c] += double(x); });
  for (double &sum : sums)
    sum /= double(trainRows_);
  eachTrainRow([&](size_t c, float x) { squares[c] += (double(x) - sums[c]) * (double(x) - sums[c]); });
  for (size_t c = 0; c < width; ++c) {
    double deviation = std::sqrt(squares[c] / double(trainRows_));
    factors_[c] = float(deviation > 0 ? 1 / deviation : 1);
    shifts_[c] = float(-sums[c] * double(factors_[c]));
  }
}

int64_t Dataset::tableRow(Part part, int64_t index) const {
  if (!split_) return index;
  return int64_t((*split_)(uint64_t(part == Part::Test ? index : testRows_ + index)));
}

void Dataset::copy(Part part, int64_t index, float *features, int32_t *classTarget, float *realTarget) const {
  const Table &table = part == Part::Test && testTable_ ? *testTable_ : *table_;
  int64_t row = tableRow(part, index);
  table.copyRow(row, features);
  for (size_t c = 0; c < factors_.size(); ++c)
    features[c] = features[c] * factors_[c] + shifts_[c];
  if (!table.classes.empty())
    *classTarget = table.classes[size_t(row)];
  else
    std::copy_n(table.reals.data() + row * targetWidth_, targetWidth_, realTarget);
}

} // namespace kft::run

// The rows of a run: one table divided by its split seed into a training and a test part, or two tables; transformed as
// the plan says. Every rank holds the same dataset and copies out the rows of its share.
#pragma once

#include "runtime/data/shard.h"
#include "runtime/data/table.h"
#include "runtime/plan/run_plan.h"

#include <optional>

namespace kft::run {

enum class Part : uint8_t { Train, Test };

class Dataset {
public:
  // Throws Error: a file that is not there (Missing) or cannot be used (Invalid). `checkFinite` also reads values that
  // are otherwise left in the mapped file until they are needed.
  explicit Dataset(const DataPlan &plan, bool checkFinite = false);

  int64_t rows(Part part) const { return part == Part::Train ? trainRows_ : testRows_; }
  int64_t fileRows() const { return table_->rows; }
  int64_t width() const { return table_->width; }
  int64_t targetWidth() const { return targetWidth_; }
  bool hasClasses() const { return !table_->classes.empty(); }
  const Table &table() const { return *table_; }
  const Table *testTable() const { return testTable_.get(); }

  // Row `index` of a part: (width) floats, and one class or (targetWidth) floats, whichever the data have.
  void copy(Part part, int64_t index, float *features, int32_t *classTarget, float *realTarget) const;

  // What turns a cell of the file into an input of the model, x·factor + shift with one pair per column; empty without
  // `normalize`.
  const std::vector<float> &factors() const { return factors_; }
  const std::vector<float> &shifts() const { return shifts_; }
  double scale() const { return scale_; }

private:
  std::unique_ptr<Table> open(const std::string &path, const std::string &labels, const DataPlan &plan,
                              bool checkFinite) const;
  void normalize(const std::string &how);
  int64_t tableRow(Part part, int64_t index) const;

  std::unique_ptr<Table> table_, testTable_; // testTable_ only with a file of its own
  std::optional<Permutation> split_;         // positions 0..testRows-1 are the test part
  int64_t trainRows_ = 0, testRows_ = 0, targetWidth_ = 1;
  double scale_ = 1;
  std::vector<float> factors_, shifts_; // applied after `scale`
};

} // namespace kft::run

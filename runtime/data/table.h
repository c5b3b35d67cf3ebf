// Rows as a file gives them: features, and what is to be learned from them. Readers (csv, npy) make one; Dataset
// divides and transforms it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kft::run {

class Table {
public:
  virtual ~Table() = default;
  // features: (width) floats, already multiplied by the data's `scale`.
  virtual void copyRow(int64_t row, float *features) const = 0;

  int64_t rows = 0, width = 0;
  std::vector<std::string> names; // of the feature columns; empty when the file has none
  std::string labelName;          // of the label column; empty when the labels are a file of their own
  std::vector<int32_t> classes;   // (rows) for class targets
  std::vector<float> reals;       // (rows, targetWidth) for real ones
};

} // namespace kft::run

// What a plan has to know about the data before anything starts. Reads every cell once, so a bad one is found here and
// not by the ranks.
#pragma once

#include "runtime/plan/run_plan.h"

namespace kft::run {

struct DataFacts {
  int64_t rows = 0, trainRows = 0, testRows = 0; // rows: of the training file
  int64_t features = 0;                          // floats per row
  std::vector<std::string> columns;              // the features' names; empty for npy
  std::string label;                             // the column's name, chosen when the plan names none; empty for npy
  int64_t lowestClass = 0, highestClass = -1;    // over both parts; -1: real targets
  std::string sha256;                            // of every file together
};

// Throws Error (path, line, text; Missing or Invalid). Uses `path`, `testPath`, `format`, `columns`, `label`,
// `inputShape`, `targetKind`, `classes`, `targetWidth`, `scale`, `normalize`, `testFraction`, `splitSeed`.
DataFacts inspect(const DataPlan &plan);

// One file: the SHA-256 of its bytes. Several (labels, test part): of the list of theirs.
std::string hashOfData(const DataPlan &plan);

} // namespace kft::run

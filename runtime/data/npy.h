// NumPy arrays (.npy, versions 1 to 3): features stay in the mapped file and are converted row by row as a batch asks
// for them; labels, which are small, are read and checked at once.
#pragma once

#include "runtime/data/table.h"
#include "runtime/plan/run_plan.h"

namespace kft::run {

// `labels` is the path of the labels' file. Throws Error. `checkFinite` reads every value and refuses NaN and infinity.
std::unique_ptr<Table> readNpy(const std::string &path, const std::string &labels, const DataPlan &plan,
                               bool checkFinite);

} // namespace kft::run

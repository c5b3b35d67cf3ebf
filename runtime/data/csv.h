// Comma-separated values, strictly: each row has the header's cells, each cell in use is a finite number. RFC 4180
// quotes, either line ending, a byte order mark, blank lines and a missing last newline are taken; columns that nobody
// uses may hold anything.
#pragma once

#include "runtime/data/table.h"
#include "runtime/plan/run_plan.h"

namespace kft::run {

// Throws Error with the file and the line. Without a header the columns are named "0", "1", …. Without a label, class
// data take the only column of whole numbers.
std::unique_ptr<Table> readCsv(const std::string &path, const DataPlan &plan);

} // namespace kft::run

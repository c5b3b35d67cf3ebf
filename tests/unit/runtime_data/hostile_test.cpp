// Files that somebody's disk or tool has damaged: whatever the bytes, reading ends with a table or an Error. Under the
// sanitizers this also says that nothing beyond the file is touched.
#include "runtime/data/csv.h"
#include "runtime/data/npy.h"
#include "runtime/plan/error.h"
#include "runtime/tensor/random.h"
#include "tests/unit/runtime_data/temporary_file.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace kft::run;

namespace {

// Changes, removes, doubles or inserts some bytes; which ones follows from `round`.
std::string damaged(std::string text, uint64_t round, const std::string &alphabet) {
  uint64_t counter = 0;
  auto random = [&](size_t below) { return size_t(randomBits(round, counter++) % below); };
  for (size_t n = 1 + random(4); n > 0 && !text.empty(); --n) {
    size_t at = random(text.size());
    switch (random(5)) {
    case 0:
      text[at] = char(random(256));
      break;
    case 1:
      text[at] = alphabet[random(alphabet.size())];
      break;
    case 2:
      text.erase(at, 1 + random(5));
      break;
    case 3:
      text.insert(at, text.substr(random(text.size()), random(10)));
      break;
    case 4:
      text.resize(at);
      break;
    }
  }
  return text;
}

} // namespace

TEST(Hostile, Csv) {
  const std::string good = "a,\"b\",y\r\n1,2.5e3,0\n-3.25,\"7\",2\n0.1,+4,1\n";
  int tables = 0;
  for (uint64_t round = 0; round < 3000; ++round) {
    TemporaryFile file(damaged(good, round, ",\"\n\r.-+e01 "));
    DataPlan plan;
    plan.label = round % 3 ? "y" : "", plan.targetKind = round % 2 ? "class" : "real", plan.classes = 3,
    plan.format.kind = "csv";
    if (plan.label.empty()) plan.targetKind = "class";
    try {
      auto table = readCsv(file.path, plan);
      ++tables;
      ASSERT_GT(table->rows, 0);
      ASSERT_EQ(int64_t(table->classes.size() + table->reals.size()), table->rows);
      std::vector<float> row(static_cast<size_t>(table->width));
      for (int64_t i = 0; i < table->rows; ++i) {
        table->copyRow(i, row.data());
        for (float x : row)
          ASSERT_TRUE(std::isfinite(x));
      }
      for (int32_t label : table->classes)
        ASSERT_TRUE(label >= 0 && label < 3);
    } catch (const Error &error) {
      ASSERT_FALSE(error.text.empty());
    }
  }
  EXPECT_GT(tables, 100) << "some damage does no harm";
}

TEST(Hostile, Npy) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  std::string good = std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + std::string(24, '\0');
  std::string labels = good;
  labels.replace(labels.find("<f4"), 3, "|u1").replace(labels.find("(2, 3)"), 6, "(2,)  ").resize(128 + 2);
  TemporaryFile labelFile(labels);
  int tables = 0;
  for (uint64_t round = 0; round < 3000; ++round) {
    TemporaryFile file(damaged(good, round, "'(),:<>|fiub12489{} "));
    DataPlan plan;
    plan.targetKind = "class", plan.classes = 3, plan.format.kind = "npy";
    try {
      auto table = readNpy(file.path, labelFile.path, plan, true);
      ++tables;
      std::vector<float> row(static_cast<size_t>(table->width));
      for (int64_t i = 0; i < table->rows; ++i)
        table->copyRow(i, row.data());
    } catch (const Error &error) {
      ASSERT_FALSE(error.text.empty());
    }
  }
  EXPECT_GT(tables, 100);
}

#include "runtime/data/inspect.h"
#include "runtime/data/dataset.h"
#include "runtime/data/mapped_file.h"
#include "runtime/plan/sha256.h"

#include <algorithm>

namespace kft::run {

DataFacts inspect(const DataPlan &plan) {
  Dataset data(plan, /*checkFinite=*/true);
  DataFacts facts;
  facts.rows = data.fileRows(), facts.trainRows = data.rows(Part::Train), facts.testRows = data.rows(Part::Test);
  facts.features = data.width(), facts.columns = data.table().names, facts.label = data.table().labelName;
  bool first = true;
  for (const Table *table : {&data.table(), data.testTable()}) {
    if (!table || table->classes.empty()) continue;
    auto [low, high] = std::minmax_element(table->classes.begin(), table->classes.end());
    facts.lowestClass = first ? *low : std::min<int64_t>(facts.lowestClass, *low);
    facts.highestClass = std::max<int64_t>(facts.highestClass, *high);
    first = false;
  }
  facts.sha256 = hashOfData(plan);
  return facts;
}

std::string hashOfData(const DataPlan &plan) {
  std::string list, last;
  int count = 0;
  for (const std::string &path :
       {plan.path, plan.format.text("labels", ""), plan.testPath, plan.format.text("test_labels", "")}) {
    if (path.empty()) continue;
    MappedFile file(path);
    last = sha256(file.text());
    list += last + "\n", ++count;
  }
  return count > 1 ? sha256(list) : last;
}

} // namespace kft::run

#include "compiler/basic/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace kft::explain {

namespace {
constexpr Row Rows[] = {
#define KFT_ARG(type, name)
#define KFT_ERROR(number, Name, text, args) {number, #Name, Severity::Error, text},
#define KFT_WARNING(number, Name, text, args) {number, #Name, Severity::Warning, text},
#define KFT_NOTE(Name, text, args)
#define KFT_RETIRED(number, reason)
#include "compiler/basic/diagnostics.def"
#undef KFT_ARG
#undef KFT_ERROR
#undef KFT_WARNING
#undef KFT_NOTE
#undef KFT_RETIRED
};

// Rows stand by stage in the file; a number used twice is caught here, at compile time.
constexpr bool numbersAreUnique() {
  for (const Row &a : Rows)
    for (const Row &b : Rows)
      if (&a != &b && a.id == b.id) return false;
  return true;
}
static_assert(numbersAreUnique(), "two rows of diagnostics.def have the same number");

constexpr auto Sorted = [] {
  std::array<Row, std::size(Rows)> rows{};
  std::copy(std::begin(Rows), std::end(Rows), rows.begin());
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.id < b.id; });
  return rows;
}();
} // namespace

llvm::ArrayRef<Row> catalogue() { return Sorted; }

const Row *find(int id) {
  auto found = std::lower_bound(Sorted.begin(), Sorted.end(), id, [](const Row &row, int id) { return row.id < id; });
  return found != Sorted.end() && found->id == id ? &*found : nullptr;
}

std::optional<int> parseId(llvm::StringRef text) {
  text.consume_front_insensitive("kft");
  int id = 0;
  if (text.size() != 4 || text.getAsInteger(10, id) || id < 1000) return std::nullopt;
  return id;
}

std::string idText(int id) { return fmt::format("KFT{:04}", id); }

// pages.inc is made by the build from explain/*.md: `{id, text},` rows, sorted by id.
namespace {
struct Page {
  int id;
  std::string_view text;
};
constexpr Page Pages[] = {
#include "compiler/basic/explain_pages.inc"
    {0, {}}, // so that the table is never empty
};
} // namespace

llvm::StringRef page(int id) {
  for (const Page &page : Pages)
    if (page.id == id) return {page.text.data(), page.text.size()};
  return {};
}

} // namespace kft::explain

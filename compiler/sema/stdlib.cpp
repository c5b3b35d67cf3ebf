// The text of stdlib/*.kft as constant data: nothing happens at start, and a module that nobody imports is never looked at.
#include "compiler/sema/stdlib.h"

#include <array>
#include <iterator>
#include <string_view>

namespace kft::stdlib {

namespace {

using std::string_view;

struct Row {
  string_view file, text;
};

constexpr Row Rows[] = {
#include "compiler/sema/stdlib.inc"
};

constexpr auto Names = [] {
  std::array<llvm::StringRef, std::size(Rows)> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = llvm::StringRef(Rows[i].file.data(), Rows[i].file.size() - string_view(".kft").size());
  return names;
}();

} // namespace

llvm::StringRef source(llvm::StringRef name) {
  for (size_t i = 0; i < Names.size(); ++i)
    if (Names[i] == name) return {Rows[i].text.data(), Rows[i].text.size()};
  return {};
}

llvm::ArrayRef<llvm::StringRef> names() { return Names; }

} // namespace kft::stdlib

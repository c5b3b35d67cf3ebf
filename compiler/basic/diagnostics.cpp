#include "compiler/basic/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace kft {

namespace diag {
namespace {

// llvm::StringRef as fmt can print it; everything else as it is.
inline std::string_view printable(llvm::StringRef text) { return {text.data(), text.size()}; }
template <typename T>
const T &printable(const T &value) {
  return value;
}

// True when the placeholders of a template and the names of the arguments are the same set. Checked for every row.
constexpr bool matches(std::string_view text, std::string_view names) {
  auto contains = [](std::string_view list, std::string_view name) {
    while (!list.empty()) {
      size_t end = list.find(' ');
      if (list.substr(0, end) == name) return true;
      if (end == std::string_view::npos) break;
      list.remove_prefix(end + 1);
    }
    return false;
  };
  std::string_view rest = text;
  while (true) {
    size_t open = rest.find('{');
    if (open == std::string_view::npos) break;
    if (open + 1 < rest.size() && rest[open + 1] == '{') {
      rest.remove_prefix(open + 2);
      continue;
    }
    size_t close = rest.find('}', open);
    if (close == std::string_view::npos) return false;
    if (!contains(names, rest.substr(open + 1, close - open - 1))) return false;
    rest.remove_prefix(close + 1);
  }
  std::string_view list = names;
  while (!list.empty()) {
    size_t end = list.find(' ');
    std::string_view name = list.substr(0, end);
    if (!name.empty()) {
      bool found = false;
      for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
        if (at > 0 && text[at - 1] == '{' && at + name.size() < text.size() && text[at + name.size()] == '}') found = true;
      if (!found) return false;
    }
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
  }
  return true;
}

} // namespace

#define KFT_ARG(type, name) #name " "
#define KFT_ROW(Name, text, args) static_assert(matches(text, "" args), "placeholders and arguments of " #Name " differ");
#define KFT_ERROR(number, Name, text, args) KFT_ROW(Name, text, args)
#define KFT_WARNING(number, Name, text, args) KFT_ROW(Name, text, args)
#define KFT_NOTE(Name, text, args) KFT_ROW(Name, text, args)
#define KFT_RETIRED(number, reason)
#include "compiler/basic/diagnostics.def"
#undef KFT_ARG
#undef KFT_ROW

#define KFT_ARG(type, name) , fmt::arg(#name, printable(name))
#define KFT_ROW(Name, text, ...)                                                                                       \
  std::string Name::message() const { return fmt::format(fmt::runtime(text) __VA_ARGS__); }
#include "compiler/basic/diagnostics.def"
#undef KFT_ARG
#undef KFT_ROW
#undef KFT_ERROR
#undef KFT_WARNING
#undef KFT_NOTE
#undef KFT_RETIRED

} // namespace diag

Diagnostics::Builder Diagnostics::add(int id, Severity severity, SourceRange range, std::string message) {
  Diagnostic item;
  item.id = id;
  item.severity = severity;
  item.message = std::move(message);
  item.range = range;
  items_.push_back(std::move(item));
  (severity == Severity::Error ? errors_ : warnings_) += 1;
  return {*this, items_.size() - 1};
}

Diagnostics::Builder &Diagnostics::Builder::noteText(SourceRange range, std::string message) {
  sink_.items_[index_].notes.push_back({std::move(message), range});
  return *this;
}

Diagnostics::Builder &Diagnostics::Builder::fixText(SourceRange range, llvm::StringRef replacement, std::string message) {
  sink_.items_[index_].fixes.push_back({range, replacement.str(), std::move(message)});
  return *this;
}

Diagnostics::Builder &Diagnostics::Builder::path(llvm::StringRef fieldPath) {
  sink_.items_[index_].path = fieldPath.str();
  return *this;
}

Diagnostics::Builder &Diagnostics::Builder::rule(llvm::StringRef rule) {
  sink_.items_[index_].rule = rule.str();
  return *this;
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> result = items_;
  std::stable_sort(result.begin(), result.end(), [](const Diagnostic &a, const Diagnostic &b) {
    // Without a place comes first: it is about the whole call.
    auto key = [](const Diagnostic &d) {
      return std::make_tuple(d.range.valid(), d.range.file.index, d.range.begin, d.range.end);
    };
    return key(a) < key(b);
  });
  return result;
}

void Diagnostics::addWithin(size_t from, SourceRange within, const Note &note) {
  constexpr size_t mostNotes = 8;
  auto lies = [&](SourceRange range) {
    return range.valid() && range.file == within.file && range.begin >= within.begin && range.end <= within.end;
  };
  for (size_t i = from; i < items_.size(); ++i) {
    Diagnostic &item = items_[i];
    if (item.notes.size() < mostNotes && (lies(item.range) || (!item.notes.empty() && lies(item.notes.back().range)))) item.notes.push_back(note);
  }
}

void Diagnostics::dropRepeated() {
  std::set<std::tuple<int, uint32_t, uint32_t, uint32_t, std::string>> seen;
  std::vector<Diagnostic> kept;
  for (Diagnostic &item : items_) {
    if (!seen.emplace(item.id, item.range.file.index, item.range.begin, item.range.end, item.message).second) {
      (item.severity == Severity::Error ? errors_ : warnings_) -= 1;
      continue;
    }
    kept.push_back(std::move(item));
  }
  items_ = std::move(kept);
}

void Diagnostics::clear() {
  items_.clear();
  errors_ = warnings_ = 0;
}

} // namespace kft

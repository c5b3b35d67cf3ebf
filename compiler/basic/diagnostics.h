// The sink for everything a user is told. Rows of diagnostics.def become structs whose members are the arguments of the
// message; `report` formats at once, so a diagnostic holds text only and outlives every phase.
#pragma once

#include "compiler/basic/source_files.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace kft {

enum class Severity : uint8_t { Error, Warning, Note };

namespace diag {

// Each row becomes a struct; diagnostics.cpp reads the catalogue again for the messages and their checks.
using llvm::StringRef;
#define KFT_ARG(type, name) type name;
#define KFT_ROW(number, Name, severity_, members)                                                                      \
  struct Name {                                                                                                        \
    members static constexpr int id = number;                                                                          \
    static constexpr Severity severity = Severity::severity_;                                                          \
    std::string message() const;                                                                                       \
  };
#define KFT_ERROR(number, Name, text, args) KFT_ROW(number, Name, Error, args)
#define KFT_WARNING(number, Name, text, args) KFT_ROW(number, Name, Warning, args)
#define KFT_NOTE(Name, text, args) KFT_ROW(0, Name, Note, args)
#define KFT_RETIRED(number, reason)
#include "compiler/basic/diagnostics.def"
#undef KFT_ARG
#undef KFT_ROW
#undef KFT_ERROR
#undef KFT_WARNING
#undef KFT_NOTE
#undef KFT_RETIRED

} // namespace diag

struct Note {
  std::string message;
  SourceRange range; // may be invalid: a remark without a place
};

// Replacing `range` by `text` repairs (part of) the mistake.
struct Fix {
  SourceRange range;
  std::string text;
  std::string message;
};

struct Diagnostic {
  int id = 0; // 2203 prints as KFT2203
  Severity severity = Severity::Error;
  std::string message;
  SourceRange range;
  std::string path;   // Kubernetes field path, where one applies
  std::string rule;   // V038
  std::string stage;  // unknown, schema, webhook, build, jobset, core
  std::string object; // TrainJob/name
  std::vector<Note> notes;
  std::vector<Fix> fixes;
};

class Diagnostics {
public:
  // Adds notes and fixes to the diagnostic just reported; usable only until the next report.
  class Builder {
  public:
    template <typename N>
    Builder &note(SourceRange range, const N &row) {
      static_assert(N::severity == Severity::Note);
      return noteText(range, row.message());
    }
    template <typename N>
    Builder &note(const N &row) {
      return note(SourceRange{}, row);
    }
    // A fix whose explanation is the note `row`.
    template <typename N>
    Builder &fixit(SourceRange range, llvm::StringRef replacement, const N &row) {
      static_assert(N::severity == Severity::Note);
      return fixText(range, replacement, row.message());
    }
    Builder &path(llvm::StringRef fieldPath);
    Builder &rule(llvm::StringRef rule);

  private:
    friend class Diagnostics;
    Builder(Diagnostics &sink, size_t index) : sink_(sink), index_(index) {}
    Builder &noteText(SourceRange range, std::string message);
    Builder &fixText(SourceRange range, llvm::StringRef replacement, std::string message);
    Diagnostics &sink_;
    size_t index_;
  };

  template <typename D>
  Builder report(SourceRange range, const D &row) {
    static_assert(D::severity != Severity::Note, "a note belongs to a diagnostic");
    return add(D::id, D::severity, range, row.message());
  }
  Builder add(int id, Severity severity, SourceRange range, std::string message);

  bool hasErrors() const { return errors_ != 0; }
  size_t errorCount() const { return errors_; }
  size_t warningCount() const { return warnings_; }
  // In order of report. `sorted` gives them by file and position, as they are shown.
  llvm::ArrayRef<Diagnostic> all() const { return items_; }
  std::vector<Diagnostic> sorted() const;
  // Adds a note to those from the index `from` on that lie within `within` or were led to from there, as their last note says.
  template <typename N>
  void noteWithin(size_t from, SourceRange within, SourceRange range, const N &row) {
    static_assert(N::severity == Severity::Note);
    addWithin(from, within, {row.message(), range});
  }
  void clear();
  // Keeps the first of those that say the same about the same place: text that several declarations inherit is judged for
  // each of them.
  void dropRepeated();

private:
  void addWithin(size_t from, SourceRange within, const Note &note);
  std::vector<Diagnostic> items_;
  size_t errors_ = 0, warnings_ = 0;
};

} // namespace kft

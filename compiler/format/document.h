// Layout as a value: text with places where a line may break, in groups that break together. `print` decides, group by
// group from the outside, whether what follows fits on the line; it looks ahead at most one line's width, so a file takes
// time linear in its size.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace kft::format {

// A handle into a Documents.
struct Doc {
  uint32_t index = 0; // 0 is the empty document
  bool empty() const { return index == 0; }
};

class Documents {
public:
  Documents();

  // Refers to the text, which must outlive the printing. Without newlines.
  Doc text(llvm::StringRef text);
  Doc concat(llvm::ArrayRef<Doc> parts);
  Doc concat(std::initializer_list<Doc> parts) { return concat(llvm::ArrayRef<Doc>(parts.begin(), parts.size())); }
  // Flat when it fits, else all of its own lines break. Always broken when a forced break is in it.
  Doc group(Doc inner);
  Doc indent(Doc inner); // by two blanks
  Doc ifBroken(llvm::StringRef text); // printed only where the enclosing group is broken
  Doc ifFlat(llvm::StringRef text);   // printed only where it is not
  Doc line() const { return {Line}; }           // a blank, or a new line
  Doc softLine() const { return {SoftLine}; }   // nothing, or a new line
  Doc hardLine() const { return {HardLine}; }   // always a new line; breaks every group around it
  Doc softBlank() const { return {SoftBlank}; } // before a line: an empty one, where the enclosing group is broken
  // Inside a string of several lines: a new line that breaks no group. `bareLine` is not even indented.
  Doc stringLine() const { return {StringLine}; }
  Doc bareLine() const { return {BareLine}; }
  // A comment behind what is on the line: does not count for the width, comes after whatever else the line still gets.
  Doc lineSuffix(llvm::StringRef text);
  // Breaks every group around it, prints nothing.
  Doc forceBreak() const { return {ForceBreak}; }

  bool breaks(Doc doc) const { return nodes_[doc.index].breaks; }
  std::string print(Doc root, size_t width) const;

private:
  enum class Kind : uint8_t {
    Text, Concat, Group, Indent, IfBroken, IfFlat, Line, SoftLine, HardLine, SoftBlank, StringLine, BareLine, Suffix, Force
  };
  enum : uint32_t { Empty, Line, SoftLine, HardLine, SoftBlank, StringLine, BareLine, ForceBreak };
  struct Node {
    Kind kind;
    bool breaks = false; // holds a forced break
    uint32_t first = 0, count = 0; // children in children_; the one child of Group and Indent is `first`
    const char *data = nullptr;
    uint32_t size = 0, width = 0;
  };
  struct Command {
    uint32_t indent;
    bool flat;
    uint32_t node;
  };
  Doc add(Node node);
  bool fits(Command next, const std::vector<Command> &rest, int64_t width, std::vector<Command> &work) const;
  std::vector<Node> nodes_;
  std::vector<uint32_t> children_;
};

} // namespace kft::format

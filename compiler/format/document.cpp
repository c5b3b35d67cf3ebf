#include "compiler/format/document.h"

#include "llvm/Support/Unicode.h"

#include <algorithm>

namespace kft::format {

using llvm::StringRef;

Documents::Documents() {
  for (Kind kind : {Kind::Concat, Kind::Line, Kind::SoftLine, Kind::HardLine, Kind::SoftBlank, Kind::StringLine,
                    Kind::BareLine, Kind::Force}) {
    Node node{};
    node.kind = kind;
    node.breaks = kind == Kind::HardLine || kind == Kind::Force;
    nodes_.push_back(node);
  }
}

Doc Documents::add(Node node) {
  nodes_.push_back(node);
  return {static_cast<uint32_t>(nodes_.size() - 1)};
}

Doc Documents::text(StringRef text) {
  if (text.empty()) return {};
  Node node{};
  node.kind = Kind::Text;
  node.data = text.data();
  node.size = static_cast<uint32_t>(text.size());
  bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  int columns = ascii ? static_cast<int>(text.size()) : llvm::sys::unicode::columnWidthUTF8(text);
  node.width = static_cast<uint32_t>(columns < 0 ? static_cast<int>(text.size()) : columns);
  return add(node);
}

Doc Documents::concat(llvm::ArrayRef<Doc> parts) {
  if (parts.size() == 1) return parts.front();
  Node node{};
  node.kind = Kind::Concat;
  node.first = static_cast<uint32_t>(children_.size());
  for (Doc part : parts) {
    if (part.empty()) continue;
    children_.push_back(part.index);
    node.breaks |= nodes_[part.index].breaks;
  }
  node.count = static_cast<uint32_t>(children_.size()) - node.first;
  return node.count == 0 ? Doc{} : add(node);
}

Doc Documents::group(Doc inner) {
  Node node{};
  node.kind = Kind::Group;
  node.first = inner.index;
  node.breaks = nodes_[inner.index].breaks;
  return add(node);
}

Doc Documents::indent(Doc inner) {
  Node node{};
  node.kind = Kind::Indent;
  node.first = inner.index;
  node.breaks = nodes_[inner.index].breaks;
  return add(node);
}

Doc Documents::ifBroken(StringRef text) {
  Doc doc = this->text(text);
  nodes_[doc.index].kind = Kind::IfBroken;
  return doc;
}

Doc Documents::ifFlat(StringRef text) {
  Doc doc = this->text(text);
  nodes_[doc.index].kind = Kind::IfFlat;
  return doc;
}

Doc Documents::lineSuffix(StringRef text) {
  Doc doc = this->text(text);
  nodes_[doc.index].kind = Kind::Suffix;
  return doc;
}

// Whether `next`, and after it the rest up to the first place that may break, stays within `width` columns.
bool Documents::fits(Command next, const std::vector<Command> &rest, int64_t width,
                     std::vector<Command> &work) const {
  size_t restIndex = rest.size();
  work.clear();
  work.push_back(next);
  while (width >= 0) {
    if (work.empty()) {
      if (restIndex == 0) return true;
      work.push_back(rest[--restIndex]);
    }
    Command command = work.back();
    work.pop_back();
    const Node &node = nodes_[command.node];
    switch (node.kind) {
    case Kind::Text: width -= node.width; break;
    case Kind::IfBroken:
      if (!command.flat) width -= node.width;
      break;
    case Kind::IfFlat:
      if (command.flat) width -= node.width;
      break;
    case Kind::Concat:
      for (uint32_t i = node.count; i-- > 0;) work.push_back({command.indent, command.flat, children_[node.first + i]});
      break;
    case Kind::Group: work.push_back({command.indent, command.flat && !node.breaks, node.first}); break;
    case Kind::Indent: work.push_back({command.indent, command.flat, node.first}); break;
    case Kind::Line:
      if (!command.flat) return true;
      width -= 1;
      break;
    case Kind::SoftLine:
      if (!command.flat) return true;
      break;
    case Kind::HardLine:
    case Kind::StringLine:
    case Kind::BareLine: return true;
    case Kind::SoftBlank:
    case Kind::Suffix:
    case Kind::Force: break;
    }
  }
  return false;
}

std::string Documents::print(Doc root, size_t width) const {
  std::string out;
  std::vector<Command> stack, work;
  std::string suffix;
  int64_t column = 0;
  auto newline = [&](uint32_t indent) {
    out += suffix;
    suffix.clear();
    out += '\n';
    out.append(indent, ' ');
    column = indent;
  };
  stack.push_back({0, false, root.index});
  while (!stack.empty()) {
    Command command = stack.back();
    stack.pop_back();
    const Node &node = nodes_[command.node];
    switch (node.kind) {
    case Kind::Text:
      out.append(node.data, node.size);
      column += node.width;
      break;
    case Kind::IfBroken:
      if (command.flat) break;
      out.append(node.data, node.size);
      column += node.width;
      break;
    case Kind::IfFlat:
      if (!command.flat) break;
      out.append(node.data, node.size);
      column += node.width;
      break;
    case Kind::Concat:
      for (uint32_t i = node.count; i-- > 0;) stack.push_back({command.indent, command.flat, children_[node.first + i]});
      break;
    case Kind::Group: {
      bool flat = !node.breaks;
      if (flat && !command.flat)
        flat = fits({command.indent, true, node.first}, stack, static_cast<int64_t>(width) - column, work);
      stack.push_back({command.indent, flat, node.first});
      break;
    }
    case Kind::Indent: stack.push_back({command.indent + 2, command.flat, node.first}); break;
    case Kind::Line:
    case Kind::SoftLine:
      if (!command.flat) {
        newline(command.indent);
      } else if (node.kind == Kind::Line) {
        out += ' ';
        column += 1;
      }
      break;
    case Kind::HardLine:
    case Kind::StringLine: newline(command.indent); break;
    case Kind::SoftBlank:
      if (!command.flat) newline(0);
      break;
    case Kind::BareLine: newline(0); break;
    case Kind::Suffix:
      suffix += ' ';
      suffix.append(node.data, node.size);
      break;
    case Kind::Force: break;
    }
  }
  out += suffix;
  return out;
}

} // namespace kft::format

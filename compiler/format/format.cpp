// Builds the layout of a file from its tree, statement by statement, and lets Documents decide where lines break. What the
// author decides: whether a block that fits on one line is written on one (it is, unless a new line follows its `{`), and
// single blank lines. Everything else has one form.
//
// Comments are a second stream in order of position, with a cursor. Each place that ends up with a line of its own (a
// statement, an item, an operand) first takes the comments before it; what stands behind it on its line stays behind it.
// A comment in any other place goes to the end of the line it is in.
#include "compiler/format/format.h"

#include "compiler/basic/check.h"
#include "compiler/format/document.h"

#include "llvm/ADT/SmallVector.h"

#include <array>

namespace kft::format {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace {

constexpr size_t Width = 100;
using Docs = SmallVector<Doc, 8>;

int precedence(ast::BinaryOp op) {
  using Op = ast::BinaryOp;
  switch (op) {
  case Op::Or: return 0;
  case Op::And: return 1;
  case Op::Eq:
  case Op::Ne:
  case Op::Lt:
  case Op::Le:
  case Op::Gt:
  case Op::Ge:
  case Op::In:
  case Op::NotIn: return 2;
  case Op::Range: return 3;
  case Op::Coalesce: return 4;
  case Op::Add:
  case Op::Sub: return 5;
  case Op::Mul:
  case Op::Div:
  case Op::Mod: return 6;
  }
  return 0;
}

StringRef spelling(ast::BinaryOp op) {
  using Op = ast::BinaryOp;
  switch (op) {
  case Op::Or: return "or";
  case Op::And: return "and";
  case Op::Eq: return "==";
  case Op::Ne: return "!=";
  case Op::Lt: return "<";
  case Op::Le: return "<=";
  case Op::Gt: return ">";
  case Op::Ge: return ">=";
  case Op::In: return "in";
  case Op::NotIn: return "not in";
  case Op::Range: return "..";
  case Op::Coalesce: return "??";
  case Op::Add: return "+";
  case Op::Sub: return "-";
  case Op::Mul: return "*";
  case Op::Div: return "/";
  case Op::Mod: return "%";
  }
  return "";
}

class Formatter {
public:
  Formatter(const ast::Module &module, const SourceFiles &sources)
      : module_(module), text_(sources.text(module.file)), comments_(module.comments) {}

  std::string run() {
    Doc body = statements(module_.stmts, 0, static_cast<uint32_t>(text_.size()), /*module=*/true);
    std::string out = d_.print(body, Width);
    if (!out.empty()) out += '\n';
    return out;
  }

private:
  // ---- text and comments ----
  StringRef slice(SourceRange range) const { return text_.slice(range.begin, range.end); }
  Doc source(SourceRange range) { return d_.text(slice(range)); }
  Doc name(const ast::Name &name) { return source(name.range); }

  bool pending(uint32_t before) const { return cursor_ < comments_.size() && comments_[cursor_].range.begin < before; }
  StringRef commentText(const ast::Comment &comment) const { return slice(comment.range).rtrim(" \t\r"); }
  bool newlineBetween(uint32_t begin, uint32_t end) const { return begin < end && text_.slice(begin, end).contains('\n'); }
  bool blankBetween(uint32_t begin, uint32_t end) const {
    int newlines = 0;
    for (char c : text_.slice(begin, end)) {
      if (c == '\n') {
        if (++newlines == 2) return true;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        newlines = 0;
      }
    }
    return false;
  }

  // All comments before `before`, at the end of the line that is being written.
  void interior(uint32_t before, Docs &out) {
    while (pending(before)) {
      out.push_back(d_.lineSuffix(commentText(comments_[cursor_])));
      out.push_back(d_.forceBreak());
      ++cursor_;
    }
  }
  // Those inside what ends at `end` and were not placed, and those behind it on its line. Gives the end of the last.
  uint32_t trailing(uint32_t end, uint32_t limit, Docs &out) {
    interior(end, out);
    while (pending(limit) && !newlineBetween(end, comments_[cursor_].range.begin)) {
      uint32_t commentEnd = comments_[cursor_].range.end;
      interior(comments_[cursor_].range.begin + 1, out);
      end = commentEnd;
    }
    return end;
  }
  // Behind an opening bracket, whose offset is `at`: comments on its line, and any before it that found no place.
  uint32_t opening(uint32_t at, uint32_t limit, Docs &out) { return trailing(at + 1, limit, out); }

  // ---- sequences with a line for each member ----

  // Comments on lines of their own before `begin`, each with the line end after it. `previous` is the end of what was
  // written last.
  void leading(uint32_t begin, uint32_t &previous, bool &first, Docs &out) {
    while (pending(begin)) {
      const ast::Comment &comment = comments_[cursor_++];
      separate(comment.range.begin, previous, first, out);
      out.push_back(d_.text(commentText(comment)));
      out.push_back(d_.forceBreak());
      previous = comment.range.end;
      first = false;
    }
    separate(begin, previous, first, out);
  }
  void separate(uint32_t begin, uint32_t previous, bool first, Docs &out) {
    if (first) return;
    if (blankBetween(previous, begin)) out.push_back(d_.softBlank());
    out.push_back(d_.line());
  }

  // Statements between `begin` and `end`. The caller's group is broken or flat; at module level it is always broken.
  Doc statements(ArrayRef<const ast::Stmt *> stmts, uint32_t begin, uint32_t end, bool module = false) {
    Docs out;
    bool first = true;
    uint32_t previous = begin;
    for (size_t i = 0; i < stmts.size(); ++i) {
      const ast::Stmt *stmt = stmts[i];
      leading(stmt->range.begin, previous, first, out);
      out.push_back(statement(*stmt));
      first = false;
      bool last = i + 1 == stmts.size();
      if (!last && !module) out.push_back(d_.ifFlat(","));
      previous = trailing(stmt->range.end, last ? end : stmts[i + 1]->range.begin, out);
    }
    // What stands before the closing bracket.
    while (pending(end)) {
      const ast::Comment &comment = comments_[cursor_++];
      separate(comment.range.begin, previous, first, out);
      out.push_back(d_.text(commentText(comment)));
      out.push_back(d_.forceBreak());
      previous = comment.range.end;
      first = false;
    }
    return d_.concat(out);
  }

  bool startsWithNewline(const ast::Block &block) const {
    StringRef rest = text_.slice(block.range.begin + 1, block.range.end);
    rest = rest.ltrim(" \t\r");
    return rest.startswith("\n") || rest.startswith("#");
  }

  // `grouped` is false for the arms of an `if`, which break together.
  Doc block(const ast::Block &block, bool broken = false, bool grouped = true) {
    Docs parts, head;
    uint32_t inner = block.range.end > block.range.begin ? block.range.end - 1 : block.range.end;
    uint32_t begin = opening(block.range.begin, inner, head);
    Doc body = statements(block.stmts, begin, inner);
    if (body.empty() && head.empty()) return d_.text("{}");
    if (body.empty()) { // a comment on the line of `{` and nothing else
      parts.push_back(d_.text("{"));
      parts.append(head.begin(), head.end());
      parts.push_back(d_.hardLine());
      parts.push_back(d_.text("}"));
      return d_.concat(parts);
    }
    parts.push_back(d_.text("{"));
    parts.append(head.begin(), head.end());
    if (broken || startsWithNewline(block)) parts.push_back(d_.forceBreak());
    parts.push_back(d_.indent(d_.concat({d_.line(), body})));
    parts.push_back(d_.line());
    parts.push_back(d_.text("}"));
    return grouped ? d_.group(d_.concat(parts)) : d_.concat(parts);
  }

  // Members of `( )` or `[ ]`. `makers` builds member i; its range comes from `rangeOf`.
  template <typename RangeOf, typename Make>
  Doc bracketed(StringRef open, StringRef close, uint32_t openAt, uint32_t closeAt, size_t count, RangeOf rangeOf, Make make,
                bool lastIsBlock) {
    Docs head;
    uint32_t previous = opening(openAt, closeAt, head);
    if (count == 0 && head.empty() && !pending(closeAt)) return d_.concat({d_.text(open), d_.text(close)});
    // A block at the end opens on the line of the bracket and closes on that of the closing one, unless comments need lines.
    bool hug = lastIsBlock && head.empty() && !pending(closeAt > 0 ? rangeOf(count - 1).begin : 0);
    if (hug) {
      // Comments behind the last block but before the bracket would have no line either.
      for (size_t i = cursor_; hug && i < comments_.size() && comments_[i].range.begin < closeAt; ++i)
        hug = comments_[i].range.begin < rangeOf(count - 1).end;
    }
    if (hug) {
      Docs parts{d_.text(open)};
      bool onlyLast = true;
      for (size_t i = 0; i < count; ++i) {
        Doc member = make(i);
        if (i + 1 < count && d_.breaks(member)) onlyLast = false;
        parts.push_back(member);
        if (i + 1 < count) parts.push_back(d_.text(", "));
      }
      parts.push_back(d_.text(close));
      // Several broken members: one line each, below. Their documents are made already, so reuse them.
      if (onlyLast) return d_.concat(parts);
      Docs lines;
      for (size_t i = 0; i < count; ++i) {
        lines.push_back(i ? d_.line() : d_.softLine());
        lines.push_back(parts[1 + 2 * i]);
        lines.push_back(i + 1 < count ? d_.text(",") : d_.ifBroken(","));
      }
      return d_.group(d_.concat({d_.text(open), d_.indent(d_.concat(lines)), d_.softLine(), d_.text(close)}));
    }
    Docs parts{d_.text(open)};
    parts.append(head.begin(), head.end());
    Docs lines;
    bool first = true;
    for (size_t i = 0; i < count; ++i) {
      SourceRange range = rangeOf(i);
      leading(range.begin, previous, first, lines);
      lines.push_back(make(i));
      first = false;
      bool last = i + 1 == count;
      lines.push_back(last ? d_.ifBroken(",") : d_.text(","));
      previous = trailing(range.end, last ? closeAt : rangeOf(i + 1).begin, lines);
    }
    while (pending(closeAt)) {
      const ast::Comment &comment = comments_[cursor_++];
      separate(comment.range.begin, previous, first, lines);
      lines.push_back(d_.text(commentText(comment)));
      lines.push_back(d_.forceBreak());
      previous = comment.range.end;
      first = false;
    }
    if (lines.empty()) {
      parts.push_back(d_.hardLine());
    } else {
      parts.push_back(d_.indent(d_.concat({d_.softLine(), d_.concat(lines)})));
      parts.push_back(d_.softLine());
    }
    parts.push_back(d_.text(close));
    return d_.group(d_.concat(parts));
  }

  static bool isBlock(const ast::Expr *expr) {
    if (auto *with = ast::as<ast::With>(expr)) return !with->block->stmts.empty();
    auto *block = ast::as<ast::Block>(expr);
    return block && !block->stmts.empty();
  }

  // ---- statements ----

  Doc path(const ast::Path &path) {
    Docs out;
    for (size_t i = 0; i < path.parts.size(); ++i) {
      if (i) out.push_back(d_.text("."));
      out.push_back(name(path.parts[i]));
    }
    return d_.concat(out);
  }

  // `where`, `else` and the like: on the same line, or on the next one, indented.
  Doc clause(StringRef word, const ast::Expr *expr) {
    if (!expr) return {};
    return d_.concat({d_.line(), d_.text(word), d_.text(" "), expression(*expr)});
  }

  Doc binding(const ast::Binding &binding) {
    Docs out{d_.text("for "), name(binding.first)};
    if (!binding.second.text.empty()) {
      out.push_back(d_.text(", "));
      out.push_back(name(binding.second));
    }
    out.push_back(d_.text(" in "));
    out.push_back(expression(*binding.range));
    return d_.concat(out);
  }

  Doc ifStatement(const ast::If &head) {
    bool broken = false;
    for (const ast::If *at = &head; at; at = ast::as<ast::If>(at->elseIf)) {
      broken |= startsWithNewline(*at->then);
      if (at->otherwise) broken |= startsWithNewline(*at->otherwise);
    }
    Docs out;
    for (const ast::If *at = &head; at; at = ast::as<ast::If>(at->elseIf)) {
      out.push_back(d_.text(at == &head ? "if " : " else if "));
      out.push_back(expression(*at->condition));
      out.push_back(d_.text(" "));
      out.push_back(block(*at->then, broken, false));
      if (!at->otherwise) continue;
      out.push_back(d_.text(" else "));
      out.push_back(block(*at->otherwise, broken, false));
    }
    return d_.group(d_.concat(out));
  }

  Doc statement(const ast::Stmt &stmt) {
    switch (stmt.kind) {
    case ast::StmtKind::Field: {
      auto &field = static_cast<const ast::Field &>(stmt);
      return d_.concat({path(field.target), d_.text(field.append ? " += " : " = "), expression(*field.value)});
    }
    case ast::StmtKind::BlockField: {
      auto &field = static_cast<const ast::BlockField &>(stmt);
      return d_.concat({path(field.target), d_.text(" "), block(*field.block)});
    }
    case ast::StmtKind::Decl: {
      auto &decl = static_cast<const ast::Decl &>(stmt);
      Docs out{name(decl.kindName), d_.text(" ")};
      out.push_back(decl.interpolatedName ? source(decl.interpolatedName->range) : name(decl.name));
      if (decl.base) {
        out.push_back(d_.text(" extends "));
        out.push_back(path(*decl.base));
      }
      out.push_back(d_.text(" "));
      out.push_back(block(*decl.block));
      return d_.concat(out);
    }
    case ast::StmtKind::Import: {
      auto &import = static_cast<const ast::Import &>(stmt);
      Docs out{d_.text("import "), import.module ? path(*import.module) : name(import.file)};
      if (!import.alias.text.empty()) {
        out.push_back(d_.text(" as "));
        out.push_back(name(import.alias));
      }
      return d_.concat(out);
    }
    case ast::StmtKind::Param: {
      auto &param = static_cast<const ast::Param &>(stmt);
      Docs out{d_.text("param "), name(param.name), d_.text(": "), type(*param.type)};
      if (param.value) {
        out.push_back(d_.text(" = "));
        out.push_back(expression(*param.value));
      }
      out.push_back(d_.indent(clause("where", param.condition)));
      return d_.group(d_.concat(out));
    }
    case ast::StmtKind::Let: {
      auto &let = static_cast<const ast::Let &>(stmt);
      Docs out{d_.text("let "), name(let.name)};
      if (let.type) {
        out.push_back(d_.text(": "));
        out.push_back(type(*let.type));
      }
      out.push_back(d_.text(" = "));
      out.push_back(expression(*let.value));
      return d_.concat(out);
    }
    case ast::StmtKind::Fn: {
      auto &fn = static_cast<const ast::Fn &>(stmt);
      Docs out{d_.text("fn "), name(fn.name)};
      uint32_t open = static_cast<uint32_t>(text_.find('(', fn.name.range.end));
      uint32_t close = open;
      // The closing one stands before `->`; between them are only blanks and comments.
      for (uint32_t at = open; at < fn.result->range.begin; ++at)
        if (text_[at] == ')' && !insideComment(at)) close = at;
      out.push_back(bracketed(
          "(", ")", open, close, fn.params.size(), [&](size_t i) { return paramRange(fn.params[i]); },
          [&](size_t i) { return parameter(fn.params[i]); }, false));
      out.push_back(d_.text(" -> "));
      out.push_back(type(*fn.result));
      // A body that does not fit behind it goes on the next line; `=` lets it.
      out.push_back(d_.text(" ="));
      bool hugs = isBlock(fn.body) || ast::as<ast::List>(fn.body) || ast::as<ast::Comprehension>(fn.body) || ast::as<ast::Call>(fn.body);
      Doc body = expression(*fn.body);
      out.push_back(hugs ? d_.concat({d_.text(" "), body}) : d_.group(d_.indent(d_.concat({d_.line(), body}))));
      return d_.concat(out);
    }
    case ast::StmtKind::TypeDecl: {
      auto &decl = static_cast<const ast::TypeDecl &>(stmt);
      return d_.group(d_.concat({d_.text("type "), name(decl.name), d_.text(" = "), type(*decl.type),
                                 d_.indent(clause("where", decl.condition))}));
    }
    case ast::StmtKind::Assert: {
      auto &assertion = static_cast<const ast::Assert &>(stmt);
      Doc condition = expression(*assertion.condition);
      return d_.group(d_.concat({d_.text("assert "), condition, d_.indent(clause("else", assertion.message))}));
    }
    case ast::StmtKind::If: return ifStatement(static_cast<const ast::If &>(stmt));
    case ast::StmtKind::For: {
      auto &loop = static_cast<const ast::For &>(stmt);
      Doc head = binding(loop.binding);
      return d_.concat({head, d_.text(" "), block(*loop.block)});
    }
    case ast::StmtKind::Annotation: {
      auto &annotation = static_cast<const ast::Annotation &>(stmt);
      Docs out{d_.text("@"), name(annotation.name)};
      uint32_t end = annotation.name.range.end;
      if (annotation.hasArgs) {
        uint32_t open = static_cast<uint32_t>(text_.find('(', end));
        uint32_t from = annotation.args.empty() ? open + 1 : annotation.args.back().value->range.end;
        uint32_t close = closing(from, ')');
        out.push_back(arguments(annotation.args, open, close));
        end = close + 1;
      }
      if (annotation.target) {
        uint32_t previous = trailing(end, annotation.target->range.begin, out);
        bool first = false;
        leading(annotation.target->range.begin, previous, first, out);
        out.push_back(statement(*annotation.target));
      }
      return d_.concat(out);
    }
    case ast::StmtKind::ErrorStmt: return source(stmt.range);
    }
    return {};
  }

  bool insideComment(uint32_t at) const {
    auto after = std::upper_bound(comments_.begin(), comments_.end(), at,
                                  [](uint32_t at, const ast::Comment &comment) { return at < comment.range.begin; });
    return after != comments_.begin() && std::prev(after)->range.end > at;
  }
  // The next `bracket` at or after `from` that is not in a comment; only blanks, commas and comments stand before it.
  uint32_t closing(uint32_t from, char bracket) const {
    uint32_t at = from;
    while (at < text_.size() && (text_[at] != bracket || insideComment(at))) ++at;
    return at;
  }

  SourceRange paramRange(const ast::FnParam &param) const {
    SourceRange range = join(param.name.range, param.type->range);
    if (param.value) range = join(range, param.value->range);
    if (param.condition) range = join(range, param.condition->range);
    return range;
  }
  Doc parameter(const ast::FnParam &param) {
    Docs out{name(param.name), d_.text(": "), type(*param.type)};
    if (param.value) {
      out.push_back(d_.text(" = "));
      out.push_back(expression(*param.value));
    }
    if (param.condition) out.push_back(d_.concat({d_.text(" where "), expression(*param.condition)}));
    return d_.concat(out);
  }

  Doc arguments(ArrayRef<ast::Argument> args, uint32_t open, uint32_t close) {
    return bracketed(
        "(", ")", open, close, args.size(),
        [&](size_t i) {
          return args[i].name.text.empty() ? args[i].value->range : join(args[i].name.range, args[i].value->range);
        },
        [&](size_t i) {
          if (args[i].name.text.empty()) return expression(*args[i].value);
          return d_.concat({name(args[i].name), d_.text(" = "), expression(*args[i].value)});
        },
        !args.empty() && isBlock(args.back().value));
  }

  // ---- types ----

  Doc type(const ast::Type &type) {
    switch (type.kind) {
    case ast::TypeKind::NamedType: return path(static_cast<const ast::NamedType &>(type).path);
    case ast::TypeKind::ListType:
      return d_.concat({d_.text("list<"), this->type(*static_cast<const ast::ListType &>(type).element), d_.text(">")});
    case ast::TypeKind::MapType:
      return d_.concat({d_.text("map<"), this->type(*static_cast<const ast::MapType &>(type).element), d_.text(">")});
    case ast::TypeKind::OptionalType:
      return d_.concat({this->type(*static_cast<const ast::OptionalType &>(type).element), d_.text("?")});
    case ast::TypeKind::ChoiceType: {
      auto &choice = static_cast<const ast::ChoiceType &>(type);
      // Strings and other types stand in two lists; the text has their common order.
      Docs out;
      size_t a = 0, b = 0;
      while (a < choice.strings.size() || b < choice.others.size()) {
        if (!out.empty()) out.push_back(d_.text(" | "));
        if (b == choice.others.size() ||
            (a < choice.strings.size() && choice.strings[a].range.begin < choice.others[b]->range.begin))
          out.push_back(name(choice.strings[a++]));
        else
          out.push_back(this->type(*choice.others[b++]));
      }
      return d_.concat(out);
    }
    case ast::TypeKind::RecordType: {
      auto &record = static_cast<const ast::RecordType &>(type);
      uint32_t close = record.range.end - 1;
      Docs head;
      uint32_t previous = opening(record.range.begin, close, head);
      if (record.fields.empty() && head.empty() && !pending(close)) return d_.text("{}");
      Docs lines;
      bool first = true;
      for (size_t i = 0; i < record.fields.size(); ++i) {
        const ast::RecordField &field = record.fields[i];
        leading(field.name.range.begin, previous, first, lines);
        Docs one{name(field.name), d_.text(": "), this->type(*field.type)};
        if (field.value) {
          one.push_back(d_.text(" = "));
          one.push_back(expression(*field.value));
        }
        lines.push_back(d_.concat(one));
        first = false;
        bool last = i + 1 == record.fields.size();
        if (!last) lines.push_back(d_.ifFlat(","));
        previous = trailing(field.value ? field.value->range.end : field.type->range.end,
                            last ? close : record.fields[i + 1].name.range.begin, lines);
      }
      while (pending(close)) {
        const ast::Comment &comment = comments_[cursor_++];
        separate(comment.range.begin, previous, first, lines);
        lines.push_back(d_.text(commentText(comment)));
        lines.push_back(d_.forceBreak());
        previous = comment.range.end;
        first = false;
      }
      StringRef rest = text_.slice(record.range.begin + 1, record.range.end).ltrim(" \t\r");
      Docs parts{d_.text("{")};
      parts.append(head.begin(), head.end());
      if (rest.startswith("\n")) parts.push_back(d_.forceBreak());
      parts.push_back(d_.indent(d_.concat({d_.line(), d_.concat(lines)})));
      parts.push_back(d_.line());
      parts.push_back(d_.text("}"));
      return d_.group(d_.concat(parts));
    }
    case ast::TypeKind::ErrorType: return source(type.range);
    }
    return {};
  }

  // ---- expressions ----

  Doc binary(const ast::Binary &top) {
    // The operands of one level, left to right: `a + b - c` is a chain of three.
    SmallVector<const ast::Binary *, 8> chain;
    const ast::Expr *first = &top;
    while (auto *node = ast::as<ast::Binary>(first)) {
      if (!chain.empty() && precedence(node->op) != precedence(top.op)) break;
      chain.push_back(node);
      first = node->left;
    }
    Docs out{expression(*first)}, rest;
    for (size_t i = chain.size(); i-- > 0;) {
      const ast::Binary &node = *chain[i];
      if (node.op == ast::BinaryOp::Range) {
        rest.push_back(d_.text(".."));
        rest.push_back(expression(*node.right));
        continue;
      }
      // Comments between two operands: behind the first, or on lines of their own before the next.
      uint32_t previous = trailing(node.left->range.end, node.right->range.begin, rest);
      (void)previous;
      while (pending(node.right->range.begin)) {
        rest.push_back(d_.line());
        rest.push_back(d_.text(commentText(comments_[cursor_++])));
        rest.push_back(d_.forceBreak());
      }
      // `in` and `not` at the start of a line could be read as something else.
      bool stays = node.op == ast::BinaryOp::In || node.op == ast::BinaryOp::NotIn;
      rest.push_back(stays ? d_.text(" ") : d_.line());
      rest.push_back(d_.text(spelling(node.op)));
      rest.push_back(d_.text(" "));
      rest.push_back(expression(*node.right));
    }
    out.push_back(d_.indent(d_.concat(rest)));
    return d_.group(d_.concat(out));
  }

  // name, call, index, member, `with`: from the inside out.
  Doc postfix(const ast::Expr &top) {
    SmallVector<const ast::Expr *, 8> chain;
    const ast::Expr *base = &top;
    auto inner = [](const ast::Expr *expr) -> const ast::Expr * {
      if (auto *member = ast::as<ast::Member>(expr)) return member->object;
      if (auto *call = ast::as<ast::Call>(expr)) return call->callee;
      if (auto *index = ast::as<ast::Index>(expr)) return index->object;
      if (auto *with = ast::as<ast::With>(expr)) return with->object;
      return nullptr;
    };
    while (const ast::Expr *next = inner(base)) {
      chain.push_back(base);
      base = next;
    }
    Docs out{expression(*base)};
    for (size_t i = chain.size(); i-- > 0;) {
      const ast::Expr *expr = chain[i];
      if (auto *member = ast::as<ast::Member>(expr)) {
        out.push_back(d_.text("."));
        out.push_back(name(member->name));
      } else if (auto *call = ast::as<ast::Call>(expr)) {
        uint32_t open = closing(call->callee->range.end, '(');
        out.push_back(arguments(call->args, open, call->range.end - 1));
      } else if (auto *index = ast::as<ast::Index>(expr)) {
        out.push_back(d_.text("["));
        out.push_back(expression(*index->index));
        out.push_back(d_.text("]"));
      } else if (auto *with = ast::as<ast::With>(expr)) {
        out.push_back(d_.text(" with "));
        out.push_back(block(*with->block));
      }
    }
    return d_.concat(out);
  }

  // A string keeps its spelling. The lines of a `"""` block move with the statement: their indentation is measured from
  // the closing line, so all of them move by the same amount.
  Doc string(const ast::StringLiteral &literal) {
    StringRef text = slice(literal.range);
    if (!text.contains('\n')) return d_.text(text);
    SmallVector<StringRef, 16> lines;
    text.split(lines, '\n');
    StringRef last = lines.back();
    StringRef margin = last.take_while([](char c) { return c == ' ' || c == '\t'; });
    bool moves = last.drop_front(margin.size()).startswith("\"\"\"");
    for (const ast::StringPart &part : literal.parts)
      if (part.value && slice(part.value->range).contains('\n')) moves = false; // its lines are no lines of the text
    for (StringRef line : ArrayRef<StringRef>(lines).drop_front())
      if (!line.startswith(margin) && !line.trim(" \t\r").empty()) moves = false;
    Docs out;
    for (size_t i = 0; i < lines.size(); ++i) {
      StringRef line = lines[i];
      line.consume_back("\r");
      if (i == 0) {
        out.push_back(d_.text(line));
        continue;
      }
      if (!moves) {
        out.push_back(d_.bareLine());
        out.push_back(d_.text(line));
        continue;
      }
      line = line.startswith(margin) ? line.drop_front(margin.size()) : StringRef();
      out.push_back(line.empty() ? d_.bareLine() : d_.stringLine());
      out.push_back(d_.text(line));
    }
    return d_.indent(d_.concat(out));
  }

  Doc expression(const ast::Expr &expr) {
    switch (expr.kind) {
    case ast::ExprKind::IntLiteral:
    case ast::ExprKind::FloatLiteral:
    case ast::ExprKind::AmountLiteral:
    case ast::ExprKind::DurationLiteral:
    case ast::ExprKind::BoolLiteral:
    case ast::ExprKind::NullLiteral:
    case ast::ExprKind::NameRef:
    case ast::ExprKind::Self:
    case ast::ExprKind::ErrorExpr: return source(expr.range);
    case ast::ExprKind::StringLiteral: return string(static_cast<const ast::StringLiteral &>(expr));
    case ast::ExprKind::Paren: {
      auto &paren = static_cast<const ast::Paren &>(expr);
      Docs head;
      uint32_t previous = opening(expr.range.begin, expr.range.end - 1, head);
      bool first = true;
      Docs inner;
      leading(paren.inner->range.begin, previous, first, inner);
      inner.push_back(expression(*paren.inner));
      first = false;
      previous = trailing(paren.inner->range.end, expr.range.end - 1, inner);
      while (pending(expr.range.end - 1)) {
        const ast::Comment &comment = comments_[cursor_++];
        inner.push_back(d_.line());
        inner.push_back(d_.text(commentText(comment)));
        inner.push_back(d_.forceBreak());
      }
      Docs parts{d_.text("(")};
      parts.append(head.begin(), head.end());
      parts.push_back(d_.indent(d_.concat({d_.softLine(), d_.concat(inner)})));
      parts.push_back(d_.softLine());
      parts.push_back(d_.text(")"));
      return d_.group(d_.concat(parts));
    }
    case ast::ExprKind::Block: return block(static_cast<const ast::Block &>(expr));
    case ast::ExprKind::List: {
      auto &list = static_cast<const ast::List &>(expr);
      return bracketed(
          "[", "]", expr.range.begin, expr.range.end - 1, list.items.size(), [&](size_t i) { return list.items[i]->range; },
          [&](size_t i) { return expression(*list.items[i]); }, list.items.size() == 1 && isBlock(list.items[0]));
    }
    case ast::ExprKind::Comprehension: {
      auto &comprehension = static_cast<const ast::Comprehension &>(expr);
      Docs parts{d_.text("[")}, inner;
      uint32_t previous = opening(expr.range.begin, expr.range.end - 1, parts);
      bool first = true;
      leading(comprehension.item->range.begin, previous, first, inner);
      inner.push_back(expression(*comprehension.item));
      previous = trailing(comprehension.item->range.end, comprehension.bindings.front().first.range.begin, inner);
      first = false;
      for (const ast::Binding &each : comprehension.bindings) {
        leading(each.first.range.begin, previous, first, inner);
        inner.push_back(binding(each));
        previous = each.range->range.end;
        interior(previous, inner);
      }
      if (comprehension.condition) {
        leading(comprehension.condition->range.begin, previous, first, inner);
        inner.push_back(d_.text("if "));
        inner.push_back(expression(*comprehension.condition));
      }
      interior(expr.range.end, inner);
      parts.push_back(d_.indent(d_.concat({d_.softLine(), d_.concat(inner)})));
      parts.push_back(d_.softLine());
      parts.push_back(d_.text("]"));
      return d_.group(d_.concat(parts));
    }
    case ast::ExprKind::IfExpr: {
      // An `else if` chain stays level: each arm on a line of its own where they do not fit on one.
      Docs arms;
      const ast::Expr *at = &expr;
      bool first = true;
      bool chained = ast::as<ast::IfExpr>(static_cast<const ast::IfExpr &>(expr).otherwise) != nullptr;
      while (auto *branch = ast::as<ast::IfExpr>(at)) {
        Doc condition = expression(*branch->condition);
        Doc then = expression(*branch->then);
        Docs after;
        interior(branch->then->range.end, after);
        Doc head = d_.concat({d_.text(first ? "if " : "else if "), condition});
        Doc rest = d_.concat({d_.line(), d_.text("then "), then});
        // In a chain an arm is a line where it fits on one.
        Doc arm = chained ? d_.group(d_.concat({head, d_.indent(rest)})) : d_.concat({head, rest});
        arms.push_back(first ? arm : d_.concat({d_.line(), arm}));
        arms.append(after.begin(), after.end());
        first = false;
        at = branch->otherwise;
      }
      arms.push_back(d_.concat({d_.line(), d_.text("else "), expression(*at)}));
      return d_.group(d_.indent(d_.concat(arms)));
    }
    case ast::ExprKind::Unary: {
      Docs out;
      const ast::Expr *at = &expr;
      while (auto *unary = ast::as<ast::Unary>(at)) {
        out.push_back(d_.text(unary->op == ast::UnaryOp::Not ? "not " : "-"));
        at = unary->operand;
      }
      out.push_back(expression(*at));
      return d_.concat(out);
    }
    case ast::ExprKind::Binary: return binary(static_cast<const ast::Binary &>(expr));
    case ast::ExprKind::Member:
    case ast::ExprKind::Call:
    case ast::ExprKind::Index:
    case ast::ExprKind::With: return postfix(expr);
    }
    return {};
  }

  const ast::Module &module_;
  StringRef text_;
  ArrayRef<ast::Comment> comments_;
  size_t cursor_ = 0;
  Documents d_;
};

// How often each byte occurs, blanks, line ends and commas aside: the formatter changes nothing else.
std::array<size_t, 256> histogram(StringRef text) {
  std::array<size_t, 256> counts{};
  for (char c : text) ++counts[static_cast<unsigned char>(c)];
  for (char c : {' ', '\t', '\r', '\n', ','}) counts[static_cast<unsigned char>(c)] = 0;
  return counts;
}

} // namespace

std::string format(const ast::Module &module, const SourceFiles &sources) {
  StringRef text = sources.text(module.file);
  std::string out = Formatter(module, sources).run();
  text.consume_front("\xEF\xBB\xBF"); // a byte order mark says nothing in UTF-8
  KFT_CHECK(histogram(text) == histogram(out), "the formatter changes blanks, line ends and commas only");
  return out;
}

} // namespace kft::format

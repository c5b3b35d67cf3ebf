#include "compiler/ast/print.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

#include <cstdio>

namespace kft::ast {

namespace {

const char *nameOf(StmtKind kind) {
  switch (kind) {
#define KFT_STMT(Name) case StmtKind::Name: return #Name;
#include "compiler/ast/nodes.def"
  }
  return "";
}
const char *nameOf(ExprKind kind) {
  switch (kind) {
#define KFT_EXPR(Name) case ExprKind::Name: return #Name;
#include "compiler/ast/nodes.def"
  }
  return "";
}
const char *nameOf(TypeKind kind) {
  switch (kind) {
#define KFT_TYPE(Name) case TypeKind::Name: return #Name;
#include "compiler/ast/nodes.def"
  }
  return "";
}

const char *spelling(BinaryOp op) {
  switch (op) {
  case BinaryOp::Or: return "or";
  case BinaryOp::And: return "and";
  case BinaryOp::Eq: return "==";
  case BinaryOp::Ne: return "!=";
  case BinaryOp::Lt: return "<";
  case BinaryOp::Le: return "<=";
  case BinaryOp::Gt: return ">";
  case BinaryOp::Ge: return ">=";
  case BinaryOp::In: return "in";
  case BinaryOp::NotIn: return "not in";
  case BinaryOp::Range: return "..";
  case BinaryOp::Coalesce: return "??";
  case BinaryOp::Add: return "+";
  case BinaryOp::Sub: return "-";
  case BinaryOp::Mul: return "*";
  case BinaryOp::Div: return "/";
  case BinaryOp::Mod: return "%";
  }
  return "";
}

std::string quoted(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\', result += c;
    else if (c == '\n') result += "\\n";
    else if (c == '\t') result += "\\t";
    else if (c == '\r') result += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20) result += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(c));
    else result += c;
  }
  return result + "\"";
}

class Printer {
public:
  std::string out;

  void module(const Module &module) {
    line("Module");
    Nest nest(*this);
    if (!module.doc.empty()) line("doc " + quoted(module.doc));
    for (const Stmt *s : module.stmts) stmt(s);
  }

  void expr(const Expr *e, StringRef role = {}) {
    if (!e) return;
    std::string head = role.empty() ? "" : (role + ": ").str();
    head += nameOf(e->kind);
    switch (e->kind) {
    case ExprKind::IntLiteral: return line(head + " " + std::to_string(static_cast<const IntLiteral *>(e)->value));
    case ExprKind::FloatLiteral: return line(head + fmt::format(" {}", static_cast<const FloatLiteral *>(e)->value));
    case ExprKind::AmountLiteral: return line(head + " " + static_cast<const AmountLiteral *>(e)->text.str());
    case ExprKind::DurationLiteral:
      return line(head + fmt::format(" {}ms", static_cast<const DurationLiteral *>(e)->milliseconds));
    case ExprKind::BoolLiteral: return line(head + (static_cast<const BoolLiteral *>(e)->value ? " true" : " false"));
    case ExprKind::NullLiteral: case ExprKind::Self: case ExprKind::ErrorExpr: return line(head);
    case ExprKind::NameRef: return line(head + " " + static_cast<const NameRef *>(e)->name.str());
    case ExprKind::StringLiteral: {
      const auto *node = static_cast<const StringLiteral *>(e);
      static const char *forms[] = {"", " triple", " raw", " raw triple"};
      head += forms[static_cast<int>(node->form)];
      bool plain = llvm::all_of(node->parts, [](const StringPart &part) { return !part.value; });
      if (plain) return line(head + " " + quoted(node->parts.empty() ? StringRef() : node->parts[0].text));
      line(head);
      Nest nest(*this);
      for (const StringPart &part : node->parts) part.value ? expr(part.value) : line("text " + quoted(part.text));
      return;
    }
    case ExprKind::Paren: line(head); return within([&] { expr(static_cast<const Paren *>(e)->inner); });
    case ExprKind::Block: line(head); return within([&] { body(static_cast<const Block *>(e)); });
    case ExprKind::List:
      line(head);
      return within([&] {
        for (const Expr *item : static_cast<const List *>(e)->items) expr(item);
      });
    case ExprKind::Comprehension: {
      const auto *node = static_cast<const Comprehension *>(e);
      line(head);
      Nest nest(*this);
      expr(node->item, "item");
      for (const Binding &b : node->bindings) binding(b);
      expr(node->condition, "if");
      return;
    }
    case ExprKind::IfExpr: {
      // A chain of `else if` is a list, not a staircase.
      const auto *node = static_cast<const IfExpr *>(e);
      line(head);
      Nest nest(*this);
      while (true) {
        expr(node->condition, "if");
        expr(node->then, "then");
        const auto *next = as<IfExpr>(node->otherwise);
        if (!next) break;
        line("else");
        node = next;
      }
      expr(node->otherwise, "else");
      return;
    }
    case ExprKind::Unary: {
      const auto *node = static_cast<const Unary *>(e);
      line(head + (node->op == UnaryOp::Not ? " not" : " -"));
      return within([&] { expr(node->operand); });
    }
    case ExprKind::Binary: {
      const auto *node = static_cast<const Binary *>(e);
      line(head + " " + spelling(node->op));
      Nest nest(*this);
      expr(node->left);
      expr(node->right);
      return;
    }
    case ExprKind::Member: {
      const auto *node = static_cast<const Member *>(e);
      line(head + " " + text(node->name));
      return within([&] { expr(node->object); });
    }
    case ExprKind::Call: {
      const auto *node = static_cast<const Call *>(e);
      line(head);
      Nest nest(*this);
      expr(node->callee, "callee");
      arguments(node->args);
      return;
    }
    case ExprKind::Index: {
      const auto *node = static_cast<const Index *>(e);
      line(head);
      Nest nest(*this);
      expr(node->object);
      expr(node->index, "at");
      return;
    }
    case ExprKind::With: {
      const auto *node = static_cast<const With *>(e);
      line(head);
      Nest nest(*this);
      expr(node->object);
      expr(node->block);
      return;
    }
    }
  }

private:
  struct Nest {
    explicit Nest(Printer &printer) : printer(printer) { ++printer.depth_; }
    ~Nest() { --printer.depth_; }
    Printer &printer;
  };
  template <typename F>
  void within(F f) {
    Nest nest(*this);
    f();
  }
  void line(const std::string &text) {
    out.append(2 * depth_, ' ');
    out += text;
    out += '\n';
  }
  static std::string text(const Name &name) { return name.quoted ? quoted(name.text) : name.text.str(); }
  static std::string text(const Path &path) {
    std::string result;
    for (const Name &part : path.parts) result += (result.empty() ? "" : ".") + text(part);
    return result;
  }

  // Names that are computed.
  void keys(const Path &path) {
    for (const Name &part : path.parts)
      if (part.interpolated) expr(part.interpolated, "key");
  }

  void body(const Block *block) {
    for (const Stmt *s : block->stmts) stmt(s);
  }
  void binding(const Binding &b) {
    line("for " + text(b.first) + (b.second.text.empty() ? "" : ", " + text(b.second)));
    within([&] { expr(b.range, "in"); });
  }
  void arguments(ArrayRef<Argument> args) {
    for (const Argument &arg : args) expr(arg.value, arg.name.text.empty() ? "arg" : "arg " + arg.name.text.str());
  }

  void type(const Type *t, StringRef role = {}) {
    if (!t) return;
    std::string head = role.empty() ? "" : (role + ": ").str();
    head += nameOf(t->kind);
    switch (t->kind) {
    case TypeKind::NamedType: return line(head + " " + text(static_cast<const NamedType *>(t)->path));
    case TypeKind::ListType: line(head); return within([&] { type(static_cast<const ListType *>(t)->element); });
    case TypeKind::MapType: line(head); return within([&] { type(static_cast<const MapType *>(t)->element); });
    case TypeKind::OptionalType: line(head); return within([&] { type(static_cast<const OptionalType *>(t)->element); });
    case TypeKind::ChoiceType: {
      const auto *node = static_cast<const ChoiceType *>(t);
      for (const Name &name : node->strings) head += " " + quoted(name.text);
      line(head);
      Nest nest(*this);
      for (const Type *other : node->others) type(other);
      return;
    }
    case TypeKind::RecordType: {
      line(head);
      Nest nest(*this);
      for (const RecordField &field : static_cast<const RecordType *>(t)->fields) {
        line("field " + text(field.name));
        Nest inner(*this);
        if (!field.doc.empty()) line("doc " + quoted(field.doc));
        type(field.type);
        expr(field.value, "default");
      }
      return;
    }
    case TypeKind::ErrorType: return line(head);
    }
  }

  void stmt(const Stmt *s) {
    std::string head = nameOf(s->kind);
    auto start = [&](const std::string &rest) {
      line(head + rest);
      if (!s->doc.empty()) within([&] { line("doc " + quoted(s->doc)); });
    };
    switch (s->kind) {
    case StmtKind::Field: {
      const auto *node = static_cast<const Field *>(s);
      start(" " + text(node->target) + (node->append ? " +=" : " ="));
      return within([&] {
        keys(node->target);
        expr(node->value);
      });
    }
    case StmtKind::BlockField: {
      const auto *node = static_cast<const BlockField *>(s);
      start(" " + text(node->target));
      return within([&] {
        keys(node->target);
        body(node->block);
      });
    }
    case StmtKind::Decl: {
      const auto *node = static_cast<const Decl *>(s);
      start(" " + text(node->kindName) + (node->interpolatedName ? "" : " " + text(node->name)) +
            (node->base ? " extends " + text(*node->base) : ""));
      Nest nest(*this);
      expr(node->interpolatedName, "name");
      body(node->block);
      return;
    }
    case StmtKind::Import: {
      const auto *node = static_cast<const Import *>(s);
      return start(" " + (node->module ? text(*node->module) : quoted(node->file.text)) +
                   (node->alias.text.empty() ? "" : " as " + node->alias.text.str()));
    }
    case StmtKind::Param: {
      const auto *node = static_cast<const Param *>(s);
      start(" " + text(node->name));
      Nest nest(*this);
      type(node->type);
      expr(node->value, "default");
      expr(node->condition, "where");
      return;
    }
    case StmtKind::Let: {
      const auto *node = static_cast<const Let *>(s);
      start(" " + text(node->name));
      Nest nest(*this);
      type(node->type);
      expr(node->value);
      return;
    }
    case StmtKind::Fn: {
      const auto *node = static_cast<const Fn *>(s);
      start(" " + text(node->name));
      Nest nest(*this);
      for (const FnParam &param : node->params) {
        line("param " + text(param.name));
        Nest inner(*this);
        type(param.type);
        expr(param.value, "default");
        expr(param.condition, "where");
      }
      type(node->result, "result");
      expr(node->body, "body");
      return;
    }
    case StmtKind::TypeDecl: {
      const auto *node = static_cast<const TypeDecl *>(s);
      start(" " + text(node->name));
      Nest nest(*this);
      type(node->type);
      expr(node->condition, "where");
      return;
    }
    case StmtKind::Assert: {
      const auto *node = static_cast<const Assert *>(s);
      start("");
      Nest nest(*this);
      expr(node->condition);
      expr(node->message, "else");
      return;
    }
    case StmtKind::If: {
      const auto *node = static_cast<const If *>(s);
      start("");
      Nest nest(*this);
      while (true) {
        expr(node->condition, "if");
        line("then");
        within([&] { body(node->then); });
        if (!node->elseIf) break;
        line("else");
        node = static_cast<const If *>(node->elseIf);
      }
      if (node->otherwise) {
        line("else");
        within([&] { body(node->otherwise); });
      }
      return;
    }
    case StmtKind::For: {
      const auto *node = static_cast<const For *>(s);
      start("");
      Nest nest(*this);
      binding(node->binding);
      body(node->block);
      return;
    }
    case StmtKind::Annotation: {
      const auto *node = static_cast<const Annotation *>(s);
      start(" " + text(node->name));
      Nest nest(*this);
      arguments(node->args);
      if (node->target) stmt(node->target);
      return;
    }
    case StmtKind::ErrorStmt: return start("");
    }
  }

  size_t depth_ = 0;
};

} // namespace

std::string print(const Module &module) {
  Printer printer;
  printer.module(module);
  return std::move(printer.out);
}

std::string print(const Expr &expr) {
  Printer printer;
  printer.expr(&expr);
  return std::move(printer.out);
}

} // namespace kft::ast

#include "compiler/ast/walk.h"

namespace kft::ast {

namespace {

struct Walker {
  Visitor &visitor;

  void visit(const Stmt *stmt) {
    if (!stmt || !visitor.enter(*stmt)) return;
    switch (stmt->kind) {
#define KFT_STMT(Name)                                                                                                 \
  case StmtKind::Name: children(static_cast<const Name &>(*stmt)); break;
#include "compiler/ast/nodes.def"
    }
    visitor.leave(*stmt);
  }
  void visit(const Expr *expr) {
    if (!expr || !visitor.enter(*expr)) return;
    switch (expr->kind) {
#define KFT_EXPR(Name)                                                                                                 \
  case ExprKind::Name: children(static_cast<const Name &>(*expr)); break;
#include "compiler/ast/nodes.def"
    }
    visitor.leave(*expr);
  }
  void visit(const Type *type) {
    if (!type || !visitor.enter(*type)) return;
    switch (type->kind) {
#define KFT_TYPE(Name)                                                                                                 \
  case TypeKind::Name: children(static_cast<const Name &>(*type)); break;
#include "compiler/ast/nodes.def"
    }
    visitor.leave(*type);
  }

  void visit(const ast::Name &name) { visit(static_cast<const Expr *>(name.interpolated)); }
  void visit(const Path &path) {
    for (const ast::Name &part : path.parts) visit(part);
  }
  void visit(const Binding &binding) { visit(binding.range); }
  void visit(ArrayRef<Argument> args) {
    for (const Argument &arg : args) visit(arg.value);
  }
  void visit(const Block *block) { visit(static_cast<const Expr *>(block)); }

  void children(const Field &s) {
    visit(s.target);
    visit(s.value);
  }
  void children(const BlockField &s) {
    visit(s.target);
    visit(s.block);
  }
  void children(const Decl &s) {
    visit(s.kindName);
    visit(s.interpolatedName);
    visit(s.block);
  }
  void children(const Import &) {}
  void children(const Param &s) {
    visit(s.type);
    visit(s.value);
    visit(s.condition);
  }
  void children(const Let &s) {
    visit(s.type);
    visit(s.value);
  }
  void children(const Fn &s) {
    for (const FnParam &param : s.params) {
      visit(param.type);
      visit(param.value);
      visit(param.condition);
    }
    visit(s.result);
    visit(s.body);
  }
  void children(const TypeDecl &s) {
    visit(s.type);
    visit(s.condition);
  }
  void children(const Assert &s) {
    visit(s.condition);
    visit(s.message);
  }
  void children(const If &s) {
    visit(s.condition);
    visit(s.then);
    visit(s.elseIf);
    visit(s.otherwise);
  }
  void children(const For &s) {
    visit(s.binding);
    visit(s.block);
  }
  void children(const Annotation &s) {
    visit(s.args);
    visit(s.target);
  }
  void children(const ErrorStmt &) {}

  void children(const IntLiteral &) {}
  void children(const FloatLiteral &) {}
  void children(const AmountLiteral &) {}
  void children(const DurationLiteral &) {}
  void children(const BoolLiteral &) {}
  void children(const NullLiteral &) {}
  void children(const NameRef &) {}
  void children(const Self &) {}
  void children(const ErrorExpr &) {}
  void children(const StringLiteral &e) {
    for (const StringPart &part : e.parts) visit(part.value);
  }
  void children(const Paren &e) { visit(e.inner); }
  void children(const Block &e) {
    for (const Stmt *stmt : e.stmts) visit(stmt);
  }
  void children(const List &e) {
    for (const Expr *item : e.items) visit(item);
  }
  void children(const Comprehension &e) {
    visit(e.item);
    for (const Binding &binding : e.bindings) visit(binding);
    visit(e.condition);
  }
  void children(const IfExpr &e) {
    visit(e.condition);
    visit(e.then);
    visit(e.otherwise);
  }
  void children(const Unary &e) { visit(e.operand); }
  void children(const Binary &e) {
    visit(e.left);
    visit(e.right);
  }
  void children(const Member &e) {
    visit(e.object);
    visit(e.name);
  }
  void children(const Call &e) {
    visit(e.callee);
    visit(e.args);
  }
  void children(const Index &e) {
    visit(e.object);
    visit(e.index);
  }
  void children(const With &e) {
    visit(e.object);
    visit(e.block);
  }

  void children(const NamedType &) {}
  void children(const ErrorType &) {}
  void children(const ListType &t) { visit(t.element); }
  void children(const MapType &t) { visit(t.element); }
  void children(const OptionalType &t) { visit(t.element); }
  void children(const ChoiceType &t) {
    for (const Type *other : t.others) visit(other);
  }
  void children(const RecordType &t) {
    for (const RecordField &field : t.fields) {
      visit(field.type);
      visit(field.value);
    }
  }
};

} // namespace

void walk(const Module &module, Visitor &visitor) {
  for (const Stmt *stmt : module.stmts) Walker{visitor}.visit(stmt);
}
void walk(const Stmt &stmt, Visitor &visitor) { Walker{visitor}.visit(&stmt); }
void walk(const Expr &expr, Visitor &visitor) { Walker{visitor}.visit(&expr); }
void walk(const Type &type, Visitor &visitor) { Walker{visitor}.visit(&type); }

} // namespace kft::ast

// The tree of a file as text without any positions: what must be the same before and after formatting.
#pragma once

#include "compiler/ast/nodes.h"

#include <string>

namespace kft::test {

class Shape {
public:
  static std::string of(const ast::Module &module) {
    Shape shape;
    shape.text("module", module.doc);
    for (const ast::Stmt *stmt : module.stmts) shape.stmt(stmt);
    return shape.out_;
  }

private:
  std::string out_;
  void word(llvm::StringRef text) { (out_ += text) += ' '; }
  void text(llvm::StringRef label, llvm::StringRef text) { out_ += label.str() + "<" + text.str() + "> "; }
  void name(const ast::Name &name) { out_ += (name.quoted ? "q<" : "n<") + name.text.str() + "> "; }
  void path(const ast::Path &path) {
    word("path");
    for (const ast::Name &part : path.parts) name(part);
    word(";");
  }
  void open(const char *kind) {
    out_ += '(';
    word(kind);
  }
  void close() { out_ += ") "; }

  void stmts(llvm::ArrayRef<const ast::Stmt *> list) {
    for (const ast::Stmt *each : list) stmt(each);
  }
  void block(const ast::Block *block) {
    if (!block) return word("-");
    open("block");
    stmts(block->stmts);
    close();
  }
  void binding(const ast::Binding &binding) {
    name(binding.first);
    name(binding.second);
    expr(binding.range);
  }

  void stmt(const ast::Stmt *node) {
    if (!node) return word("-");
    static const char *const Kinds[] = {
#define KFT_STMT(Name) #Name,
#include "compiler/ast/nodes.def"
    };
    open(Kinds[static_cast<size_t>(node->kind)]);
    if (!node->doc.empty()) text("doc", node->doc);
    if (auto *field = ast::as<ast::Field>(node)) {
      path(field->target);
      word(field->append ? "+=" : "=");
      expr(field->value);
    } else if (auto *nested = ast::as<ast::BlockField>(node)) {
      path(nested->target);
      block(nested->block);
    } else if (auto *decl = ast::as<ast::Decl>(node)) {
      name(decl->kindName);
      name(decl->name);
      expr(decl->interpolatedName);
      if (decl->base) path(*decl->base);
      block(decl->block);
    } else if (auto *import = ast::as<ast::Import>(node)) {
      if (import->module) path(*import->module);
      name(import->file);
      name(import->alias);
    } else if (auto *param = ast::as<ast::Param>(node)) {
      name(param->name);
      type(param->type);
      expr(param->value);
      expr(param->condition);
    } else if (auto *let = ast::as<ast::Let>(node)) {
      name(let->name);
      type(let->type);
      expr(let->value);
    } else if (auto *fn = ast::as<ast::Fn>(node)) {
      name(fn->name);
      for (const ast::FnParam &param : fn->params) {
        name(param.name);
        type(param.type);
        expr(param.value);
        expr(param.condition);
      }
      type(fn->result);
      expr(fn->body);
    } else if (auto *decl = ast::as<ast::TypeDecl>(node)) {
      name(decl->name);
      type(decl->type);
      expr(decl->condition);
    } else if (auto *assertion = ast::as<ast::Assert>(node)) {
      expr(assertion->condition);
      expr(assertion->message);
    } else if (auto *branch = ast::as<ast::If>(node)) {
      expr(branch->condition);
      block(branch->then);
      stmt(branch->elseIf);
      block(branch->otherwise);
    } else if (auto *loop = ast::as<ast::For>(node)) {
      binding(loop->binding);
      block(loop->block);
    } else if (auto *annotation = ast::as<ast::Annotation>(node)) {
      name(annotation->name);
      word(annotation->hasArgs ? "args" : "bare");
      args(annotation->args);
      stmt(annotation->target);
    }
    close();
    out_ += '\n';
  }
  void args(llvm::ArrayRef<ast::Argument> args) {
    for (const ast::Argument &arg : args) {
      name(arg.name);
      expr(arg.value);
    }
  }

  void type(const ast::Type *node) {
    if (!node) return word("-");
    static const char *const Kinds[] = {
#define KFT_TYPE(Name) #Name,
#include "compiler/ast/nodes.def"
    };
    open(Kinds[static_cast<size_t>(node->kind)]);
    if (auto *named = ast::as<ast::NamedType>(node)) {
      path(named->path);
    } else if (auto *list = ast::as<ast::ListType>(node)) {
      type(list->element);
    } else if (auto *map = ast::as<ast::MapType>(node)) {
      type(map->element);
    } else if (auto *optional = ast::as<ast::OptionalType>(node)) {
      type(optional->element);
    } else if (auto *choice = ast::as<ast::ChoiceType>(node)) {
      for (const ast::Name &each : choice->strings) name(each);
      for (const ast::Type *each : choice->others) type(each);
    } else if (auto *record = ast::as<ast::RecordType>(node)) {
      for (const ast::RecordField &field : record->fields) {
        text("doc", field.doc);
        name(field.name);
        type(field.type);
        expr(field.value);
      }
    }
    close();
  }

  void expr(const ast::Expr *node) {
    if (!node) return word("-");
    static const char *const Kinds[] = {
#define KFT_EXPR(Name) #Name,
#include "compiler/ast/nodes.def"
    };
    open(Kinds[static_cast<size_t>(node->kind)]);
    if (auto *literal = ast::as<ast::IntLiteral>(node)) {
      word(std::to_string(literal->value));
    } else if (auto *literal = ast::as<ast::FloatLiteral>(node)) {
      word(std::to_string(literal->value));
    } else if (auto *literal = ast::as<ast::AmountLiteral>(node)) {
      word(literal->text);
    } else if (auto *literal = ast::as<ast::DurationLiteral>(node)) {
      word(std::to_string(literal->milliseconds));
    } else if (auto *literal = ast::as<ast::BoolLiteral>(node)) {
      word(literal->value ? "true" : "false");
    } else if (auto *literal = ast::as<ast::StringLiteral>(node)) {
      word(std::to_string(static_cast<int>(literal->form)));
      for (const ast::StringPart &part : literal->parts) {
        if (part.value)
          expr(part.value);
        else
          text("text", part.text);
      }
    } else if (auto *ref = ast::as<ast::NameRef>(node)) {
      word(ref->name);
    } else if (auto *paren = ast::as<ast::Paren>(node)) {
      expr(paren->inner);
    } else if (auto *body = ast::as<ast::Block>(node)) {
      stmts(body->stmts);
    } else if (auto *list = ast::as<ast::List>(node)) {
      for (const ast::Expr *item : list->items) expr(item);
    } else if (auto *comprehension = ast::as<ast::Comprehension>(node)) {
      expr(comprehension->item);
      for (const ast::Binding &each : comprehension->bindings) binding(each);
      expr(comprehension->condition);
    } else if (auto *branch = ast::as<ast::IfExpr>(node)) {
      expr(branch->condition);
      expr(branch->then);
      expr(branch->otherwise);
    } else if (auto *unary = ast::as<ast::Unary>(node)) {
      word(unary->op == ast::UnaryOp::Not ? "not" : "minus");
      expr(unary->operand);
    } else if (auto *binary = ast::as<ast::Binary>(node)) {
      word(std::to_string(static_cast<int>(binary->op)));
      expr(binary->left);
      expr(binary->right);
    } else if (auto *member = ast::as<ast::Member>(node)) {
      expr(member->object);
      name(member->name);
    } else if (auto *call = ast::as<ast::Call>(node)) {
      expr(call->callee);
      args(call->args);
    } else if (auto *index = ast::as<ast::Index>(node)) {
      expr(index->object);
      expr(index->index);
    } else if (auto *with = ast::as<ast::With>(node)) {
      expr(with->object);
      block(with->block);
    }
    close();
  }
};

} // namespace kft::test

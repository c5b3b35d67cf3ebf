// ANTLR's contexts to our tree; the only code that knows them.
#pragma once

#include "compiler/ast/nodes.h"
#include "compiler/basic/compilation.h"
#include "compiler/parse/lexer.h"

#include "KftParser.h"

#include <set>

namespace kft::parse {

class Builder {
public:
  Builder(FileId file, Compilation &compilation, const Tokens &tokens, std::set<uint32_t> &reportedAt)
      : file_(file), compilation_(compilation), tokens_(tokens), reportedAt_(reportedAt) {}

  const ast::Stmt *statement(KftParser::StatementContext *context);
  const ast::Expr *expression(KftParser::ExprContext *context);
  // `@name(…)` on a line of its own belongs to the statement after it.
  llvm::ArrayRef<const ast::Stmt *> attachAnnotations(llvm::ArrayRef<const ast::Stmt *> stmts);
  llvm::StringRef docBefore(uint32_t offset) const;
  bool hasErrors() const { return hasErrors_; }

private:
  class Precedence;

  template <typename T>
  T *make(T node) {
    return compilation_.arena.make<T>(node);
  }
  template <typename D>
  Diagnostics::Builder report(SourceRange range, const D &row) {
    hasErrors_ = true;
    reportedAt_.insert(range.begin);
    return compilation_.diags.report(range, row);
  }
  SourceRange range(antlr4::ParserRuleContext *context) const;
  SourceRange range(const Token &token) const { return {file_, token.begin, token.end}; }
  llvm::StringRef text(const Token &token) const;

  const ast::Stmt *errorStmt(antlr4::ParserRuleContext *context);
  const ast::Stmt *tail(KftParser::StatementContext *context, ast::Path target, SourceRange whole, llvm::StringRef doc);
  const ast::If *ifStmt(KftParser::IfStmtContext *context);
  const ast::Block *block(KftParser::BlockContext *context);
  llvm::ArrayRef<const ast::Stmt *> statements(llvm::ArrayRef<KftParser::StatementContext *> contexts);
  ast::Name name(const Token &token) const;
  ast::Name name(KftParser::NameContext *context) const;
  ast::Name key(KftParser::KeyContext *context);
  ast::Path path(antlr4::ParserRuleContext *context);
  ast::Binding binding(KftParser::BindingContext *context);
  llvm::ArrayRef<ast::Argument> arguments(KftParser::ArgsContext *context);
  const ast::Expr *unary(KftParser::UnaryContext *context);
  const ast::Expr *operand(KftParser::UnaryContext *context, llvm::SmallVectorImpl<const Token *> &prefixes);
  const ast::Expr *primary(KftParser::PrimaryContext *context);
  const ast::Expr *list(KftParser::ListContext *context);
  const ast::Expr *string(KftParser::StringContext *context);
  const ast::Expr *integer(const Token &token);
  const ast::Expr *prefixed(const ast::Expr *inner, llvm::ArrayRef<const Token *> prefixes);
  const ast::Type *type(KftParser::TypeContext *context);
  const ast::Type *typeSuffix(KftParser::TypeSuffixContext *context);

  FileId file_;
  Compilation &compilation_;
  const Tokens &tokens_;
  std::set<uint32_t> &reportedAt_;
  bool hasErrors_ = false;
  // How many nodes lie above the one that is built, at least: a long chain of operators is a deep tree.
  size_t above_ = 0;
};

} // namespace kft::parse

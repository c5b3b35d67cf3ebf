// What was written, after desugaring nothing: the formatter can print a file back from this tree, its comments and the
// source text. Nodes live in the arena of the compilation; ranges are half-open byte ranges of the whole construct.
#pragma once

#include "compiler/basic/arena.h"
#include "compiler/basic/source_files.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace kft::ast {

using llvm::ArrayRef;
using llvm::StringRef;

enum class StmtKind : uint8_t {
#define KFT_STMT(Name) Name,
#include "compiler/ast/nodes.def"
};
enum class ExprKind : uint8_t {
#define KFT_EXPR(Name) Name,
#include "compiler/ast/nodes.def"
};
enum class TypeKind : uint8_t {
#define KFT_TYPE(Name) Name,
#include "compiler/ast/nodes.def"
};

struct Stmt {
  StmtKind kind;
  SourceRange range;
  StringRef doc; // text of the `##` lines directly above, without `##` and one blank; lines joined by '\n'
};
struct Expr {
  ExprKind kind;
  SourceRange range;
};
struct Type {
  TypeKind kind;
  SourceRange range;
};

// `as<ast::Call>(expr)`: null when it is another kind.
template <typename T, typename Base>
const T *as(const Base *node) {
  return node && node->kind == T::Kind ? static_cast<const T *>(node) : nullptr;
}

struct StringLiteral;

// NAME or STRING (decoded, without quotes) where something is named. Empty text: missing, already reported.
struct Name {
  StringRef text;
  SourceRange range;
  bool quoted = false;
  // A field or key whose name is computed, `"shard-\(i)" = …` in a `for`: the string literal; `text` is empty then.
  const StringLiteral *interpolated = nullptr;
};
// a.b.c
struct Path {
  ArrayRef<Name> parts; // never empty in a well-formed tree
  SourceRange range;
};

struct Block;

// ---- types ----
struct NamedType : Type { // int, string, dataset, team.kind
  static constexpr TypeKind Kind = TypeKind::NamedType;
  Path path;
};
struct ListType : Type {
  static constexpr TypeKind Kind = TypeKind::ListType;
  const Type *element;
};
struct MapType : Type {
  static constexpr TypeKind Kind = TypeKind::MapType;
  const Type *element;
};
struct ChoiceType : Type { // "a" | "b"; also alternatives of other types: int | "auto"
  static constexpr TypeKind Kind = TypeKind::ChoiceType;
  ArrayRef<Name> strings;           // the string alternatives
  ArrayRef<const Type *> others;    // the rest
};
struct OptionalType : Type {
  static constexpr TypeKind Kind = TypeKind::OptionalType;
  const Type *element;
};
struct RecordField {
  Name name;
  const Type *type;
  const Expr *value; // null: required
  StringRef doc;
};
struct RecordType : Type {
  static constexpr TypeKind Kind = TypeKind::RecordType;
  ArrayRef<RecordField> fields;
};
struct ErrorType : Type {
  static constexpr TypeKind Kind = TypeKind::ErrorType;
};

// ---- expressions ----
struct IntLiteral : Expr {
  static constexpr ExprKind Kind = ExprKind::IntLiteral;
  int64_t value;
};
struct FloatLiteral : Expr {
  static constexpr ExprKind Kind = ExprKind::FloatLiteral;
  double value;
};
// A number with an amount's suffix, as written: `16Gi`, `1.5G`. sema makes the exact amount.
struct AmountLiteral : Expr {
  static constexpr ExprKind Kind = ExprKind::AmountLiteral;
  StringRef text; // underscores removed
};
struct DurationLiteral : Expr {
  static constexpr ExprKind Kind = ExprKind::DurationLiteral;
  int64_t milliseconds;
};
struct BoolLiteral : Expr {
  static constexpr ExprKind Kind = ExprKind::BoolLiteral;
  bool value;
};
struct NullLiteral : Expr {
  static constexpr ExprKind Kind = ExprKind::NullLiteral;
};
// A part is text (value == nullptr) or an interpolated expression.
struct StringPart {
  StringRef text; // decoded
  const Expr *value;
  SourceRange range;
};
struct StringLiteral : Expr {
  static constexpr ExprKind Kind = ExprKind::StringLiteral;
  enum class Form : uint8_t { Plain, Triple, Raw, RawTriple } form;
  ArrayRef<StringPart> parts; // adjacent text parts are joined; empty for ""
};
struct NameRef : Expr {
  static constexpr ExprKind Kind = ExprKind::NameRef;
  StringRef name;
};
struct Self : Expr {
  static constexpr ExprKind Kind = ExprKind::Self;
};
struct Paren : Expr {
  static constexpr ExprKind Kind = ExprKind::Paren;
  const Expr *inner;
};
struct Block : Expr {
  static constexpr ExprKind Kind = ExprKind::Block;
  ArrayRef<const Stmt *> stmts;
};
struct List : Expr {
  static constexpr ExprKind Kind = ExprKind::List;
  ArrayRef<const Expr *> items;
};
struct Binding { // NAME [, NAME] in expr
  Name first;
  Name second; // empty text when absent; then `first` is the item, else index or key
  const Expr *range;
};
struct Comprehension : Expr {
  static constexpr ExprKind Kind = ExprKind::Comprehension;
  const Expr *item;
  ArrayRef<Binding> bindings; // at least one
  const Expr *condition;      // may be null
};
struct IfExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::IfExpr;
  const Expr *condition, *then, *otherwise;
};
enum class UnaryOp : uint8_t { Not, Minus };
struct Unary : Expr {
  static constexpr ExprKind Kind = ExprKind::Unary;
  UnaryOp op;
  const Expr *operand;
};
enum class BinaryOp : uint8_t { Or, And, Eq, Ne, Lt, Le, Gt, Ge, In, NotIn, Range, Coalesce, Add, Sub, Mul, Div, Mod };
struct Binary : Expr {
  static constexpr ExprKind Kind = ExprKind::Binary;
  BinaryOp op;
  SourceRange opRange;
  const Expr *left, *right;
};
struct Member : Expr { // object.name, object."name"
  static constexpr ExprKind Kind = ExprKind::Member;
  const Expr *object;
  Name name;
};
struct Argument {
  Name name; // empty text: positional
  const Expr *value;
};
struct Call : Expr {
  static constexpr ExprKind Kind = ExprKind::Call;
  const Expr *callee;
  ArrayRef<Argument> args;
};
struct Index : Expr {
  static constexpr ExprKind Kind = ExprKind::Index;
  const Expr *object, *index;
};
struct With : Expr { // object with { … }
  static constexpr ExprKind Kind = ExprKind::With;
  const Expr *object;
  const Block *block;
};
struct ErrorExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::ErrorExpr;
};

// ---- statements ----
// target = value   or   target += value
struct Field : Stmt {
  static constexpr StmtKind Kind = StmtKind::Field;
  Path target;
  bool append;
  const Expr *value;
};
// target { … }: a nested block, or an amendment of a declaration (`job.train { … }`, in a profile)
struct BlockField : Stmt {
  static constexpr StmtKind Kind = StmtKind::BlockField;
  Path target;
  const Block *block;
};
// kind name [extends base] { … }: a declaration, or a named entry inside a block (`group node { … }`, `patch node { … }`)
struct Decl : Stmt {
  static constexpr StmtKind Kind = StmtKind::Decl;
  Name kindName;
  Name name;
  const Expr *interpolatedName; // `job "train-\(i)" { … }`: the string literal, else null (then `name` holds the text)
  const Path *base; // may be null
  const Block *block;
};
struct Import : Stmt {
  static constexpr StmtKind Kind = StmtKind::Import;
  const Path *module; // import std.nn
  Name file;          // import "./team.kft"; empty text when `module` is set
  Name alias;         // empty text when absent
};
struct Param : Stmt {
  static constexpr StmtKind Kind = StmtKind::Param;
  Name name;
  const Type *type;
  const Expr *value;     // may be null: required
  const Expr *condition; // may be null
};
struct Let : Stmt {
  static constexpr StmtKind Kind = StmtKind::Let;
  Name name;
  const Type *type; // may be null
  const Expr *value;
};
struct FnParam {
  Name name;
  const Type *type;
  const Expr *value;     // default, may be null
  const Expr *condition; // `where`, may be null
};
struct Fn : Stmt {
  static constexpr StmtKind Kind = StmtKind::Fn;
  Name name;
  ArrayRef<FnParam> params;
  const Type *result;
  const Expr *body;
};
struct TypeDecl : Stmt {
  static constexpr StmtKind Kind = StmtKind::TypeDecl;
  Name name;
  const Type *type;
  const Expr *condition; // may be null
};
struct Assert : Stmt {
  static constexpr StmtKind Kind = StmtKind::Assert;
  const Expr *condition;
  const Expr *message; // may be null
};
struct If : Stmt {
  static constexpr StmtKind Kind = StmtKind::If;
  const Expr *condition;
  const Block *then;
  const Stmt *elseIf;   // an If, or null
  const Block *otherwise; // or null
};
struct For : Stmt {
  static constexpr StmtKind Kind = StmtKind::For;
  Binding binding;
  const Block *block;
};
// @name(args) on `target`, the statement after it on the same line or the next one. Several nest, the outermost first.
struct Annotation : Stmt {
  static constexpr StmtKind Kind = StmtKind::Annotation;
  Name name;
  ArrayRef<Argument> args;
  bool hasArgs;
  const Stmt *target; // null when nothing follows (reported)
};
struct ErrorStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::ErrorStmt;
};

struct Comment {
  SourceRange range; // from `#` to the end of the line, line end not included
  bool doc;          // starts with `##`
  bool ownLine;      // nothing but blanks before it
};

struct Module {
  FileId file;
  StringRef doc; // `##` lines above `edition` (or at the top, apart from the first statement by a blank line)
  ArrayRef<const Stmt *> stmts;
  ArrayRef<Comment> comments; // in order, a leading `#!` line included
  bool hasErrors;             // something in it was reported by the parser
};

} // namespace kft::ast

#include "compiler/parse/build_ast.h"

#include "compiler/parse/token_stream.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstdlib>

namespace kft::parse {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using P = KftParser;
using antlr4::ParserRuleContext;
using antlr4::tree::ParseTree;
using antlr4::tree::TerminalNode;

namespace {

// Operators above one another before the tree gets too deep for those who walk it. They count through brackets: a chain
// whose first operand is a chain in brackets is as deep as both.
constexpr size_t MaxOperators = 1000;
constexpr size_t MaxChain = 200;

const Token &tokenOf(antlr4::Token *token) { return static_cast<KftToken *>(token)->token; }
const Token &tokenOf(ParseTree *node) { return tokenOf(static_cast<TerminalNode *>(node)->getSymbol()); }
bool isTerminal(ParseTree *node) { return dynamic_cast<TerminalNode *>(node) != nullptr; }

size_t ruleOf(ParseTree *node) {
  auto *context = dynamic_cast<antlr4::RuleContext *>(node);
  return context ? context->getRuleIndex() : SIZE_MAX;
}

std::string withoutUnderscores(StringRef text) {
  std::string result;
  for (char c : text)
    if (c != '_') result += c;
  return result;
}

// 0 for none; higher binds tighter. language.md section 4, weakest first.
int precedence(Tok kind) {
  switch (kind) {
  case Tok::Or: return 1;
  case Tok::And: return 2;
  case Tok::Eq: case Tok::Ne: case Tok::Lt: case Tok::Le: case Tok::Gt: case Tok::Ge: case Tok::In: case Tok::NotIn: return 4;
  case Tok::Range: return 5;
  case Tok::Coalesce: return 6;
  case Tok::Plus: case Tok::Minus: return 7;
  case Tok::Star: case Tok::Slash: case Tok::Percent: return 8;
  default: return 0;
  }
}
constexpr int NotPrecedence = 3;
constexpr int ComparisonPrecedence = 4;

ast::BinaryOp binaryOp(Tok kind) {
  switch (kind) {
  case Tok::Or: return ast::BinaryOp::Or;
  case Tok::And: return ast::BinaryOp::And;
  case Tok::Eq: return ast::BinaryOp::Eq;
  case Tok::Ne: return ast::BinaryOp::Ne;
  case Tok::Lt: return ast::BinaryOp::Lt;
  case Tok::Le: return ast::BinaryOp::Le;
  case Tok::Gt: return ast::BinaryOp::Gt;
  case Tok::Ge: return ast::BinaryOp::Ge;
  case Tok::In: return ast::BinaryOp::In;
  case Tok::NotIn: return ast::BinaryOp::NotIn;
  case Tok::Range: return ast::BinaryOp::Range;
  case Tok::Coalesce: return ast::BinaryOp::Coalesce;
  case Tok::Plus: return ast::BinaryOp::Add;
  case Tok::Minus: return ast::BinaryOp::Sub;
  case Tok::Star: return ast::BinaryOp::Mul;
  case Tok::Slash: return ast::BinaryOp::Div;
  default: return ast::BinaryOp::Mod;
  }
}

} // namespace

SourceRange Builder::range(ParserRuleContext *context) const {
  const Token &first = tokenOf(context->getStart());
  // A context that failed may have no end, or one before its start.
  uint32_t end = context->getStop() ? tokenOf(context->getStop()).end : first.end;
  return {file_, first.begin, std::max(end, first.begin)};
}

StringRef Builder::text(const Token &token) const {
  return compilation_.sources.text(file_).slice(token.begin, token.end);
}

StringRef Builder::docBefore(uint32_t offset) const {
  StringRef source = compilation_.sources.text(file_);
  ArrayRef<ast::Comment> comments = tokens_.comments;
  auto after = std::upper_bound(comments.begin(), comments.end(), offset,
                                [](uint32_t o, const ast::Comment &c) { return o < c.range.begin; });
  size_t last = static_cast<size_t>(after - comments.begin()), first = last;
  uint32_t below = offset;
  while (first > 0) {
    const ast::Comment &comment = comments[first - 1];
    if (!comment.doc || !comment.ownLine) break;
    StringRef between = source.slice(comment.range.end, below);
    if (between.count('\n') != 1 || !between.trim(" \t\r\n").empty()) break;
    below = comment.range.begin;
    --first;
  }
  if (first == last) return {};
  std::string doc;
  for (size_t i = first; i < last; ++i) {
    StringRef line = source.slice(comments[i].range.begin + 2, comments[i].range.end);
    line.consume_front(" ");
    if (i != first) doc += '\n';
    doc += line.rtrim().str();
  }
  return compilation_.arena.save(doc);
}

ast::Name Builder::name(const Token &token) const {
  ast::Name result;
  result.quoted = token.kind == Tok::String;
  result.text = result.quoted ? token.text : text(token);
  result.range = range(token);
  return result;
}

ast::Name Builder::name(P::NameContext *context) const { return name(tokenOf(context->children[0])); }

// What names a field: a name, or text, which may be computed.
ast::Name Builder::key(P::KeyContext *context) {
  ParseTree *inner = context->children[0];
  if (isTerminal(inner)) return name(tokenOf(inner));
  ast::Name result;
  const auto *literal = ast::as<ast::StringLiteral>(string(static_cast<P::StringContext *>(inner)));
  result.range = literal->range;
  result.quoted = true;
  if (literal->parts.size() > 1 || (literal->parts.size() == 1 && literal->parts[0].value)) result.interpolated = literal;
  else if (literal->parts.size() == 1) result.text = literal->parts[0].text;
  return result;
}

ast::Path Builder::path(ParserRuleContext *context) {
  SmallVector<ast::Name, 4> parts;
  for (ParseTree *child : context->children) {
    if (!isTerminal(child) && ruleOf(child) == P::RuleKey) parts.push_back(key(static_cast<P::KeyContext *>(child)));
    else if (!isTerminal(child)) parts.push_back(name(static_cast<P::NameContext *>(child)));
    else if (tokenOf(child).kind == Tok::Name) parts.push_back(name(tokenOf(child)));
  }
  return {compilation_.arena.copy(ArrayRef<ast::Name>(parts)), range(context)};
}

const ast::Stmt *Builder::errorStmt(ParserRuleContext *context) {
  ast::ErrorStmt node;
  node.kind = ast::StmtKind::ErrorStmt;
  node.range = range(context);
  return make(node);
}

ArrayRef<const ast::Stmt *> Builder::statements(ArrayRef<P::StatementContext *> contexts) {
  SmallVector<const ast::Stmt *, 16> result;
  for (P::StatementContext *context : contexts) result.push_back(statement(context));
  return compilation_.arena.copy(ArrayRef<const ast::Stmt *>(result));
}

const ast::Block *Builder::block(P::BlockContext *context) {
  SmallVector<P::StatementContext *, 16> contexts;
  for (ParseTree *child : context->children)
    if (!isTerminal(child)) contexts.push_back(static_cast<P::StatementContext *>(child));
  ast::Block node;
  node.kind = ast::ExprKind::Block;
  node.range = range(context);
  node.stmts = attachAnnotations(statements(contexts));
  return make(node);
}

ArrayRef<const ast::Stmt *> Builder::attachAnnotations(ArrayRef<const ast::Stmt *> stmts) {
  bool any = false;
  for (const ast::Stmt *stmt : stmts) any |= stmt->kind == ast::StmtKind::Annotation;
  if (!any) return stmts;
  SmallVector<const ast::Stmt *, 16> result;
  for (size_t i = stmts.size(); i-- > 0;) {
    const ast::Stmt *stmt = stmts[i];
    if (const auto *first = ast::as<ast::Annotation>(stmt)) {
      // The innermost of those on one line.
      SmallVector<const ast::Annotation *, 4> chain{first};
      while (chain.back()->target && chain.back()->target->kind == ast::StmtKind::Annotation)
        chain.push_back(static_cast<const ast::Annotation *>(chain.back()->target));
      if (!chain.back()->target) {
        const ast::Stmt *target = nullptr;
        if (!result.empty() && result.back()->kind != ast::StmtKind::ErrorStmt) {
          target = result.pop_back_val();
        } else if (result.empty() && !tokens_.gaveUp) {
          report(chain.back()->range, diag::AnnotationOnNothing{.name = chain.back()->name.text});
        }
        for (const ast::Annotation *link : llvm::reverse(chain)) {
          ast::Annotation copy = *link;
          copy.target = target;
          if (target) copy.range = join(copy.range, target->range);
          target = make(copy);
        }
        stmt = target;
      }
    }
    result.push_back(stmt);
  }
  std::reverse(result.begin(), result.end());
  return compilation_.arena.copy(ArrayRef<const ast::Stmt *>(result));
}

const ast::Stmt *Builder::tail(P::StatementContext *context, ast::Path target, SourceRange whole, StringRef doc) {
  auto *tail = static_cast<P::StatementTailContext *>(context->children[1]);
  ParseTree *first = tail->children[0];
  if (isTerminal(first)) {
    ast::Field node;
    node.kind = ast::StmtKind::Field;
    node.range = whole;
    node.doc = doc;
    node.target = target;
    node.append = tokenOf(first).kind == Tok::PlusAssign;
    node.value = expression(static_cast<P::ExprContext *>(tail->children[1]));
    return make(node);
  }
  if (ruleOf(first) == P::RuleBlock) {
    ast::BlockField node;
    node.kind = ast::StmtKind::BlockField;
    node.range = whole;
    node.doc = doc;
    node.target = target;
    node.block = block(static_cast<P::BlockContext *>(first));
    return make(node);
  }
  auto *declaration = static_cast<P::DeclTailContext *>(first);
  ast::Decl node;
  node.kind = ast::StmtKind::Decl;
  node.range = whole;
  node.doc = doc;
  if (target.parts.size() != 1 || target.parts[0].interpolated) report(target.range, diag::DottedKind{});
  node.kindName = target.parts[0];
  node.interpolatedName = nullptr;
  node.base = nullptr;
  for (ParseTree *child : declaration->children) {
    switch (ruleOf(child)) {
    case P::RuleDeclName: {
      ParseTree *inner = static_cast<ParserRuleContext *>(child)->children[0];
      if (isTerminal(inner)) {
        node.name = name(tokenOf(inner));
      } else {
        const ast::Expr *expr = string(static_cast<P::StringContext *>(inner));
        const auto *literal = ast::as<ast::StringLiteral>(expr);
        node.name.range = expr->range;
        node.name.quoted = true;
        if (literal->parts.size() > 1 || (literal->parts.size() == 1 && literal->parts[0].value)) node.interpolatedName = expr;
        else if (literal->parts.size() == 1) node.name.text = literal->parts[0].text;
      }
      break;
    }
    case P::RulePath: {
      ast::Path base = path(static_cast<ParserRuleContext *>(child));
      node.base = make(base);
      break;
    }
    case P::RuleBlock: node.block = block(static_cast<P::BlockContext *>(child)); break;
    default: break;
    }
  }
  return make(node);
}

const ast::If *Builder::ifStmt(P::IfStmtContext *context) {
  ast::If node;
  node.kind = ast::StmtKind::If;
  node.range = range(context);
  node.condition = expression(static_cast<P::ExprContext *>(context->children[1]));
  node.then = block(static_cast<P::BlockContext *>(context->children[2]));
  node.elseIf = nullptr;
  node.otherwise = nullptr;
  if (context->children.size() > 4) {
    ParseTree *last = context->children[4];
    if (ruleOf(last) == P::RuleBlock) node.otherwise = block(static_cast<P::BlockContext *>(last));
    else node.elseIf = ifStmt(static_cast<P::IfStmtContext *>(last));
  }
  return make(node);
}

const ast::Stmt *Builder::statement(P::StatementContext *context) {
  if (context->exception || context->children.empty()) {
    hasErrors_ = true;
    return errorStmt(context);
  }
  SourceRange whole = range(context);
  StringRef doc = docBefore(whole.begin);
  ParseTree *first = context->children[0];
  auto *inner = static_cast<ParserRuleContext *>(first);
  auto start = [&](auto node, ast::StmtKind kind) {
    node.kind = kind;
    node.range = whole;
    node.doc = doc;
    return node;
  };
  auto &children = inner->children;
  switch (inner->getRuleIndex()) {
  case P::RuleTarget: return tail(context, path(inner), whole, doc);
  case P::RuleImportStmt: {
    auto node = start(ast::Import(), ast::StmtKind::Import);
    node.module = nullptr;
    if (isTerminal(children[1])) node.file = name(tokenOf(children[1]));
    else node.module = make(path(static_cast<ParserRuleContext *>(children[1])));
    if (children.size() > 3) node.alias = name(tokenOf(children[3]));
    return make(node);
  }
  case P::RuleParamStmt: {
    auto node = start(ast::Param(), ast::StmtKind::Param);
    node.name = name(tokenOf(children[1]));
    node.type = type(static_cast<P::TypeContext *>(children[3]));
    node.value = node.condition = nullptr;
    for (size_t i = 4; i + 1 < children.size(); i += 2) {
      const ast::Expr *expr = expression(static_cast<P::ExprContext *>(children[i + 1]));
      (tokenOf(children[i]).kind == Tok::Assign ? node.value : node.condition) = expr;
    }
    return make(node);
  }
  case P::RuleLetStmt: {
    auto node = start(ast::Let(), ast::StmtKind::Let);
    node.name = name(tokenOf(children[1]));
    node.type = nullptr;
    if (children.size() > 4) node.type = type(static_cast<P::TypeContext *>(children[3]));
    node.value = expression(static_cast<P::ExprContext *>(children.back()));
    return make(node);
  }
  case P::RuleFnStmt: {
    auto node = start(ast::Fn(), ast::StmtKind::Fn);
    node.name = name(tokenOf(children[1]));
    SmallVector<ast::FnParam, 8> params;
    for (ParseTree *child : children) {
      switch (ruleOf(child)) {
      case P::RuleFnParam: {
        auto &parts = static_cast<ParserRuleContext *>(child)->children;
        ast::FnParam param;
        param.name = name(tokenOf(parts[0]));
        param.type = type(static_cast<P::TypeContext *>(parts[2]));
        param.value = param.condition = nullptr;
        for (size_t i = 3; i + 1 < parts.size(); i += 2) {
          const ast::Expr *expr = expression(static_cast<P::ExprContext *>(parts[i + 1]));
          (tokenOf(parts[i]).kind == Tok::Assign ? param.value : param.condition) = expr;
        }
        params.push_back(param);
        break;
      }
      case P::RuleType: node.result = type(static_cast<P::TypeContext *>(child)); break;
      case P::RuleExpr: node.body = expression(static_cast<P::ExprContext *>(child)); break;
      default: break;
      }
    }
    node.params = compilation_.arena.copy(ArrayRef<ast::FnParam>(params));
    return make(node);
  }
  case P::RuleTypeStmt: {
    auto node = start(ast::TypeDecl(), ast::StmtKind::TypeDecl);
    node.name = name(tokenOf(children[1]));
    node.type = type(static_cast<P::TypeContext *>(children[3]));
    node.condition = children.size() > 5 ? expression(static_cast<P::ExprContext *>(children[5])) : nullptr;
    return make(node);
  }
  case P::RuleAssertStmt: {
    auto node = start(ast::Assert(), ast::StmtKind::Assert);
    node.condition = expression(static_cast<P::ExprContext *>(children[1]));
    node.message = children.size() > 3 ? expression(static_cast<P::ExprContext *>(children[3])) : nullptr;
    return make(node);
  }
  case P::RuleIfStmt: {
    ast::If node = *ifStmt(static_cast<P::IfStmtContext *>(inner));
    node.doc = doc;
    return make(node);
  }
  case P::RuleForStmt: {
    auto node = start(ast::For(), ast::StmtKind::For);
    node.binding = binding(static_cast<P::BindingContext *>(children[1]));
    node.block = block(static_cast<P::BlockContext *>(children[2]));
    return make(node);
  }
  case P::RuleAnnotation: {
    auto node = start(ast::Annotation(), ast::StmtKind::Annotation);
    node.name = name(tokenOf(children[1]));
    node.hasArgs = false;
    node.target = nullptr;
    for (ParseTree *child : children) {
      if (isTerminal(child)) {
        if (tokenOf(child).kind == Tok::LParen) node.hasArgs = true;
      } else if (ruleOf(child) == P::RuleArgs) {
        node.args = arguments(static_cast<P::ArgsContext *>(child));
      } else {
        node.target = statement(static_cast<P::StatementContext *>(child));
      }
    }
    return make(node);
  }
  default: return errorStmt(context);
  }
}

ast::Binding Builder::binding(P::BindingContext *context) {
  ast::Binding result;
  result.first = name(tokenOf(context->children[0]));
  if (context->children.size() > 3) result.second = name(tokenOf(context->children[2]));
  result.range = expression(static_cast<P::ExprContext *>(context->children.back()));
  return result;
}

// ---- expressions ----

// Precedence climbing over the flat list. `not` is a prefix weaker than a comparison, so an operand's `not`s are met here.
class Builder::Precedence {
public:
  Precedence(Builder &builder, P::ExprContext *context) : builder_(builder), children_(context->children) {}

  const ast::Expr *run() { return climb(1); }

private:
  const Token &op() const { return tokenOf(static_cast<ParserRuleContext *>(children_[at_])->children[0]); }
  bool more() const { return at_ < children_.size(); }

  const ast::Expr *climb(int least) { return rest(operand(), least); }

  const ast::Expr *operand() {
    SmallVector<const Token *, 4> prefixes;
    const ast::Expr *inner = builder_.operand(static_cast<P::UnaryContext *>(children_[at_++]), prefixes);
    // `not a == b` is `not (a == b)`: what binds tighter than `not` belongs to its operand.
    size_t lastNot = prefixes.size();
    for (size_t i = 0; i < prefixes.size(); ++i)
      if (prefixes[i]->kind == Tok::Not) lastNot = i;
    if (lastNot == prefixes.size()) return wrap(inner, prefixes);
    inner = wrap(inner, ArrayRef<const Token *>(prefixes).drop_front(lastNot + 1));
    inner = rest(inner, NotPrecedence + 1);
    return wrap(inner, ArrayRef<const Token *>(prefixes).take_front(lastNot + 1));
  }

  // Goes on after an operand that is there already.
  const ast::Expr *rest(const ast::Expr *left, int least) {
    bool compared = false;
    while (more()) {
      const Token &token = op();
      int level = precedence(token.kind);
      if (level < least) break;
      ++at_;
      const ast::Expr *right = climb(level + 1);
      if (level == ComparisonPrecedence && compared && !told_) {
        told_ = true;
        builder_.report(builder_.range(token), diag::ChainedComparison{.op = builder_.text(token)});
      }
      compared = level == ComparisonPrecedence;
      ast::Binary node;
      node.kind = ast::ExprKind::Binary;
      node.range = join(left->range, right->range);
      node.op = binaryOp(token.kind);
      node.opRange = builder_.range(token);
      node.left = left;
      node.right = right;
      left = builder_.make(node);
    }
    return left;
  }

  const ast::Expr *wrap(const ast::Expr *inner, ArrayRef<const Token *> prefixes) { return builder_.prefixed(inner, prefixes); }

  Builder &builder_;
  std::vector<ParseTree *> &children_;
  size_t at_ = 0;
  bool told_ = false;
};

const ast::Expr *Builder::expression(P::ExprContext *context) {
  auto &children = context->children;
  if (isTerminal(children[0])) {
    // A chain of `else if` is a list to the one who wrote it; the tree is built from its end, without recursion.
    SmallVector<std::pair<P::ExprContext *, P::ExprContext *>, 4> arms;
    SmallVector<SourceRange, 4> ranges;
    P::ExprContext *at = context;
    while (isTerminal(at->children[0])) {
      arms.push_back({static_cast<P::ExprContext *>(at->children[1]), static_cast<P::ExprContext *>(at->children[3])});
      ranges.push_back(range(at));
      at = static_cast<P::ExprContext *>(at->children[5]);
    }
    const ast::Expr *result = expression(at);
    for (size_t i = arms.size(); i-- > 0;) {
      ast::IfExpr node;
      node.kind = ast::ExprKind::IfExpr;
      node.range = ranges[i];
      node.condition = expression(arms[i].first);
      node.then = expression(arms[i].second);
      node.otherwise = result;
      result = make(node);
    }
    return result;
  }
  if (children.size() == 1) return unary(static_cast<P::UnaryContext *>(children[0]));
  size_t operators = children.size() / 2;
  if (above_ + operators > MaxOperators) {
    report(range(context), diag::ExpressionTooLong{.limit = static_cast<int>(MaxOperators)});
    ast::ErrorExpr node;
    node.kind = ast::ExprKind::ErrorExpr;
    node.range = range(context);
    return make(node);
  }
  above_ += operators;
  const ast::Expr *result = Precedence(*this, context).run();
  above_ -= operators;
  return result;
}

const ast::Expr *Builder::prefixed(const ast::Expr *inner, ArrayRef<const Token *> prefixes) {
  for (const Token *prefix : llvm::reverse(prefixes)) {
    ast::Unary node;
    node.kind = ast::ExprKind::Unary;
    node.range = join(range(*prefix), inner->range);
    node.op = prefix->kind == Tok::Not ? ast::UnaryOp::Not : ast::UnaryOp::Minus;
    node.operand = inner;
    inner = make(node);
  }
  return inner;
}

const ast::Expr *Builder::unary(P::UnaryContext *context) {
  SmallVector<const Token *, 4> prefixes;
  const ast::Expr *inner = operand(context, prefixes);
  return prefixed(inner, prefixes);
}

// The operand without its prefixes, which are handed back; a minus directly before a number stays with it when only so the
// number fits: -9223372036854775808.
const ast::Expr *Builder::operand(P::UnaryContext *context, llvm::SmallVectorImpl<const Token *> &prefixes) {
  auto &children = context->children;
  size_t i = 0;
  for (; isTerminal(children[i]); ++i) prefixes.push_back(&tokenOf(children[i]));
  if (prefixes.size() > MaxChain) {
    report(range(*prefixes[MaxChain]), diag::NestedTooDeep{});
    prefixes.clear();
  }
  auto *first = static_cast<P::PrimaryContext *>(children[i]);
  const ast::Expr *result = nullptr;
  ParseTree *literal = first->children[0];
  if (!prefixes.empty() && prefixes.back()->kind == Tok::Minus && isTerminal(literal) && tokenOf(literal).kind == Tok::Int &&
      children.size() == i + 1 && withoutUnderscores(text(tokenOf(literal))) == "9223372036854775808") {
    ast::IntLiteral node;
    node.kind = ast::ExprKind::IntLiteral;
    node.range = join(range(*prefixes.back()), range(tokenOf(literal)));
    node.value = INT64_MIN;
    prefixes.pop_back();
    return make(node);
  }
  result = primary(first);
  if (children.size() - i > MaxChain) {
    report(range(static_cast<ParserRuleContext *>(children[i + MaxChain])), diag::NestedTooDeep{});
    return result;
  }
  for (++i; i < children.size(); ++i) {
    auto *postfix = static_cast<P::PostfixContext *>(children[i]);
    SourceRange whole = join(result->range, range(postfix));
    switch (tokenOf(postfix->children[0]).kind) {
    case Tok::Dot: {
      ast::Member node;
      node.kind = ast::ExprKind::Member;
      node.range = whole;
      node.object = result;
      node.name = name(static_cast<P::NameContext *>(postfix->children[1]));
      result = make(node);
      break;
    }
    case Tok::LParen: {
      ast::Call node;
      node.kind = ast::ExprKind::Call;
      node.range = whole;
      node.callee = result;
      if (postfix->children.size() > 2) node.args = arguments(static_cast<P::ArgsContext *>(postfix->children[1]));
      result = make(node);
      break;
    }
    case Tok::LBrack: {
      ast::Index node;
      node.kind = ast::ExprKind::Index;
      node.range = whole;
      node.object = result;
      node.index = expression(static_cast<P::ExprContext *>(postfix->children[1]));
      result = make(node);
      break;
    }
    default: {
      ast::With node;
      node.kind = ast::ExprKind::With;
      node.range = whole;
      node.object = result;
      node.block = block(static_cast<P::BlockContext *>(postfix->children[1]));
      result = make(node);
    }
    }
  }
  return result;
}

ArrayRef<ast::Argument> Builder::arguments(P::ArgsContext *context) {
  SmallVector<ast::Argument, 8> result;
  for (ParseTree *child : context->children) {
    if (isTerminal(child)) continue;
    auto *arg = static_cast<P::ArgContext *>(child);
    ast::Argument argument;
    if (arg->children.size() == 1) {
      argument.value = expression(static_cast<P::ExprContext *>(arg->children[0]));
    } else {
      // `name = value`, parsed as an expression and judged here.
      const ast::Expr *left = expression(static_cast<P::ExprContext *>(arg->children[0]));
      argument.value = expression(static_cast<P::ExprContext *>(arg->children[2]));
      if (const auto *reference = ast::as<ast::NameRef>(left)) {
        argument.name.text = reference->name;
        argument.name.range = reference->range;
      } else {
        report(left->range, diag::BadArgumentName{});
      }
    }
    result.push_back(argument);
  }
  return compilation_.arena.copy(ArrayRef<ast::Argument>(result));
}

const ast::Expr *Builder::primary(P::PrimaryContext *context) {
  ParseTree *first = context->children[0];
  if (!isTerminal(first)) {
    switch (ruleOf(first)) {
    case P::RuleString: return string(static_cast<P::StringContext *>(first));
    case P::RuleBlock: return block(static_cast<P::BlockContext *>(first));
    default: return list(static_cast<P::ListContext *>(first));
    }
  }
  const Token &token = tokenOf(first);
  auto start = [&](auto node, ast::ExprKind kind) {
    node.kind = kind;
    node.range = range(token);
    return node;
  };
  switch (token.kind) {
  case Tok::Int: return integer(token);
  case Tok::Float: {
    auto node = start(ast::FloatLiteral(), ast::ExprKind::FloatLiteral);
    node.value = std::strtod(withoutUnderscores(text(token)).c_str(), nullptr);
    if (std::isinf(node.value)) {
      report(node.range, diag::FloatTooLarge{.text = text(token)});
      return make(start(ast::ErrorExpr(), ast::ExprKind::ErrorExpr));
    }
    return make(node);
  }
  case Tok::Amount: {
    auto node = start(ast::AmountLiteral(), ast::ExprKind::AmountLiteral);
    StringRef written = text(token);
    node.text = written.contains('_') ? compilation_.arena.save(withoutUnderscores(written)) : written;
    return make(node);
  }
  case Tok::Duration: {
    auto node = start(ast::DurationLiteral(), ast::ExprKind::DurationLiteral);
    std::string clean = withoutUnderscores(text(token));
    StringRef rest = clean;
    __int128 total = 0;
    while (!rest.empty()) {
      StringRef digits = rest.take_while([](char c) { return c >= '0' && c <= '9'; });
      rest = rest.drop_front(digits.size());
      StringRef unit = rest.take_while([](char c) { return c < '0' || c > '9'; });
      rest = rest.drop_front(unit.size());
      int64_t number = 0;
      bool tooLarge = digits.getAsInteger(10, number);
      int64_t factor = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "min" ? 60'000 : unit == "h" ? 3'600'000 : 86'400'000;
      total += static_cast<__int128>(number) * factor;
      if (tooLarge || total > INT64_MAX) {
        report(node.range, diag::DurationTooLarge{.text = text(token)});
        return make(start(ast::ErrorExpr(), ast::ExprKind::ErrorExpr));
      }
    }
    node.milliseconds = static_cast<int64_t>(total);
    return make(node);
  }
  case Tok::True: case Tok::False: {
    auto node = start(ast::BoolLiteral(), ast::ExprKind::BoolLiteral);
    node.value = token.kind == Tok::True;
    return make(node);
  }
  case Tok::Null: return make(start(ast::NullLiteral(), ast::ExprKind::NullLiteral));
  case Tok::Self: return make(start(ast::Self(), ast::ExprKind::Self));
  case Tok::LParen: {
    ast::Paren node;
    node.kind = ast::ExprKind::Paren;
    node.range = range(context);
    node.inner = expression(static_cast<P::ExprContext *>(context->children[1]));
    return make(node);
  }
  default: {
    auto node = start(ast::NameRef(), ast::ExprKind::NameRef);
    node.name = text(token);
    return make(node);
  }
  }
}

const ast::Expr *Builder::integer(const Token &token) {
  std::string clean = withoutUnderscores(text(token));
  StringRef digits = clean;
  int64_t value = 0;
  bool hex = digits.startswith_insensitive("0x");
  if (hex ? digits.drop_front(2).getAsInteger(16, value) : digits.getAsInteger(10, value)) {
    report(range(token), diag::IntTooLarge{.text = text(token)});
    ast::ErrorExpr node;
    node.kind = ast::ExprKind::ErrorExpr;
    node.range = range(token);
    return make(node);
  }
  ast::IntLiteral node;
  node.kind = ast::ExprKind::IntLiteral;
  node.range = range(token);
  node.value = value;
  return make(node);
}

const ast::Expr *Builder::string(P::StringContext *context) {
  ast::StringLiteral node;
  node.kind = ast::ExprKind::StringLiteral;
  node.range = range(context);
  SmallVector<ast::StringPart, 4> parts;
  node.form = tokenOf(context->children[0]).form;
  for (ParseTree *child : context->children) {
    if (isTerminal(child)) {
      const Token &token = tokenOf(child);
      if (!token.text.empty()) parts.push_back({token.text, nullptr, range(token)});
    } else {
      const ast::Expr *value = expression(static_cast<P::ExprContext *>(child));
      parts.push_back({{}, value, value->range});
    }
  }
  node.parts = compilation_.arena.copy(ArrayRef<ast::StringPart>(parts));
  return make(node);
}

const ast::Expr *Builder::list(P::ListContext *context) {
  SmallVector<const ast::Expr *, 16> items;
  SmallVector<ast::Binding, 2> bindings;
  const ast::Expr *condition = nullptr;
  bool afterIf = false;
  for (ParseTree *child : context->children) {
    if (isTerminal(child)) {
      if (tokenOf(child).kind == Tok::If) afterIf = true;
    } else if (ruleOf(child) == P::RuleBinding) {
      bindings.push_back(binding(static_cast<P::BindingContext *>(child)));
    } else {
      const ast::Expr *expr = expression(static_cast<P::ExprContext *>(child));
      if (afterIf) condition = expr;
      else items.push_back(expr);
    }
  }
  if (!bindings.empty()) {
    ast::Comprehension node;
    node.kind = ast::ExprKind::Comprehension;
    node.range = range(context);
    node.item = items[0];
    node.bindings = compilation_.arena.copy(ArrayRef<ast::Binding>(bindings));
    node.condition = condition;
    return make(node);
  }
  ast::List node;
  node.kind = ast::ExprKind::List;
  node.range = range(context);
  node.items = compilation_.arena.copy(ArrayRef<const ast::Expr *>(items));
  return make(node);
}

// ---- types ----

const ast::Type *Builder::type(P::TypeContext *context) {
  SmallVector<P::TypeSuffixContext *, 4> alternatives;
  for (ParseTree *child : context->children)
    if (!isTerminal(child)) alternatives.push_back(static_cast<P::TypeSuffixContext *>(child));
  auto quoted = [&](P::TypeSuffixContext *suffix) -> P::NameContext * {
    if (suffix->children.size() != 1) return nullptr;
    auto *atom = static_cast<ParserRuleContext *>(suffix->children[0]);
    if (atom->children.size() != 1 || ruleOf(atom->children[0]) != P::RulePath) return nullptr;
    auto *parts = static_cast<ParserRuleContext *>(atom->children[0]);
    if (parts->children.size() != 1) return nullptr;
    auto *part = static_cast<P::NameContext *>(parts->children[0]);
    return tokenOf(part->children[0]).kind == Tok::String ? part : nullptr;
  };
  if (alternatives.size() == 1 && !quoted(alternatives[0])) return typeSuffix(alternatives[0]);
  SmallVector<ast::Name, 8> strings;
  SmallVector<const ast::Type *, 4> others;
  bool optional = false;
  for (P::TypeSuffixContext *suffix : alternatives) {
    if (P::NameContext *text = quoted(suffix)) {
      strings.push_back(name(text));
      continue;
    }
    // `"a" | "b"?`: the question mark of the last text is the whole choice's.
    if (suffix->children.size() > 1) {
      auto *atom = static_cast<ParserRuleContext *>(suffix->children[0]);
      if (atom->children.size() == 1 && ruleOf(atom->children[0]) == P::RulePath) {
        ast::Path inner = path(static_cast<ParserRuleContext *>(atom->children[0]));
        if (inner.parts.size() == 1 && inner.parts[0].quoted) {
          strings.push_back(inner.parts[0]);
          optional = true;
          continue;
        }
      }
    }
    others.push_back(typeSuffix(suffix));
  }
  ast::ChoiceType node;
  node.kind = ast::TypeKind::ChoiceType;
  node.range = range(context);
  node.strings = compilation_.arena.copy(ArrayRef<ast::Name>(strings));
  node.others = compilation_.arena.copy(ArrayRef<const ast::Type *>(others));
  const ast::Type *result = make(node);
  if (optional) {
    ast::OptionalType outer;
    outer.kind = ast::TypeKind::OptionalType;
    outer.range = node.range;
    outer.element = result;
    result = make(outer);
  }
  return result;
}

const ast::Type *Builder::typeSuffix(P::TypeSuffixContext *context) {
  auto *atom = static_cast<P::TypeAtomContext *>(context->children[0]);
  auto &children = atom->children;
  const ast::Type *result = nullptr;
  SourceRange whole = range(atom);
  if (!isTerminal(children[0])) {
    ast::Path named = path(static_cast<ParserRuleContext *>(children[0]));
    if (children.size() == 1) {
      ast::NamedType node;
      node.kind = ast::TypeKind::NamedType;
      node.range = whole;
      node.path = named;
      result = make(node);
    } else {
      const ast::Type *element = type(static_cast<P::TypeContext *>(children[2]));
      StringRef generic = named.parts.size() == 1 && !named.parts[0].quoted ? named.parts[0].text : StringRef();
      if (generic == "map") {
        ast::MapType node;
        node.kind = ast::TypeKind::MapType;
        node.range = whole;
        node.element = element;
        result = make(node);
      } else if (generic == "list") {
        ast::ListType node;
        node.kind = ast::TypeKind::ListType;
        node.range = whole;
        node.element = element;
        result = make(node);
      } else {
        report(named.range, diag::NotGeneric{.name = compilation_.sources.text(named.range)});
        ast::ErrorType node;
        node.kind = ast::TypeKind::ErrorType;
        node.range = whole;
        result = make(node);
      }
    }
  } else {
    SmallVector<ast::RecordField, 8> fields;
    for (ParseTree *child : children) {
      if (isTerminal(child)) continue;
      auto &parts = static_cast<ParserRuleContext *>(child)->children;
      ast::RecordField field;
      field.name = name(tokenOf(parts[0]));
      field.type = type(static_cast<P::TypeContext *>(parts[2]));
      field.value = parts.size() > 4 ? expression(static_cast<P::ExprContext *>(parts[4])) : nullptr;
      field.doc = docBefore(field.name.range.begin);
      fields.push_back(field);
    }
    ast::RecordType node;
    node.kind = ast::TypeKind::RecordType;
    node.range = whole;
    node.fields = compilation_.arena.copy(ArrayRef<ast::RecordField>(fields));
    result = make(node);
  }
  for (size_t i = 1; i < context->children.size(); ++i) {
    ast::OptionalType node;
    node.kind = ast::TypeKind::OptionalType;
    node.range = join(whole, range(tokenOf(context->children[i])));
    node.element = result;
    result = make(node);
  }
  return result;
}

} // namespace kft::parse

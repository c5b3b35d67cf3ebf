// Sets up ANTLR, catches what it throws, words its complaints. The parser runs one module-level statement at a time: the
// tree of the statement is built and what ANTLR kept of it goes, so that memory follows the largest statement and not the
// file. Inside, a failed statement is skipped to its end and its neighbours are read as if nothing had been.
#include "compiler/parse/parse.h"

#include "compiler/basic/timings.h"
#include "compiler/parse/build_ast.h"
#include "compiler/parse/lexer.h"
#include "compiler/parse/token_stream.h"

#include "KftParser.h"

#include "llvm/ADT/SmallVector.h"

namespace kft::parse {

namespace {

using llvm::StringRef;
using P = KftParser;

const Token &tokenOf(antlr4::Token *token) { return static_cast<KftToken *>(token)->token; }

class OwnParser : public P {
public:
  using P::P;
  // What the last statement left behind.
  void forget() {
    setContext(nullptr);
    _tracker.reset();
  }
};

class Strategy : public antlr4::ANTLRErrorStrategy {
public:
  Strategy(FileId file, Compilation &compilation, std::set<uint32_t> &reportedAt, uint32_t quietFrom)
      : file_(file), compilation_(compilation), reportedAt_(reportedAt), quietFrom_(quietFrom) {}

  bool hasErrors() const { return hasErrors_; }

  void reset(antlr4::Parser *) override { last_ = nullptr; }
  void sync(antlr4::Parser *) override {}
  bool inErrorRecoveryMode(antlr4::Parser *) override { return false; }
  void reportMatch(antlr4::Parser *) override {}

  antlr4::Token *recoverInline(antlr4::Parser *parser) override { throw antlr4::InputMismatchException(parser); }

  // Every rule on the way out comes through here with the same exception: the innermost speaks.
  void reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) override {
    antlr4::Token *offending = error.getOffendingToken();
    if (offending == last_) return;
    last_ = offending;
    hasErrors_ = true;
    word(parser, tokenOf(offending), static_cast<P *>(parser));
  }

  // Only a statement recovers: it skips to its own end.
  void recover(antlr4::Parser *parser, std::exception_ptr error) override {
    if (parser->getContext()->getRuleIndex() != P::RuleStatement) std::rethrow_exception(error);
    auto *input = static_cast<TokenStream *>(parser->getTokenStream());
    int depth = 0;
    for (size_t i = parser->getContext()->getStart()->getTokenIndex(); i < input->index(); ++i) {
      size_t type = input->get(i)->getType();
      depth += type == P::LBRACE ? 1 : type == P::RBRACE ? -1 : 0;
    }
    while (true) {
      size_t type = input->LA(1);
      if (type == antlr4::Token::EOF) break;
      if (depth <= 0 && (type == P::SEP || type == P::RBRACE)) break;
      depth += type == P::LBRACE ? 1 : type == P::RBRACE ? -1 : 0;
      parser->consume();
    }
    last_ = nullptr;
  }

private:
  SourceRange range(const Token &token) const { return {file_, token.begin, token.end}; }
  StringRef text(const Token &token) const { return compilation_.sources.text(file_).slice(token.begin, token.end); }

  template <typename D>
  Diagnostics::Builder report(SourceRange range, const D &row) {
    reportedAt_.insert(range.begin);
    return compilation_.diags.report(range, row);
  }

  // Something was said already about the lines of this statement up to here: the rest follows from it.
  bool alreadySaid(const Token &token, antlr4::Parser *parser) const {
    // A line is looked at for so far only, so that many mistakes on one endless line stay cheap.
    constexpr uint32_t Reach = 1 << 16;
    StringRef source = compilation_.sources.text(file_);
    uint32_t from = token.begin > Reach ? token.begin - Reach : 0;
    size_t lineBegin = source.slice(from, token.begin).rfind('\n');
    if (lineBegin != StringRef::npos) from += static_cast<uint32_t>(lineBegin);
    for (antlr4::RuleContext *context = parser->getContext(); context; context = static_cast<antlr4::RuleContext *>(context->parent)) {
      if (context->getRuleIndex() != P::RuleStatement) continue;
      from = std::min(from, tokenOf(static_cast<antlr4::ParserRuleContext *>(context)->getStart()).begin);
      break;
    }
    size_t length = source.substr(token.begin, Reach).find('\n');
    uint32_t to = length == StringRef::npos ? token.begin + Reach : token.begin + static_cast<uint32_t>(length);
    auto at = reportedAt_.lower_bound(from);
    return at != reportedAt_.end() && *at <= to;
  }

  // In a phrase: `x`, or what it is where it has no text.
  std::string found(const Token &token) const {
    switch (token.kind) {
    case Tok::End: return "the end of the file";
    case Tok::Sep: return "the end of the line";
    default: break;
    }
    StringRef written = text(token);
    if (written.empty()) return "the end of the line";
    if (written.contains('\n') || written.size() > 40) return "a text";
    return ("`" + written + "`").str();
  }

  void word(antlr4::Parser *parser, const Token &token, P *grammar) {
    if (token.kind == Tok::Bad || token.begin >= quietFrom_ || alreadySaid(token, parser)) return;
    antlr4::ParserRuleContext *context = parser->getContext();
    antlr4::Token *beforeToken = parser->getTokenStream()->LT(-1);
    const Token *before = beforeToken ? &tokenOf(beforeToken) : nullptr;
    size_t rule = context->getRuleIndex();
    bool newline = token.kind == Tok::Sep || token.kind == Tok::End || token.kind == Tok::RBrace;
    // Where nothing stands, the place is right behind what came before.
    SourceRange place = range(token);
    if (newline && before && token.kind != Tok::RBrace) place = {file_, before->end, before->end};

    antlr4::misc::IntervalSet expected;
    try {
      expected = grammar->getExpectedTokens();
    } catch (const std::exception &) {
    }
    auto wants = [&](size_t type) { return expected.contains(type); };

    if (rule == P::RuleStatementTail && token.kind == Tok::Eq) {
      report(range(token), diag::EqualsTwice{}).fixit(range(token), "=", diag::WriteInstead{.text = "="});
      return;
    }
    if (rule == P::RuleTypeAtom && token.kind == Tok::Ge) {
      report(range(token), diag::GreaterEqualsInType{}).fixit(range(token), "> =", diag::WriteInstead{.text = "> ="});
      return;
    }
    if (rule == P::RuleStatement && context->getStart() == parser->getCurrentToken()) {
      report(place, diag::NoStatement{.found = found(token)}).note(diag::StatementsAre{});
      return;
    }
    if (rule == P::RuleStatementTail) {
      report(newline && before ? range(*before) : place, diag::StatementWithoutValue{.found = found(token)}).note(diag::StatementsAre{});
      return;
    }
    bool startsValue = token.kind == Tok::Name || token.kind == Tok::String || token.kind == Tok::StringBegin ||
                       (token.kind >= Tok::Int && token.kind <= Tok::Duration) || token.kind == Tok::True ||
                       token.kind == Tok::False || token.kind == Tok::Null || token.kind == Tok::Self ||
                       token.kind == Tok::LBrace || token.kind == Tok::LBrack || token.kind == Tok::LParen;
    if (startsValue && before && (rule == P::RuleList || rule == P::RuleArgs || rule == P::RulePostfix)) {
      report(range(token), diag::MissingComma{.found = found(token)})
          .fixit({file_, before->end, before->end}, ",", diag::WriteInstead{.text = ","});
      return;
    }
    std::string expectedText = rule == P::RulePrimary || rule == P::RuleUnary || rule == P::RuleExpr ? "a value"
                               : rule == P::RuleTypeAtom || rule == P::RuleType                     ? "a type"
                               : rule == P::RuleName || rule == P::RuleKey || rule == P::RulePath || rule == P::RuleDotted ? "a name"
                                                                                                       : "";
    if (rule == P::RuleStatement) expectedText = "the end of the statement";
    if (expectedText.empty()) {
      static const std::pair<size_t, const char *> words[] = {
          {P::ASSIGN, "`=`"},  {P::COLON, "`:`"},   {P::LBRACE, "`{`"}, {P::RPAREN, "`)`"}, {P::RBRACK, "`]`"},
          {P::RBRACE, "`}`"},  {P::THEN, "`then`"}, {P::ELSE, "`else`"}, {P::IN, "`in`"},   {P::ARROW, "`->`"},
          {P::LPAREN, "`(`"},  {P::GT, "`>`"},      {P::NAME, "a name"}};
      llvm::SmallVector<const char *, 4> list;
      for (const auto &[type, name] : words)
        if (wants(type)) list.push_back(name);
      for (size_t i = 0; i < list.size() && i < 3; ++i)
        expectedText += (i == 0 ? "" : i + 1 == std::min<size_t>(list.size(), 3) ? " or " : ", ") + std::string(list[i]);
    }
    if (expectedText.empty()) expectedText = "something else";
    auto unexpected = report(place, diag::Unexpected{.found = found(token), .expected = expectedText});
    if (!before) return;
    StringRef source = compilation_.sources.text(file_);
    if (rule == P::RuleStatement && before->kind == Tok::RBrace && token.kind == Tok::Name && !token.newlineBefore) {
      unexpected.fixit({file_, before->end, before->end}, ",", diag::WriteInstead{.text = ","});
      return;
    }
    bool adjacent = before->end == token.begin && before->kind == Tok::Name;
    const Token &start = tokenOf(context->getStart());
    if (adjacent && token.kind == Tok::Minus && wants(P::LBRACE)) {
      // job fine-tune { … }
      StringRef whole = source.drop_front(before->begin).take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.'; });
      std::string quoted = "\"" + whole.str() + "\"";
      unexpected.fixit({file_, before->begin, before->begin + static_cast<uint32_t>(whole.size())}, quoted, diag::QuotedName{.text = quoted});
    } else if (token.kind == Tok::Assign && start.kind == Tok::Param && before->kind == Tok::Name && wants(P::COLON)) {
      const Token &value = tokenOf(parser->getTokenStream()->LT(2));
      StringRef type = value.kind == Tok::Int                                      ? "int"
                       : value.kind == Tok::Float                                  ? "float"
                       : value.kind == Tok::Amount                                 ? "amount"
                       : value.kind == Tok::Duration                               ? "duration"
                       : value.kind == Tok::True || value.kind == Tok::False       ? "bool"
                       : value.kind == Tok::LBrack                                 ? "list<any>"
                                                                                   : "string";
      std::string typed = "param " + text(*before).str() + ": " + type.str();
      unexpected.fixit({file_, before->end, before->end}, ": " + type.str(), diag::ParamType{.text = typed});
    } else if (adjacent && token.kind == Tok::LBrack && (start.kind == Tok::Param || start.kind == Tok::Let || start.kind == Tok::Fn)) {
      StringRef head = text(*before);
      std::string written = (head.equals_insensitive("dict") || head.equals_insensitive("map") ? "map<string>" : "list<string>");
      unexpected.note(diag::TypeArguments{.text = written});
    } else if (adjacent && (token.kind == Tok::String || token.kind == Tok::StringBegin) && before->end - before->begin <= 2) {
      unexpected.note(diag::ValuesInText{});
    }
  }

  FileId file_;
  Compilation &compilation_;
  std::set<uint32_t> &reportedAt_;
  uint32_t quietFrom_;
  antlr4::Token *last_ = nullptr;
  bool hasErrors_ = false;
};

StringRef moduleDoc(FileId file, Compilation &compilation, const Tokens &tokens, llvm::ArrayRef<const ast::Stmt *> stmts) {
  // The `##` lines above `edition` document the file.
  if (!stmts.empty()) {
    const auto *first = ast::as<ast::Field>(stmts.front());
    if (first && first->target.parts.size() == 1 && first->target.parts[0].text == "edition") return first->doc;
  }
  // Otherwise those at the top that a blank line divides from the first statement.
  StringRef source = compilation.sources.text(file);
  std::string doc;
  size_t last = tokens.comments.size(), i = 0;
  for (; i < tokens.comments.size(); ++i) {
    const ast::Comment &comment = tokens.comments[i];
    if (i == 0 && source.slice(comment.range.begin, comment.range.end).startswith("#!")) continue;
    if (!comment.doc || !comment.ownLine) break;
    if (last != tokens.comments.size() && source.slice(tokens.comments[last].range.end, comment.range.begin).count('\n') != 1) break;
    if (!stmts.empty() && comment.range.begin > stmts.front()->range.begin) break;
    StringRef line = source.slice(comment.range.begin + 2, comment.range.end);
    line.consume_front(" ");
    if (!doc.empty()) doc += '\n';
    doc += line.rtrim().str();
    last = i;
  }
  if (last == tokens.comments.size()) return {};
  if (!stmts.empty() && source.slice(tokens.comments[last].range.end, stmts.front()->range.begin).count('\n') < 2) return {};
  return compilation.arena.save(doc);
}

} // namespace

const ast::Module &module(FileId file, Compilation &compilation) {
  timings::Scope timing(timings::Phase::Parser);
  Tokens tokens = [&] {
    timings::Scope inner(timings::Phase::Lexer);
    return tokenize(file, compilation, /*wholeIsExpression=*/false);
  }();
  std::set<uint32_t> reportedAt(tokens.reportedAt.begin(), tokens.reportedAt.end());
  Builder builder(file, compilation, tokens, reportedAt);
  llvm::SmallVector<const ast::Stmt *, 64> stmts;
  bool failed = false;
  {
    TokenStream stream(tokens.tokens);
    OwnParser parser(&stream);
    auto strategy = std::make_shared<Strategy>(file, compilation, reportedAt, tokens.gaveUpAt);
    parser.setErrorHandler(strategy);
    parser.removeErrorListeners();
    while (stream.LA(1) != antlr4::Token::EOF) {
      size_t before = stream.index();
      try {
        P::OneStatementContext *context = parser.oneStatement();
        stmts.push_back(builder.statement(static_cast<P::StatementContext *>(context->children[0])));
      } catch (const antlr4::RecognitionException &) {
        failed = true;
      }
      parser.forget();
      // Whatever happens, the text gets shorter.
      if (stream.index() == before) stream.consume();
    }
    failed |= strategy->hasErrors();
  }
  auto *result = compilation.arena.make<ast::Module>();
  result->file = file;
  result->stmts = builder.attachAnnotations(compilation.arena.copy(llvm::ArrayRef<const ast::Stmt *>(stmts)));
  result->comments = compilation.arena.copy(llvm::ArrayRef<ast::Comment>(tokens.comments));
  result->doc = moduleDoc(file, compilation, tokens, result->stmts);
  result->hasErrors = failed || tokens.hasErrors || builder.hasErrors();
  return *result;
}

const ast::Expr *expression(FileId file, Compilation &compilation) {
  Tokens tokens = tokenize(file, compilation, /*wholeIsExpression=*/true);
  std::set<uint32_t> reportedAt(tokens.reportedAt.begin(), tokens.reportedAt.end());
  Builder builder(file, compilation, tokens, reportedAt);
  TokenStream stream(tokens.tokens);
  OwnParser parser(&stream);
  auto strategy = std::make_shared<Strategy>(file, compilation, reportedAt, tokens.gaveUpAt);
  parser.setErrorHandler(strategy);
  parser.removeErrorListeners();
  try {
    P::OneExpressionContext *context = parser.oneExpression();
    if (strategy->hasErrors() || tokens.hasErrors) return nullptr;
    const ast::Expr *result = builder.expression(static_cast<P::ExprContext *>(context->children[0]));
    return builder.hasErrors() ? nullptr : result;
  } catch (const antlr4::RecognitionException &) {
    return nullptr;
  }
}

} // namespace kft::parse

// Our tokens as ANTLR wants to see them: one small object each, no text of their own.
#pragma once

#include "compiler/parse/lexer.h"

#include "antlr4-runtime.h"

#include <vector>

namespace kft::parse {

class KftToken : public antlr4::Token {
public:
  KftToken(const parse::Token &token, size_t index);
  std::string getText() const override { return {}; }
  size_t getType() const override { return type_; }
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() const override { return 0; }
  size_t getChannel() const override { return 0; }
  size_t getTokenIndex() const override { return index_; }
  size_t getStartIndex() const override { return token.begin; }
  size_t getStopIndex() const override { return token.end; }
  antlr4::TokenSource *getTokenSource() const override { return nullptr; }
  antlr4::CharStream *getInputStream() const override { return nullptr; }
  std::string toString() const override { return {}; }

  const parse::Token &token;

private:
  size_t type_;
  uint32_t index_;
};

class TokenStream : public antlr4::TokenStream {
public:
  explicit TokenStream(const std::vector<Token> &tokens);
  antlr4::Token *LT(ssize_t k) override;
  antlr4::Token *get(size_t index) const override { return const_cast<KftToken *>(&tokens_[index]); }
  antlr4::TokenSource *getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval &) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext *) override { return {}; }
  std::string getText(antlr4::Token *, antlr4::Token *) override { return {}; }
  void consume() override {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  size_t LA(ssize_t k) override { return LT(k)->getType(); }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return tokens_.size(); }
  std::string getSourceName() const override { return "kft"; }

private:
  std::vector<KftToken> tokens_;
  size_t at_ = 0;
};

} // namespace kft::parse

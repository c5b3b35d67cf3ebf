#include "compiler/parse/token_stream.h"

#include "KftParser.h"

namespace kft::parse {

namespace {

size_t typeOf(Tok kind) {
  using P = KftParser;
  switch (kind) {
  case Tok::End: return antlr4::Token::EOF;
  case Tok::Sep: return P::SEP;
  case Tok::Name: return P::NAME;
  case Tok::Int: return P::INT;
  case Tok::Float: return P::FLOAT;
  case Tok::Amount: return P::AMOUNT;
  case Tok::Duration: return P::DURATION;
  case Tok::String: return P::STRING;
  case Tok::StringBegin: return P::STRING_BEGIN;
  case Tok::StringMiddle: return P::STRING_MIDDLE;
  case Tok::StringEnd: return P::STRING_END;
  case Tok::If: return P::IF;
  case Tok::Then: return P::THEN;
  case Tok::Else: return P::ELSE;
  case Tok::For: return P::FOR;
  case Tok::In: return P::IN;
  case Tok::Not: return P::NOT;
  case Tok::NotIn: return P::NOT_IN;
  case Tok::And: return P::AND;
  case Tok::Or: return P::OR;
  case Tok::With: return P::WITH;
  case Tok::True: return P::TRUE_WORD;
  case Tok::False: return P::FALSE_WORD;
  case Tok::Null: return P::NULL_WORD;
  case Tok::Self: return P::SELF;
  case Tok::Import: return P::IMPORT;
  case Tok::As: return P::AS;
  case Tok::Param: return P::PARAM;
  case Tok::Let: return P::LET;
  case Tok::Fn: return P::FN;
  case Tok::Type: return P::TYPE;
  case Tok::Assert: return P::ASSERT;
  case Tok::Where: return P::WHERE;
  case Tok::Extends: return P::EXTENDS;
  case Tok::LBrace: return P::LBRACE;
  case Tok::RBrace: return P::RBRACE;
  case Tok::LParen: return P::LPAREN;
  case Tok::RParen: return P::RPAREN;
  case Tok::LBrack: return P::LBRACK;
  case Tok::RBrack: return P::RBRACK;
  case Tok::Assign: return P::ASSIGN;
  case Tok::PlusAssign: return P::PLUS_ASSIGN;
  case Tok::Colon: return P::COLON;
  case Tok::Comma: return P::COMMA;
  case Tok::Dot: return P::DOT;
  case Tok::Arrow: return P::ARROW;
  case Tok::At: return P::AT;
  case Tok::Question: return P::QUESTION;
  case Tok::Pipe: return P::PIPE;
  case Tok::Eq: return P::EQ;
  case Tok::Ne: return P::NE;
  case Tok::Lt: return P::LT;
  case Tok::Le: return P::LE;
  case Tok::Gt: return P::GT;
  case Tok::Ge: return P::GE;
  case Tok::Range: return P::RANGE;
  case Tok::Coalesce: return P::COALESCE;
  case Tok::Plus: return P::PLUS;
  case Tok::Minus: return P::MINUS;
  case Tok::Star: return P::STAR;
  case Tok::Slash: return P::SLASH;
  case Tok::Percent: return P::PERCENT;
  case Tok::Bad: return P::BAD;
  }
  return P::BAD;
}

} // namespace

KftToken::KftToken(const parse::Token &token, size_t index)
    : token(token), type_(typeOf(token.kind)), index_(static_cast<uint32_t>(index)) {}

TokenStream::TokenStream(const std::vector<Token> &tokens) {
  tokens_.reserve(tokens.size());
  for (const Token &token : tokens) tokens_.emplace_back(token, tokens_.size());
}

antlr4::Token *TokenStream::LT(ssize_t k) {
  if (k == 0) return nullptr;
  ssize_t index = static_cast<ssize_t>(at_) + (k > 0 ? k - 1 : k);
  if (index < 0) return nullptr;
  return &tokens_[std::min(static_cast<size_t>(index), tokens_.size() - 1)];
}

} // namespace kft::parse

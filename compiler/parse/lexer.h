// Text to tokens, and everything about lines, commas and words that the grammar should not have to know: a SEP stands exactly
// between two statements, commas before a closing bracket are gone, and a word that is a plain name where it stands is a NAME.
// What is wrong with the text itself is reported here, once; the tokens that come out always have their brackets in order.
#pragma once

#include "compiler/ast/nodes.h"
#include "compiler/basic/compilation.h"

#include <cstdint>
#include <vector>

namespace kft::parse {

// Filled from the generated parser's numbering by lexer.cpp's only user, so that ANTLR's headers stay out of this one.
enum class Tok : uint8_t {
  End, Sep, Name, Int, Float, Amount, Duration, String, StringBegin, StringMiddle, StringEnd,
  If, Then, Else, For, In, Not, NotIn, And, Or, With, True, False, Null, Self,
  Import, As, Param, Let, Fn, Type, Assert, Where, Extends,
  LBrace, RBrace, LParen, RParen, LBrack, RBrack,
  Assign, PlusAssign, Colon, Comma, Dot, Arrow, At, Question, Pipe,
  Eq, Ne, Lt, Le, Gt, Ge, Range, Coalesce, Plus, Minus, Star, Slash, Percent,
  Bad,
};

struct Token {
  Tok kind = Tok::End;
  bool newlineBefore = false; // a line end lies between this token and the one before
  uint32_t begin = 0, end = 0;
  // String tokens: the decoded text (of the part, for Begin, Middle and End). Bad: empty.
  llvm::StringRef text;
  ast::StringLiteral::Form form = ast::StringLiteral::Form::Plain;
};

struct Tokens {
  std::vector<Token> tokens; // ends with End
  std::vector<ast::Comment> comments;
  // Starts of lines on which something was reported: the parser says nothing more about those.
  std::vector<uint32_t> reportedAt; // offsets, ascending within the pass
  bool hasErrors = false;
  // Nested too deeply: reported, and what follows this place was not read, so nothing is said about it.
  bool gaveUp = false;
  uint32_t gaveUpAt = UINT32_MAX;
};

// `wholeIsExpression`: the text is one expression (the value of an option): newlines mean nothing.
Tokens tokenize(FileId file, Compilation &compilation, bool wholeIsExpression);

} // namespace kft::parse

#include "compiler/parse/lexer.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"

#include <fmt/format.h>

#include <algorithm>

namespace kft::parse {

namespace {

using llvm::StringRef;

constexpr unsigned MaxDepth = 200; // language.md section 3: brackets, interpolations, arms of one `else if` chain

bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameChar(char c) { return isNameStart(c) || isDigit(c); }

Tok wordKind(StringRef word) {
  return llvm::StringSwitch<Tok>(word)
      .Case("if", Tok::If).Case("then", Tok::Then).Case("else", Tok::Else).Case("for", Tok::For).Case("in", Tok::In)
      .Case("not", Tok::Not).Case("and", Tok::And).Case("or", Tok::Or).Case("with", Tok::With).Case("true", Tok::True)
      .Case("false", Tok::False).Case("null", Tok::Null).Case("self", Tok::Self).Case("import", Tok::Import)
      .Case("as", Tok::As).Case("param", Tok::Param).Case("let", Tok::Let).Case("fn", Tok::Fn).Case("type", Tok::Type)
      .Case("assert", Tok::Assert).Case("where", Tok::Where).Case("extends", Tok::Extends)
      .Default(Tok::Name);
}
bool isStatementWord(Tok kind) { return kind >= Tok::Import && kind <= Tok::Extends; }
bool isWord(Tok kind) { return (kind >= Tok::If && kind <= Tok::Self) || isStatementWord(kind); }

// First pass: characters to raw tokens.
class Lexer {
public:
  Lexer(FileId file, Compilation &compilation, Tokens &out)
      : file_(file), compilation_(compilation), text_(compilation.sources.text(file)), out_(out) {}

  void run() {
    if (!checkEncoding()) {
      push(Tok::End, size(), size());
      return;
    }
    if (text_.startswith("\xEF\xBB\xBF")) at_ = 3;
    if (text_.drop_front(at_).startswith("#!")) comment();
    while (!failed_) {
      blanks();
      if (at_ >= size()) break;
      if (!strings_.empty() && text_[at_] == ')' && strings_.back().parens == 0) {
        ++at_;
        stringPart(/*first=*/false);
        continue;
      }
      token();
    }
    // A string whose interpolation never ended: close it, so that the grammar sees a whole one.
    while (!strings_.empty()) {
      if (!failed_)
        report({strings_.back().open, strings_.back().open + 1}, diag::UnclosedString{});
      push(Tok::StringEnd, size(), size());
      strings_.pop_back();
    }
    push(Tok::End, size(), size());
  }

private:
  struct Span {
    uint32_t begin, end;
  };
  struct OpenString {
    ast::StringLiteral::Form form;
    uint32_t open;          // offset of the opening quote
    unsigned parens = 0;    // open parentheses inside the interpolation
    size_t firstToken;      // its StringBegin
    llvm::SmallVector<std::pair<size_t, Span>, 4> pieces; // token index, raw text (block strings only)
  };

  uint32_t size() const { return static_cast<uint32_t>(text_.size()); }
  char peek(uint32_t ahead = 0) const { return at_ + ahead < size() ? text_[at_ + ahead] : '\0'; }
  SourceRange range(Span span) const { return {file_, span.begin, span.end}; }

  template <typename D>
  Diagnostics::Builder report(Span span, const D &row) {
    out_.hasErrors = true;
    out_.reportedAt.push_back(span.begin);
    return compilation_.diags.report(range(span), row);
  }

  void push(Tok kind, uint32_t begin, uint32_t end) {
    Token token;
    token.kind = kind;
    token.begin = begin;
    token.end = end;
    token.newlineBefore = newline_;
    newline_ = false;
    out_.tokens.push_back(token);
  }

  // Valid UTF-8 without NUL, or one report for the whole file.
  bool checkEncoding() {
    // A carriage return belongs to the line end behind it. Alone it would end lines for some readers and not for others.
    for (size_t at = text_.find('\r'); at != StringRef::npos; at = text_.find('\r', at + 1)) {
      if (at + 1 < text_.size() && text_[at + 1] == '\n') continue;
      if (at + 1 == text_.size()) break;
      uint32_t offset = static_cast<uint32_t>(at);
      report({offset, offset + 1}, diag::UnknownCharacter{.text = "\\r"}).note(diag::CarriageReturnAlone{});
      return false;
    }
    const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text_.bytes_begin());
    const auto *at = begin, *end = reinterpret_cast<const llvm::UTF8 *>(text_.bytes_end());
    if (size_t nul = text_.find('\0'); nul != StringRef::npos) {
      report({static_cast<uint32_t>(nul), static_cast<uint32_t>(nul) + 1}, diag::NulByte{});
      return false;
    }
    if (!llvm::isLegalUTF8String(&at, end)) {
      uint32_t offset = static_cast<uint32_t>(at - begin);
      report({offset, offset + 1}, diag::BadUtf8{.byte = fmt::format("0x{:02x}", *at)});
      return false;
    }
    return true;
  }

  void comment() {
    uint32_t begin = at_;
    size_t end = text_.find('\n', at_);
    at_ = end == StringRef::npos ? size() : static_cast<uint32_t>(end);
    uint32_t stop = at_;
    if (stop > begin && text_[stop - 1] == '\r') --stop;
    size_t lineStart = text_.rfind('\n', begin);
    lineStart = lineStart == StringRef::npos || lineStart >= begin ? 0 : lineStart + 1;
    if (begin == 0 || (begin == 3 && text_.startswith("\xEF"))) lineStart = begin;
    StringRef before = text_.slice(lineStart, begin);
    ast::Comment comment;
    comment.range = {file_, begin, stop};
    comment.doc = text_.slice(begin, stop).startswith("##");
    comment.ownLine = before.trim(" \t\r").empty();
    out_.comments.push_back(comment);
  }

  void blanks() {
    while (at_ < size()) {
      char c = text_[at_];
      if (c == '\n') {
        newline_ = true;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '#') {
        comment();
      } else {
        return;
      }
    }
  }

  void token() {
    uint32_t begin = at_;
    char c = text_[at_];
    if (c == 'r' && peek(1) == '"') return rawString();
    if (isNameStart(c)) {
      while (at_ < size() && isNameChar(text_[at_])) ++at_;
      return push(wordKind(text_.slice(begin, at_)), begin, at_);
    }
    if (isDigit(c)) return number();
    if (c == '"') return string();
    auto take = [&](unsigned length, Tok kind) {
      at_ += length;
      push(kind, begin, at_);
    };
    char next = peek(1);
    switch (c) {
    case '{': return take(1, Tok::LBrace);
    case '}': return take(1, Tok::RBrace);
    case '(':
      if (!strings_.empty()) ++strings_.back().parens;
      return take(1, Tok::LParen);
    case ')':
      if (!strings_.empty()) --strings_.back().parens;
      return take(1, Tok::RParen);
    case '[': return take(1, Tok::LBrack);
    case ']': return take(1, Tok::RBrack);
    case '=': return next == '=' ? take(2, Tok::Eq) : take(1, Tok::Assign);
    case '!':
      if (next == '=') return take(2, Tok::Ne);
      report({begin, begin + 1}, diag::UnknownCharacter{.text = "!"}).fixit(range({begin, begin + 1}), "not ", diag::WriteInstead{.text = "not"});
      return take(1, Tok::Not);
    case '<': return next == '=' ? take(2, Tok::Le) : take(1, Tok::Lt);
    case '>': return next == '=' ? take(2, Tok::Ge) : take(1, Tok::Gt);
    case '+': return next == '=' ? take(2, Tok::PlusAssign) : take(1, Tok::Plus);
    case '-': return next == '>' ? take(2, Tok::Arrow) : take(1, Tok::Minus);
    case '*': return take(1, Tok::Star);
    case '/': return take(1, Tok::Slash);
    case '%': return take(1, Tok::Percent);
    case '.': return next == '.' ? take(2, Tok::Range) : take(1, Tok::Dot);
    case '?': return next == '?' ? take(2, Tok::Coalesce) : take(1, Tok::Question);
    case '|':
      if (next == '|') {
        report({begin, begin + 2}, diag::UnknownCharacter{.text = "||"}).fixit(range({begin, begin + 2}), "or", diag::WriteInstead{.text = "or"});
        return take(2, Tok::Or);
      }
      return take(1, Tok::Pipe);
    case '&':
      if (next == '&') {
        report({begin, begin + 2}, diag::UnknownCharacter{.text = "&&"}).fixit(range({begin, begin + 2}), "and", diag::WriteInstead{.text = "and"});
        return take(2, Tok::And);
      }
      break;
    case ':': return take(1, Tok::Colon);
    case ',': return take(1, Tok::Comma);
    case '@': return take(1, Tok::At);
    case ';':
      report({begin, begin + 1}, diag::UnknownCharacter{.text = ";"}).note(diag::StatementsEndWithTheLine{});
      newline_ = true;
      ++at_;
      return;
    case '\'': {
      // A string in single quotes, as in Python: taken whole, so that it is one mistake.
      uint32_t end = at_ + 1;
      while (end < size() && text_[end] != '\'' && text_[end] != '\n') ++end;
      if (end < size() && text_[end] == '\'') {
        ++end;
        std::string fixed = "\"";
        for (char d : text_.slice(begin + 1, end - 1)) fixed += d == '"' ? std::string("\\\"") : std::string(1, d);
        report({begin, end}, diag::SingleQuotes{}).fixit(range({begin, end}), fixed + "\"", diag::WriteInstead{.text = "\"…\""});
        at_ = end;
        push(Tok::String, begin, end);
        out_.tokens.back().text = text_.slice(begin + 1, end - 1);
        return;
      }
      break;
    }
    default: break;
    }
    // Anything else: one message for a run of such characters.
    uint32_t end = at_;
    do {
      ++end;
      while (end < size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    } while (end < size() && static_cast<unsigned char>(text_[end]) >= 0x80);
    report({begin, end}, diag::UnknownCharacter{.text = text_.slice(begin, end)});
    at_ = end;
    push(Tok::Bad, begin, end);
  }

  void number() {
    uint32_t begin = at_;
    auto digits = [&](auto isOne) {
      while (at_ < size() && (isOne(text_[at_]) || (text_[at_] == '_' && at_ + 1 < size() && isOne(text_[at_ + 1])))) ++at_;
    };
    if (text_[at_] == '0' && (peek(1) == 'x' || peek(1) == 'X') && llvm::isHexDigit(peek(2))) {
      at_ += 2;
      digits([](char c) { return llvm::isHexDigit(c); });
      if (at_ < size() && isNameChar(text_[at_])) return badNumber(begin);
      return push(Tok::Int, begin, at_);
    }
    digits(isDigit);
    bool fraction = false, exponent = false;
    if (peek() == '.' && isDigit(peek(1))) {
      fraction = true;
      ++at_;
      digits(isDigit);
    }
    if ((peek() == 'e' || peek() == 'E') && (isDigit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && isDigit(peek(2))))) {
      exponent = true;
      at_ += 2;
      digits(isDigit);
    }
    uint32_t numberEnd = at_;
    while (at_ < size() && isNameChar(text_[at_])) ++at_;
    StringRef suffix = text_.slice(numberEnd, at_), whole = text_.slice(begin, at_);
    StringRef integer = text_.slice(begin, numberEnd).take_while([](char c) { return isDigit(c) || c == '_'; });
    if (integer.size() > 1 && integer[0] == '0' && !exponent) {
      StringRef rest = text_.slice(begin, at_).ltrim("0_");
      std::string fixed = rest.empty() || !isDigit(rest[0]) ? "0" + rest.str() : rest.str();
      report({begin, at_}, diag::LeadingZero{.text = whole}).fixit(range({begin, at_}), fixed, diag::DidYouMean{.name = fixed});
      return push(Tok::Bad, begin, at_);
    }
    if (suffix.empty()) return push(fraction || exponent ? Tok::Float : Tok::Int, begin, at_);
    bool amount = llvm::StringSwitch<bool>(suffix)
                      .Cases("n", "u", "m", "k", "M", "G", "T", "P", "E", true)
                      .Cases("Ki", "Mi", "Gi", "Ti", "Pi", "Ei", true)
                      .Default(false);
    if (amount && !exponent) return push(Tok::Amount, begin, at_);
    if (!fraction && !exponent && isDuration(whole)) return push(Tok::Duration, begin, at_);
    badNumber(begin);
  }

  static bool isDuration(StringRef text) {
    while (!text.empty()) {
      StringRef digits = text.take_while([](char c) { return isDigit(c) || c == '_'; });
      if (digits.empty()) return false;
      text = text.drop_front(digits.size());
      StringRef unit = text.take_while([](char c) { return isNameStart(c) && c != '_'; });
      if (!llvm::StringSwitch<bool>(unit).Cases("ms", "s", "min", "h", "d", true).Default(false)) return false;
      text = text.drop_front(unit.size());
    }
    return true;
  }

  void badNumber(uint32_t begin) {
    while (at_ < size() && isNameChar(text_[at_])) ++at_;
    StringRef whole = text_.slice(begin, at_);
    StringRef digits = whole.take_while([](char c) { return isDigit(c) || c == '_' || c == '.'; });
    StringRef suffix = whole.drop_front(digits.size());
    auto diagnostic = report({begin, at_}, diag::BadNumber{.text = whole});
    auto offer = [&](StringRef unit) {
      std::string fixed = (digits + unit).str();
      diagnostic.fixit(range({begin, at_}), fixed, diag::DidYouMean{.name = fixed});
    };
    std::string lower = suffix.lower();
    // `1.5h`: durations have no fractions, the next unit may do without.
    double amount = 0;
    int factor = suffix == "d" ? 24 : suffix == "h" || suffix == "min" ? 60 : suffix == "s" ? 1000 : 0;
    if (factor && digits.contains('.') && !digits.contains('_') && !digits.getAsDouble(amount) && amount < 1e6 && amount * factor == static_cast<int64_t>(amount * factor)) {
      std::string fixed = std::to_string(static_cast<int64_t>(amount * factor)) + (suffix == "d" ? "h" : suffix == "h" ? "min" : suffix == "min" ? "s" : "ms");
      diagnostic.fixit(range({begin, at_}), fixed, diag::DidYouMean{.name = fixed});
    }
    else if (lower == "g" || lower == "gb") offer("Gi"), offer("G");
    else if (lower == "gib" || lower == "gi") offer("Gi");
    else if (lower == "mb") offer("Mi"), offer("M");
    else if (lower == "mib" || lower == "mi") offer("Mi");
    else if (lower == "kb" || suffix == "K") offer("Ki"), offer("k");
    else if (lower == "kib" || lower == "ki") offer("Ki");
    else if (lower == "t" || lower == "tb") offer("Ti"), offer("T");
    else if (lower == "tib" || lower == "ti") offer("Ti");
    else if (lower == "sec" || lower == "secs" || lower == "second" || lower == "seconds") offer("s");
    else if (lower == "mins" || lower == "minute" || lower == "minutes") offer("min");
    else if (lower == "hr" || lower == "hrs" || lower == "hour" || lower == "hours") offer("h");
    else if (lower == "day" || lower == "days") offer("d");
    else diagnostic.note(diag::UnitsAre{});
    push(Tok::Bad, begin, at_);
  }

  // ---- strings ----
  void rawString() {
    uint32_t begin = at_;
    bool block = text_.drop_front(at_ + 1).startswith("\"\"\"");
    uint32_t body = at_ + (block ? 4 : 2);
    size_t end = block ? text_.find("\"\"\"", body) : text_.find_first_of("\"\n", body);
    if (end == StringRef::npos || text_[end] == '\n') {
      report({begin, body}, diag::UnclosedString{});
      at_ = end == StringRef::npos ? size() : static_cast<uint32_t>(end);
      push(Tok::Bad, begin, at_);
      return;
    }
    at_ = static_cast<uint32_t>(end) + (block ? 3 : 1);
    push(Tok::String, begin, at_);
    Token &token = out_.tokens.back();
    token.form = block ? ast::StringLiteral::Form::RawTriple : ast::StringLiteral::Form::Raw;
    Span raw{body, static_cast<uint32_t>(end)};
    if (block) {
      std::pair<size_t, Span> piece{out_.tokens.size() - 1, raw};
      decodeBlock(piece, begin, /*raw=*/true);
    } else {
      token.text = text_.slice(raw.begin, raw.end);
    }
  }

  void string() {
    bool block = text_.drop_front(at_).startswith("\"\"\"");
    OpenString open;
    open.form = block ? ast::StringLiteral::Form::Triple : ast::StringLiteral::Form::Plain;
    open.open = at_;
    open.firstToken = out_.tokens.size();
    strings_.push_back(std::move(open));
    at_ += block ? 3 : 1;
    stringPart(/*first=*/true);
  }

  // From here to the end of the string or to the next `\(`.
  void stringPart(bool first) {
    OpenString &open = strings_.back();
    bool block = open.form == ast::StringLiteral::Form::Triple;
    uint32_t begin = at_, tokenBegin = first ? open.open : at_ - 1;
    bool closed = false, interpolated = false;
    while (at_ < size()) {
      char c = text_[at_];
      if (c == '\\') {
        if (peek(1) == '(') {
          interpolated = true;
          break;
        }
        at_ += at_ + 1 < size() && text_[at_ + 1] != '\n' ? 2 : 1;
        continue;
      }
      if (block ? text_.drop_front(at_).startswith("\"\"\"") : c == '"') {
        closed = true;
        break;
      }
      if (!block && c == '\n') break;
      ++at_;
    }
    Span raw{begin, at_};
    if (interpolated && strings_.size() >= MaxDepth) {
      report({at_, at_ + 2}, diag::NestedTooDeep{});
      failed_ = out_.gaveUp = true;
      out_.gaveUpAt = strings_.front().open;
      return;
    }
    if (interpolated) {
      at_ += 2;
      push(first ? Tok::StringBegin : Tok::StringMiddle, tokenBegin, at_);
    } else {
      if (closed) at_ += block ? 3 : 1;
      else report({open.open, open.open + (block ? 3 : 1)}, diag::UnclosedString{});
      push(first ? (closed ? Tok::String : Tok::Bad) : Tok::StringEnd, tokenBegin, at_);
    }
    out_.tokens.back().form = open.form;
    if (block) {
      open.pieces.push_back({out_.tokens.size() - 1, raw});
    } else {
      out_.tokens.back().text = unescape(text_.slice(raw.begin, raw.end), raw.begin);
    }
    if (interpolated) return;
    if (block && closed) decodeBlock(open.pieces, open.open, /*raw=*/false);
    strings_.pop_back();
  }

  // The indentation of the closing line goes from every line; the first and the last line end are no part of the text.
  void decodeBlock(llvm::ArrayRef<std::pair<size_t, Span>> pieces, uint32_t open, bool raw) {
    StringRef last = text_.slice(pieces.back().second.begin, pieces.back().second.end);
    StringRef first = text_.slice(pieces.front().second.begin, pieces.front().second.end);
    size_t firstNewline = first.find('\n');
    uint32_t quotes = raw ? 4 : 3;
    if (firstNewline == StringRef::npos ? pieces.size() > 1 || true : !first.take_front(firstNewline).trim(" \t\r").empty()) {
      if (firstNewline == StringRef::npos || !first.take_front(firstNewline).trim(" \t\r").empty()) {
        report({open, open + quotes}, diag::BlockStringLines{});
        return;
      }
    }
    size_t lastNewline = last.rfind('\n');
    StringRef indent = lastNewline == StringRef::npos ? last : last.drop_front(lastNewline + 1);
    if (lastNewline == StringRef::npos || !indent.trim(" \t").empty()) {
      uint32_t end = pieces.back().second.end;
      report({end, end + 3}, diag::BlockStringLines{});
      return;
    }
    bool told = false;
    for (size_t i = 0; i < pieces.size(); ++i) {
      uint32_t begin = pieces[i].second.begin, end = pieces[i].second.end;
      if (i == 0) begin += static_cast<uint32_t>(firstNewline) + 1;
      if (i + 1 == pieces.size()) {
        uint32_t stop = pieces[i].second.begin + static_cast<uint32_t>(lastNewline);
        end = std::max(begin, stop);
        if (end > begin && text_[end - 1] == '\r') --end;
        if (i == 0 && stop < begin) end = begin;
      }
      std::string text;
      bool lineStart = i == 0;
      uint32_t at = begin;
      llvm::SmallVector<std::pair<size_t, uint32_t>, 8> lines; // offset in `text`, offset in the source
      lines.push_back({0, at});
      while (at < end) {
        if (lineStart) {
          StringRef rest = text_.slice(at, end);
          StringRef line = rest.take_until([](char c) { return c == '\n'; });
          if (line.startswith(indent)) {
            at += static_cast<uint32_t>(indent.size());
          } else if (line.trim(" \t\r").empty()) {
            at += static_cast<uint32_t>(line.size());
          } else if (!told) {
            told = true;
            uint32_t blank = static_cast<uint32_t>(line.size() - line.ltrim(" \t").size());
            report({at, at + std::max(blank, 1u)}, diag::BlockStringIndent{});
          }
          lineStart = false;
          lines.push_back({text.size(), at});
          continue;
        }
        char c = text_[at];
        if (c == '\r' && at + 1 < size() && text_[at + 1] == '\n') {
          ++at;
          continue;
        }
        text += c;
        ++at;
        if (c == '\n') lineStart = true;
      }
      Token &token = out_.tokens[pieces[i].first];
      if (raw) {
        token.text = compilation_.arena.save(text);
      } else {
        token.text = unescape(compilation_.arena.save(text), [&](size_t offset) {
          auto line = std::upper_bound(lines.begin(), lines.end(), offset,
                                       [](size_t o, const auto &l) { return o < l.first; }) - 1;
          return line->second + static_cast<uint32_t>(offset - line->first);
        });
      }
    }
  }

  StringRef unescape(StringRef raw, uint32_t begin) {
    return unescape(raw, [begin](size_t offset) { return begin + static_cast<uint32_t>(offset); });
  }

  template <typename Place>
  StringRef unescape(StringRef raw, Place place) {
    if (raw.find('\\') == StringRef::npos) return raw;
    std::string text;
    text.reserve(raw.size());
    for (size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '\\') {
        text += raw[i];
        continue;
      }
      char c = i + 1 < raw.size() ? raw[i + 1] : '\0';
      switch (c) {
      case 'n': text += '\n'; break;
      case 't': text += '\t'; break;
      case 'r': text += '\r'; break;
      case '0': text += '\0'; break;
      case '"': text += '"'; break;
      case '\\': text += '\\'; break;
      case 'u': {
        StringRef rest = raw.drop_front(i + 2);
        uint32_t code = 0;
        size_t close = rest.find('}');
        if (!rest.startswith("{") || close == StringRef::npos || rest.slice(1, close).getAsInteger(16, code) ||
            close > 7 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
          size_t length = close == StringRef::npos || !rest.startswith("{") ? 2 : close + 3;
          report({place(i), place(i) + static_cast<uint32_t>(length)}, diag::BadUnicodeEscape{.text = raw.substr(i, length)});
          i += length - 1;
          continue;
        }
        char buffer[4], *end = buffer;
        llvm::ConvertCodePointToUTF8(code, end);
        text.append(buffer, end);
        i += close + 2;
        continue;
      }
      default: {
        size_t length = 1;
        while (i + 1 + length < raw.size() && (static_cast<unsigned char>(raw[i + 1 + length]) & 0xC0) == 0x80) ++length;
        uint32_t from = place(i);
        report({from, from + 1 + static_cast<uint32_t>(length)}, diag::UnknownEscape{.text = raw.substr(i, 1 + length)})
            .fixit(range({from, from + 1}), "\\\\", diag::BackslashOrRaw{});
        text += raw.substr(i, 1 + length).str();
        i += length;
        continue;
      }
      }
      ++i;
    }
    return compilation_.arena.save(text);
  }

  FileId file_;
  Compilation &compilation_;
  StringRef text_;
  Tokens &out_;
  uint32_t at_ = 0;
  bool newline_ = false, failed_ = false;
  std::vector<OpenString> strings_;
};


// Second pass: lines, commas, words, brackets. Counts depth, so that nothing behind it can overflow the stack.
class Layout {
public:
  Layout(FileId file, Compilation &compilation, Tokens &out, bool wholeIsExpression)
      : file_(file), compilation_(compilation), out_(out), in_(std::move(out.tokens)), expression_(wholeIsExpression) {
    out_.tokens.clear();
    out_.tokens.reserve(in_.size() + in_.size() / 4);
  }

  void run() {
    frames_.push_back({Tok::End, 0, 0});
    for (i_ = 0; i_ < in_.size() && !tooDeep_; ++i_) step();
    if (tooDeep_) {
      // What follows cannot be read with brackets in order; close what is open.
      while (frames_.size() > 1) closeTop();
      Token end;
      end.begin = end.end = in_.back().begin;
      out_.tokens.push_back(end);
    }
  }

private:
  struct Frame {
    Tok open;            // LBrace, LParen, LBrack, StringBegin; End at module level
    uint32_t begin, end; // of the opening token
    bool record = false; // `{` of a record type
    // of the statement under way, where statements stand
    unsigned tokens = 0; // so far
    unsigned ifs = 0;    // arms of an `else if` chain
    unsigned angles = 0; // open `<` of a type
    unsigned annotations = 0;
    bool inType = false; // behind `:` or `->`
    Tok word = Tok::End; // its statement word
    bool forHead = false;
  };

  bool statements() const { return frames_.back().open == Tok::LBrace || (frames_.back().open == Tok::End && !expression_); }
  const Token &next(size_t ahead = 1) const { return in_[std::min(i_ + ahead, in_.size() - 1)]; }
  Tok previous() const { return out_.tokens.empty() ? Tok::Sep : out_.tokens.back().kind; }

  template <typename D>
  Diagnostics::Builder report(uint32_t begin, uint32_t end, const D &row) {
    out_.hasErrors = true;
    out_.reportedAt.push_back(begin);
    return compilation_.diags.report({file_, begin, end}, row);
  }

  void emit(Token token) {
    out_.tokens.push_back(token);
    ++frames_.back().tokens;
  }
  void emit(Tok kind, uint32_t at) {
    Token token;
    token.kind = kind;
    token.begin = token.end = at;
    out_.tokens.push_back(token);
  }

  static bool endsOpen(Tok kind) { // a line that ends with this goes on
    switch (kind) {
    case Tok::Plus: case Tok::Minus: case Tok::Star: case Tok::Slash: case Tok::Percent: case Tok::Eq: case Tok::Ne:
    case Tok::Lt: case Tok::Le: case Tok::Ge: case Tok::Range: case Tok::Coalesce: case Tok::Pipe: case Tok::Dot:
    case Tok::Assign: case Tok::PlusAssign: case Tok::Colon: case Tok::Arrow: case Tok::Then: case Tok::Else: case Tok::And:
    case Tok::Or: case Tok::Not: case Tok::NotIn: case Tok::In: case Tok::With: case Tok::Where: case Tok::Extends:
      return true;
    default: return false;
    }
  }
  static bool startsOpen(Tok kind) { // a line that starts with this goes on from the one before
    switch (kind) {
    case Tok::Plus: case Tok::Minus: case Tok::Star: case Tok::Slash: case Tok::Percent: case Tok::Eq: case Tok::Ne:
    case Tok::Lt: case Tok::Le: case Tok::Gt: case Tok::Ge: case Tok::Range: case Tok::Coalesce: case Tok::Pipe: case Tok::Dot:
    case Tok::Then: case Tok::Else: case Tok::And: case Tok::Or: case Tok::With:
      return true;
    default: return false;
    }
  }

  void separate(uint32_t at) {
    Frame &frame = frames_.back();
    if (frame.tokens == 0) return;
    emit(Tok::Sep, at);
    allIfs_ -= frame.ifs;
    Frame fresh{frame.open, frame.begin, frame.end};
    fresh.record = frame.record;
    frame = fresh;
  }
  // Before a closing brace and the end: no separator stands there.
  void dropSeparator() {
    if (!out_.tokens.empty() && out_.tokens.back().kind == Tok::Sep) out_.tokens.pop_back();
  }

  void popFrame() {
    allIfs_ -= frames_.back().ifs;
    frames_.pop_back();
  }
  void closeTop() {
    Frame frame = frames_.back();
    uint32_t at = in_[std::min(i_, in_.size() - 1)].begin;
    if (frame.open == Tok::LBrace) dropSeparator();
    Tok closer = frame.open == Tok::LBrace   ? Tok::RBrace
                 : frame.open == Tok::LParen ? Tok::RParen
                 : frame.open == Tok::LBrack ? Tok::RBrack
                                             : Tok::StringEnd;
    popFrame();
    emit(closer, at);
    ++frames_.back().tokens;
  }
  void unclosed(const Frame &frame) {
    StringRef text = frame.open == Tok::LBrace ? "{" : frame.open == Tok::LParen ? "(" : "[";
    if (frame.open != Tok::StringBegin) report(frame.begin, frame.end, diag::UnclosedBracket{.text = text});
  }

  // The word in its place: a keyword, or a plain name.
  Tok settle(const Token &token) {
    Tok kind = token.kind;
    const Token &after = next();
    if (previous() == Tok::Dot && kind != Tok::Name) return Tok::Name;
    if (after.kind == Tok::Assign || after.kind == Tok::PlusAssign) {
      // `else =` and the like: a field named so.
      return Tok::Name;
    }
    if (kind == Tok::Not && after.kind == Tok::In) return Tok::NotIn;
    if (!isStatementWord(kind)) return kind;
    const Frame &frame = frames_.back();
    switch (kind) {
    case Tok::Import: case Tok::Param: case Tok::Let: case Tok::Fn: case Tok::Type: case Tok::Assert:
      if (!statements() || frame.tokens != 0) {
        // `@deprecated let x = 1`: a statement after an annotation.
        if (!(statements() && afterAnnotation())) return Tok::Name;
      }
      if (after.kind == Tok::Colon || after.kind == Tok::LBrace || after.kind == Tok::Dot) return Tok::Name;
      if (after.newlineBefore || after.kind == Tok::End || after.kind == Tok::RBrace) return kind;
      return kind;
    case Tok::As: return statementWord() == Tok::Import && frame.tokens >= 2 ? kind : Tok::Name;
    case Tok::Where: {
      Tok word = statementWord();
      return word == Tok::Param || word == Tok::Type || word == Tok::Fn ? kind : Tok::Name;
    }
    case Tok::Extends:
      return statements() && frame.tokens >= 2 && (previous() == Tok::Name || previous() == Tok::String || previous() == Tok::StringEnd) ? kind : Tok::Name;
    default: return Tok::Name;
    }
  }
  // The statement so far is only annotations: `@name` or `@name(…)`.
  bool afterAnnotation() const {
    const Frame &frame = frames_.back();
    return frame.word == Tok::At && (previous() == Tok::RParen || (previous() == Tok::Name && frame.tokens >= 2));
  }
  Tok statementWord() const {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      if (frame->open == Tok::LBrace || frame->open == Tok::End) return frame->word;
    }
    return Tok::End;
  }

  bool isRecordBrace() const {
    Tok before = previous();
    if (before == Tok::Colon || before == Tok::Arrow) return true;
    if (before == Tok::Lt || before == Tok::Pipe) {
      Tok word = statementWord();
      return word == Tok::Param || word == Tok::Type || word == Tok::Fn || word == Tok::Let || frames_.back().record;
    }
    return before == Tok::Assign && frames_.back().word == Tok::Type;
  }

  void step() {
    Token token = in_[i_];
    // Where lines count: a separator before this token?
    if (token.newlineBefore || token.kind == Tok::End) {
      if (!statements() && token.kind != Tok::End && frames_.back().open != Tok::End && frames_.back().open != Tok::StringBegin) recoverOpenBracket(token);
      if (statements() && frames_.back().tokens != 0 && token.kind != Tok::End && token.kind != Tok::RBrace) {
        bool open = endsOpen(previous()) || startsOpen(token.kind) ||
                    (token.kind == Tok::Where && settle(token) == Tok::Where) ||
                    (previous() == Tok::At);
        // A word in front of `=` starts a statement, whatever it means elsewhere.
        if (open && isWord(token.kind) && settle(token) == Tok::Name && !endsOpen(previous())) open = false;
        if (token.kind == Tok::LBrace) {
          if (!open) report(token.begin, token.end, diag::BraceOnItsOwnLine{});
          open = true;
        }
        if (!open) separate(token.begin);
      }
    }
    if (token.kind == Tok::End) {
      while (frames_.size() > 1) {
        unclosed(frames_.back());
        closeTop();
      }
      dropSeparator();
      out_.tokens.push_back(token);
      return;
    }
    if (token.kind == Tok::Name || isWord(token.kind)) {
      token.kind = token.kind == Tok::Name ? Tok::Name : settle(token);
      if (token.kind == Tok::NotIn) {
        token.end = next().end;
        ++i_;
      }
      Frame &frame = frames_.back();
      if (frame.tokens == 0 || (statements() && afterAnnotation())) {
        if (isStatementWord(token.kind)) frame.word = token.kind;
      }
      if (token.kind == Tok::For) frame.forHead = true;
      if (token.kind == Tok::In) frame.forHead = false;
      if (token.kind == Tok::If) {
        ++allIfs_;
        if (++frame.ifs > MaxDepth || allIfs_ + frames_.size() > 2 * MaxDepth) return deep(token);
      }
      if (token.kind == Tok::Where) frame.inType = false;
      emit(token);
      return;
    }
    switch (token.kind) {
    case Tok::At:
      if (frames_.back().tokens == 0) frames_.back().word = Tok::At;
      if (++frames_.back().annotations > MaxDepth) return deep(token);
      emit(token);
      return;
    case Tok::Assign:
      frames_.back().inType = frames_.back().word == Tok::Type;
      emit(token);
      return;
    case Tok::Arrow:
      frames_.back().inType = true;
      emit(token);
      return;
    case Tok::Lt:
      if (frames_.back().inType && ++frames_.back().angles > MaxDepth) return deep(token);
      emit(token);
      return;
    case Tok::Gt:
      if (frames_.back().angles > 0) --frames_.back().angles;
      emit(token);
      return;
    case Tok::LBrace: case Tok::LParen: case Tok::LBrack: case Tok::StringBegin: {
      if (frames_.size() > MaxDepth || allIfs_ + frames_.size() > 2 * MaxDepth) return deep(token);
      bool record = token.kind == Tok::LBrace && isRecordBrace();
      emit(token);
      Frame frame{token.kind, token.begin, token.end};
      frame.record = record;
      frames_.push_back(frame);
      return;
    }
    case Tok::StringMiddle:
      while (frames_.size() > 1 && frames_.back().open != Tok::StringBegin) {
        unclosed(frames_.back());
        closeTop();
      }
      emit(token);
      frames_.back().tokens = 0;
      return;
    case Tok::RBrace: case Tok::RParen: case Tok::RBrack: case Tok::StringEnd: return close(token);
    case Tok::Comma:
      if (statements() && frames_.back().open == Tok::LBrace && !frames_.back().forHead) {
        separate(token.begin);
        return;
      }
      {
        const Token &after = next();
        if (!statements() && (after.kind == Tok::RParen || after.kind == Tok::RBrack) && previous() != Tok::LParen &&
            previous() != Tok::LBrack && previous() != Tok::Comma)
          return; // trailing
      }
      emit(token);
      return;
    case Tok::Colon: {
      Frame &frame = frames_.back();
      bool name = previous() == Tok::Name || previous() == Tok::String;
      if (statements() && !frame.record && frame.word == Tok::End && frame.tokens == 1 && name) {
        report(token.begin, token.end, diag::ColonForValue{})
            .fixit({file_, token.begin, token.end}, next().begin == token.end ? " = " : " =", diag::WriteInstead{.text = "="});
        token.kind = next().kind == Tok::LBrace ? Tok::End : Tok::Assign;
        if (next().newlineBefore || next().kind == Tok::End) {
          // `key:` with nothing behind it, as YAML opens a map: the rest of the statement is missing; one message is enough.
          emitMissing(token);
          return;
        }
        if (token.kind == Tok::Assign) emit(token);
        return;
      }
      frame.inType = true;
      emit(token);
      return;
    }
    default: emit(token);
    }
  }

  void emitMissing(Token token) {
    token.kind = Tok::Assign;
    emit(token);
    token.kind = Tok::Null;
    emit(token);
  }

  // A `(` or `[` that was never closed ends where a statement obviously starts: at `NAME =` on a new line that no comma
  // announced.
  void recoverOpenBracket(const Token &token) {
    Tok open = frames_.back().open;
    if (!(token.kind == Tok::Name || isWord(token.kind)) || next().kind != Tok::Assign) return;
    if (open == Tok::LParen && (previous() == Tok::Comma || previous() == Tok::LParen)) return; // a named argument
    unclosed(frames_.back());
    if (previous() == Tok::Comma) out_.tokens.pop_back();
    closeTop();
    if (!statements() && frames_.size() > 1) recoverOpenBracket(token);
  }

  void close(const Token &token) {
    Tok wanted = token.kind == Tok::RBrace   ? Tok::LBrace
                 : token.kind == Tok::RParen ? Tok::LParen
                 : token.kind == Tok::RBrack ? Tok::LBrack
                                             : Tok::StringBegin;
    auto match = std::find_if(frames_.rbegin(), frames_.rend(), [&](const Frame &frame) { return frame.open == wanted; });
    // Brackets inside an interpolation end there.
    bool crossesString = std::any_of(frames_.rbegin(), match, [](const Frame &frame) { return frame.open == Tok::StringBegin; });
    // A `)` or `]` never closes a block that stands open inside its bracket; a `}` closes brackets inside its block.
    bool crossesBlock = token.kind != Tok::RBrace && token.kind != Tok::StringEnd &&
                        std::any_of(frames_.rbegin(), match, [](const Frame &frame) { return frame.open == Tok::LBrace; });
    if (match == frames_.rend() || (crossesString && token.kind != Tok::StringEnd) || crossesBlock) {
      // The end of a string whose start was given up: told already.
      if (token.kind == Tok::StringEnd) return;
      StringRef text = token.kind == Tok::RBrace ? "}" : token.kind == Tok::RParen ? ")" : "]";
      report(token.begin, token.end, diag::StrayBracket{.text = text});
      return;
    }
    while (frames_.back().open != wanted) {
      unclosed(frames_.back());
      if (previous() == Tok::Comma) out_.tokens.pop_back();
      closeTop();
    }
    if (wanted == Tok::LBrace) dropSeparator();
    popFrame();
    emit(token);
  }

  void deep(const Token &token) {
    if (!out_.gaveUp) report(token.begin, token.end, diag::NestedTooDeep{});
    tooDeep_ = out_.gaveUp = true;
    out_.gaveUpAt = std::min(out_.gaveUpAt, token.begin);
  }

  FileId file_;
  Compilation &compilation_;
  Tokens &out_;
  std::vector<Token> in_;
  bool expression_;
  bool tooDeep_ = false;
  size_t allIfs_ = 0; // of all open frames
  size_t i_ = 0;
  std::vector<Frame> frames_;
};

} // namespace

Tokens tokenize(FileId file, Compilation &compilation, bool wholeIsExpression) {
  Tokens out;
  out.tokens.reserve(compilation.sources.text(file).size() / 4 + 16);
  Lexer(file, compilation, out).run();
  Layout(file, compilation, out, wholeIsExpression).run();
  std::sort(out.reportedAt.begin(), out.reportedAt.end());
  return out;
}

} // namespace kft::parse

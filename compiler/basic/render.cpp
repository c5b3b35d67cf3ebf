#include "compiler/basic/render.h"

#include "compiler/basic/explain.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace kft::render {

using llvm::StringRef;

namespace {

constexpr size_t TabStop = 4;
constexpr size_t MaxColumns = 160; // of a source line; more would hide the caret behind the wrapping of the terminal
constexpr size_t MaxLines = 6;     // of one range or fix

constexpr const char *Bold = "\033[1m", *Red = "\033[1;31m", *Magenta = "\033[1;35m", *Cyan = "\033[1;36m",
                     *Green = "\033[1;32m", *Plain = "\033[0m";

const char *word(Severity severity) {
  switch (severity) {
  case Severity::Error: return "error";
  case Severity::Warning: return "warning";
  case Severity::Note: return "note";
  }
  return "";
}

const char *colorOf(Severity severity) {
  return severity == Severity::Error ? Red : severity == Severity::Warning ? Magenta : Cyan;
}

// How one line of text looks on a terminal: where each byte starts, in columns, and what is printed. Tabs become blanks,
// control characters and broken UTF-8 a visible stand-in, so that nothing in a file can steer the terminal.
struct DisplayLine {
  std::string shown;
  std::vector<uint32_t> column;  // of each byte, and of the end
  std::vector<uint32_t> shownAt; // index into `shown` of each byte, and of the end

  explicit DisplayLine(StringRef line) {
    column.reserve(line.size() + 1);
    shownAt.reserve(line.size() + 1);
    uint32_t at = 0;
    for (size_t i = 0; i < line.size();) {
      unsigned char c = static_cast<unsigned char>(line[i]);
      size_t length = 1;
      uint32_t width = 1;
      uint32_t start = static_cast<uint32_t>(shown.size());
      if (c == '\t') {
        width = static_cast<uint32_t>(TabStop - at % TabStop);
        shown.append(width, ' ');
      } else if (c >= 0x20 && c < 0x7f) {
        shown += static_cast<char>(c);
      } else {
        length = std::min<size_t>(llvm::getNumBytesForUTF8(c), line.size() - i);
        auto *bytes = reinterpret_cast<const llvm::UTF8 *>(line.data() + i);
        int columns = llvm::isLegalUTF8Sequence(bytes, bytes + length)
                          ? llvm::sys::unicode::columnWidthUTF8(line.substr(i, length))
                          : -1;
        if (c < 0x20 || c == 0x7f || columns < 0) {
          length = columns < 0 && c >= 0x80 ? 1 : length;
          shown += "\xEF\xBF\xBD"; // U+FFFD
        } else {
          shown += line.substr(i, length);
          width = static_cast<uint32_t>(columns);
        }
      }
      for (size_t k = 0; k < length; ++k) {
        column.push_back(at);
        shownAt.push_back(start);
      }
      at += width;
      i += length;
    }
    column.push_back(at);
    shownAt.push_back(static_cast<uint32_t>(shown.size()));
  }
};

// One gutter line: `  12 | text` and, below it, `     | ^~~~`.
class Snippet {
public:
  Snippet(std::string &out, size_t gutter, bool color) : out_(out), gutter_(gutter), color_(color) {}

  // `begin` and `end` are byte offsets in `line`; `mark` is drawn under them, its first character being `head`.
  void line(uint32_t number, StringRef line, size_t begin, size_t end, char head, char tail, const char *markColor) {
    begin = std::min(begin, line.size());
    end = std::min(std::max(end, begin), line.size());
    // A line of a megabyte is cut around the mark before anything is measured.
    size_t cutFront = 0;
    if (line.size() > 4 * MaxColumns) {
      cutFront = begin > MaxColumns ? begin - MaxColumns : 0;
      while (cutFront > 0 && (static_cast<unsigned char>(line[cutFront]) & 0xC0) == 0x80) --cutFront;
      line = line.substr(cutFront, 3 * MaxColumns);
      begin -= cutFront;
      end = std::min(end - std::min(end, cutFront), line.size());
    }
    DisplayLine display(line);
    uint32_t from = display.column[begin], to = std::max(display.column[end], from + 1);
    // Then a window of columns that holds the start of the mark.
    uint32_t total = display.column.back(), windowBegin = 0, windowEnd = total;
    bool leftCut = cutFront > 0, rightCut = false;
    if (total > MaxColumns) {
      windowBegin = from > MaxColumns / 2 ? from - static_cast<uint32_t>(MaxColumns / 2) : 0;
      windowEnd = std::min<uint32_t>(total, windowBegin + static_cast<uint32_t>(MaxColumns));
      leftCut |= windowBegin > 0;
      rightCut = windowEnd < total;
    }
    auto byteAt = [&](uint32_t column) {
      return static_cast<size_t>(std::lower_bound(display.column.begin(), display.column.end(), column) -
                                 display.column.begin());
    };
    size_t firstByte = byteAt(windowBegin), lastByte = byteAt(windowEnd);
    uint32_t origin = display.column[firstByte];
    StringRef shown = StringRef(display.shown).slice(display.shownAt[firstByte], display.shownAt[lastByte]);
    gutter(fmt::format("{}", number));
    if (leftCut) out_ += "…";
    out_ += shown.rtrim();
    if (rightCut) out_ += "…";
    out_ += '\n';
    gutter("");
    out_.append(from - origin + (leftCut ? 1 : 0), ' ');
    if (color_) out_ += markColor;
    uint32_t length = std::min(to, std::max(windowEnd, from + 1)) - from;
    out_ += head;
    out_.append(length - 1, tail);
    if (color_) out_ += Plain;
    out_ += '\n';
  }

  void skipped() {
    out_.append(gutter_ + 1, ' ');
    out_ += "...\n";
  }

private:
  void gutter(StringRef number) {
    out_.append(gutter_ - number.size(), ' ');
    out_ += number;
    out_ += " | ";
  }
  std::string &out_;
  size_t gutter_;
  bool color_;
};

// The range as the user should see it: never empty lines at its end (a block that was never closed reaches to the end of
// the file).
SourceRange trimmed(SourceRange range, const SourceFiles &sources) {
  StringRef all = sources.text(range.file);
  range.begin = std::min<uint32_t>(range.begin, static_cast<uint32_t>(all.size()));
  range.end = std::min<uint32_t>(std::max(range.end, range.begin), static_cast<uint32_t>(all.size()));
  StringRef text = all.slice(range.begin, range.end);
  if (!text.trim().empty()) range.end = range.begin + static_cast<uint32_t>(text.rtrim().size());
  return range;
}

void snippet(std::string &out, SourceRange range, const SourceFiles &sources, bool color, const char *markColor) {
  range = trimmed(range, sources);
  LineColumn first = sources.lineColumn(range.file, range.begin);
  LineColumn last = sources.lineColumn(range.file, range.end);
  if (last.line > first.line && range.end == sources.lineStart(range.file, last.line)) last.line -= 1;
  Snippet lines(out, std::max<size_t>(4, fmt::formatted_size("{}", last.line) + 1), color);
  for (uint32_t number = first.line; number <= last.line; ++number) {
    if (last.line - first.line + 1 > MaxLines && number == first.line + 3) {
      lines.skipped();
      number = last.line - 1; // the last two lines close the range
    }
    StringRef line = sources.lineText(range.file, number);
    uint32_t start = sources.lineStart(range.file, number);
    size_t begin = number == first.line ? range.begin - start : line.size() - line.ltrim().size();
    size_t end = number == last.line ? range.end - start : line.size();
    lines.line(number, line, begin, end, number == first.line ? '^' : '~', '~', markColor);
  }
}

// The lines as they are once the fix is applied, what is new underlined.
void fixSnippet(std::string &out, const Fix &fix, const SourceFiles &sources, bool color) {
  StringRef all = sources.text(fix.range.file);
  uint32_t firstLine = sources.lineColumn(fix.range.file, fix.range.begin).line;
  uint32_t lastLine = sources.lineColumn(fix.range.file, fix.range.end).line;
  uint32_t start = sources.lineStart(fix.range.file, firstLine);
  StringRef lastText = sources.lineText(fix.range.file, lastLine);
  uint32_t stop = std::max(fix.range.end, sources.lineStart(fix.range.file, lastLine) + static_cast<uint32_t>(lastText.size()));
  std::string fixed = (all.slice(start, fix.range.begin) + fix.text + all.slice(fix.range.end, stop)).str();
  size_t newBegin = fix.range.begin - start, newEnd = newBegin + fix.text.size();
  llvm::SmallVector<StringRef, 8> lines;
  StringRef(fixed).split(lines, '\n');
  Snippet view(out, std::max<size_t>(4, fmt::formatted_size("{}", firstLine + lines.size()) + 1), color);
  size_t offset = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    StringRef line = lines[i].rtrim('\r');
    if (i == MaxLines) {
      view.skipped();
      break;
    }
    size_t begin = std::max(newBegin, offset) - offset;
    size_t end = std::min(std::max(newEnd, offset), offset + line.size()) - offset;
    view.line(firstLine + static_cast<uint32_t>(i), line, std::min(begin, line.size()), std::max(begin, end), '+', '+', Green);
    offset += lines[i].size() + 1;
  }
}

// A message of several lines (the parts of a failed `where`) stays together by indentation.
void message(std::string &out, StringRef text, size_t indent) {
  llvm::SmallVector<StringRef, 4> lines;
  text.split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i) {
      out += '\n';
      out.append(indent, ' ');
    }
    out += lines[i];
  }
}

void heading(std::string &out, SourceRange range, const SourceFiles &sources, Severity severity, bool color) {
  if (color) out += Bold;
  if (range.valid()) {
    LineColumn at = sources.lineColumn(range.file, range.begin);
    out += fmt::format("{}:{}:{}: ", sources.name(range.file).str(), at.line, at.column);
  } else {
    out += "kftc: ";
  }
  if (color) out += colorOf(severity);
  out += word(severity);
  out += ':';
  if (color) out += Plain;
  out += ' ';
}

} // namespace

std::string text(const Diagnostic &diagnostic, const SourceFiles &sources, bool color) {
  std::string out;
  heading(out, diagnostic.range, sources, diagnostic.severity, color);
  if (color) out += Bold;
  message(out, diagnostic.message, 2);
  if (color) out += Plain;
  out += fmt::format(" [{}]\n", explain::idText(diagnostic.id));
  if (diagnostic.range.valid()) snippet(out, diagnostic.range, sources, color, Green);
  if (!diagnostic.path.empty()) out += fmt::format("  at: {}\n", diagnostic.path);
  for (const Note &note : diagnostic.notes) {
    if (note.range.valid()) {
      heading(out, note.range, sources, Severity::Note, color);
      message(out, note.message, 2);
      out += '\n';
      snippet(out, note.range, sources, color, Cyan);
    } else {
      out += color ? fmt::format("  {}note:{} ", Cyan, Plain) : "  note: ";
      message(out, note.message, 4);
      out += '\n';
    }
  }
  for (const Fix &fix : diagnostic.fixes) {
    out += color ? fmt::format("  {}help:{} ", Green, Plain) : "  help: ";
    message(out, fix.message, 4);
    out += '\n';
    if (fix.range.valid() && !(fix.text.empty() && fix.range.begin == fix.range.end)) fixSnippet(out, fix, sources, color);
  }
  return out;
}

// ---- programs as readers ----

struct Renderer::State {
  Format format;
  bool color;
  size_t maxErrors;
  size_t shownErrors = 0, hiddenErrors = 0, shownWarnings = 0, hiddenWarnings = 0;
  llvm::StringSet<> seen;
  llvm::json::Array items; // JSON items or SARIF results
  std::set<int> ids;       // for the rules of SARIF

  llvm::json::Value jsonRange(SourceRange range, const SourceFiles &sources) const;
  llvm::json::Object jsonPlace(SourceRange range, const SourceFiles &sources) const;
  llvm::json::Object jsonItem(const Diagnostic &diagnostic, const SourceFiles &sources) const;
  llvm::json::Object sarifItem(const Diagnostic &diagnostic, const SourceFiles &sources) const;
  llvm::json::Object sarifLocation(SourceRange range, const SourceFiles &sources) const;
};

namespace {

std::string valid(StringRef text) { return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text); }

struct Place {
  LineColumn begin, end;
};
Place placeOf(SourceRange range, const SourceFiles &sources) {
  return {sources.lineColumn(range.file, range.begin), sources.lineColumn(range.file, std::max(range.begin, range.end))};
}

// A path as a URI reference: what is not unreserved or a slash is escaped.
std::string uri(StringRef path) {
  std::string out;
  for (unsigned char c : path) {
    if (llvm::isAlnum(static_cast<char>(c)) || StringRef("-._~/").contains(static_cast<char>(c)))
      out += static_cast<char>(c);
    else
      out += fmt::format("%{:02X}", c);
  }
  return out;
}

std::string print(llvm::json::Value value) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  llvm::json::OStream writer(stream, 2);
  writer.value(value);
  writer.flush();
  stream << '\n';
  return stream.str();
}

} // namespace

llvm::json::Object Renderer::State::jsonPlace(SourceRange range, const SourceFiles &sources) const {
  llvm::json::Object out;
  if (!range.valid()) return out;
  Place place = placeOf(range, sources);
  out["file"] = valid(sources.name(range.file));
  out["line"] = place.begin.line;
  out["column"] = place.begin.column;
  out["endLine"] = place.end.line;
  out["endColumn"] = place.end.column;
  return out;
}

llvm::json::Object Renderer::State::jsonItem(const Diagnostic &diagnostic, const SourceFiles &sources) const {
  llvm::json::Object item = jsonPlace(diagnostic.range, sources);
  item["id"] = explain::idText(diagnostic.id);
  item["severity"] = word(diagnostic.severity);
  item["message"] = valid(diagnostic.message);
  auto optional = [&](StringRef key, StringRef text) {
    if (!text.empty()) item[key] = valid(text);
  };
  optional("path", diagnostic.path);
  optional("rule", diagnostic.rule);
  optional("stage", diagnostic.stage);
  optional("object", diagnostic.object);
  if (!diagnostic.notes.empty()) {
    llvm::json::Array notes;
    for (const Note &note : diagnostic.notes) {
      llvm::json::Object entry = jsonPlace(note.range, sources);
      entry["message"] = valid(note.message);
      notes.push_back(std::move(entry));
    }
    item["notes"] = std::move(notes);
  }
  if (!diagnostic.fixes.empty()) {
    llvm::json::Array fixes;
    for (const Fix &fix : diagnostic.fixes)
      fixes.push_back(llvm::json::Object{
          {"range", jsonPlace(fix.range, sources)}, {"text", valid(fix.text)}, {"message", valid(fix.message)}});
    item["fixes"] = std::move(fixes);
  }
  return item;
}

llvm::json::Object Renderer::State::sarifLocation(SourceRange range, const SourceFiles &sources) const {
  Place place = placeOf(range, sources);
  return llvm::json::Object{{"artifactLocation", llvm::json::Object{{"uri", uri(sources.name(range.file))}}},
                            {"region", llvm::json::Object{{"startLine", place.begin.line},
                                                          {"startColumn", place.begin.column},
                                                          {"endLine", place.end.line},
                                                          {"endColumn", place.end.column}}}};
}

llvm::json::Object Renderer::State::sarifItem(const Diagnostic &diagnostic, const SourceFiles &sources) const {
  llvm::json::Object result{{"ruleId", explain::idText(diagnostic.id)},
                            {"level", word(diagnostic.severity)},
                            {"message", llvm::json::Object{{"text", valid(diagnostic.message)}}}};
  if (diagnostic.range.valid())
    result["locations"] =
        llvm::json::Array{llvm::json::Object{{"physicalLocation", sarifLocation(diagnostic.range, sources)}}};
  llvm::json::Array related;
  for (const Note &note : diagnostic.notes) {
    llvm::json::Object location{{"id", static_cast<int64_t>(related.size()) + 1},
                                {"message", llvm::json::Object{{"text", valid(note.message)}}}};
    if (note.range.valid()) location["physicalLocation"] = sarifLocation(note.range, sources);
    related.push_back(std::move(location));
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  llvm::json::Array fixes;
  for (const Fix &fix : diagnostic.fixes) {
    if (!fix.range.valid()) continue;
    llvm::json::Object location = sarifLocation(fix.range, sources);
    llvm::json::Object replacement{{"deletedRegion", *location.get("region")},
                                   {"insertedContent", llvm::json::Object{{"text", valid(fix.text)}}}};
    llvm::json::Object change{{"artifactLocation", *location.get("artifactLocation")},
                              {"replacements", llvm::json::Array{std::move(replacement)}}};
    fixes.push_back(llvm::json::Object{{"description", llvm::json::Object{{"text", valid(fix.message)}}},
                                       {"artifactChanges", llvm::json::Array{std::move(change)}}});
  }
  if (!fixes.empty()) result["fixes"] = std::move(fixes);
  llvm::json::Object properties;
  auto optional = [&](StringRef key, StringRef text) {
    if (!text.empty()) properties[key] = valid(text);
  };
  optional("path", diagnostic.path);
  optional("rule", diagnostic.rule);
  optional("stage", diagnostic.stage);
  optional("object", diagnostic.object);
  if (!properties.empty()) result["properties"] = std::move(properties);
  return result;
}

Renderer::Renderer(Format format, bool color, size_t maxErrors) : state_(std::make_unique<State>()) {
  state_->format = format;
  state_->color = color;
  state_->maxErrors = maxErrors;
}

Renderer::~Renderer() = default;

std::string Renderer::add(const Diagnostics &diags, const SourceFiles &sources) {
  State &state = *state_;
  std::string out;
  for (const Diagnostic &diagnostic : diags.sorted()) {
    std::string key = fmt::format("{}:{}:{}:{}:{}", diagnostic.id, diagnostic.range.begin, diagnostic.range.end,
                                  diagnostic.range.valid() ? sources.name(diagnostic.range.file).str() : std::string(),
                                  diagnostic.message);
    if (!state.seen.insert(key).second) continue;
    switch (state.format) {
    case Format::Text: {
      bool isError = diagnostic.severity == Severity::Error;
      size_t &shown = isError ? state.shownErrors : state.shownWarnings;
      if (shown == state.maxErrors) {
        ++(isError ? state.hiddenErrors : state.hiddenWarnings);
        break;
      }
      ++shown;
      out += text(diagnostic, sources, state.color);
      break;
    }
    case Format::Json: state.items.push_back(state.jsonItem(diagnostic, sources)); break;
    case Format::Sarif:
      state.ids.insert(diagnostic.id);
      state.items.push_back(state.sarifItem(diagnostic, sources));
      break;
    }
  }
  return out;
}

std::string Renderer::finish() {
  State &state = *state_;
  switch (state.format) {
  case Format::Text: {
    auto count = [](size_t number, const char *noun) { return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s"); };
    std::string out;
    if (state.hiddenErrors)
      out += fmt::format("kftc: {} in all; the first {} are shown\n",
                         count(state.shownErrors + state.hiddenErrors, "error"), state.shownErrors);
    if (state.hiddenWarnings)
      out += fmt::format("kftc: {} in all; the first {} are shown\n",
                         count(state.shownWarnings + state.hiddenWarnings, "warning"), state.shownWarnings);
    return out;
  }
  case Format::Json: return print(std::move(state.items));
  case Format::Sarif: break;
  }
  llvm::json::Array rules;
  std::map<int, int64_t> ruleIndex;
  for (int id : state.ids) {
    ruleIndex[id] = static_cast<int64_t>(rules.size());
    llvm::json::Object rule{{"id", explain::idText(id)}};
    if (const explain::Row *row = explain::find(id)) {
      rule["name"] = row->name;
      rule["defaultConfiguration"] = llvm::json::Object{{"level", word(row->severity)}};
    }
    StringRef page = explain::page(id);
    auto [title, rest] = page.split('\n');
    if (!page.empty()) {
      rule["shortDescription"] = llvm::json::Object{{"text", valid(title.split(": ").second)}};
      rule["help"] = llvm::json::Object{{"text", valid(page)}, {"markdown", valid(page)}};
    }
    rules.push_back(std::move(rule));
  }
  for (llvm::json::Value &item : state.items) {
    llvm::json::Object &result = *item.getAsObject();
    auto found = ruleIndex.find(*explain::parseId(*result.getString("ruleId")));
    result["ruleIndex"] = found->second;
  }
  llvm::json::Object driver{{"name", "kftc"}, {"version", KFT_VERSION}, {"semanticVersion", KFT_VERSION},
                            {"rules", std::move(rules)}};
  llvm::json::Object run{{"tool", llvm::json::Object{{"driver", std::move(driver)}}},
                         {"columnKind", "unicodeCodePoints"},
                         {"results", std::move(state.items)}};
  return print(llvm::json::Object{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                                  {"version", "2.1.0"},
                                  {"runs", llvm::json::Array{std::move(run)}}});
}

} // namespace kft::render

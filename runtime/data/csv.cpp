#include "runtime/data/csv.h"
#include "runtime/data/mapped_file.h"
#include "runtime/plan/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace kft::run {

namespace {

enum class Use : uint8_t { Skip, Feature, Label };

struct CsvTable final : Table {
  std::vector<float> features; // (rows, width)
  void copyRow(int64_t row, float *out) const override {
    std::memcpy(out, features.data() + row * width, size_t(width) * sizeof(float));
  }
};

bool isDigit(char c) { return unsigned(c - '0') < 10; }

// The bytes of the UTF-8 character that `text` begins with; 0 when it begins with none, or with one that controls a terminal.
size_t characterAt(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return first >= 32 && first != 127 ? 1 : 0;
  size_t length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  if (!length || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  bool outside = (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  bool control = first == 0xc2 && byte(1) < 0xa0;
  return overlong || outside || control ? 0 : length;
}

// A cell for a message: short, readable as text, and nothing in it that a terminal would obey.
std::string shown(std::string_view text) {
  std::string out;
  size_t at = 0;
  for (int i = 0; i < 40 && at < text.size(); ++i) {
    size_t length = characterAt(text.substr(at));
    unsigned char c = static_cast<unsigned char>(text[at]);
    if (length)
      out += text.substr(at, length);
    else
      out += "\\x", out += "0123456789abcdef"[c >> 4], out += "0123456789abcdef"[c & 15];
    at += length ? length : 1;
  }
  return at < text.size() ? out + "…" : out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

std::string plural(int64_t n, const char *thing) { return std::to_string(n) + " " + thing + (n == 1 ? "" : "s"); }

std::string list(const std::vector<std::string> &names) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < 8; ++i)
    out += (i ? ", `" : "`") + shown(names[i]) + "`";
  return names.size() > 8 ? out + ", … (" + std::to_string(names.size()) + " in all)" : out;
}

class Reader {
public:
  Reader(const std::string &path, const DataPlan &plan)
      : path_(path), plan_(plan), file_(path), p_(file_.data()), end_(file_.data() + file_.size()) {}

  std::unique_ptr<Table> read() {
    refuseOtherFormats();
    std::string delimiter = plan_.format.text("delimiter", ",");
    if (delimiter == "\\t") delimiter = "\t";
    if (delimiter.size() != 1 || std::strchr("\"\r\n.+-0123456789", delimiter[0]))
      throw Error(ExitCode::Invalid, "the delimiter `" + shown(delimiter) + "` of `" + path_ +
                                         "` cannot separate numbers; give one other character");
    delimiter_ = delimiter[0];
    if (file_.size() >= 3 && !std::memcmp(p_, "\xef\xbb\xbf", 3)) p_ += 3;
    skipBlankLines();
    if (p_ == end_) fail(0, "the file is empty; a table with at least one row is needed");
    bool header = plan_.format.flag("header", true);
    const char *first = p_;
    int64_t firstLine = line_;
    names_ = readNames();
    headerIsData_ = std::all_of(names_.begin(), names_.end(), [](const std::string &name) {
      double value;
      return parseNumber(name, value);
    });
    if (!header) {
      for (size_t i = 0; i < names_.size(); ++i)
        names_[i] = std::to_string(i);
      p_ = first, line_ = firstLine;
    }
    headerLine_ = header ? firstLine : 0;
    assignUses();
    readRows();
    if (!table_->rows) fail(headerLine_, "there are no rows below the header");
    if (chooseLabel_) takeLabelColumn();
    return std::move(table_);
  }

private:
  [[noreturn]] void fail(int64_t line, const std::string &text) const {
    throw Error(ExitCode::Invalid, path_, line, text);
  }
  [[noreturn]] void failCell(size_t column, const std::string &text) const {
    fail(line_, "column `" + shown(names_[column]) + "`: " + text);
  }

  void refuseOtherFormats() const {
    static constexpr struct {
      std::string_view magic;
      const char *text;
    } known[] = {{"\x1f\x8b", "this is a gzip file; unpack it first"},
                 {"PK\x03\x04", "this is a zip archive (a spreadsheet?); save the table as CSV"},
                 {"PAR1", "this is a Parquet file; save the table as CSV or NPY"},
                 {"\x93NUMPY", "this is a NumPy file; its format is `npy`"}};
    for (auto &format : known)
      if (file_.text().substr(0, format.magic.size()) == format.magic) fail(0, format.text);
    if (file_.text().substr(0, 2) == "\xff\xfe" || file_.text().substr(0, 2) == "\xfe\xff")
      fail(0, "this is UTF-16 text; save it as UTF-8");
  }

  bool atLineEnd() const { return p_ == end_ || *p_ == '\n' || *p_ == '\r'; }
  void skipLineEnd() {
    if (p_ == end_) return;
    if (*p_ == '\r' && end_ - p_ > 1 && p_[1] == '\n') ++p_;
    ++p_, ++line_;
  }
  void skipBlankLines() {
    while (p_ != end_) {
      const char *q = p_;
      while (q != end_ && (*q == ' ' || *q == '\t') && *q != delimiter_)
        ++q;
      if (q != end_ && *q != '\n' && *q != '\r') return;
      p_ = q;
      skipLineEnd();
    }
  }

  // The text of a cell; afterwards the next byte is a delimiter or ends the line.
  std::string_view readCell() {
    const char *start = p_;
    while (p_ != end_ && *p_ == ' ')
      ++p_;
    if (p_ == end_ || *p_ != '"') {
      while (p_ != end_ && *p_ != delimiter_ && *p_ != '\n' && *p_ != '\r')
        ++p_;
      return trimmed({start, size_t(p_ - start)});
    }
    int64_t startLine = line_;
    unquoted_.clear();
    for (++p_;; ++p_) {
      if (p_ == end_) fail(startLine, "a quote `\"` is never closed");
      if (*p_ == '"') {
        if (end_ - p_ > 1 && p_[1] == '"')
          ++p_;
        else
          break;
      }
      if (*p_ == '\n') ++line_;
      unquoted_ += *p_;
    }
    ++p_;
    while (p_ != end_ && *p_ == ' ')
      ++p_;
    if (!atLineEnd() && *p_ != delimiter_)
      fail(line_, "text follows a closing quote; a `\"` inside a quoted cell is written twice");
    return trimmed(unquoted_);
  }

  std::vector<std::string> readNames() {
    std::vector<std::string> names;
    for (;; ++p_) {
      names.emplace_back(readCell());
      if (atLineEnd()) break;
    }
    skipLineEnd();
    return names;
  }

  // -1: there is none; two of the name are an error, for either might be meant.
  int64_t columnOf(const std::string &name) const {
    auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return -1;
    if (std::find(found + 1, names_.end(), name) != names_.end())
      fail(headerLine_, "column `" + shown(name) + "` appears twice; give the columns different names");
    return found - names_.begin();
  }

  std::string whichExist() const {
    if (!headerLine_)
      return "without a header the columns are called `0` to `" + std::to_string(names_.size() - 1) + "`";
    if (headerIsData_)
      return "line " + std::to_string(headerLine_) + " holds numbers; if the file has no header, say `header = false`";
    // One column whose name holds what other files put between columns.
    if (names_.size() == 1)
      for (char c : {';', '\t', '|', ','})
        if (c != delimiter_ && names_[0].find(c) != std::string::npos)
          return "the whole line is one column; if `" + std::string(c == '\t' ? "\\t" : std::string(1, c)) + "` divides the columns, say `datasets.csv(delimiter = \"" +
                 (c == '\t' ? "\\t" : std::string(1, c)) + "\")`";
    return "there are " + list(names_);
  }

  void assignUses() {
    table_ = std::make_unique<CsvTable>();
    bool all = plan_.columns.empty();
    uses_.assign(names_.size(), all ? Use::Feature : Use::Skip);
    std::vector<int64_t> order;
    for (const std::string &name : plan_.columns) {
      int64_t column = columnOf(name);
      if (column < 0) fail(headerLine_, "there is no column `" + shown(name) + "`; " + whichExist());
      if (uses_[size_t(column)] == Use::Feature)
        fail(headerLine_, "column `" + shown(name) + "` is listed twice among the features");
      uses_[size_t(column)] = Use::Feature;
      order.push_back(column);
    }
    label_ = plan_.label.empty() ? plan_.format.text("label", "") : plan_.label;
    if (!label_.empty()) {
      int64_t column = columnOf(label_);
      if (column < 0) fail(headerLine_, "there is no label column `" + shown(label_) + "`; " + whichExist());
      if (!all && uses_[size_t(column)] == Use::Feature)
        fail(headerLine_, "the label `" + shown(label_) + "` is listed among the features");
      uses_[size_t(column)] = Use::Label;
      table_->labelName = label_;
    } else if (plan_.targetKind != "class") {
      fail(headerLine_, "which column is the target? say `label = …`; " + whichExist());
    } else {
      if (!all) fail(headerLine_, "which column is the label? say `label = …`, since the features are listed");
      chooseLabel_ = true;
    }
    if (all)
      for (size_t i = 0; i < uses_.size(); ++i)
        if (uses_[i] == Use::Feature) order.push_back(int64_t(i));
    // Features come in the order in which they were listed; a slot says where a column's value goes.
    slots_.assign(names_.size(), -1);
    for (size_t i = 0; i < order.size(); ++i)
      slots_[size_t(order[i])] = int64_t(i), table_->names.push_back(names_[size_t(order[i])]);
    table_->width = int64_t(order.size());
    if (!table_->width) fail(headerLine_, "there is no feature column beside the label");
    whole_.assign(size_t(table_->width), true);
  }

  static bool parseNumber(std::string_view text, double &value) {
    if (!text.empty() && text[0] == '+') text.remove_prefix(1);
    if (text.empty() || text[0] == '+' || !(isDigit(text.back()) || text.back() == '.'))
      return false; // no "inf", "nan"
    auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc::result_out_of_range && stop == text.data() + text.size()) {
      // Out of range is either too small to matter or too large to use.
      value =
          text.find("e-") != text.npos || text.find("E-") != text.npos ? 0 : std::numeric_limits<double>::infinity();
      return true;
    }
    return code == std::errc() && stop == text.data() + text.size();
  }

  // Plain decimals of up to 15 digits, which are nearly all: one multiplication and one exact division. Leaves p_ alone
  // and returns false for anything else.
  bool fastNumber(double &value) {
    static constexpr double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *p = p_;
    bool negative = p != end_ && *p == '-';
    p += negative;
    uint64_t digits = 0;
    const char *start = p;
    while (p != end_ && isDigit(*p))
      digits = digits * 10 + uint64_t(*p++ - '0');
    int64_t count = p - start, fraction = 0;
    if (p != end_ && *p == '.') {
      start = ++p;
      while (p != end_ && isDigit(*p))
        digits = digits * 10 + uint64_t(*p++ - '0');
      fraction = p - start, count += fraction;
    }
    if (count == 0 || count > 15 || (p != end_ && *p != delimiter_ && *p != '\n' && *p != '\r')) return false;
    value = double(digits) / powers[fraction];
    if (negative) value = -value;
    p_ = p;
    return true;
  }

  double number(size_t column) {
    double value;
    if (fastNumber(value)) return value;
    std::string_view text = readCell();
    if (text.empty()) failCell(column, "the cell is empty; a number is needed");
    if (!parseNumber(text, value)) {
      std::string lower(text);
      for (char &c : lower)
        c = char(c | 0x20);
      std::string_view bare = lower;
      if (bare[0] == '-' || bare[0] == '+') bare.remove_prefix(1);
      if (bare == "nan" || bare == "inf" || bare == "infinity") failCell(column, "`" + shown(text) + "` is not finite");
      failCell(column, "`" + shown(text) + "` is not a number");
    }
    return value;
  }

  void readRows() {
    bool classes = plan_.targetKind == "class";
    int64_t guess = int64_t(std::count(p_, end_, '\n')) + 1;
    table_->features.resize(size_t(guess * table_->width));
    if (!chooseLabel_ && classes) table_->classes.reserve(size_t(guess));
    if (!chooseLabel_ && !classes) table_->reals.reserve(size_t(guess));
    const size_t columns = uses_.size();
    for (skipBlankLines(); p_ != end_; skipBlankLines()) {
      if (table_->rows == guess)
        table_->features.resize(size_t((guess += guess / 2 + 1) * table_->width)); // lines end in bare `\r`
      float *out = table_->features.data() + table_->rows * table_->width;
      int64_t line = line_;
      size_t column = 0;
      for (;; ++p_) {
        if (column >= columns)
          readCell();
        else if (uses_[column] == Use::Feature)
          feature(column, number(column), out);
        else if (uses_[column] == Use::Label)
          label(column, classes);
        else
          readCell();
        ++column;
        if (atLineEnd()) break;
      }
      if (column != columns)
        fail(line, plural(int64_t(column), "cell") + "; " + (headerLine_ ? "the header has " : "the first row has ") +
                       std::to_string(columns));
      skipLineEnd();
      ++table_->rows;
    }
    table_->features.resize(size_t(table_->rows * table_->width));
  }

  void feature(size_t column, double value, float *out) {
    int64_t slot = slots_[column];
    if (chooseLabel_ && (value != std::floor(value) || value < 0)) whole_[size_t(slot)] = false;
    // While the label is not known yet, its column must not be scaled; takeLabelColumn makes up for it.
    float narrow = float(chooseLabel_ ? value : value * plan_.scale);
    if (!std::isfinite(narrow)) failCell(column, "the number is too large for a 32-bit float");
    out[slot] = narrow;
  }

  void label(size_t column, bool classes) {
    double value = number(column);
    if (classes)
      table_->classes.push_back(asClass(column, value));
    else if (std::isfinite(float(value)))
      table_->reals.push_back(float(value));
    else
      failCell(column, "the number is too large for a 32-bit float");
  }

  int32_t asClass(size_t column, double value) const {
    char text[32];
    auto end = std::to_chars(text, text + sizeof text, value).ptr;
    std::string shownValue = "label `" + std::string(text, end) + "`";
    if (value != std::floor(value)) failCell(column, shownValue + " is not a whole number; classes are counted from 0");
    if (value < 0 || value >= double(plan_.classes > 0 ? plan_.classes : INT32_MAX))
      failCell(column, shownValue + " is out of range; " +
                           (plan_.classes > 0 ? "the model has " + plural(plan_.classes, "output") +
                                                    ", so labels are 0 to " + std::to_string(plan_.classes - 1)
                                              : std::string("classes are counted from 0")));
    return int32_t(value);
  }

  void takeLabelColumn() {
    std::vector<std::string> candidates;
    int64_t chosen = -1;
    for (size_t i = 0; i < whole_.size(); ++i)
      if (whole_[i]) candidates.push_back(table_->names[i]), chosen = int64_t(i);
    if (candidates.empty())
      fail(headerLine_, "no column holds whole numbers only, so none can be the label; say `label = …`");
    if (candidates.size() > 1)
      fail(headerLine_, "which column is the label? " + list(candidates) + " hold whole numbers; say `label = …`");
    int64_t width = table_->width;
    if (width == 1) fail(headerLine_, "there is no feature column beside the label");
    table_->labelName = candidates[0];
    size_t column = size_t(std::find(slots_.begin(), slots_.end(), chosen) - slots_.begin());
    float *out = table_->features.data();
    for (int64_t row = 0; row < table_->rows; ++row) {
      const float *in = table_->features.data() + row * width;
      line_ = 0; // the line is gone by now; the value says enough
      table_->classes.push_back(asClass(column, double(in[chosen])));
      for (int64_t i = 0; i < width; ++i)
        if (i != chosen) *out++ = float(double(in[i]) * plan_.scale);
    }
    table_->names.erase(table_->names.begin() + chosen);
    table_->width = width - 1;
    table_->features.resize(size_t(table_->rows * table_->width));
  }

  const std::string &path_;
  const DataPlan &plan_;
  MappedFile file_;
  const char *p_, *end_;
  int64_t line_ = 1, headerLine_ = 0;
  char delimiter_ = ',';
  bool headerIsData_ = false, chooseLabel_ = false;
  std::string label_, unquoted_;
  std::vector<std::string> names_; // of all columns of the file
  std::vector<Use> uses_;
  std::vector<int64_t> slots_; // column to place among the features, or -1
  std::vector<bool> whole_;    // per feature: only whole numbers so far
  std::unique_ptr<CsvTable> table_;
};

} // namespace

std::unique_ptr<Table> readCsv(const std::string &path, const DataPlan &plan) { return Reader(path, plan).read(); }

} // namespace kft::run

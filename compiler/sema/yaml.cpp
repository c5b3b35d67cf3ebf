// YAML text to values: the one place of this folder that knows yaml-cpp, and what it throws stays here. Plain scalars are
// read by YAML 1.2's core schema; a spelling that YAML 1.1 reads differently (`no`, `012`, `1_000`) is text.
#include "compiler/sema/data.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <yaml-cpp/yaml.h>

#include <cmath>

namespace kft::sema::data {

namespace {

constexpr int MaxDepth = 200;

class Reader {
public:
  Reader(FileId file, SourceRange at, Arena &arena, uint64_t &elements, ParseError &error)
      : file_(file), at_(at), arena_(arena), elements_(elements), error_(error) {}

  bool read(const YAML::Node &node, Value &out, int depth) {
    if (depth > MaxDepth) return fail(node, "it is nested deeper than 200");
    // Aliases may name one part very often; each time counts.
    if (elements_ == 0) return fail(node, "it has more than 10 million elements");
    --elements_;
    switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null: out = Value::null(); return true;
    case YAML::NodeType::Scalar: return scalar(node, out);
    case YAML::NodeType::Sequence: {
      llvm::SmallVector<Item, 8> items;
      for (const YAML::Node &each : node) {
        Item item;
        if (!read(each, item.value, depth + 1)) return false;
        item.range = range(each);
        items.push_back(item);
      }
      out = Value::list(arena_.copy<Item>(items));
      return true;
    }
    case YAML::NodeType::Map: {
      llvm::SmallVector<Entry, 8> entries;
      llvm::DenseMap<StringRef, bool> seen;
      for (const auto &each : node) {
        if (!each.first.IsScalar()) return fail(each.first, "a key must be a scalar");
        Entry entry;
        entry.key = arena_.save(each.first.Scalar());
        entry.keyRange = range(each.first);
        entry.quoted = true;
        if (!seen.try_emplace(entry.key, true).second) return fail(each.first, "the key is given twice");
        if (!read(each.second, entry.value, depth + 1)) return false;
        entry.range = each.second.IsNull() ? entry.keyRange : range(each.second);
        entries.push_back(entry);
      }
      BlockValue *block = arena_.make<BlockValue>();
      block->entries = arena_.copy<Entry>(entries);
      block->range = range(node);
      out = Value::block(block);
      return true;
    }
    }
    return true;
  }

private:
  FileId file_;
  SourceRange at_;
  Arena &arena_;
  uint64_t &elements_;
  ParseError &error_;

  bool fail(const YAML::Node &node, const char *message) {
    error_.message = message;
    error_.offset = node.Mark().is_null() ? 0 : static_cast<uint32_t>(node.Mark().pos);
    return false;
  }

  SourceRange range(const YAML::Node &node) const {
    if (!file_.valid() || node.Mark().is_null()) return at_;
    uint32_t begin = static_cast<uint32_t>(node.Mark().pos);
    uint32_t size = node.IsScalar() ? static_cast<uint32_t>(node.Scalar().size()) : 1;
    if (node.IsScalar() && node.Tag() == "!") size += 2; // its quotes
    return {file_, begin, begin + size};
  }

  bool scalar(const YAML::Node &node, Value &out) {
    std::string text = node.Scalar();
    StringRef plain = text;
    if (node.Tag() == "?" || node.Tag().empty()) {
      if (plain.empty() || plain == "~" || plain == "null" || plain == "Null" || plain == "NULL") {
        out = Value::null();
        return true;
      }
      if (plain == "true" || plain == "True" || plain == "TRUE" || plain == "false" || plain == "False" || plain == "FALSE") {
        out = Value::boolean(plain[0] == 't' || plain[0] == 'T');
        return true;
      }
      StringRef digits = plain;
      if (!digits.consume_front("-")) digits.consume_front("+");
      bool whole = !digits.empty() && llvm::all_of(digits, llvm::isDigit);
      int64_t integer;
      if (whole && (digits.size() == 1 || digits[0] != '0')) {
        StringRef number = plain.startswith("+") ? digits : plain;
        if (number.getAsInteger(10, integer)) return fail(node, "the number does not fit into 64 bits");
        out = Value::integer(integer);
        return true;
      }
      bool floating = !digits.empty() && !whole && (llvm::isDigit(digits[0]) || digits[0] == '.') && digits.find_first_of("0123456789") != StringRef::npos &&
                      llvm::all_of(digits, [](char c) { return llvm::isDigit(c) || c == '.' || c == 'e' || c == 'E' || c == '-' || c == '+'; });
      double real;
      if (floating && !plain.getAsDouble(real) && std::isfinite(real)) {
        out = Value::number(real);
        return true;
      }
    }
    out = Value::string(arena_.save(text));
    return true;
  }
};

} // namespace

std::optional<Value> parseYaml(StringRef text, FileId file, SourceRange at, Arena &arena, uint64_t &elements, ParseError &error) {
  if (!isText(text, error)) return std::nullopt;
  try {
    std::vector<YAML::Node> documents = YAML::LoadAll(text.str());
    if (documents.size() > 1) {
      error.message = "it has more than one document";
      return std::nullopt;
    }
    Value result = Value::null();
    if (!documents.empty() && !Reader(file, at, arena, elements, error).read(documents[0], result, 0)) return std::nullopt;
    return result;
  } catch (const YAML::Exception &exception) {
    // What yaml-cpp says when its own bound on nesting is passed.
    error.message = exception.msg == YAML::ErrorMsg::BAD_FILE ? "it is nested deeper than 200" : exception.msg;
    error.offset = exception.mark.is_null() ? 0 : static_cast<uint32_t>(exception.mark.pos);
    return std::nullopt;
  }
}

} // namespace kft::sema::data

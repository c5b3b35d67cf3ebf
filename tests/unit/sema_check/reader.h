// Declarations for tests, from a small part of the language: literals, lists, blocks, references to declarations,
// `secret(…)` and its like, and calls such as `nn.dense(10)`, which give the block that std.nn gives. The check and what
// comes after it are tested by it alone, without the evaluator.
#pragma once

#include "compiler/sema/check.h"
#include "compiler/sema/native.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kft::sema {

class Reader {
public:
  Reader(std::string text, Compilation &compilation) : compilation_(compilation) {
    file_ = compilation.sources.add("test.kft", std::move(text));
    text_ = compilation.sources.text(file_);
  }

  // Every declaration, in order.
  std::vector<Decl *> read() {
    for (skip(); at_ < text_.size(); skip()) {
      owned_.push_back(std::make_unique<Decl>());
      Decl *decl = owned_.back().get();
      while (text_[at_] == '@') {
        ++at_;
        decl->isAbstract = word() == "abstract";
        skip();
      }
      const size_t kindAt = at_;
      decl->kind = word();
      skip();
      const Name name = this->name();
      decl->name = name.text;
      decl->nameRange = name.range;
      decl->file = file_;
      decls_[(decl->kind + "." + decl->name).str()] = decl;
      skip();
      if (rest("extends")) {
        at_ += 7;
        skip();
        const size_t path = at_;
        word();
        ++at_;
        word();
        base_ = decls_[text_.slice(path, at_).str()];
        skip();
      }
      decl->raw = block();
      if (base_) decl->raw = merged(base_->raw, decl->raw);
      base_ = nullptr;
      decl->range = range(kindAt, at_);
      order_.push_back(decl);
    }
    return order_;
  }

private:
  struct Name {
    StringRef text;
    SourceRange range;
    bool quoted = false;
  };

  SourceRange range(size_t begin, size_t end) const { return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}; }
  bool rest(StringRef token) const { return text_.substr(at_).startswith(token); }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == ',')) ++at_;
  }
  StringRef word() {
    const size_t begin = at_;
    while (at_ < text_.size() && (llvm::isAlnum(text_[at_]) || text_[at_] == '_')) ++at_;
    return text_.slice(begin, at_);
  }
  StringRef string() {
    ++at_;
    const size_t begin = at_;
    while (text_[at_] != '"') ++at_;
    return text_.slice(begin, at_++);
  }
  Name name() {
    Name made;
    const size_t begin = at_;
    made.quoted = text_[at_] == '"';
    made.text = made.quoted ? string() : word();
    made.range = range(begin, at_);
    return made;
  }

  Value merged(const Value &below, const Value &above) {
    llvm::SmallVector<Entry, 8> entries(below.asBlock().entries.begin(), below.asBlock().entries.end());
    for (const Entry &entry : above.asBlock().entries) {
      Entry *found = nullptr;
      for (Entry &candidate : entries)
        if (candidate.key == entry.key && candidate.name == entry.name) found = &candidate;
      if (found) *found = entry;
      else entries.push_back(entry);
    }
    auto *made = compilation_.arena.make<BlockValue>(above.asBlock());
    made->entries = compilation_.arena.copy<Entry>(entries);
    return Value::block(made);
  }

  Value block() {
    const size_t begin = at_++;
    llvm::SmallVector<Entry, 8> entries;
    for (skip(); text_[at_] != '}'; skip()) {
      Entry entry;
      if (text_[at_] == '@') { // @allow("id", "why")
        at_ += 7;
        entry.allow = string();
        while (text_[at_] != ')') ++at_;
        ++at_;
        skip();
      }
      const Name key = name();
      entry.key = key.text;
      entry.keyRange = key.range;
      entry.quoted = key.quoted;
      skip();
      if (text_[at_] == '=' || rest("+=")) {
        entry.how = text_[at_] == '=' ? Entry::How::Set : Entry::How::Append;
        at_ += text_[at_] == '=' ? 1 : 2;
        skip();
        const size_t start = at_;
        entry.value = value();
        entry.range = range(start, at_);
      } else {
        if (text_[at_] != '{') {
          const Name second = name();
          entry.name = second.text;
          entry.nameRange = second.range;
          skip();
        }
        const size_t start = at_;
        entry.how = Entry::How::Merge;
        entry.value = block();
        entry.range = range(start, at_);
      }
      entries.push_back(entry);
    }
    ++at_;
    auto *made = compilation_.arena.make<BlockValue>();
    made->entries = compilation_.arena.copy<Entry>(entries);
    made->range = range(begin, at_);
    return Value::block(made);
  }

  Value value() {
    if (text_[at_] == '"') return Value::string(string());
    if (text_[at_] == '{') return block();
    if (text_[at_] == '[') {
      ++at_;
      llvm::SmallVector<Item, 8> items;
      for (skip(); text_[at_] != ']'; skip()) {
        const size_t begin = at_;
        const Value item = value();
        items.push_back({item, range(begin, at_)});
      }
      ++at_;
      return Value::list(compilation_.arena.copy<Item>(items));
    }
    const size_t begin = at_;
    while (at_ < text_.size() && (llvm::isAlnum(text_[at_]) || text_[at_] == '_' || text_[at_] == '.' || (text_[at_] == '-' && at_ == begin))) ++at_;
    const StringRef text = text_.slice(begin, at_);
    if (at_ < text_.size() && text_[at_] == '(') return call(text, begin);
    if (text == "true" || text == "false") return Value::boolean(text == "true");
    if (text == "null") return Value::null();
    int64_t integer;
    double number;
    if (!text.getAsInteger(10, integer)) return Value::integer(integer);
    for (auto [unit, size] : {std::pair<StringRef, int64_t>{"ms", 1}, {"min", 60'000}, {"s", 1000}, {"h", 3'600'000}, {"d", 86'400'000}})
      if (text.endswith(unit) && !text.drop_back(unit.size()).getAsInteger(10, integer)) return Value::duration(integer * size);
    if (!text.getAsDouble(number)) return Value::number(number);
    if (auto amount = parseAmount(text)) return Value::amount(compilation_.arena.make<Amount>(*amount));
    return decls_.count(text.str()) ? Value::ref(decls_[text.str()]) : Value::poison();
  }

  Value call(StringRef function, size_t begin) {
    ++at_;
    llvm::SmallVector<Entry, 4> args;
    for (skip(); text_[at_] != ')'; skip()) {
      Entry arg;
      const size_t start = at_;
      const StringRef label = text_[at_] == '"' ? StringRef() : word();
      skip();
      if (!label.empty() && text_[at_] == '=') {
        ++at_;
        skip();
        arg.key = label;
      } else {
        at_ = start;
      }
      const size_t valueAt = at_;
      arg.value = value();
      arg.range = range(valueAt, at_);
      args.push_back(arg);
    }
    ++at_;
    auto text = [&](size_t i) { return i < args.size() ? args[i].value.asString() : StringRef(); };
    for (auto [name, kind] : {std::pair{"secret", Source::Kind::Secret}, {"config", Source::Kind::Config}, {"field", Source::Kind::Field}, {"resource", Source::Kind::Resource}})
      if (function == name) return Value::source(compilation_.arena.make<Source>(Source{kind, text(0), text(1)}));
    // nn.dense(10): the arguments by their place in the table.
    const StringRef name = function.rsplit('.').second;
    for (StringRef tag : {"layer", "optimizer", "schedule", "format"}) {
      const native::Spec *spec = native::find(tag, name);
      if (!spec && !(tag == "layer" && function.startswith("nn.no_"))) continue;
      llvm::SmallVector<Entry, 4> entries;
      Entry head;
      head.key = tag;
      head.value = Value::string(name);
      entries.push_back(head);
      for (size_t i = 0; i < args.size(); ++i) {
        if (args[i].key.empty() && spec) args[i].key = native::arguments(*spec)[i].name;
        entries.push_back(args[i]);
      }
      auto *made = compilation_.arena.make<BlockValue>();
      made->entries = compilation_.arena.copy<Entry>(entries);
      made->range = range(begin, at_);
      return Value::block(made);
    }
    return Value::poison();
  }

  Compilation &compilation_;
  FileId file_;
  StringRef text_;
  size_t at_ = 0;
  std::map<std::string, Decl *> decls_;
  std::vector<std::unique_ptr<Decl>> owned_;
  std::vector<Decl *> order_;
  Decl *base_ = nullptr;
};

} // namespace kft::sema

// What an expression is worth. Values are small and copied; what they point to lives in the arena and never changes.
#pragma once

#include "compiler/basic/arena.h"
#include "compiler/basic/quantity.h"
#include "compiler/basic/source_files.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace kft::sema {

using llvm::ArrayRef;
using llvm::StringRef;

struct Decl;
struct Item;
struct Entry;
struct BlockValue;

// Where an env entry (or another field that allows it) takes its text from instead of a literal.
struct Source {
  enum class Kind : uint8_t { Secret, Config, Field, Resource } kind;
  StringRef name; // object name; path for Field; resource for Resource
  StringRef key;  // may be empty: the whole secret (envFrom / secretRef)
};

// `Lazy` is a block that still has layers of text to be merged. It lives inside the evaluator only: no entry of a Module and
// no argument of `convert` is lazy.
enum class ValueKind : uint8_t { Poison, Null, Bool, Int, Float, String, Amount, Duration, List, Block, Ref, Source, Lazy };

class Object; // eval.cpp

class Value {
public:
  constexpr Value() : kind_(ValueKind::Poison), int_(0) {} // poison: failed and reported; accepted in silence everywhere
  static Value poison() { return {}; }
  static Value null() { return Value(ValueKind::Null); }
  static Value boolean(bool value) { Value v(ValueKind::Bool); v.bool_ = value; return v; }
  static Value integer(int64_t value) { Value v(ValueKind::Int); v.int_ = value; return v; }
  static Value number(double value) { Value v(ValueKind::Float); v.float_ = value; return v; }
  static Value string(StringRef text) { Value v(ValueKind::String); v.data_ = text.data(); v.size_ = text.size(); return v; } // arena text
  static Value amount(const kft::Amount *value) { Value v(ValueKind::Amount); v.data_ = value; return v; }
  static Value duration(int64_t milliseconds) { Value v(ValueKind::Duration); v.int_ = milliseconds; return v; }
  static Value list(ArrayRef<Item> items) { Value v(ValueKind::List); v.data_ = items.data(); v.size_ = items.size(); return v; }
  static Value block(const BlockValue *block) { Value v(ValueKind::Block); v.data_ = block; return v; }
  static Value ref(const Decl *decl) { Value v(ValueKind::Ref); v.data_ = decl; return v; }
  static Value source(const Source *source) { Value v(ValueKind::Source); v.data_ = source; return v; }
  static Value lazy(Object *object) { Value v(ValueKind::Lazy); v.data_ = object; return v; }

  ValueKind kind() const { return kind_; }
  bool is(ValueKind kind) const { return kind_ == kind; }
  bool isPoison() const { return kind_ == ValueKind::Poison; }
  bool isNull() const { return kind_ == ValueKind::Null; }

  bool asBool() const { return bool_; }
  int64_t asInt() const { return int_; }
  double asFloat() const { return kind_ == ValueKind::Int ? static_cast<double>(int_) : float_; }
  StringRef asString() const { return {static_cast<const char *>(data_), size_}; }
  const kft::Amount &asAmount() const { return *static_cast<const kft::Amount *>(data_); }
  int64_t asMilliseconds() const { return int_; }
  inline ArrayRef<Item> asList() const;
  const BlockValue &asBlock() const { return *static_cast<const BlockValue *>(data_); }
  const Decl &asRef() const { return *static_cast<const Decl *>(data_); }
  const Source &asSource() const { return *static_cast<const Source *>(data_); }
  Object &asLazy() const { return *static_cast<Object *>(const_cast<void *>(data_)); }

private:
  explicit Value(ValueKind kind) : kind_(kind), int_(0) {}
  ValueKind kind_;
  union {
    bool bool_;
    int64_t int_;
    double float_;
    const void *data_;
  };
  size_t size_ = 0;
};

// `range` is where this very value was written: the expression of the item, in the file of the user who wrote it.
struct Item {
  Value value;
  SourceRange range;
};

// One field or key of a block. Entries keep the order in which their keys first appeared, through extends and overlays.
struct Entry {
  StringRef key;
  SourceRange keyRange;
  Value value;
  SourceRange range;  // of the value; of the whole `{ … }` for a block
  bool quoted = false; // the key was written as text: "nvidia.com/gpu"
  // Written as `key name { … }` (`group node {…}`, `patch node {…}`): then `key` is "group", `name` is "node".
  // Entries are keyed by (key, name). Empty when written otherwise.
  StringRef name;
  SourceRange nameRange;
  // How the layers of text gave it, all of them together: `f = x` somewhere; only `f { … }`; only `f += x`. A job's `env { … }`
  // (Merge) and `args += [ … ]` (Append) amend what its trainer gives, `args = [ … ]` (Set) replaces it.
  enum class How : uint8_t { Set, Merge, Append } how = How::Set;
  bool removes = false; // the value is null, and takes away one that an inherited layer gave
  bool allowed(StringRef id) const { return allow.contains(id); }
  StringRef allow; // ids of @allow annotations on it, joined by blanks
};

struct BlockValue {
  ArrayRef<Entry> entries;
  SourceRange range;
  // The declaration this block is an amended copy of (`trainer = trainer.ddp with {…}`, `dataset { … }` over a reference).
  const Decl *from = nullptr;

  const Entry *find(StringRef key) const {
    for (const Entry &entry : entries)
      if (entry.key == key && entry.name.empty()) return &entry;
    return nullptr;
  }
};

// As kft would write it: `"a"`, `3e-05`, `[1, 2]`, `dataset.digits`; cut with `…` after about `limit` bytes. A secret shows its
// name, never more.
std::string show(const Value &value, size_t limit = 60);
// With its type in front, for messages: "the string `"a"`", "a list", "`dataset.digits`".
std::string describe(const Value &value);
// The way Python prints a float: 0.1, 1e-05, 16.0.
std::string floatText(double value);
// 90000 is `1min30s`; the units of language.md section 3, largest first.
std::string durationText(int64_t milliseconds);

inline ArrayRef<Item> Value::asList() const { return {static_cast<const Item *>(data_), size_}; }

} // namespace kft::sema

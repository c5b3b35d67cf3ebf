// What may stand somewhere, and the one function that judges it. Annotations in kft text (`param n: int?`) and rows of the
// schema table both become a Type; `convert` is the only place that converts anything: int to float, a plain number to an
// amount, and nothing else.
#pragma once

#include "compiler/basic/compilation.h"
#include "compiler/sema/value.h"

#include <string>

namespace kft::sema {

struct Type;

// A member of a record type: `{ replicas: int = 1 }`.
struct RecordMember {
  StringRef name;
  const Type *type = nullptr;
  bool required = false;
  Value fallback; // when not required: the value it has when it is not given; poison: none, the member stays absent
  SourceRange range;
};

// `type Port = int where it in 1..65535`. Reports and returns false when the condition does not hold.
class Condition {
public:
  virtual bool check(const Value &value, SourceRange at, StringRef what, Compilation &compilation) const = 0;

protected:
  ~Condition() = default;
};

struct Type {
  enum class Kind : uint8_t {
    Error,    // was reported; accepts everything in silence
    Any,
    Bool,
    Int,
    Float,    // an int is converted
    String,
    Amount,   // a plain number is converted
    Duration,
    List,     // of `element`
    Map,      // of `element`; a block
    Choice,   // one of `strings`, or a value of one of `others`
    Optional, // `element` or null
    Record,   // a block of exactly `members`
    Block,    // any block; its fields are judged by whoever asked
    Ref,      // a declaration of kind `name`, or a block given in its place
    Source,   // secret(…), config(…), field(…), resource(…)
  };
  Kind kind = Kind::Any;
  const Type *element = nullptr;
  ArrayRef<StringRef> strings = {};
  ArrayRef<const Type *> others = {};
  ArrayRef<RecordMember> members = {};
  StringRef name = {};   // Ref: the kind. Elsewhere: the name of a `type` declaration, or empty
  Value min = Value();   // bounds, both included; poison: none. Of the type itself (Int, Float, Amount, Duration)
  Value max = Value();
  bool above = false;    // `min` itself is excluded
  const Condition *condition = nullptr;

  static const Type any, boolean, integer, number, string, amount, duration, block, source;
};

// `list<int>`, `"a" | "b"`, `int?`: as it would be written.
std::string typeText(const Type &type);
// As it stands after "must be": "an `int`", "one of `"a"` or `"b"`".
std::string wantedText(const Type &type);

// The value as the type wants it, or poison after a report at `at` (for list items and map entries: at theirs). `what` names
// the place at the start of the message: "`nodes`". Poison in, poison out. A Ref or Block for Kind::Ref comes back as it is.
Value convert(const Value &value, const Type &type, SourceRange at, const llvm::Twine &what, Compilation &compilation);

// As `convert`, without a word.
bool accepts(const Type &type, const Value &value);

// "did you mean" for what is one typing slip away; empty when nothing is near. All lookups of sema use it.
StringRef nearestName(StringRef name, ArrayRef<StringRef> candidates);

} // namespace kft::sema

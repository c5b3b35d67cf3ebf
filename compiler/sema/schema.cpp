// schema.def as constant arrays. All rows lie in one array, block after block, so that a block is a slice of it.
#include "compiler/sema/schema.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace kft::sema::schema {
namespace {

constexpr bool Required = true, Optional = false;
constexpr StringRef k = "k", n = "n", both = "";

struct Row {
  std::string_view block;
  Field field;
};

constexpr Row Rows[] = {
#define KFT_FIELD(block, field, type, default_, required, applies, help)                                              \
  {#block, {#field, type, default_, required, applies, help}},
#include "compiler/sema/schema.def"
};

constexpr size_t RowCount = std::size(Rows);

constexpr auto Fields = [] {
  std::array<Field, RowCount> fields{};
  for (size_t i = 0; i < RowCount; ++i)
    fields[i] = Rows[i].field;
  return fields;
}();

constexpr std::span<const Field> fieldsOf(std::string_view block) {
  size_t first = 0;
  while (first < RowCount && Rows[first].block != block)
    ++first;
  size_t last = first;
  while (last < RowCount && Rows[last].block == block)
    ++last;
  return {Fields.data() + first, last - first};
}

constexpr Block Blocks[] = {
#define KFT_BLOCK(block, form, help) {#block, Form::form == Form::Kind, help, fieldsOf(#block), Form::form},
#include "compiler/sema/schema.def"
};

constexpr size_t rowsReached() {
  size_t count = 0;
  for (const Block &block : Blocks)
    count += block.fields.size();
  return count;
}
static_assert(rowsReached() == RowCount, "the rows of a block stand together, below a KFT_BLOCK of that name");

} // namespace

ArrayRef<Block> blocks() { return Blocks; }

const Block *find(StringRef block) {
  const Block *found = llvm::find_if(Blocks, [&](const Block &b) { return b.name == block; });
  return found == std::end(Blocks) ? nullptr : found;
}

const Field *Block::find(StringRef wanted) const {
  if (wanted == "*") return nullptr;
  for (const Field &field : fields)
    if (field.name == wanted) return &field;
  return nullptr;
}

const Field *Block::rest() const { return !fields.empty() && fields.back().name == "*" ? &fields.back() : nullptr; }

bool isKindName(StringRef name) {
  if (name == "sweep" || name == "workflow") return true;
  const Block *block = find(name);
  return block && block->isKind;
}

StringRef argument(StringRef type, StringRef head) {
  if (!type.consume_front(head) || !type.consume_front("<") || !type.consume_back(">")) return {};
  return type;
}

// Case and `_` against nothing count little: `numNodes` and `num_nodes` are one name to a tired eye. A suggestion that
// shares less than two thirds of its letters with what was written is noise and not given.
StringRef nearest(StringRef name, ArrayRef<StringRef> candidates) {
  auto plain = [](StringRef text) {
    std::string result;
    for (char c : text)
      if (c != '_' && c != '-') result += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return result;
  };
  const std::string wanted = plain(name);
  StringRef best;
  size_t bestDistance = ~size_t{0};
  for (StringRef candidate : candidates) {
    const std::string other = plain(candidate);
    const size_t longer = std::max(wanted.size(), other.size());
    const size_t limit = longer <= 3 ? 1 : longer / 3;
    // Optimal string alignment: a swap of two neighbours is one slip.
    std::vector<size_t> before2, before(other.size() + 1), now(other.size() + 1);
    for (size_t j = 0; j <= other.size(); ++j)
      before[j] = j;
    for (size_t i = 1; i <= wanted.size(); ++i) {
      now[0] = i;
      for (size_t j = 1; j <= other.size(); ++j) {
        now[j] = std::min({before[j] + 1, now[j - 1] + 1, before[j - 1] + (wanted[i - 1] != other[j - 1])});
        if (i > 1 && j > 1 && wanted[i - 1] == other[j - 2] && wanted[i - 2] == other[j - 1])
          now[j] = std::min(now[j], before2[j - 2] + 1);
      }
      before2 = before;
      std::swap(before, now);
    }
    const size_t distance = before[other.size()];
    // A name of which nothing is right is not near, however short.
    if (distance > limit || (distance != 0 && distance >= longer)) continue;
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace kft::sema::schema

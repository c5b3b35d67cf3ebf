// schema.def as constant arrays. All rows lie in one array, block after block, so that a block is a slice of it.
#include "compiler/sema/schema.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <string_view>

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

} // namespace kft::sema::schema

// JSON and YAML text to values and back: for `json`, `parse_yaml` and their sisters, and for files of params.
#pragma once

#include "compiler/basic/compilation.h"
#include "compiler/sema/value.h"

#include <optional>
#include <string>

namespace kft::sema::data {

// One line, keys in the order of the block. False when something in it is no data: a secret, a reference.
bool json(const Value &value, std::string &out);
// Block style with a newline at the end; strings are quoted unless they are plainly text.
bool yaml(const Value &value, std::string &out);

// Every entry and item gets a range inside `file` when it is valid (then `text` is the text of that file), else `at`.
// Nothing after filling in `error` and, when known, its offset.
struct ParseError {
  std::string message;
  uint32_t offset = 0;
};
// UTF-8 without NUL bytes; else `error` says what is wrong and where.
bool isText(StringRef text, ParseError &error);
std::optional<Value> parseJson(StringRef text, FileId file, SourceRange at, Arena &arena, uint64_t &elements, ParseError &error);
std::optional<Value> parseYaml(StringRef text, FileId file, SourceRange at, Arena &arena, uint64_t &elements, ParseError &error);

} // namespace kft::sema::data

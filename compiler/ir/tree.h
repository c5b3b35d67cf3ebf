// The ordered tree of scalars, lists and maps: what Kubernetes-shaped parts of a job and all target objects are made of.
// Each node carries its origin, so that a finding on a generated field can be shown where its cause was written.
#pragma once

#include "compiler/basic/source_files.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kft::ir {

struct Tree {
  enum class Kind : uint8_t { Null, Bool, Int, Float, String, List, Map };
  Kind kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<Tree> items;                          // List
  std::vector<std::pair<std::string, Tree>> fields; // Map, in order, keys unique
  SourceRange origin;                               // not part of equality

  Tree() = default;
  static Tree null(SourceRange origin = {}) { Tree t; t.origin = origin; return t; }
  static Tree of(bool value, SourceRange origin = {}) { Tree t; t.kind = Kind::Bool; t.boolean = value; t.origin = origin; return t; }
  static Tree of(int64_t value, SourceRange origin = {}) { Tree t; t.kind = Kind::Int; t.integer = value; t.origin = origin; return t; }
  static Tree of(int value, SourceRange origin = {}) { return of(static_cast<int64_t>(value), origin); }
  static Tree of(double value, SourceRange origin = {}) { Tree t; t.kind = Kind::Float; t.number = value; t.origin = origin; return t; }
  static Tree of(std::string value, SourceRange origin = {}) { Tree t; t.kind = Kind::String; t.text = std::move(value); t.origin = origin; return t; }
  static Tree of(const char *value, SourceRange origin = {}) { return of(std::string(value), origin); }
  static Tree list(SourceRange origin = {}) { Tree t; t.kind = Kind::List; t.origin = origin; return t; }
  static Tree map(SourceRange origin = {}) { Tree t; t.kind = Kind::Map; t.origin = origin; return t; }

  bool isMap() const { return kind == Kind::Map; }
  bool isList() const { return kind == Kind::List; }
  bool empty() const { return isMap() ? fields.empty() : isList() ? items.empty() : kind == Kind::Null; }

  // Null when absent (or when this is no map).
  const Tree *find(const std::string &key) const;
  Tree *find(const std::string &key);
  // The value under `key`, made (as null) at the end when absent. Turns a null into a map.
  Tree &operator[](const std::string &key);
  Tree &set(const std::string &key, Tree value) { return (*this)[key] = std::move(value); }
  Tree &add(Tree value) { items.push_back(std::move(value)); return items.back(); }

  bool operator==(const Tree &other) const; // same data, same order of keys; origins do not count
};

} // namespace kft::ir

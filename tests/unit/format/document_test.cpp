#include "compiler/format/document.h"

#include <gtest/gtest.h>

namespace kft::format {
namespace {

Doc list(Documents &d, std::initializer_list<const char *> items) {
  std::vector<Doc> parts{d.softLine()};
  size_t i = 0;
  for (const char *item : items) {
    if (i++) parts.push_back(d.concat({d.text(","), d.line()}));
    parts.push_back(d.text(item));
  }
  parts.push_back(d.ifBroken(","));
  return d.group(d.concat({d.text("["), d.indent(d.concat(parts)), d.softLine(), d.text("]")}));
}

TEST(Document, AGroupIsFlatWhenItFits) {
  Documents d;
  Doc doc = list(d, {"aaa", "bbb"});
  EXPECT_EQ(d.print(doc, 10), "[aaa, bbb]");
  EXPECT_EQ(d.print(doc, 9), "[\n  aaa,\n  bbb,\n]");
}

TEST(Document, WhatFollowsOnTheLineCounts) {
  Documents d;
  Doc doc = d.concat({list(d, {"aaa", "bbb"}), d.text(" then")});
  EXPECT_EQ(d.print(doc, 15), "[aaa, bbb] then");
  EXPECT_EQ(d.print(doc, 14), "[\n  aaa,\n  bbb,\n] then");
}

TEST(Document, CommentsBreakAndDoNotCount) {
  Documents d;
  Doc doc = d.group(d.concat({d.text("a"), d.lineSuffix("# long comment"), d.forceBreak(), d.text(","), d.line(), d.text("b")}));
  EXPECT_EQ(d.print(doc, 5), "a, # long comment\nb");
}

TEST(Document, WideCharactersTakeTwoColumns) {
  Documents d;
  Doc doc = list(d, {"\"\xE5\xAD\xA6\"", "b"});
  EXPECT_EQ(d.print(doc, 9), "[\"\xE5\xAD\xA6\", b]");
  EXPECT_NE(d.print(doc, 8), "[\"\xE5\xAD\xA6\", b]");
}

TEST(Document, DeepNestingNeedsNoStack) {
  Documents d;
  Doc doc = d.text("x");
  for (int i = 0; i < 100'000; ++i) doc = d.group(d.concat({d.text("("), doc, d.text(")")}));
  EXPECT_EQ(d.print(doc, 100).size(), 200'001u);
}

} // namespace
} // namespace kft::format

// Mistakes of the text: each gives one message at its own characters. `ids` is what is reported, in order of position.
#include "compiler/ast/walk.h"
#include "compiler/parse/parse.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace kft {
namespace {

struct Parsed {
  explicit Parsed(std::string text) : file(c.sources.add("a.kft", std::move(text))), module(parse::module(file, c)) {}
  // "1:5 KFT1010; ..." or "" when all is well.
  std::string ids() const {
    std::string result;
    for (const Diagnostic &d : c.diags.sorted()) {
      LineColumn at = c.sources.lineColumn(d.range.file, d.range.begin);
      result += fmt::format("{}{}:{} {}", result.empty() ? "" : "; ", at.line, at.column, d.id);
    }
    return result;
  }
  std::string notes() const {
    std::string text;
    for (const Diagnostic &d : c.diags.sorted())
      for (const Note &note : d.notes) text += note.message + "\n";
    return text;
  }
  std::string fix(size_t i = 0) const {
    for (const Diagnostic &d : c.diags.sorted())
      if (d.fixes.size() > i) return d.fixes[i].text;
    return "";
  }
  Compilation c;
  FileId file;
  const ast::Module &module;
};

std::string repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Parse, AcceptsOddFiles) {
  for (std::string text : {"", "# c", "## c\n", "a = 1", "a = 1\r\nb = 2\r\n", "\xEF\xBB\xBF" "a = 1\n", "a\t=\t1\n", "#!/usr/bin/env kftc\na = 1\n", "a { b = 1, c = 2, }\n", "a = f(1, 2,)\nb = [1,\n 2,\n]\n"}) {
    Parsed p(text);
    EXPECT_EQ(p.ids(), "") << text;
    EXPECT_FALSE(p.module.hasErrors);
  }
}
TEST(Parse, Newlines) {
  EXPECT_EQ(Parsed("a = 1 +\n 2\nb = 1\n + 2\nc = x\n  .y\nd = if true\n then 1\n else 2\n").module.stmts.size(), 4u);
  EXPECT_EQ(Parsed("param a: int\n where it > 0\nlet type = 1\ntype { type = 2 }\n").ids(), "");
}
TEST(Parse, Encoding) {
  EXPECT_EQ(Parsed("a = \"\xFF\"").ids(), "1:6 1001");
  EXPECT_EQ(Parsed(std::string("a = 1\n\0b", 8)).ids(), "2:1 1002");
}
TEST(Parse, Numbers) {
  EXPECT_EQ(Parsed("a = 9223372036854775807").ids(), "");
  EXPECT_EQ(Parsed("a = 9223372036854775808").ids(), "1:5 1012");
  EXPECT_EQ(Parsed("a = 012").ids(), "1:5 1010");
  EXPECT_EQ(Parsed("a = 012").fix(), "12");
  EXPECT_EQ(Parsed("a = 6GiB").ids(), "1:5 1011");
  EXPECT_EQ(Parsed("a = 6GiB").fix(), "6Gi");
  EXPECT_EQ(Parsed("a = 1g").ids(), "1:5 1011");
  EXPECT_EQ(Parsed("a = 30m\nb = 30min\nc = 1h30min\nd = 1.5Gi\ne = 0x1f\n").ids(), "");
  EXPECT_EQ(Parsed("a = 12abc").ids(), "1:5 1011");
}
TEST(Parse, Strings) {
  EXPECT_EQ(Parsed("a = \"x\nb = 1\n").ids(), "1:5 1004");
  EXPECT_EQ(Parsed("a = \"\"\"\nx\n").ids(), "1:5 1004");
  EXPECT_EQ(Parsed("a = \"\\d\"").ids(), "1:6 1006");
  EXPECT_EQ(Parsed("a = 'x'").ids(), "1:5 1005");
  EXPECT_EQ(Parsed("a = \"" + std::string(1 << 20, 'x') + "\"").ids(), "");
}
TEST(Parse, Brackets) {
  EXPECT_EQ(Parsed("a { b = 1\n").ids(), "1:3 1015");
  EXPECT_EQ(Parsed("a { b = f(1\n}\nc = 1\n").ids(), "1:10 1015");
  EXPECT_EQ(Parsed("a = [1\nb = 2\n").ids(), "1:5 1015");
  EXPECT_EQ(Parsed("}\na = 1\n").ids(), "1:1 1016");
  EXPECT_EQ(Parsed("a\n{\n b = 1 }\n").ids(), "2:1 1017");
}
TEST(Parse, Habits) {
  EXPECT_EQ(Parsed("a: 1").ids(), "1:2 1018");
  EXPECT_EQ(Parsed("a == 1").ids(), "1:3 1021");
  EXPECT_EQ(Parsed("let a: list<int>= []").ids(), "1:16 1022");
  EXPECT_EQ(Parsed("a = [1 2]").ids(), "1:8 1025");
  EXPECT_EQ(Parsed("a = 1 < 2 < 3").ids(), "1:11 1026");
  EXPECT_EQ(Parsed("@x").ids(), "1:1 1027");
  EXPECT_EQ(Parsed("job fine-tune { }").fix(), "\"fine-tune\"");
  EXPECT_EQ(Parsed("job a - b { }").fix(), "");
  EXPECT_EQ(Parsed("param lr = 0.1").fix(), ": float");
  EXPECT_EQ(Parsed("a { b { c = 1 } d = 2 }").fix(), ",");
  EXPECT_EQ(Parsed("a = 1.5h").fix(), "90min");
  EXPECT_EQ(Parsed("a = 0.5d").fix(), "12h");
  EXPECT_EQ(Parsed("a = 1.0001s").fix(), "");
  EXPECT_EQ(Parsed("param tags = [1]").fix(), ": list<any>");
  EXPECT_EQ(Parsed("a = f\"x\"").notes(), "every text takes values, as `\\(…)`, and needs no letter in front\n");
  EXPECT_EQ(Parsed("param x: List[int] = []").notes(), "the type of the parts stands in `< >`: `list<string>`\n");
}
TEST(Parse, Depth) {
  for (const char *open : {"[", "(", "{ a = "}) EXPECT_EQ(Parsed("a = " + repeat(open, 10'000)).c.diags.errorCount(), 1u) << open;
  EXPECT_EQ(Parsed("a = " + repeat("[", 150) + "1" + repeat("]", 150)).ids(), "");
  EXPECT_EQ(Parsed("if a { }" + repeat(" else if a { }", 10'000)).c.diags.errorCount(), 1u);
}
TEST(Parse, CarriageReturns) {
  EXPECT_EQ(Parsed("a = 1\r\nb = \"\"\"\r\n  x\r\n  \"\"\"\r\n").ids(), "");
  EXPECT_EQ(Parsed("a = 1\rb = 2\n").ids(), "1:6 1003");
  EXPECT_EQ(Parsed("a = \"\"\"\n  x\r\r\n  \"\"\"\n").c.diags.errorCount(), 1u);
}
TEST(Parse, LargeInputs) {
  EXPECT_EQ(Parsed("a = \"" + std::string(1 << 20, 'x') + "\"\n").ids(), "");
  Parsed many(repeat("a == 1\n", 100'000));
  EXPECT_EQ(many.c.diags.errorCount(), 100'000u);
  EXPECT_EQ(many.module.stmts.size(), 100'000u);
  EXPECT_EQ(Parsed("a = [" + repeat("1 2, ", 20'000) + "]\n").c.diags.errorCount(), 1u);
  EXPECT_EQ(Parsed(repeat("job a { }\n", 100'000)).module.stmts.size(), 100'000u);
}
TEST(Parse, EndsOfFiles) {
  EXPECT_EQ(Parsed("").ids(), "");
  EXPECT_EQ(Parsed("# only\n## comments").ids(), "");
  EXPECT_EQ(Parsed("a = 1").ids(), "");
  EXPECT_EQ(Parsed("a = \"x").ids(), "1:5 1004");
  EXPECT_EQ(Parsed("a = \"\"\"\n  x\n").ids(), "1:5 1004");
  EXPECT_EQ(Parsed("a = \"\\(b").ids(), "1:5 1004");
  EXPECT_EQ(Parsed("a = r\"x").ids(), "1:5 1004");
  EXPECT_EQ(Parsed("job a {\n\tnodes = 2\n").ids(), "1:7 1015");
  EXPECT_EQ(Parsed("a = [1,\n  2").ids(), "1:5 1015");
  EXPECT_EQ(Parsed("\ta\t=\t1\n").ids(), "");
}
TEST(Parse, DepthWithoutBrackets) {
  for (const std::string &text :
       {"let a: " + repeat("list<", 20'000), repeat("@a ", 20'000), "a = " + repeat("- ", 20'000) + "1",
        "a = " + repeat("if a then b else ", 20'000) + "1", "a = 1" + repeat(" + 1", 20'000), "a = b" + repeat(".b", 20'000),
        "a = " + repeat("\"\\(", 10'000), "a = " + repeat("(", 150) + "1" + repeat(repeat(" + 1", 100) + ")", 150),
        "a = " + repeat("[" + repeat("if a then b else ", 100), 150)})
    EXPECT_EQ(Parsed(text).c.diags.errorCount(), 1u) << text.substr(0, 60);
  EXPECT_EQ(Parsed("let a: " + repeat("list<", 50) + "int" + repeat(">", 50) + " = 1").ids(), "");
}
TEST(Parse, Docs) {
  Parsed p("## one\n## two\njob a {\n  ## three\n  x = 1\n}\n");
  ASSERT_EQ(p.module.stmts.size(), 1u);
  EXPECT_EQ(p.module.stmts[0]->doc, "one\ntwo");
}
TEST(Walk, VisitsInOrder) {
  Parsed p("a = f(1, x = [2, 3])\nb { c = 4 }\n");
  struct Ints : ast::Visitor {
    std::string seen;
    bool enter(const ast::Expr &expr) override {
      if (const auto *i = ast::as<ast::IntLiteral>(&expr)) seen += std::to_string(i->value);
      return true;
    }
  } ints;
  ast::walk(p.module, ints);
  EXPECT_EQ(ints.seen, "1234");
}

} // namespace
} // namespace kft

#include "compiler/format/format.h"

#include "compiler/parse/parse.h"
#include "tests/unit/format/shape.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace kft::format {
namespace {

// The canonical form of `text`; empty (and a failure) when it does not parse. `shape` gets the tree.
std::string formatted(const std::string &text, std::string *shape = nullptr) {
  Compilation compilation;
  FileId file = compilation.sources.add("a.kft", text);
  const ast::Module &module = parse::module(file, compilation);
  if (compilation.diags.hasErrors()) {
    ADD_FAILURE() << "does not parse: " << compilation.diags.all().front().message << "\n" << text;
    return {};
  }
  if (shape) *shape = test::Shape::of(module);
  return format(module, compilation.sources);
}

// Formatting gives `expected`, means the same, and changes nothing the second time.
void expectStable(const std::string &text) {
  std::string before, after;
  std::string once = formatted(text, &before);
  std::string twice = formatted(once, &after);
  EXPECT_EQ(before, after) << "the tree changed:\n" << text << "---\n" << once;
  EXPECT_EQ(once, twice) << "a second run changes it:\n" << text;
}
void expectFormat(const std::string &text, const std::string &expected) {
  EXPECT_EQ(formatted(text), expected);
  expectStable(text);
}

TEST(Format, Nothing) {
  expectFormat("", "");
  expectFormat("\n\n  \n", "");
  expectFormat("# only a comment", "# only a comment\n");
}

TEST(Format, BlanksAndSeparators) {
  expectFormat("a   =1\nc  +=  [ 3 ]", "a = 1\nc += [3]\n");
  expectFormat("job   a{nodes=2,x=1,}", "job a { nodes = 2, x = 1 }\n");
  expectFormat("job a{\nnodes=2,x=1}", "job a {\n  nodes = 2\n  x = 1\n}\n");
  expectFormat("job a extends  job.b{}", "job a extends job.b {}\n");
  expectFormat("a = - 1\nb = not  c\nd = 1 .. n\ne=a.b [ 1 ] ( x ,y = 2 )", "a = -1\nb = not c\nd = 1..n\ne = a.b[1](x, y = 2)\n");
}

TEST(Format, LiteralsKeepTheirSpelling) {
  expectFormat("a = 1_000\nb = 0x1F\nc = 3e-4\nd = 1.50Gi\ne = 1h30min\nf = r\"\\d\"\ng = \"\\u{41} \\(1+ 2)\"\n",
               "a = 1_000\nb = 0x1F\nc = 3e-4\nd = 1.50Gi\ne = 1h30min\nf = r\"\\d\"\ng = \"\\u{41} \\(1+ 2)\"\n");
}

TEST(Format, BlankLinesAreSingleAndNotAtTheEdges) {
  expectFormat("\n\na = 1\n\n\n\nb = 2\nc {\n\n  d = 1\n\n\n  e = 2\n\n}\n\n\n", "a = 1\n\nb = 2\nc {\n  d = 1\n\n  e = 2\n}\n");
}

TEST(Format, CommentsStayWhereTheyAre) {
  const char *text = "#!/usr/bin/env -S kftc run\n"
                     "## the file\n"
                     "edition = 1 # one\n"
                     "\n"
                     "# before\n"
                     "\n"
                     "## doc\n"
                     "job a { # opens\n"
                     "  # first\n"
                     "  nodes = 2 # two\n"
                     "\n"
                     "  # last\n"
                     "}\n"
                     "# end\n";
  expectFormat(text, text);
  expectFormat("a = [ # opens\n1, # one\n# own\n2\n# last\n]", "a = [ # opens\n  1, # one\n  # own\n  2,\n  # last\n]\n");
  expectFormat("a = f( # opens\nx = 1 # one\n)", "a = f( # opens\n  x = 1, # one\n)\n");
  expectFormat("a = 1 + # one\n2\n", "a = 1 # one\n  + 2\n");
  expectFormat("a = # why\n1\nb = 2", "a = 1 # why\nb = 2\n");
  expectFormat("a { # only\n}", "a { # only\n}\n");
  expectFormat("a {\n# only\n}", "a {\n  # only\n}\n");
  expectFormat("a = [\n# only\n]", "a = [\n  # only\n]\n");
  expectFormat("if x {\na = 1\n} # then\nelse {\nb = 2\n}", "if x {\n  a = 1\n} else { # then\n  b = 2\n}\n");
}

TEST(Format, LongListsBreak) {
  std::string item = "\"" + std::string(30, 'x') + "\"";
  expectFormat("a = [" + item + ", " + item + "]", "a = [" + item + ", " + item + "]\n");
  expectFormat("a = [" + item + "," + item + "," + item + "]",
               "a = [\n  " + item + ",\n  " + item + ",\n  " + item + ",\n]\n");
  expectFormat("a = [\n1,\n2,\n]", "a = [1, 2]\n");
  expectFormat("a = f(" + item + "," + item + "," + item + ")",
               "a = f(\n  " + item + ",\n  " + item + ",\n  " + item + ",\n)\n");
}

TEST(Format, BlocksInBrackets) {
  expectFormat("a = [{ b = 1 }, { c = 2 }]", "a = [{ b = 1 }, { c = 2 }]\n");
  expectFormat("a = [{\nb = 1\n}]", "a = [{\n  b = 1\n}]\n");
  expectFormat("a = [{\nb = 1\n}, c]", "a = [\n  {\n    b = 1\n  },\n  c,\n]\n");
  expectFormat("a = b with {\nc = 1\n}", "a = b with {\n  c = 1\n}\n");
  expectFormat("a = [x with {\nc = 1\n} for x in y]", "a = [\n  x with {\n    c = 1\n  }\n  for x in y\n]\n");
}

TEST(Format, LongExpressionsBreakBeforeOperators) {
  std::string name(40, 'n');
  expectFormat("a = " + name + " + " + name + " - " + name, "a = " + name + "\n  + " + name + "\n  - " + name + "\n");
  expectFormat("a = if " + name + " then " + name + " else " + name,
               "a = if " + name + "\n  then " + name + "\n  else " + name + "\n");
  expectFormat("param " + name + ": int = 2 where it in 1..64 and it != " + name + " and it != 3",
               "param " + name + ": int = 2\n  where it in 1..64 and it != " + name + " and it != 3\n");
}

TEST(Format, Statements) {
  expectFormat("import std.nn\nimport \"./team.kft\"  as team", "import std.nn\nimport \"./team.kft\" as team\n");
  expectFormat("let  x:int=1\nfn f(a:int,b:list<int> =[1])->map<string> ={}\ntype  t=\"a\"|\"b\"  where it != \"c\"",
               "let x: int = 1\nfn f(a: int, b: list<int> = [1]) -> map<string> = {}\ntype t = \"a\" | \"b\" where it != \"c\"\n");
  expectFormat("type r={a:int?,b:string=\"x\"}", "type r = { a: int?, b: string = \"x\" }\n");
  expectFormat("type r={\na:int?\nb:string=\"x\"}", "type r = {\n  a: int?\n  b: string = \"x\"\n}\n");
  expectFormat("if a{b=1}else if c{d=2}else{e=3}", "if a { b = 1 } else if c { d = 2 } else { e = 3 }\n");
  expectFormat("if a{\nb=1}else{e=3}", "if a {\n  b = 1\n} else {\n  e = 3\n}\n");
  expectFormat("for i,x in xs{job \"a-\\(i)\" extends job.b{nodes=i}}", "for i, x in xs { job \"a-\\(i)\" extends job.b { nodes = i } }\n");
  expectFormat("assert  a==b else \"no\"", "assert a == b else \"no\"\n");
  expectFormat("@deprecated(since=\"1\")\njob a{}", "@deprecated(since = \"1\")\njob a {}\n");
  expectFormat("@abstract job a{}", "@abstract\njob a {}\n");
  expectFormat("\"a.b/c\"=1\njob.\"fine-tune\"{nodes=1}", "\"a.b/c\" = 1\njob.\"fine-tune\" { nodes = 1 }\n");
}

TEST(Format, BlockStringsMoveAsAWhole) {
  expectFormat("a {\nb = \"\"\"\n      one\n\n        two\n      \"\"\"\n}", "a {\n  b = \"\"\"\n    one\n\n      two\n    \"\"\"\n}\n");
  expectFormat("a = [\"x\", \"\"\"\none\n\"\"\"]", "a = [\"x\", \"\"\"\n    one\n    \"\"\"]\n");
}

TEST(Format, LineEndsAndMarks) {
  expectFormat("a = 1\r\n\r\n\r\nb = 2\r\n", "a = 1\n\nb = 2\n");
  expectFormat("\xEF\xBB\xBF" "a = 1\n", "a = 1\n");
  expectFormat("# blanks behind   \na = 1   \n", "# blanks behind\na = 1\n");
}

TEST(Format, EveryFileOfTheRepository) {
  namespace fs = std::filesystem;
  size_t files = 0;
  for (const char *folder : {"examples", "stdlib", "tests/golden"})
    for (const auto &entry : fs::recursive_directory_iterator(fs::path(KFT_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".kft") continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::string text{std::istreambuf_iterator<char>(in), {}};
      Compilation compilation;
      parse::module(compilation.sources.add("a.kft", text), compilation);
      if (compilation.diags.hasErrors()) continue; // a golden of a mistake
      SCOPED_TRACE(entry.path().string());
      expectStable(text);
      if (std::string(folder) != "tests/golden") {
        EXPECT_EQ(formatted(text), text) << "run kftc fmt on it";
      }
      ++files;
    }
  EXPECT_GT(files, 5u);
}

// Random files: every construct in every other, random blanks, line ends and comments wherever tokens allow them.
class Generator {
public:
  explicit Generator(uint32_t seed) : random_(seed) {}
  std::string module() {
    int count = pick(5) + 1;
    for (int i = 0; i < count; ++i) {
      statement(3);
      separator();
    }
    return out_;
  }

private:
  std::mt19937 random_;
  std::string out_;
  int depth_ = 0; // of ( and [ without a { in between: a new line is nothing there

  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  bool chance(int percent) { return pick(100) < percent; }
  void put(const std::string &text) { out_ += text; }
  // Between two tokens.
  void gap() {
    put(chance(70) ? " " : "   ");
    if (depth_ > 0 && chance(12)) {
      if (chance(40)) put(std::string(chance(20) ? "## " : "# ") + "c" + std::to_string(pick(9)));
      put("\n");
    }
  }
  void separator() {
    if (chance(20)) put(std::string(chance(20) ? " ## " : " # ") + "t" + std::to_string(pick(9)));
    put("\n");
    while (chance(25)) put(chance(50) ? "\n" : std::string(chance(40) ? "## " : "# ") + "s" + std::to_string(pick(9)) + "\n");
  }
  std::string name() {
    static const char *const Names[] = {"a", "nodes", "image", "a_rather_long_name_for_a_field", "type", "x1", "resources"};
    return Names[pick(7)];
  }
  std::string plainName() {
    static const char *const Names[] = {"a", "nodes", "image", "a_rather_long_name_for_a_field", "x1", "resources"};
    return Names[pick(6)];
  }
  void block(int depth) {
    int outer = depth_;
    depth_ = 0;
    put("{");
    bool lines = chance(60);
    int count = depth <= 0 ? pick(2) : pick(4);
    if (lines) separator();
    for (int i = 0; i < count; ++i) {
      if (!lines && i) put(", ");
      statement(depth - 1);
      if (lines) separator();
    }
    put("}");
    depth_ = outer;
  }
  void type(int depth) {
    switch (pick(depth > 0 ? 6 : 2)) {
    case 0: put("int"); break;
    case 1: put("team.kind"); break;
    case 2: put("list<"), type(depth - 1), put(">"); break;
    case 3: put("map< "), type(depth - 1), put(" >"); break;
    case 4: put("\"a\" | \"b\""); break;
    case 5: put("{ a: "), type(depth - 1), put(" = 1, b: string }"); break;
    }
  }
  void statement(int depth) {
    switch (pick(depth > 0 ? 12 : 2)) {
    case 0: put(name() + " = "), expression(depth); break;
    case 1: put(name() + "." + name() + " += "), expression(depth); break;
    case 2: put(plainName() + " " + plainName() + " "), block(depth); break;
    case 3: put("job \"a-b\" extends job.base "), block(depth); break;
    case 4: put("patch "), block(depth); break;
    case 5: put("let " + plainName() + " = "), expression(depth); break;
    case 6: put("if "), expression(depth - 1), put(" "), block(depth - 1); if (chance(50)) put(" else "), block(depth - 1); break;
    case 7: put("for i, x in "), expression(depth - 1), put(" "), block(depth); break;
    case 8: put("assert "), expression(depth), put(" else "), expression(0); break;
    case 9: put("param " + plainName() + ": "), type(1), put(" = "), expression(depth - 1), put(" where "), expression(depth); break;
    case 10: put("fn f(a: int, b: "), type(1), put(") -> int = "), expression(depth); break;
    case 11: put("@note(\"x\") " + plainName() + " = "), expression(depth); break;
    }
  }
  void expression(int depth) {
    switch (pick(depth > 0 ? 15 : 5)) {
    case 0: put("42"); break;
    case 1: put("16Gi"); break;
    case 2: put("\"text with \\(a + 1) in it\""); break;
    case 3: put(plainName()); break;
    case 4: put("1h30min"); break;
    case 5:
      put("["), ++depth_;
      for (int i = pick(5); i-- > 0;) gap(), expression(depth - 1), put(i || chance(30) ? "," : "");
      gap(), --depth_, put("]");
      break;
    case 6:
      put("f("), ++depth_;
      for (int i = pick(4); i-- > 0;) gap(), put(chance(50) ? plainName() + " = " : ""), expression(depth - 1), put(i ? "," : "");
      gap(), --depth_, put(")");
      break;
    case 7: put("("), ++depth_, gap(), expression(depth - 1), gap(), --depth_, put(")"); break;
    case 8: {
      static const char *const Ops[] = {"+", "-", "*", "and", "or", "??", "==", "in", "not in", "/"};
      for (int i = pick(3) + 1; i-- > 0;) put("("), ++depth_, expression(depth - 1), --depth_, put(") "), put(Ops[pick(6)]), gap();
      put("long_operand_name_to_fill_the_line");
      break;
    }
    case 9: put("if "), expression(depth - 1), put(" then "), expression(depth - 1), put(" else "), expression(depth - 1); break;
    case 10: put("not "), expression(0); break;
    case 11: put("self.a.b[0]"); break;
    case 12: put("["), ++depth_, gap(), put("x + 1"), gap(), put("for x in"), gap(), expression(0), gap(), --depth_, put("]"); break;
    case 13: block(depth - 1); break;
    case 14: put("job.a with "), block(depth - 1); break;
    }
  }
};

TEST(Format, RandomFiles) {
  size_t parsed = 0;
  for (uint32_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    std::string text = Generator(seed).module();
    Compilation compilation;
    parse::module(compilation.sources.add("a.kft", text), compilation);
    if (compilation.diags.hasErrors()) continue; // a few are no kft
    ++parsed;
    SCOPED_TRACE(seed);
    expectStable(text);
  }
  EXPECT_GT(parsed, 1000u);
}

} // namespace
} // namespace kft::format

// What expressions are worth and which mistakes are found where: the source as text, the mistake by its id and by the very
// characters that are marked.
#include "compiler/sema/tests.h"
#include "tests/unit/sema/analyzed.h"

#include <gtest/gtest.h>

namespace kft::sema {
namespace {

// An expression, by way of a dataset's `env`, which holds any text.
std::string valueOf(const std::string &expr) {
  Result result = analyzed("dataset d { source = \"hf://a/b\", env { X = json(" + expr + ") } }");
  std::string env = result.field("d", "env");
  return result.mistakes().empty() ? env : result.mistakes();
}
#define EXPECT_VALUE(expr, json) EXPECT_EQ(valueOf(expr), std::string("{ X = ") + json + " }") << expr

TEST(Eval, Arithmetic) {
  EXPECT_VALUE("1 + 2 * 3", "\"7\"");
  EXPECT_VALUE("7 / 2", "\"3.5\"");
  EXPECT_VALUE("-7 % 3", "\"2\"");
  EXPECT_VALUE("7 % -3", "\"-2\"");
  EXPECT_VALUE("0.1 + 0.2", "\"0.30000000000000004\"");
  EXPECT_VALUE("1e-5", "\"1e-05\"");
  EXPECT_VALUE("floor(7 / 2)", "\"3\"");
  EXPECT_VALUE("16Gi / 4Gi", "\"4.0\"");
  EXPECT_VALUE("\"\\(1Gi * 0.5)\"", "\"\\\"512Mi\\\"\"");
  EXPECT_VALUE("\"\\(1h + 30min)\"", "\"\\\"1h30min\\\"\"");
  EXPECT_VALUE("pow(2, 10)", "\"1024\"");
}

TEST(Eval, ListsAndBlocks) {
  EXPECT_VALUE("[i * i for i in 0..3 if i != 1]", "\"[0, 4, 9]\"");
  EXPECT_VALUE("[i + j for i in [1, 2] for j in [10, 20]]", "\"[11, 21, 12, 22]\"");
  EXPECT_VALUE("[k for k, v in { a = 1, b = 2 } if v > 1]", "\"[\\\"b\\\"]\"");
  EXPECT_VALUE("null ?? 3", "\"3\"");
  EXPECT_VALUE("merge({ a { x = 1 } }, { a { y = 2 } })", "\"{\\\"a\\\": {\\\"x\\\": 1, \\\"y\\\": 2}}\"");
  EXPECT_VALUE("sort(unique([3, 1, 3]))", "\"[1, 3]\"");
  EXPECT_VALUE("5 in 1..1_000_000_000", "\"true\"");
}

TEST(Eval, Functions) {
  EXPECT_VALUE("format(3.14159, \".2f\")", "\"\\\"3.14\\\"\"");
  EXPECT_VALUE("format(1234567, \",\")", "\"\\\"1,234,567\\\"\"");
  EXPECT_VALUE("pad(7, 3, \"0\")", "\"\\\"007\\\"\"");
  EXPECT_VALUE("base64(\"hi\")", "\"\\\"aGk=\\\"\"");
  EXPECT_VALUE("parse_json(\"[1, 2.5, null]\")", "\"[1, 2.5, null]\"");
  EXPECT_VALUE("parse_yaml(\"a: no\")", "\"{\\\"a\\\": \\\"no\\\"}\"");
  EXPECT_VALUE("get({ a = 1 }, \"b\", 2)", "\"2\"");
  EXPECT_VALUE("round(2.5)", "\"2\"");
  EXPECT_VALUE("split(\"a,b\", \",\")", "\"[\\\"a\\\", \\\"b\\\"]\"");
}

TEST(Eval, LayersAndSelf) {
  Result result = analyzed(R"kft(
trainer base {
  image = "a:1"
  command = ["run"]
  workdir = "/a"
  args = ["--at=\(self.workdir)"]
  env { A = "1", B = "2" }
}
trainer more extends trainer.base {
  workdir = "/b"
  args += ["x"]
  env { B = "3", A = null }
}
)kft");
  EXPECT_EQ(result.mistakes(), "");
  EXPECT_EQ(result.field("base", "args"), "[\"--at=/a\"]");
  EXPECT_EQ(result.field("more", "args"), "[\"--at=/b\", \"x\"]");
  EXPECT_EQ(result.field("more", "env"), "{ A = null, B = \"3\" }");
}

TEST(Eval, ProfilesAndParams) {
  const char *source = R"kft(
param seed: int = 1 where it >= 0
param name: string = "a"
dataset d { source = "hf://a/\(name)", seed = seed }
dataset e extends dataset.d { shuffle = true }
profile p {
  set { seed = 7 }
  dataset { shuffle = false }
}
)kft";
  EXPECT_EQ(analyzed(source).field("d", "seed"), "1");
  Options options;
  options.profiles = {"p"};
  Result result = analyzed(source, options);
  EXPECT_EQ(result.mistakes(), "");
  EXPECT_EQ(result.field("d", "seed"), "7");
  EXPECT_EQ(result.field("e", "shuffle"), "false");
  options.set = {{"seed", "9"}, {"name", "8"}};
  result = analyzed(source, options);
  EXPECT_EQ(result.field("d", "seed"), "9");
  EXPECT_EQ(result.field("d", "source"), "\"hf://a/8\"");
  options.set = {{"seed", "x"}};
  EXPECT_EQ(analyzed(source, options).mistakes(), "KFT3037 «x»\n");
  options.set = {{"sed", "1"}};
  EXPECT_EQ(analyzed(source, options).mistakes(), "KFT2050 «sed»\n");
  options.set = {{"seed", "-1"}};
  EXPECT_EQ(analyzed(source, options).mistakes(), "KFT3020 «-1»\n");
}

TEST(Eval, SelfOfABlockOutsideDeclarations) {
  Result result = analyzed("let b = { a = 1, c = self.a + 1 } with { a = 5 }\ndataset d { source = \"hf://a/\\(b.c)\" }");
  EXPECT_EQ(result.mistakes(), "");
  EXPECT_EQ(result.field("d", "source"), "\"hf://a/6\"");
}

TEST(Eval, GeneratedDeclarations) {
  Result result = analyzed("for i in 0..2 {\n  dataset \"d-\\(i)\" { source = \"hf://a/\\(i)\" }\n}");
  EXPECT_EQ(result.mistakes(), "");
  ASSERT_EQ(result.module.decls.size(), 3u);
  EXPECT_EQ(result.field("d-2", "source"), "\"hf://a/2\"");
}

TEST(Eval, Tests) {
  Result result = analyzed("");
  Compilation &compilation = *result.compilation;
  FileId file = compilation.sources.add("t.kft", "param n: int = 2\nprofile p { set { n = 3 } }\n"
                                                 "test \"one\" { use = profile.p, set { n = 4 }, assert n == 4 }\n"
                                                 "test \"two\" { assert n == 5 }\n");
  const ast::Module &module = parse::module(file, compilation);
  std::vector<TestCase> cases = listTests(module, compilation);
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].profiles, std::vector<std::string>{"p"});
  ASSERT_EQ(cases[0].set.size(), 1u);
  EXPECT_EQ(cases[0].set[0].second, "4");
  runTest(module, compilation, {"two", nullptr});
  EXPECT_EQ(result.mistakes(), "KFT3021 «n == 5»\n");
  EXPECT_NE(result.notes().find("`n` is `2`"), std::string::npos);
}

struct Mistake {
  const char *source, *found;
};

TEST(Eval, Mistakes) {
  for (const Mistake &each : {
           Mistake{"let a = b", "KFT2001 «b»\n"},
           {"let x = if true then 1 else missing", "KFT2001 «missing»\n"},
           {"let job = 1", "KFT2002 «job»\n"},
           {"let a = 1\nlet a = 2", "KFT2003 «a»\n"},
           {"dataset d { source = \"hf://a/b\", source = \"hf://a/c\" }", "KFT2005 «source»\n"},
           {"let i = 1\nlet x = [i for i in [1]]", "KFT2006 «i»\n"},
           {"let x = dataset.d", "KFT2008 «d»\n"},
           {"import std.nn\nlet x = nn.dens(1)", "KFT2009 «dens»\n"},
           {"import \"./gone.kft\" as gone\nlet x = gone.a", "KFT2012 «\"./gone.kft\"»\n"},
           {"import \"../../a.kft\" as a", "KFT2013 «\"../../a.kft\"»\n"},
           {"fn f(x: int) -> int = g(x)\nfn g(x: int) -> int = f(x)", "KFT2042 «f»\n"},
           {"fn f(x: int) -> int = x + \"a\"", "KFT3008 «+»\n"},
           {"let a = b\nlet b = a", "KFT3019 «a»\n"},
           {"param n: int = \"x\"", "KFT3001 «\"x\"»\n"},
           {"param n: int = 9 where it in 1..8", "KFT3020 «9»\n"},
           {"let x = 9223372036854775807 + 1", "KFT3011 «9223372036854775807 + 1»\n"},
           {"let x = 1 / 0", "KFT3012 «0»\n"},
           {"let x = [1][1]", "KFT3013 «1»\n"},
           {"let x = { apple = 1 }.aple", "KFT3014 «aple»\n"},
           {"let s = secret(\"a\")\nlet x = \"\\(s)\"", "KFT3029 «s»\n"},
           {"let x = \"1\" == 1", "KFT3028 «==»\n"},
           {"dataset d { source = self.source }", "KFT3019 «source»\n"},
           {"let x: duration = 30m", "KFT3001 «30m»\n"},
           {"assert 1 > 2", "KFT3021 «1 > 2»\n"},
           {"let x = range(20_000_000)", "KFT3023 «range(20_000_000)»\n"},
       })
    EXPECT_EQ(analyzed(each.source).mistakes(), each.found) << each.source;
  EXPECT_EQ(analyzed("let width = 1\nlet x = widht").fix(), "width");
  EXPECT_EQ(analyzed("let x: duration = 30m").fix(), "30min");
}

// What people write who come from elsewhere, and the way out they are shown.
TEST(Eval, WaysOut) {
  struct Way {
    const char *source, *fix, *notes;
  };
  for (const Way &each : std::initializer_list<Way>{
           {"import std.runtimes\njob j { runtime = torch }", "runtimes.torch", ""},
           {"dataset d { source = \"./a.csv\" }\njob j { dataset = d }", "dataset.d", ""},
           {"job j { nodes = 2, args = [nodes] }", "", "fields are not in scope; `self.nodes` reads one\n"},
           {"job j { args = [nope] }", "", ""},
           {"job j { x_y = 1, args = [x_y] }", "", "fields are not in scope; `self.x_y` reads one\n"},
           {"job j { trainer = trainers.native }", "", "it is a module of the standard library: `import std.trainers`\n"},
           {"dataset a { }\nmodel a { }\nlet x = a", "", "there are `dataset.a`, `model.a`\n"},
           {"jbo a { }", "job", ""},
           {"let x = None", "null", ""},
           {"let x = str(1)", "", "numbers become text in a string: `\"\\(x)\"`\n"},
           {"import runtimes", "std.runtimes", ""},
           {"import team", "\"./team.kft\"", ""},
           {"param n: int = 2 where n > 0", "", "in `where`, the value is called `it`\n"},
           {"let x: duration = \"1h30min\"", "1h30min", ""},
           {"let x: duration = \"soon\"", "", ""},
           {"for i in range(2) {\n  job j { }\n}", "", "in a loop the name has to change: `job \"j-\\(i)\"`\n"},
       }) {
    Result result = analyzed(each.source);
    EXPECT_FALSE(result.mistakes().empty()) << each.source;
    EXPECT_EQ(result.fix(), each.fix) << each.source;
    EXPECT_EQ(result.notes(), each.notes) << each.source;
  }
}

TEST(Eval, DeepChainsDoNotOverflow) {
  std::string source;
  for (int i = 0; i < 40'000; ++i) source += "let x" + std::to_string(i) + " = x" + std::to_string(i + 1) + " + 1\n";
  Result result = analyzed(source + "let x40000 = 1\n");
  ASSERT_EQ(result.compilation->diags.errorCount(), 1u);
  EXPECT_EQ(result.compilation->diags.all()[0].id, 3024);
  std::string sum = "let x = 1";
  for (int i = 0; i < 900; ++i) sum += " + 1";
  EXPECT_EQ(analyzed(sum).mistakes(), "");
}

} // namespace
} // namespace kft::sema

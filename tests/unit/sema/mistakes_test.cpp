// One mistake, one message, at the smallest range that is wrong: a source for each message about names, declarations,
// calls and values. Those that need files are in modules_test.cpp.
#include "tests/unit/sema/analyzed.h"

#include <gtest/gtest.h>

namespace kft::sema {
namespace {

struct Mistake {
  const char *source, *found;
};

TEST(Mistakes, OneMessageAtTheWrongCharacters) {
  for (const Mistake &each : {
           Mistake{"dataset d { source = \"hf://a/b\" }\ndataset d { source = \"hf://a/c\" }", "KFT2004 «d»\n"},
           {"import std.nn\nlet x = nn", "KFT2007 «nn»\n"},
           {"import std.runtime", "KFT2015 «runtime»\n"},
           {"import team.base", "KFT2016 «team.base»\n"},
           {"import std", "KFT2017 «std»\n"},
           {"dataset d { source = \"hf://a/b\", import std.nn }", "KFT2019 «import std.nn»\n"},
           {"editon = 1", "KFT2020 «editon»\n"},
           {"dataset { source = \"hf://a/b\" }", "KFT2021 «dataset»\n"},
           {"dataset d { source = \"hf://a/b\" }\ndataset.d { shuffle = false }", "KFT2022 «dataset.d»\n"},
           {"param n: integer = 1", "KFT2023 «integer»\n"},
           {"let n = 1\nlet x: n = 1", "KFT2024 «n»\n"},
           {"type T = { next: T }", "KFT2025 «T»\n"},
           {"let base = { source = \"hf://a/b\" }\ndataset d extends base { }", "KFT2027 «base»\n"},
           {"model m { source = \"hf://a/b\" }\ndataset d extends model.m { }", "KFT2028 «model.m»\n"},
           {"dataset a extends dataset.b { }\ndataset b extends dataset.a { }", "KFT2029 «dataset.b»\n"},
           {"runtime m {\n  policy = \"plain\"\n  group g extends group.other { step = \"trainer\", containers { node { image = \"i\" } } }\n}", "KFT2030 «group.other»\n"},
           {"@depracated(\"x\")\nlet a = 1", "KFT2031 «depracated»\n"},
           {"@abstract\nlet a = 1", "KFT2032 «abstract»\n"},
           {"@allow(\"literal-secrets\", \"why\")\ndataset d { source = \"hf://a/b\" }", "KFT2033 «\"literal-secrets\"»\n"},
           {"@deprecated(since = \"1\", use = \"b\")\nlet a = 1\nlet c = a", "KFT2034 «a»\n"},
           {"let a = 1\nlet b = a(2)", "KFT2035 «a»\n"},
           {"fn f(x: int) -> int = x\nlet a = f(1, 2)", "KFT2036 «2»\n"},
           {"fn f(x: int) -> int = x\nlet a = f(1, y = 2)", "KFT2037 «y»\n"},
           {"fn f(x: int) -> int = x\nlet a = f(x = 1, x = 2)", "KFT2038 «x»\n"},
           {"fn f(x: int) -> int = x\nlet a = f()", "KFT2039 «)»\n"},
           {"fn f(x: int, y: int) -> int = x\nlet a = f(y = 1, 2)", "KFT2040 «2»\n"},
           {"fn f(x: int = 1, y: int) -> int = x", "KFT2041 «y»\n"},
           {"let a = self.b", "KFT2043 «self»\n"},
           {"param on: bool = false\nif on {\n  dataset d { source = \"hf://a/b\" }\n}\nlet x = dataset.d", "KFT2044 «dataset.d»\n"},
           {"dataset d { source = \"hf://a/b\" }\nif dataset.d.shuffle {\n  model m { source = \"hf://a/b\" }\n}", "KFT2045 «dataset.d»\n"},
           {"profile p { nodes = 2 }", "KFT2046 «nodes = 2»\n"},
           {"profile p { dataset d { source = \"hf://a/b\" } }", "KFT2047 «dataset d»\n"},
           {"test \"t\" { nodes = 2 }", "KFT2048 «nodes»\n"},
           {"edition = 2", "KFT2049 «2»\n"},
           {"dataset d { source = \"hf://a/b\", if self.shuffle { shuffle = true } }", "KFT2053 «self.shuffle»\n"},
           {"dataset \"\" { source = \"hf://a/b\" }", "KFT2054 «\"\"»\n"},
           {"type T = \"a\" | \"b\"\nlet x: T = \"c\"", "KFT3002 «\"c\"»\n"},
           {"dataset d { source = \"hf://a/b\", seed = -1 }", "KFT3003 «-1»\n"},
           {"let x = 1n / 3", "KFT3004 «1n / 3»\n"},
           {"type T = { a: int }\nlet x: T = { a = 1, b = 2 }", "KFT3006 «b»\n"},
           {"type T = { a: int }\nlet x: T = { }", "KFT3007 «{ }»\n"},
           {"let x = -\"a\"", "KFT3009 «-\"a\"»\n"},
           {"let x = if 1 then 2 else 3", "KFT3010 «1»\n"},
           {"let n = null\nlet x = n.a", "KFT3015 «a»\n"},
           {"let n = 1\nlet x = n.a", "KFT3016 «a»\n"},
           {"let x = [i for i in 5]", "KFT3017 «5»\n"},
           {"let x = \"\\([1])\"", "KFT3018 «[1]»\n"},
           {"let all = range(8000)\nlet x = [1 for i in all for j in all if false]", "KFT3022 «[1 for i in all for j in all if false]»\n"},
           {"dataset d { source = \"hf://a/b\", features = [\"a\"], features += 1 }", "KFT3025 «1»\n"},
           {"let base = { size = 3 }\nlet x = base with { size { width = 1 } }", "KFT3026 «size»\n"},
           {"let x = 1 with { a = 2 }", "KFT3027 «1»\n"},
           {"param n: int\nlet x = n + 1", "KFT3030 «n»\n"},
           {"let x = len(3)", "KFT3032 «3»\n"},
           {"let x = read(\"./gone.txt\")", "KFT3033 «\"./gone.txt\"»\n"},
           {"let x = [1][\"a\"]", "KFT3034 «\"a\"»\n"},
           {"let x = 1.5 in 1..2", "KFT3035 «1..2»\n"},
           {"let x = 1ms / 3", "KFT3036 «1ms / 3»\n"},
       })
    EXPECT_EQ(analyzed(each.source).mistakes(), each.found) << each.source;
}

} // namespace
} // namespace kft::sema

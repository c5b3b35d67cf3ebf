#include "compiler/emit/emit.h"
#include "tests/unit/emit/samples.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <regex>

namespace kft::emit {
namespace {

// What somebody else's reader makes of the text. Tags tell a quoted text from a plain one.
Tree readBack(const YAML::Node &node) {
  if (node.IsSequence()) {
    Tree list = Tree::list();
    for (const YAML::Node &item : node) list.add(readBack(item));
    return list;
  }
  if (node.IsMap()) {
    Tree map = Tree::map();
    for (const auto &entry : node) map.set(entry.first.IsNull() ? "~" : entry.first.Scalar(), readBack(entry.second));
    return map;
  }
  if (node.IsNull()) return Tree::null();
  const std::string text = node.Scalar();
  if (node.Tag() == "!") return Tree::of(text); // quoted, or a literal block
  if (text == "true" || text == "false") return Tree::of(text == "true");
  int64_t whole = 0;
  const char *end = text.data() + text.size();
  if (auto [at, code] = std::from_chars(text.data(), end, whole); code == std::errc() && at == end) return Tree::of(whole);
  double number = 0;
  if (auto [at, code] = std::from_chars(text.data(), end, number); code == std::errc() && at == end && text.find('.') != std::string::npos) return Tree::of(number);
  return Tree::of(text);
}

Tree mapOf(const std::string &text) {
  Tree map = Tree::map();
  map.set("key", Tree::of(text));
  return map;
}

// The resolvers of PyYAML (1.1) and of the core schema (1.2), and Go's extras, as regular expressions.
bool resolvesToOther(const std::string &text) {
  static const std::regex patterns[] = {
      std::regex("yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF|y|Y|n|N"),
      std::regex("[-+]?([0-9][0-9_]*)\\.[0-9_]*([eE][-+]?[0-9]+)?|\\.[0-9][0-9_]*([eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\\.[0-9_]*|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)"),
      std::regex("[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+"),
      std::regex("<<|=|~|null|Null|NULL|"),
      std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?([Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(\\.[0-9]*)?([ \t]*(Z|[-+][0-9][0-9]?(:[0-9]{2})?))?"),
      std::regex("[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?"),
  };
  for (const std::regex &pattern : patterns)
    if (std::regex_match(text, pattern)) return true;
  return false;
}

void check(const Tree &tree) {
  const std::string text = yaml(tree);
  Tree back;
  try {
    back = readBack(YAML::Load(text));
  } catch (const std::exception &error) {
    FAIL() << error.what() << "\n" << text << "\n" << json(tree);
  }
  ASSERT_TRUE(back == tree) << text << "\n" << json(tree) << json(back);
}

std::string written(const std::string &text) {
  const std::string out = yaml(mapOf(text));
  return out.substr(5, out.size() - 6);
}

TEST(Yaml, ReadsBackAsTheSameText) {
  for (const std::string &text : nastyTexts()) {
    check(mapOf(text));
    Tree list = Tree::list();
    list.add(Tree::of(text));
    list.add(Tree::of("next"));
    Tree map = Tree::map();
    map.set("list", list);
    check(map);
  }
}

TEST(Yaml, PlainTextIsTextForEveryReader) {
  std::mt19937_64 random(31);
  int plain = 0;
  for (int i = 0; i < 60'000; ++i) {
    const std::string text = i < static_cast<int>(nastyTexts().size()) ? nastyTexts()[static_cast<size_t>(i)] : randomText(random);
    const std::string out = written(text);
    if (out != text) continue;
    ++plain;
    ASSERT_FALSE(resolvesToOther(text)) << text;
    ASSERT_TRUE(text.find_first_of("\n\t\r") == std::string::npos) << text;
  }
  EXPECT_GT(plain, 3'000);
}

// The other half of "exactly when": no needless quotes.
TEST(Yaml, QuotesNothingElse) {
  for (const char *text : {"a", "a b", "a:b", "a#b", "-a", "-De", "--lr=0.1", "1.2.3", "10m", "16Gi", "v1", "12:60", "ghcr.io/a/b:1.4", "hf://a/b", "nvidia.com/gpu", "$(HOME)", "a, b", "a'b", "a\"b", "C:\\x", "?a", ":a",
                           "<", "..", "+", "nope", "Nullable", "0xg", "1,000", "2001-12", "NaN", "\xC3\xA9", "metadata.labels['a.b/c']", "inf", "1e", "0b2", "a  b"})
    EXPECT_EQ(written(text), text);
}

TEST(Yaml, ChoosesTheQuotesThatNeedNoEscape) {
  EXPECT_EQ(written("8"), "\"8\"");
  EXPECT_EQ(written("{\"a\": 1}"), "'{\"a\": 1}'");
  EXPECT_EQ(written("\"it's\""), "'\"it''s\"'");
  EXPECT_EQ(written("a\tb"), "\"a\\tb\"");
  EXPECT_EQ(written("\xEF\xBB\xBF"), "\"\\uFEFF\"");
}

TEST(Yaml, WritesLinesAsTheyAre) {
  EXPECT_EQ(written("set -e\nexit\n"), "|\n  set -e\n  exit");
  EXPECT_EQ(written("a\n\n  b"), "|-\n  a\n\n    b");
  EXPECT_EQ(written("a\n\n"), "|+\n  a\n");
  EXPECT_EQ(written(" a\nb"), "\" a\\nb\"");
  EXPECT_EQ(written("a \nb"), "\"a \\nb\"");
}

TEST(Yaml, LaysOutLikeAPerson) {
  Tree root = Tree::map();
  root.set("kind", Tree::of("X"));
  Tree &list = root.set("items", Tree::list());
  Tree item = Tree::map();
  item.set("name", Tree::of("node"));
  item.set("args", Tree::list()).add(Tree::of("a"));
  list.add(item);
  Tree inner = Tree::list();
  inner.add(Tree::of(1));
  inner.add(Tree::of(2.0));
  list.add(inner);
  root.set("none", Tree::map());
  root.set("no", Tree::null());
  target::Object object;
  object.root = root;
  const std::string one = "kind: X\nitems:\n  - name: node\n    args:\n      - a\n  - - 1\n    - 2.0\nnone: {}\n\"no\": null\n";
  EXPECT_EQ(yaml({object}), one);
  EXPECT_EQ(yaml({object, object}), one + "---\n" + one);
  EXPECT_EQ(yaml(llvm::ArrayRef<target::Object>()), "");
}

TEST(Yaml, NumbersStayNumbersOfTheirKind) {
  for (double value : {0.0, 1.0, -2.5, 1e-5, 1e22, 1e300, 5e-324, 0.1}) check([&] { Tree map = Tree::map(); map.set("key", Tree::of(value)); return map; }());
  EXPECT_EQ(yaml(Tree::of(1e-5)), "1.0e-05\n");
  EXPECT_EQ(yaml(Tree::of(INT64_MIN)), "-9223372036854775808\n");
}

TEST(Yaml, RandomTreesReadBack) {
  std::mt19937_64 random(32);
  for (int i = 0; i < 6'000; ++i) {
    Tree map = Tree::map();
    map.set("root", randomTree(random, 4));
    check(map);
    if (HasFatalFailure()) return;
  }
}

} // namespace
} // namespace kft::emit

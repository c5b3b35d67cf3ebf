#include "compiler/emit/emit.h"
#include "tests/unit/emit/samples.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kft::emit {
namespace {

using nlohmann::ordered_json;

Tree readBack(const ordered_json &value) {
  switch (value.type()) {
  case ordered_json::value_t::boolean: return Tree::of(value.get<bool>());
  case ordered_json::value_t::number_integer:
  case ordered_json::value_t::number_unsigned: return Tree::of(value.get<int64_t>());
  case ordered_json::value_t::number_float: return Tree::of(value.get<double>());
  case ordered_json::value_t::string: return Tree::of(value.get<std::string>());
  case ordered_json::value_t::array: {
    Tree list = Tree::list();
    for (const ordered_json &item : value) list.add(readBack(item));
    return list;
  }
  case ordered_json::value_t::object: {
    Tree map = Tree::map();
    for (const auto &[key, item] : value.items()) map.set(key, readBack(item));
    return map;
  }
  default: return Tree::null();
  }
}

TEST(Json, ReadsBackAsTheSameData) {
  std::mt19937_64 random(33);
  for (int i = 0; i < 10'000; ++i) {
    const Tree tree = i < static_cast<int>(nastyTexts().size()) ? Tree::of(nastyTexts()[static_cast<size_t>(i)]) : randomTree(random, 4);
    const std::string text = json(tree);
    ASSERT_TRUE(readBack(ordered_json::parse(text)) == tree) << text;
  }
}

TEST(Json, IsAnArrayOfObjectsWithTwoBlanks) {
  target::Object object;
  object.root = Tree::map();
  object.root.set("a", Tree::of(1));
  object.root.set("b", Tree::list());
  EXPECT_EQ(json(llvm::ArrayRef<target::Object>()), "[]\n");
  EXPECT_EQ(json({object, object}), "[\n  {\n    \"a\": 1,\n    \"b\": []\n  },\n  {\n    \"a\": 1,\n    \"b\": []\n  }\n]\n");
}

TEST(Json, BytesThatAreNoTextBecomeTheReplacementCharacter) {
  for (const char *text : {"\x80", "\xC0\x80", "\xE2\x82", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_NE(json(Tree::of(text)).find("\xEF\xBF\xBD"), std::string::npos);
    EXPECT_TRUE(ordered_json::accept(json(Tree::of(text))));
  }
}

} // namespace
} // namespace kft::emit

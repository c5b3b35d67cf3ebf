#include "compiler/basic/render.h"

#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

namespace kft::render {
namespace {

struct RenderTest : testing::Test {
  SourceFiles sources;
  Diagnostics diags;
  FileId file;

  void text(std::string content) { file = sources.add("a.kft", std::move(content)); }
  SourceRange at(llvm::StringRef piece) {
    size_t begin = sources.text(file).find(piece);
    return {file, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + piece.size())};
  }
  Diagnostics::Builder unknown(SourceRange range, llvm::StringRef field = "nods") {
    return diags.report(range, diag::UnknownField{.field = field, .block = "job"});
  }
  std::string only() { return render::text(diags.all().front(), sources); }
};

TEST_F(RenderTest, LineRangeAndFix) {
  text("job a {\n  nods = 2\n}\n");
  unknown(at("nods")).fixit(at("nods"), "nodes", diag::DidYouMean{.name = "nodes"});
  EXPECT_EQ(only(), "a.kft:2:3: error: unknown field `nods` in `job` [KFT2203]\n"
                    "   2 |   nods = 2\n"
                    "     |   ^~~~\n"
                    "  help: did you mean `nodes`?\n"
                    "   2 |   nodes = 2\n"
                    "     |   +++++\n");
}

TEST_F(RenderTest, NotesPointAtOtherPlacesOrNone) {
  text("a = 1\na = 2\n");
  diags.report(at("a = 2"), diag::UnknownField{.field = "a", .block = "job"})
      .note(at("a = 1"), diag::FirstGivenHere{})
      .note(diag::DidYouMean{.name = "b"});
  EXPECT_EQ(only(), "a.kft:2:1: error: unknown field `a` in `job` [KFT2203]\n"
                    "   2 | a = 2\n"
                    "     | ^~~~~\n"
                    "a.kft:1:1: note: first given here\n"
                    "   1 | a = 1\n"
                    "     | ^~~~~\n"
                    "  note: did you mean `b`?\n");
}

TEST_F(RenderTest, TabsAndWideCharactersKeepTheCaretInPlace) {
  text("\tx\t= \"\xE5\xAD\xA6\xE7\xBF\x92\" nods\n");
  unknown(at("nods"));
  EXPECT_EQ(only(), "a.kft:1:11: error: unknown field `nods` in `job` [KFT2203]\n"
                    "   1 |     x   = \"\xE5\xAD\xA6\xE7\xBF\x92\" nods\n"
                    "     |                  ^~~~\n");
}

TEST_F(RenderTest, ControlCharactersCannotSteerTheTerminal) {
  text("a = \"\x1b[31m\xff\" nods");
  unknown(at("nods"));
  EXPECT_EQ(only(), "a.kft:1:14: error: unknown field `nods` in `job` [KFT2203]\n"
                    "   1 | a = \"\xEF\xBF\xBD[31m\xEF\xBF\xBD\" nods\n"
                    "     |              ^~~~\n");
}

TEST_F(RenderTest, SeveralLines) {
  text("job a {\n  b = 1\n  c = 2\n}\n");
  unknown(at("{\n  b = 1\n  c = 2\n}"));
  EXPECT_EQ(only(), "a.kft:1:7: error: unknown field `nods` in `job` [KFT2203]\n"
                    "   1 | job a {\n"
                    "     |       ^\n"
                    "   2 |   b = 1\n"
                    "     |   ~~~~~\n"
                    "   3 |   c = 2\n"
                    "     |   ~~~~~\n"
                    "   4 | }\n"
                    "     | ~\n");
}

TEST_F(RenderTest, ManyLinesAreCutInTheMiddle) {
  std::string block = "{\n";
  for (int i = 0; i < 20; ++i) block += "  b = 1\n";
  text("job a " + block + "}");
  unknown({file, 6, static_cast<uint32_t>(sources.text(file).size())});
  std::string out = only();
  EXPECT_NE(out.find("     ...\n"), std::string::npos) << out;
  EXPECT_NE(out.find("  22 | }\n"), std::string::npos) << out;
  EXPECT_EQ(out.find("  10 |"), std::string::npos) << out;
}

TEST_F(RenderTest, AMegabyteInOneLineIsCut) {
  text(std::string(500'000, 'x') + " nods " + std::string(500'000, 'y'));
  unknown(at("nods"));
  std::string out = only();
  EXPECT_LT(out.size(), 600u);
  EXPECT_NE(out.find("xxx nods yyy"), std::string::npos) << out;
  EXPECT_NE(out.find("^~~~"), std::string::npos) << out;
}

TEST_F(RenderTest, TheEndOfAFile) {
  text("a = ");
  unknown({file, 4, 4});
  EXPECT_EQ(only(), "a.kft:1:5: error: unknown field `nods` in `job` [KFT2203]\n"
                    "   1 | a =\n"
                    "     |     ^\n");
}

TEST_F(RenderTest, WithoutAPlaceAndInColor) {
  diags.report(SourceRange{}, diag::UnknownCommand{.name = "chek"});
  EXPECT_EQ(only(), "kftc: error: unknown command `chek` [KFT9004]\n");
  EXPECT_NE(render::text(diags.all().front(), sources, true).find("\033[1;31merror:\033[0m"), std::string::npos);
}

TEST_F(RenderTest, SortedOnceAndAtMostFiftyErrors) {
  text(std::string(100, ' '));
  for (uint32_t i = 60; i-- > 0;) unknown({file, i, i + 1});
  unknown({file, 3, 4}); // the same again
  Renderer renderer(Format::Text);
  std::string out = renderer.add(diags, sources);
  EXPECT_LT(out.find("a.kft:1:1:"), out.find("a.kft:1:2:"));
  EXPECT_EQ(out.find("a.kft:1:51:"), std::string::npos);
  EXPECT_EQ(renderer.add(diags, sources), "");
  EXPECT_EQ(renderer.finish(), "kftc: 60 errors in all; the first 50 are shown\n");
}

TEST_F(RenderTest, Json) {
  text("job a {\n  nods = 2\n}\n");
  unknown(at("nods")).path("spec.x").rule("V038").fixit(at("nods"), "nodes", diag::DidYouMean{.name = "nodes"});
  Renderer renderer(Format::Json);
  EXPECT_EQ(renderer.add(diags, sources), "");
  auto parsed = llvm::json::parse(renderer.finish());
  ASSERT_TRUE(static_cast<bool>(parsed));
  const llvm::json::Object &item = *parsed->getAsArray()->front().getAsObject();
  EXPECT_EQ(item.getString("id"), llvm::StringRef("KFT2203"));
  EXPECT_EQ(item.getString("severity"), llvm::StringRef("error"));
  EXPECT_EQ(item.getString("file"), llvm::StringRef("a.kft"));
  EXPECT_EQ(*item.getInteger("line"), 2);
  EXPECT_EQ(*item.getInteger("column"), 3);
  EXPECT_EQ(*item.getInteger("endLine"), 2);
  EXPECT_EQ(*item.getInteger("endColumn"), 7);
  EXPECT_EQ(item.getString("path"), llvm::StringRef("spec.x"));
  EXPECT_EQ(item.getString("rule"), llvm::StringRef("V038"));
  EXPECT_EQ(item.get("stage"), nullptr);
  const llvm::json::Object &fix = *item.getArray("fixes")->front().getAsObject();
  EXPECT_EQ(fix.getString("text"), llvm::StringRef("nodes"));
  EXPECT_EQ(*fix.getObject("range")->getInteger("endColumn"), 7);
}

TEST_F(RenderTest, NoDiagnosticsIsAnEmptyArray) { EXPECT_EQ(Renderer(Format::Json).finish(), "[]\n"); }

TEST_F(RenderTest, Sarif) {
  text("job a {\n  nods = 2\n}\n");
  unknown(at("nods")).note(at("job"), diag::FirstGivenHere{}).fixit(at("nods"), "nodes", diag::DidYouMean{.name = "nodes"});
  Renderer renderer(Format::Sarif);
  renderer.add(diags, sources);
  auto parsed = llvm::json::parse(renderer.finish());
  ASSERT_TRUE(static_cast<bool>(parsed));
  EXPECT_EQ(parsed->getAsObject()->getString("version"), llvm::StringRef("2.1.0"));
  const llvm::json::Object &run = *parsed->getAsObject()->getArray("runs")->front().getAsObject();
  const llvm::json::Object &driver = *run.getObject("tool")->getObject("driver");
  const llvm::json::Object &rule = *driver.getArray("rules")->front().getAsObject();
  EXPECT_EQ(rule.getString("id"), llvm::StringRef("KFT2203"));
  EXPECT_EQ(rule.getString("name"), llvm::StringRef("UnknownField"));
  const llvm::json::Object &result = *run.getArray("results")->front().getAsObject();
  EXPECT_EQ(*result.getInteger("ruleIndex"), 0);
  const llvm::json::Object &place = *result.getArray("locations")->front().getAsObject()->getObject("physicalLocation");
  EXPECT_EQ(place.getObject("artifactLocation")->getString("uri"), llvm::StringRef("a.kft"));
  EXPECT_EQ(*place.getObject("region")->getInteger("endColumn"), 7);
  EXPECT_EQ(result.getArray("relatedLocations")->size(), 1u);
  const llvm::json::Object &change = *result.getArray("fixes")->front().getAsObject()->getArray("artifactChanges")->front().getAsObject();
  EXPECT_EQ(change.getArray("replacements")->front().getAsObject()->getObject("insertedContent")->getString("text"),
            llvm::StringRef("nodes"));
}

} // namespace
} // namespace kft::render

// What comes from other files: imports, links, the edge of a project, files of params, and who wins when several give a value.
#include "tests/unit/sema/analyzed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace kft::sema {
namespace {

namespace fs = std::filesystem;

class Modules : public testing::Test {
protected:
  Modules() {
    std::string name = (fs::temp_directory_path() / "kft-modules-XXXXXX").string();
    root = fs::canonical(mkdtemp(name.data()));
  }
  ~Modules() override { fs::remove_all(root); }

  std::string write(const std::string &name, const std::string &text) {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
    return (root / name).string();
  }
  // One dataset `d` whose source is what is asked for.
  Result source(const std::string &head, const std::string &expr, Options options = {}) {
    return analyzedFile(write("main.kft", head + "\ndataset d { source = \"hf://a/\\(" + expr + ")\" }\n"), std::move(options));
  }
  Result params(const std::string &declared, const std::string &name, const std::string &file, const std::string &text) {
    Options options;
    options.paramFiles = {write(file, text)};
    return source(declared, name, options);
  }

  fs::path root;
};

TEST_F(Modules, NamesOfAnImport) {
  write("team.kft", "let n = 3\nlet _hidden = 4\nlet shown = _hidden + 1\nmodel m { source = \"hf://a/b\" }\ndataset m { source = \"hf://a/b\" }\n");
  EXPECT_EQ(source("import \"./team.kft\"", "team.n").field("d", "source"), "\"hf://a/3\"");
  EXPECT_EQ(source("import \"./team.kft\" as other", "other.shown").field("d", "source"), "\"hf://a/5\"");
  EXPECT_EQ(source("import \"./team.kft\"", "team._hidden").mistakes(), "KFT2011 «_hidden»\n");
  EXPECT_EQ(source("import \"./team.kft\"\nlet x = team.m", "1").mistakes(), "KFT2010 «m»\n");
  EXPECT_EQ(source("import \"./taem.kft\" as team", "1").mistakes(), "KFT2012 «\"./taem.kft\"»\n");
  EXPECT_EQ(source("import \"./taem.kft\" as team", "1").fix(), "\"./team.kft\"");
  write("my-team.kft", "let n = 3\n");
  EXPECT_EQ(source("import \"./my-team.kft\"", "1").mistakes(), "KFT2018 «\"./my-team.kft\"»\n");
}

TEST_F(Modules, CircleOfImports) {
  write("a.kft", "import \"./b.kft\"\n");
  write("b.kft", "import \"./a.kft\"\n");
  Result result = analyzedFile((root / "a.kft").string());
  EXPECT_EQ(result.mistakes(), "KFT2014 «\"./a.kft\"»\n");
  EXPECT_NE(result.compilation->diags.all()[0].message.find("b.kft"), std::string::npos);
}

TEST_F(Modules, ProjectIsTheEdge) {
  write("shared.kft", "let n = 3\n");
  const std::string main = write("jobs/a/main.kft", "import \"../../shared.kft\"\ndataset d { source = \"hf://a/\\(shared.n)\" }\n");
  EXPECT_EQ(analyzedFile(main).mistakes(), "KFT2013 «\"../../shared.kft\"»\n");
  write("kft.project", "");
  EXPECT_EQ(analyzedFile(main).field("d", "source"), "\"hf://a/3\"");
  // The nearest marker is the edge, not the outermost.
  write("jobs/kft.project", "");
  EXPECT_EQ(analyzedFile(main).mistakes(), "KFT2013 «\"../../shared.kft\"»\n");
  // A neighbour whose name merely begins like the project is outside too.
  write("jobs-old/x.kft", "let n = 1\n");
  EXPECT_EQ(analyzedFile(write("jobs/main.kft", "import \"../jobs-old/x.kft\"")).mistakes(), "KFT2013 «\"../jobs-old/x.kft\"»\n");
  // What is outside is not told apart by whether it exists.
  EXPECT_EQ(analyzedFile(write("jobs/main.kft", "import \"../gone.kft\"")).mistakes(), "KFT2013 «\"../gone.kft\"»\n");
}

TEST_F(Modules, LinksInsideAndOutside) {
  write("out/secret.kft", "let n = 1\n");
  write("in/lib/real.kft", "let n = 2\n");
  fs::create_symlink("lib/real.kft", root / "in/inside.kft");
  fs::create_symlink("../out/secret.kft", root / "in/outside.kft");
  fs::create_symlink("../out", root / "in/folder");
  fs::create_symlink("loop.kft", root / "in/loop.kft");
  auto importing = [&](const std::string &file) {
    return analyzedFile(write("in/main.kft", "import \"" + file + "\" as m\ndataset d { source = \"hf://a/\\(m.n)\" }\n"));
  };
  EXPECT_EQ(importing("./inside.kft").field("d", "source"), "\"hf://a/2\"");
  EXPECT_EQ(importing("./outside.kft").mistakes(), "KFT2013 «\"./outside.kft\"»\n");
  EXPECT_EQ(importing("./folder/secret.kft").mistakes(), "KFT2013 «\"./folder/secret.kft\"»\n");
  EXPECT_EQ(importing("./loop.kft").mistakes(), "KFT2012 «\"./loop.kft\"»\n");
  EXPECT_EQ(analyzedFile(write("in/main.kft", "let x = read(\"./outside.kft\")")).mistakes(), "KFT2013 «\"./outside.kft\"»\n");
  // A file and a link to it are one module: both imports name the same declarations.
  Result both = analyzedFile(write("in/main.kft", "import \"./inside.kft\" as a\nimport \"./lib/real.kft\" as b\nassert a.n == b.n\n"));
  EXPECT_EQ(both.mistakes(), "");
  // A main file reached through a link stands where it really lies.
  write("in/lib/start.kft", "import \"./real.kft\"\ndataset d { source = \"hf://a/\\(real.n)\" }\n");
  fs::create_symlink("../in/lib/start.kft", root / "out/start.kft");
  EXPECT_EQ(analyzedFile((root / "out/start.kft").string()).field("d", "source"), "\"hf://a/2\"");
}

TEST_F(Modules, FilesOfParams) {
  EXPECT_EQ(params("param n: int", "n", "p.yaml", "n: 7\n").field("d", "source"), "\"hf://a/7\"");
  EXPECT_EQ(params("param n: int", "n", "p.yml", "n: 7\n").field("d", "source"), "\"hf://a/7\"");
  EXPECT_EQ(params("param n: int", "n", "p.json", "{\"n\": 7}").field("d", "source"), "\"hf://a/7\"");
  EXPECT_EQ(params("param n: int", "n", "p.kft", "edition = 1\nn = 7\n").field("d", "source"), "\"hf://a/7\"");
  EXPECT_EQ(params("param n: list<string>", "n[1]", "p.yaml", "n: [a, b]\n").field("d", "source"), "\"hf://a/b\"");
  EXPECT_EQ(params("param n: { a: int }", "n.a", "p.kft", "n { a = 2 }\n").field("d", "source"), "\"hf://a/2\"");
  // Amounts and durations are text in the formats of others, and text stays text.
  EXPECT_EQ(params("param n: amount", "n", "p.yaml", "n: 16Gi\n").field("d", "source"), "\"hf://a/16Gi\"");
  EXPECT_EQ(params("param n: duration", "n", "p.json", "{\"n\": \"90min\"}").field("d", "source"), "\"hf://a/1h30min\"");
  EXPECT_EQ(params("param n: string", "n", "p.yaml", "n: 16Gi\n").field("d", "source"), "\"hf://a/16Gi\"");
  EXPECT_EQ(params("param n: int = 1", "n", "p.yaml", "").field("d", "source"), "\"hf://a/1\"");
  write("team.kft", "param n: int = 1\nparam _m: int = 1\n");
  EXPECT_EQ(params("import \"./team.kft\"", "team.n", "p.yaml", "team:\n  n: 5\n").field("d", "source"), "\"hf://a/5\"");
  EXPECT_EQ(params("import \"./team.kft\"", "team.n", "p.kft", "team { n = 5 }\n").field("d", "source"), "\"hf://a/5\"");
  EXPECT_EQ(params("import \"./team.kft\"", "team.n", "p.yaml", "team:\n  _m: 5\n").mistakes(), "KFT2051 «_m»\n");
}

TEST_F(Modules, MistakesInFilesOfParams) {
  EXPECT_EQ(params("param n: int = 1", "n", "p.yaml", "n: x\n").mistakes(), "KFT3001 «x»\n");
  EXPECT_EQ(params("param n: int = 1 where it < 5", "n", "p.json", "{\"n\": 7}").mistakes(), "KFT3020 «7»\n");
  EXPECT_EQ(params("param nodes: int = 1", "nodes", "p.yaml", "noeds: 1\n").mistakes(), "KFT2050 «noeds»\n");
  EXPECT_EQ(params("param nodes: int = 1", "nodes", "p.yaml", "noeds: 1\n").fix(), "nodes");
  EXPECT_EQ(params("let n = 1", "n", "p.yaml", "n: 1\n").mistakes(), "KFT2051 «n»\n");
  EXPECT_EQ(params("param n: int = 1", "n", "p.json", "{\"n\": }").mistakes(), "KFT2056 «}»\n");
  EXPECT_EQ(params("param n: int = 1", "n", "p.yaml", "- 1\n").mistakes(), "KFT2056 «»\n");
  EXPECT_EQ(params("param n: int = 1", "n", "p.kft", "n = 1 + 1\n").mistakes(), "KFT2057 «n = 1 + 1»\n");
  EXPECT_EQ(params("param n: int = 1", "n", "p.toml", "n = 1\n").mistakes(), "KFT2055\n");
  Options options;
  options.paramFiles = {(root / "gone.yaml").string()};
  EXPECT_EQ(source("param n: int = 1", "n", options).mistakes(), "KFT2055\n");
  options = {};
  options.profiles = {"laptp"};
  Result result = source("profile laptop { }", "1", options);
  EXPECT_EQ(result.mistakes(), "KFT2052\n");
  EXPECT_EQ(result.notes(), "did you mean `laptop`?\n");
}

TEST_F(Modules, NearerToTheCommandLineWins) {
  const std::string head = "param n: int = 1\nprofile p { set { n = 2 } }\nprofile q { set { n = 3 } }";
  auto value = [&](Options options) { return source(head, "n", std::move(options)).field("d", "source"); };
  Options options;
  EXPECT_EQ(value(options), "\"hf://a/1\"");
  options.profiles = {"p", "q"};
  EXPECT_EQ(value(options), "\"hf://a/3\"");
  options.profiles = {"q", "p"};
  EXPECT_EQ(value(options), "\"hf://a/2\"");
  options.paramFiles = {write("a.yaml", "n: 4\n"), write("b.yaml", "n: 5\n")};
  EXPECT_EQ(value(options), "\"hf://a/5\"");
  options.set = {{"n", "6"}, {"n", "7"}};
  EXPECT_EQ(value(options), "\"hf://a/7\"");
}

TEST_F(Modules, ProfilesAmendInOrder) {
  const std::string text = "dataset d { source = \"hf://a/b\", seed = 1, features = [\"x\"] }\n"
                           "profile p { dataset { seed = 2, features += [\"p\"] } }\n"
                           "profile q { dataset.d { seed = 3, features += [\"q\"] } }\n"
                           "profile r extends profile.p { dataset { seed = 4 } }\n";
  auto with = [&](std::vector<std::string> profiles) {
    Options options;
    options.profiles = std::move(profiles);
    Result result = analyzed(text, options);
    return result.mistakes() + result.field("d", "seed") + " " + result.field("d", "features");
  };
  EXPECT_EQ(with({}), "1 [\"x\"]");
  EXPECT_EQ(with({"p", "q"}), "3 [\"x\", \"p\", \"q\"]");
  EXPECT_EQ(with({"q", "p"}), "2 [\"x\", \"q\", \"p\"]");
  EXPECT_EQ(with({"r"}), "4 [\"x\", \"p\"]");
}

} // namespace
} // namespace kft::sema

// Every message has a page, and every page tells the truth: its bad example gives exactly that message, its good one none.
//
// A section has one ```kft fence, or several: the first is the file that is looked at, the others begin with a line
// `# file: team.kft` and are written beside it. A first line `# kftc compile` (or check, test, with --set and --profile)
// says which command looks. Pages about files, options and runs have ```sh fences, which are for reading.
#include "compiler/basic/explain.h"
#include "compiler/driver/driver.h"
#include "compiler/driver/pipeline.h"
#include "compiler/sema/tests.h"

#include "llvm/ADT/SmallVector.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

namespace kft::driver {
namespace {

namespace fs = std::filesystem;
using llvm::StringRef;

struct Fence {
  std::string language, text;
};

std::vector<Fence> fences(StringRef section) {
  std::vector<Fence> out;
  llvm::SmallVector<StringRef, 64> lines;
  section.split(lines, '\n');
  bool inside = false;
  for (StringRef line : lines) {
    if (line.startswith("```")) {
      if (!inside) out.push_back({line.drop_front(3).str(), ""});
      inside = !inside;
    } else if (inside) {
      out.back().text += line.str() + "\n";
    }
  }
  return out;
}

StringRef section(StringRef page, StringRef heading) {
  size_t begin = page.find(("\n## " + heading + "\n").str());
  if (begin == StringRef::npos) return {};
  StringRef rest = page.drop_front(begin + heading.size() + 5);
  return rest.substr(0, rest.find("\n## "));
}

// What the example makes kftc say.
std::string diagnose(const std::vector<Fence> &files, const fs::path &folder, std::set<int> &ids) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (size_t i = 0; i < files.size(); ++i) {
    StringRef name = i == 0 ? "example.kft" : StringRef(files[i].text).split('\n').first.split("# file: ").second;
    EXPECT_FALSE(name.empty()) << "a further fence begins with `# file: NAME`";
    fs::path path = folder / name.str();
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << files[i].text;
  }
  Options options;
  std::string command = "check";
  StringRef first = StringRef(files[0].text).split('\n').first;
  if (first.consume_front("# kftc ")) {
    llvm::SmallVector<StringRef, 8> words;
    first.split(words, ' ', -1, false);
    command = words[0].str();
    for (size_t i = 1; i + 1 < words.size(); i += 2) {
      if (words[i] == "--set")
        options.set.emplace_back(words[i + 1].split('=').first.str(), words[i + 1].split('=').second.str());
      else if (words[i] == "--profile")
        options.profiles.push_back(words[i + 1].str());
      else if (words[i] == "--params")
        options.paramFiles.push_back((folder / words[i + 1].str()).string());
      else
        ADD_FAILURE() << "unknown option " << words[i].str();
    }
  }
  std::string text;
  auto note = [&](const Compilation &compilation) {
    for (const Diagnostic &diagnostic : compilation.diags.sorted()) {
      ids.insert(diagnostic.id);
      text += render::text(diagnostic, compilation.sources);
    }
  };
  std::string path = (folder / "example.kft").string();
  auto compilation = newCompilation(options);
  if (command == "test") {
    std::vector<sema::TestCase> tests;
    if (const ast::Module *module = parseFile(path, *compilation)) tests = sema::listTests(*module, *compilation);
    note(*compilation);
    for (const sema::TestCase &test : tests) {
      Options each;
      each.profiles = test.profiles;
      each.set = test.set;
      auto fresh = newCompilation(each);
      if (const ast::Module *module = parseFile(path, *fresh)) {
        sema::TestRun run;
        run.name = test.name;
        run.manifests = [](const sema::Module &, StringRef, SourceRange) {
          static const sema::BlockValue none;
          return sema::Value::block(&none);
        };
        sema::runTest(*module, *fresh, run);
      }
      note(*fresh);
    }
    return text;
  }
  if (std::optional<ir::Program> program = lowerFile(path, *compilation)) {
    for (const ir::Job &job : program->jobs) makePlan(job, *compilation);
    if (command == "compile" && !compilation->diags.hasErrors())
      build(*program, {target::Kind::Runtime, target::Kind::TrainJob}, *compilation);
  }
  note(*compilation);
  return text;
}

struct ExplainPage : testing::TestWithParam<int> {};

TEST_P(ExplainPage, TellsTheTruth) {
  int id = GetParam();
  StringRef page = explain::page(id);
  ASSERT_FALSE(page.empty()) << "compiler/basic/explain/" << explain::idText(id) << ".md is missing";
  StringRef title = page.split('\n').first;
  EXPECT_TRUE(title.startswith("# " + explain::idText(id) + ": ")) << title.str();
  std::vector<Fence> bad = fences(section(page, "Bad")), good = fences(section(page, "Good"));
  ASSERT_FALSE(bad.empty()) << "no `## Bad` with a fence";
  ASSERT_FALSE(good.empty()) << "no `## Good` with a fence";
  fs::path folder = fs::path(testing::TempDir()) / ("kft_explain_" + std::to_string(::getpid()) + "_" + std::to_string(id));
  auto isKft = [](const std::vector<Fence> &fences) {
    for (const Fence &fence : fences)
      if (fence.language != "kft") return false;
    return true;
  };
  if (isKft(bad)) {
    std::set<int> ids;
    std::string said = diagnose(bad, folder / "bad", ids);
    EXPECT_EQ(ids, std::set<int>{id}) << said;
  }
  if (isKft(good)) {
    std::set<int> ids;
    std::string said = diagnose(good, folder / "good", ids);
    EXPECT_EQ(ids, std::set<int>{}) << said;
  }
  fs::remove_all(folder);
}

std::vector<int> allIds() {
  std::vector<int> ids;
  for (const explain::Row &row : explain::catalogue()) ids.push_back(row.id);
  return ids;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, ExplainPage, testing::ValuesIn(allIds()),
                         [](const testing::TestParamInfo<int> &info) { return explain::idText(info.param); });

} // namespace
} // namespace kft::driver

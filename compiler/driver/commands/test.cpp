// kftc test: the `test` blocks of files, each analyzed on its own with the profiles and parameters it names.
#include "compiler/driver/driver.h"
#include "compiler/driver/pipeline.h"
#include "compiler/sema/tests.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <unistd.h>

namespace kft::driver {

namespace {

struct TestOptions {
  std::vector<std::string> files;
  std::string filter;
};

// An object of a target as a value of the language, so that asserts can walk it.
sema::Value valueOf(const target::Tree &tree, Compilation &compilation, SourceRange at) {
  Arena &arena = compilation.arena;
  switch (tree.kind) {
  case target::Tree::Kind::Null: return sema::Value::null();
  case target::Tree::Kind::Bool: return sema::Value::boolean(tree.boolean);
  case target::Tree::Kind::Int: return sema::Value::integer(tree.integer);
  case target::Tree::Kind::Float: return sema::Value::number(tree.number);
  case target::Tree::Kind::String: return sema::Value::string(arena.save(tree.text));
  case target::Tree::Kind::List: {
    std::vector<sema::Item> items;
    for (const target::Tree &item : tree.items) items.push_back({valueOf(item, compilation, at), at});
    return sema::Value::list(arena.copy(llvm::ArrayRef<sema::Item>(items)));
  }
  case target::Tree::Kind::Map: {
    std::vector<sema::Entry> entries;
    for (const auto &[key, value] : tree.fields) {
      sema::Entry entry;
      entry.key = arena.save(key);
      entry.keyRange = at;
      entry.value = valueOf(value, compilation, at);
      entry.range = at;
      entries.push_back(entry);
    }
    sema::BlockValue *block = arena.make<sema::BlockValue>();
    block->entries = arena.copy(llvm::ArrayRef<sema::Entry>(entries));
    block->range = at;
    return sema::Value::block(block);
  }
  }
  return sema::Value::poison();
}

// `manifests("TrainJob")`: the objects of that kind which `compile` would write, by name.
sema::Value manifests(const sema::Module &module, llvm::StringRef kind, SourceRange at, Compilation &compilation) {
  std::optional<ir::Program> program = lower(module, compilation);
  if (!program) return sema::Value::poison();
  std::vector<target::Object> objects = build(*program, {target::Kind::Runtime, target::Kind::TrainJob}, compilation);
  if (compilation.diags.hasErrors()) return sema::Value::poison();
  std::vector<sema::Entry> entries;
  for (const target::Object &object : objects) {
    if (object.kind != kind) continue;
    sema::Entry entry;
    entry.key = compilation.arena.save(object.name);
    entry.keyRange = entry.range = at;
    entry.value = valueOf(object.root, compilation, at);
    entries.push_back(entry);
  }
  if (entries.empty() && kind != "TrainJob" && kind != "TrainingRuntime" && kind != "ClusterTrainingRuntime") {
    compilation.diags.report(at, diag::UnknownManifestKind{.kind = kind});
    return sema::Value::poison();
  }
  sema::BlockValue *block = compilation.arena.make<sema::BlockValue>();
  block->entries = compilation.arena.copy(llvm::ArrayRef<sema::Entry>(entries));
  block->range = at;
  return sema::Value::block(block);
}

bool runOne(const std::string &file, const sema::TestCase &test, Session &session) {
  Options options;
  options.profiles = test.profiles;
  options.set = test.set;
  auto compilation = newCompilation(options);
  if (const ast::Module *module = parseFile(file, *compilation)) {
    sema::TestRun run;
    run.name = test.name;
    run.manifests = [&](const sema::Module &finished, llvm::StringRef kind, SourceRange at) {
      return manifests(finished, kind, at, *compilation);
    };
    sema::runTest(*module, *compilation, run);
  }
  return !session.show(*compilation);
}

int test(const TestOptions &options, Session &session) {
  bool color = wantsColor(STDOUT_FILENO);
  size_t passed = 0, failed = 0, skipped = 0;
  for (const std::string &file : options.files) {
    auto compilation = newCompilation({});
    const ast::Module *module = parseFile(file, *compilation);
    std::vector<sema::TestCase> tests;
    if (module) tests = sema::listTests(*module, *compilation);
    if (session.show(*compilation)) continue;
    std::string heading = file + "\n";
    for (const sema::TestCase &each : tests) {
      if (!options.filter.empty() && each.name.find(options.filter) == std::string::npos) {
        ++skipped;
        continue;
      }
      if (!session.writeStdout(heading)) return ExitMistakes;
      heading.clear();
      bool good = runOne(file, each, session);
      ++(good ? passed : failed);
      const char *word = good ? "ok" : "FAILED";
      std::string shown = color ? fmt::format("{}{:<6}\033[0m", good ? "\033[32m" : "\033[1;31m", word) : fmt::format("{:<6}", word);
      if (!session.writeStdout(fmt::format("  {}  {}\n", shown, each.name))) return ExitMistakes;
    }
  }
  std::string summary = fmt::format("{} passed, {} failed", passed, failed);
  if (skipped) summary += fmt::format(", {} not selected", skipped);
  if (!session.writeStdout(summary + "\n")) return ExitMistakes;
  return session.exitCode();
}

} // namespace

Action addTest(CLI::App &app) {
  auto options = std::make_shared<TestOptions>();
  app.add_option("FILE", options->files, "files whose tests are run")->required();
  app.add_option("--filter", options->filter, "only tests whose name has this text in it")->type_name("TEXT")->group("Tests");
  return [options](Session &session) -> int { return test(*options, session); };
}

} // namespace kft::driver

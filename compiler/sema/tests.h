// Tests in files: `test "small" { use = profile.laptop, set { nodes = 1 }, assert … }`. A test is an analysis of its own, with
// the profiles and params it names; the driver makes a fresh Compilation for it, puts both into its options, and hands in
// how manifests are made.
#pragma once

#include "compiler/sema/module.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kft::sema {

struct TestCase {
  std::string name;
  SourceRange nameRange;
  std::vector<std::string> profiles;                    // for Options::profiles
  std::vector<std::pair<std::string, std::string>> set; // for Options::set
};

// What `manifests("TrainJob")` is worth inside the test: a block of the objects by name, made from the finished module. Poison after a
// report.
using Manifests = std::function<Value(const Module &module, StringRef kind, SourceRange at)>;

struct TestRun {
  StringRef name;
  Manifests manifests;
};

// The tests of the file, with their `use` and `set` evaluated. Mistakes are reported.
std::vector<TestCase> listTests(const ast::Module &module, Compilation &compilation);

// Analyzes the file with the options of `compilation` and evaluates the asserts of the test. What fails is reported:
// the test passed when `compilation.diags` has no errors afterwards.
Module runTest(const ast::Module &module, Compilation &compilation, const TestRun &test);

} // namespace kft::sema

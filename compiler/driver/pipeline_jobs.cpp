#include "compiler/driver/pipeline.h"

#include "compiler/basic/timings.h"
#include "compiler/ir/lower.h"
#include "compiler/plan/plan.h"
#include "compiler/sema/type.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

namespace kft::driver {

std::optional<sema::Module> analyze(const ast::Module &module, Compilation &compilation) {
  timings::Scope timing(timings::Phase::Sema);
  sema::Module result = sema::analyze(module, compilation);
  if (compilation.diags.hasErrors()) return std::nullopt;
  return result;
}

std::optional<ir::Program> lower(const sema::Module &module, Compilation &compilation) {
  timings::Scope timing(timings::Phase::Ir);
  ir::Program program = ir::lower(module, compilation);
  const std::vector<std::string> &wanted = compilation.options.jobs;
  if (!wanted.empty()) {
    std::vector<llvm::StringRef> names;
    for (const ir::Job &job : program.jobs) names.push_back(job.name);
    for (const std::string &name : wanted) {
      bool known = llvm::any_of(program.jobs, [&](const ir::Job &job) { return job.name == name || job.kubeName == name; });
      if (known) continue;
      auto report = compilation.diags.report(SourceRange{}, diag::UnknownJobName{.name = name});
      llvm::StringRef best = sema::nearestName(name, names);
      if (!best.empty()) report.note(diag::DidYouMean{.name = best});
    }
    llvm::erase_if(program.jobs, [&](const ir::Job &job) {
      return !llvm::is_contained(wanted, job.name) && !llvm::is_contained(wanted, job.kubeName);
    });
    // Runtimes that only the other jobs use are not asked for either.
    llvm::erase_if(program.runtimes, [&](const ir::Runtime &runtime) {
      return llvm::none_of(program.jobs, [&](const ir::Job &job) { return job.runtime.kubeName == runtime.kubeName; });
    });
  }
  if (compilation.diags.hasErrors()) return std::nullopt;
  return program;
}

std::optional<run::Plan> makePlan(const ir::Job &job, Compilation &compilation) {
  if (!job.trainer || job.trainer->engine != ir::Engine::Native) return std::nullopt;
  timings::Scope timing(timings::Phase::Plan);
  return plan::make(job, compilation);
}

std::vector<target::Object> build(const ir::Program &program, llvm::ArrayRef<target::Kind> kinds, Compilation &compilation) {
  timings::Scope timing(timings::Phase::Target);
  std::vector<target::Object> objects;
  auto byName = [](const target::Object &a, const target::Object &b) {
    return std::tie(a.name, a.nameSpace, a.kind) < std::tie(b.name, b.nameSpace, b.kind);
  };
  auto section = [&](auto &&fill) {
    size_t first = objects.size();
    fill();
    std::stable_sort(objects.begin() + static_cast<std::ptrdiff_t>(first), objects.end(), byName);
  };
  auto append = [&](std::vector<target::Object> more) { llvm::move(more, std::back_inserter(objects)); };
  if (llvm::is_contained(kinds, target::Kind::Runtime))
    section([&] {
      for (const ir::Runtime &runtime : program.runtimes) append(target::build(runtime, compilation));
    });
#define KFT_TARGET(Name, option, help)                                                                                 \
  if (target::Kind::Name != target::Kind::Runtime && llvm::is_contained(kinds, target::Kind::Name))                    \
    section([&] {                                                                                                      \
      for (const ir::Job &job : program.jobs) append(target::build(job, target::Kind::Name, compilation));             \
    });
#include "compiler/target/targets.def"
  return objects;
}

std::optional<ir::Program> lowerFile(llvm::StringRef path, Compilation &compilation) {
  const ast::Module *syntax = parseFile(path, compilation);
  if (!syntax) return std::nullopt;
  std::optional<sema::Module> module = analyze(*syntax, compilation);
  if (!module) return std::nullopt;
  return lower(*module, compilation);
}

} // namespace kft::driver

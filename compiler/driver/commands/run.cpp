// kftc run: a native job on this machine, from its text to its exit code. The codes are those of runtime/launch/exit_codes.h;
// small ones belong to the ranks, so mistakes in the input end with 64, 65 and 66 here.
#include "compiler/driver/commands/plan_text.h"
#include "compiler/driver/driver.h"
#include "compiler/driver/pipeline.h"
#include "compiler/plan/plan.h"
#include "runtime/launch/exit_codes.h"
#include "runtime/launch/launch.h"
#include "runtime/plan/error.h"
#include "runtime/plan/text.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <unistd.h>

namespace kft::driver {

namespace {

struct RunOptions {
  std::string file, format = "text", bind = "auto";
  int64_t ranks = 0;
  bool dryRun = false, json = false;
  Options input;
  run::LaunchOptions launch;
};

// 66 when something is not there, 64 when the question was wrong, 65 for all other mistakes.
int exitCodeOf(const Compilation &compilation) {
  for (const Diagnostic &diagnostic : compilation.diags.all()) {
    if (diagnostic.severity != Severity::Error) continue;
    if (diagnostic.id == diag::CannotReadInput::id || diagnostic.id == diag::DataMissing::id) return static_cast<int>(run::ExitCode::Missing);
    if (diagnostic.id == diag::UnknownJobName::id || diagnostic.id == diag::SeveralJobs::id) return static_cast<int>(run::ExitCode::Usage);
  }
  return static_cast<int>(run::ExitCode::Invalid);
}

// Everything the job was made from, under names that a run directory can hold.
std::vector<run::FrozenFile> frozen(const Compilation &compilation, FileId main, const RunOptions &options) {
  std::vector<run::FrozenFile> files;
  files.push_back({"job.kft", compilation.sources.text(main).str()});
  const llvm::StringRef folder = llvm::sys::path::parent_path(compilation.sources.path(main));
  std::set<std::string> taken;
  for (uint32_t i = 0; i < compilation.sources.size(); ++i) {
    const FileId file{i};
    const llvm::StringRef path = compilation.sources.path(file);
    if (file == main || path.empty()) continue; // the standard library belongs to the program
    llvm::StringRef rest = path;
    std::string name = !folder.empty() && rest.consume_front(folder) && rest.consume_front("/") ? rest.str() : llvm::sys::path::filename(path).str();
    for (int copy = 2; !taken.insert(name).second; ++copy) name = fmt::format("{}-{}", copy, name);
    files.push_back({"inputs/" + name, compilation.sources.text(file).str()});
  }
  run::Json resolved{{"version", 1}, {"file", compilation.sources.name(main).str()}, {"path", compilation.sources.path(main).str()}};
  run::Json set = run::Json::object();
  for (const auto &[name, value] : options.input.set) set[name] = value;
  resolved["set"] = set;
  resolved["params"] = options.input.paramFiles;
  resolved["profiles"] = options.input.profiles;
  if (options.ranks > 0) resolved["ranks"] = options.ranks;
  files.push_back({"resolved.json", resolved.dump(2, ' ', false, run::Json::error_handler_t::replace) + "\n"});
  return files;
}

void reportProblems(const run::Preflight &ready, const ir::Job &job, Compilation &compilation) {
  using Kind = run::Problem::Kind;
  const SourceRange at = job.atName.valid() ? SourceRange(job.atName) : SourceRange(job.at);
  for (const run::Problem &problem : ready.problems) {
    switch (problem.kind) {
    case Kind::RankProgram:
      compilation.diags.report(SourceRange{}, diag::ProgramMissing{.program = "kft-rank", .need = "it is the engine that trains native jobs"}).note(diag::SearchedIn{.places = problem.detail});
      break;
    case Kind::Mpirun:
      compilation.diags.report(SourceRange{}, diag::ProgramMissing{.program = "mpirun", .need = "it starts the ranks (on Debian: package openmpi-bin)"}).note(diag::SearchedIn{.places = problem.detail});
      break;
    case Kind::Slots: {
      const SourceRange nodes = job.procsPerNode && job.atProcs.valid() ? job.atProcs : job.atNodes.valid() ? job.atNodes : at;
      compilation.diags.report(nodes, diag::TooFewSlots{.ranks = problem.need, .slots = problem.detail}).note(diag::OversubscribeWay{});
      break;
    }
    case Kind::Root: compilation.diags.report(SourceRange{}, diag::RootRefused{}).note(diag::AllowRootWay{}); break;
    case Kind::Memory: compilation.diags.report(at, diag::TooLittleMemory{.need = run::bytesText(static_cast<double>(problem.need)), .free = run::bytesText(static_cast<double>(problem.have))}); break;
    }
  }
}

int runJob(Session &session, const RunOptions &options) {
  auto compilation = newCompilation(options.input);
  auto fail = [&] {
    session.show(*compilation);
    return exitCodeOf(*compilation);
  };
  auto program = lowerFile(options.file, *compilation);
  if (!program) return fail();
  if (program->jobs.size() != 1) {
    if (program->jobs.empty()) {
      compilation->diags.report(SourceRange{}, diag::NothingToWrite{.file = options.file});
      return fail();
    }
    std::string names;
    for (const ir::Job &job : program->jobs) names += (names.empty() ? "`" : ", `") + job.name + "`";
    compilation->diags.report(SourceRange{}, diag::SeveralJobs{.file = options.file, .count = static_cast<int64_t>(program->jobs.size()), .names = names});
    return fail();
  }
  ir::Job &job = program->jobs.front();
  if (!job.trainer || job.trainer->engine != ir::Engine::Native) {
    compilation->diags.report(job.atName.valid() ? job.atName : job.at, diag::NotNative{.job = job.name}).note(diag::NotNativeWay{});
    return fail();
  }
  if (options.ranks > 0) {
    job.nodes = options.ranks;
    job.procsPerNode = 1;
  }
  auto plan = makePlan(job, *compilation);
  if (!plan || compilation->diags.hasErrors() || !plan::lookAtData(*plan, job, *compilation)) return fail();
  if (options.dryRun) {
    if (session.show(*compilation)) return exitCodeOf(*compilation);
    return session.writeStdout(nativeText(*plan)) ? 0 : static_cast<int>(run::ExitCode::InputOutput);
  }

  run::LaunchOptions launch = options.launch;
  launch.bind = options.bind == "core" ? run::LaunchOptions::Bind::Core : options.bind == "none" ? run::LaunchOptions::Bind::None : run::LaunchOptions::Bind::Auto;
  launch.name = job.kubeName;
  if (job.deadlineSeconds) launch.deadlineSeconds = static_cast<double>(*job.deadlineSeconds);
  for (const ir::EnvVar &variable : job.env) {
    if (variable.valueFrom.kind == ir::Tree::Kind::Null) {
      launch.env.emplace_back(variable.name, variable.value);
      continue;
    }
    const std::string source = variable.valueFrom.fields.empty() ? "a reference" : variable.valueFrom.fields.front().first;
    compilation->diags.report(variable.at, diag::SecretNotHere{.name = variable.name, .source = source});
  }
  const SourceRange at = job.atName.valid() ? SourceRange(job.atName) : SourceRange(job.at);
  const FileId main = at.valid() ? at.file : FileId{0};
  if (at.valid()) launch.place = fmt::format("{}:{} (job {})", compilation->sources.name(at.file).str(), compilation->sources.lineColumn(at.file, at.begin).line, job.name);
  // The file that was named, which need not be the one that declares the job.
  const FileId named = compilation->sources.size() > 0 ? FileId{0} : main;
  launch.frozen = frozen(*compilation, named, options);

  const run::Preflight ready = run::preflight(*plan, launch);
  reportProblems(ready, job, *compilation);
  if (session.show(*compilation)) return static_cast<int>(run::Exit::Unavailable);

  run::ProgressStyle style;
  const char *terminal = std::getenv("TERM");
  style.json = options.json || options.format == "json";
  style.terminal = !style.json && isatty(STDOUT_FILENO) && terminal && std::strcmp(terminal, "dumb") != 0;
  style.color = wantsColor(STDOUT_FILENO);
  try {
    return run::launch(*plan, ready, launch, STDOUT_FILENO, style);
  } catch (const run::LaunchError &error) {
    session.report(diag::CannotStart{.problem = error.what()});
    return static_cast<int>(error.code);
  }
}

} // namespace

Action addRun(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("FILE", options->file, "the file with the job; `-` is standard input")->required();
  addInputOptions(app, options->input);
  addJobOption(app, options->input);
  app.add_option("--ranks", options->ranks, "so many processes, whatever `nodes` and `procs_per_node` say")->check(CLI::Range(1, 1 << 20))->type_name("N")->group("Run");
  app.add_flag("--oversubscribe", options->launch.oversubscribe, "more ranks than cores; they take turns")->group("Run");
  app.add_option("--bind", options->bind, "pin ranks to cores; auto: when the run takes all of them")->check(CLI::IsMember({"auto", "core", "none"}))->type_name("auto|core|none")->group("Run");
  app.add_option("--grace", options->launch.graceSeconds, "seconds between a request to stop and the end of patience (30)")->check(CLI::NonNegativeNumber)->type_name("SECONDS")->group("Run");
  app.add_flag("--allow-root", options->launch.allowRoot, "start as root outside a container")->group("Run");
  app.add_flag("--dry-run", options->dryRun, "show the plan, start nothing")->group("Run");
  app.add_option("--run-dir", options->launch.runDirectory, "folder of the run, new or empty (runs/JOB-DATE-TIME)")->type_name("DIR")->group("Output");
  app.add_option("--format", options->format, "text for people; json: one event a line")->check(CLI::IsMember({"text", "json"}))->type_name("text|json")->group("Output");
  app.add_flag("--json", options->json, "the same as --format json")->group("Output");
  return [options](Session &session) -> int { return runJob(session, *options); };
}

} // namespace kft::driver

// kftc compile: the objects a cluster is given, or any stage before them. Nothing is written before everything is known to
// be right.
#include "compiler/ast/print.h"
#include "compiler/basic/timings.h"
#include "compiler/driver/driver.h"
#include "compiler/driver/files.h"
#include "compiler/driver/pipeline.h"
#include "compiler/emit/emit.h"
#include "compiler/driver/print_types.h"
#include "compiler/ir/print.h"
#include "compiler/plan/plan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <CLI/CLI.hpp>

namespace kft::driver {

namespace {

struct CompileOptions {
  std::string file, directory, format = "yaml";
  std::vector<std::string> emit;
  Options input;
};

std::optional<target::Kind> targetOf(llvm::StringRef name) {
#define KFT_TARGET(Name, option, help)                                                                                 \
  if (name == option) return target::Kind::Name;
#include "compiler/target/targets.def"
  return std::nullopt;
}

std::vector<std::string> emitNames() {
  return {
#define KFT_TARGET(Name, option, help) option,
#include "compiler/target/targets.def"
      "plan", "ir", "types", "ast"};
}

// trainjob-digits.yaml; with a namespace trainjob-team.digits.yaml, because names are unique in a namespace only.
std::string fileName(const target::Object &object, llvm::StringRef extension) {
  std::string name = llvm::StringRef(object.kind).lower() + "-";
  if (!object.nameSpace.empty()) name += object.nameSpace + ".";
  return name + object.name + "." + extension.str();
}

bool writeDirectory(Session &session, const CompileOptions &options, std::vector<OutputFile> &files,
                    const Compilation &compilation) {
  std::vector<std::string> inputs = options.input.paramFiles;
  for (uint32_t i = 0; i < compilation.sources.size(); ++i)
    if (!compilation.sources.path({i}).empty()) inputs.push_back(compilation.sources.path({i}).str());
  std::set<std::string> names;
  for (OutputFile &file : files) {
    if (!names.insert(file.path).second) {
      session.report(diag::SameOutputName{.file = file.path});
      return false;
    }
    llvm::SmallString<256> path(options.directory);
    llvm::sys::path::append(path, file.path);
    file.path = path.str().str();
    for (const std::string &input : inputs)
      if (sameFile(file.path, input)) {
        session.report(diag::OutputIsInput{.file = file.path});
        return false;
      }
  }
  if (llvm::Error error = makeDirectory(options.directory)) {
    session.report(diag::CannotWriteOutput{.file = options.directory, .reason = llvm::toString(std::move(error))});
    return false;
  }
  std::string failed;
  if (llvm::Error error = writeFiles(files, failed)) {
    session.report(diag::CannotWriteOutput{.file = failed, .reason = llvm::toString(std::move(error))});
    return false;
  }
  return true;
}

bool dataIsHere(const run::Plan &plan, const ir::Dataset &dataset) {
  auto here = [](const std::string &path) { return path.empty() || llvm::sys::fs::exists(path); };
  if (dataset.isRemote || !here(plan.data.path) || !here(plan.data.testPath)) return false;
  // The labels of an array lie in a file of their own.
  return llvm::all_of(plan.data.format.args, [&](const run::Arg &arg) { return (arg.name != "labels" && arg.name != "test_labels") || here(arg.text); });
}

int compile(const CompileOptions &options, Session &session) {
  auto compilation = newCompilation(options.input);
  std::vector<target::Kind> kinds;
  std::vector<std::string> stages;
  for (const std::string &name : options.emit) {
    if (std::optional<target::Kind> kind = targetOf(name))
      kinds.push_back(*kind);
    else if (!llvm::is_contained(stages, name))
      stages.push_back(name);
  }
  std::string text;               // stages that have no file of their own
  std::vector<OutputFile> files;  // for -o
  auto stop = [&] { return session.show(*compilation) ? ExitMistakes : ExitFine; };
  auto wants = [&](llvm::StringRef stage) { return llvm::is_contained(stages, stage); };
  bool objectsWanted = !kinds.empty();

  const ast::Module *syntax = parseFile(options.file, *compilation);
  if (!syntax) return stop();
  if (wants("ast")) text += ast::print(*syntax);
  if (wants("types") || wants("ir") || wants("plan") || objectsWanted) {
    std::optional<sema::Module> module = analyze(*syntax, *compilation);
    if (!module) return stop();
    if (wants("types")) text += printTypes(*module);
    if (wants("ir") || wants("plan") || objectsWanted) {
      std::optional<ir::Program> program = lower(*module, *compilation);
      if (!program) return stop();
      if (wants("ir")) text += ir::print(*program);
      // Shapes that do not fit are a mistake whatever is asked for.
      for (const ir::Job &job : program->jobs) {
        std::optional<run::Plan> plan = makePlan(job, *compilation);
        if (!plan || !wants("plan")) continue;
        // With the data at hand this is the plan that `run` makes, hash and all. Whoever compiles need not have the data.
        if (dataIsHere(*plan, *job.dataset) && !plan::lookAtData(*plan, job, *compilation)) continue;
        std::string json = run::toJson(*plan);
        if (json.empty() || json.back() != '\n') json += '\n';
        files.push_back({"plan-" + job.kubeName + ".json", json});
        text += json;
      }
      if (compilation->diags.hasErrors()) return stop();
      if (objectsWanted) {
        std::vector<target::Object> objects = build(*program, kinds, *compilation);
        if (compilation->diags.hasErrors()) return stop();
        if (program->jobs.empty() && objects.empty())
          compilation->diags.report(SourceRange{}, diag::NothingToWrite{.file = options.file});
        timings::Scope timing(timings::Phase::Emit);
        bool json = options.format == "json";
        text += json ? emit::json(objects) : emit::yaml(objects);
        for (const target::Object &object : objects)
          files.push_back({fileName(object, options.format), json ? emit::json(object.root) : emit::yaml(object.root)});
      }
    }
  }
  session.show(*compilation);
  if (options.directory.empty()) return session.writeStdout(text) ? ExitFine : ExitMistakes;
  return writeDirectory(session, options, files, *compilation) ? ExitFine : ExitMistakes;
}

} // namespace

Action addCompile(CLI::App &app) {
  auto options = std::make_shared<CompileOptions>();
  app.add_option("FILE", options->file, "the file to compile; `-` is standard input")->required();
  app.add_option("--emit", options->emit,
                 "what to write, several by comma: trainjob, runtime (both is the default), plan, ir, types, ast")
      ->type_name("KIND")
      ->delimiter(',')
      ->take_all()
      ->expected(1)
      ->check(CLI::IsMember(emitNames()))
      ->group("Output");
  app.add_option("--format", options->format, "yaml (the default) or json")
      ->type_name("FORM")
      ->check(CLI::IsMember({"yaml", "json"}))
      ->group("Output");
  app.add_option("-o,--output", options->directory,
                 "write one file per object into this directory: trainjob-NAME.yaml, trainingruntime-NAME.yaml, "
                 "plan-NAME.json; NAMESPACE.NAME where one is given")
      ->type_name("DIR")
      ->group("Output");
  addInputOptions(app, options->input);
  addJobOption(app, options->input);
  app.callback([options] {
    if (options->emit.empty()) options->emit = {"runtime", "trainjob"};
    for (const std::string &stage : options->emit)
      if (!options->directory.empty() && (stage == "ast" || stage == "types" || stage == "ir"))
        throw CLI::ValidationError("--output", "`--emit " + stage + "` is written to standard output only");
    bool text = false, objects = false;
    for (const std::string &stage : options->emit)
      (targetOf(stage) ? objects : text) |= true;
    if (text && objects && options->directory.empty())
      throw CLI::ValidationError("--emit", "objects and earlier stages do not fit into one stream");
  });
  return [options](Session &session) -> int { return compile(*options, session); };
}

} // namespace kft::driver

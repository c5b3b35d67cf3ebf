// Trainers: which fields which engine has, and what the native engine needs.
#include "compiler/sema/check_rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace kft::sema {
namespace {

// Fields that only some engines have; what is not here all of them have.
struct Owner {
  StringRef field, engines;
};
constexpr Owner Owners[] = {
    {"command", "command"},       {"python", "command"},         {"workdir", "command"},     {"args", "command torchtune"},
    {"dtype", "torchtune"},       {"lora", "torchtune"},         {"preprocess", "torchtune"}, {"loss", "native torchtune"},
    {"optimizer", "native"},      {"schedule", "native"},        {"batch", "native torchtune"}, {"micro_batch", "native"},
    {"epochs", "native torchtune"}, {"steps", "native"},         {"clip", "native"},         {"metrics", "native"},
    {"eval", "native"},           {"early_stop", "native"},      {"checkpoint", "native"},   {"seed", "native"},
    {"precision", "native"},      {"shard_optimizer", "native"},
};

bool isShell(StringRef program) {
  StringRef name = program.rsplit('/').second.empty() ? program : program.rsplit('/').second;
  return name == "sh" || name == "bash" || name == "dash" || name == "ash" || name == "zsh" || name == "ksh";
}

} // namespace

void Checker::trainerRules(const BlockValue &body, SourceRange at) {
  StringRef engine = textOf(body, "engine");
  if (engine.empty()) engine = "command";
  for (const Entry &entry : body.entries)
    for (const Owner &owner : Owners) {
      if (owner.field != entry.key || !entry.name.empty()) continue;
      llvm::SmallVector<StringRef, 3> engines;
      owner.engines.split(engines, ' ');
      if (llvm::is_contained(engines, engine)) continue;
      failed_ = true;
      if (once<diag::EngineField>(entry.keyRange)) {
        const std::string owners = listing(engines);
        diags_.report(entry.keyRange, diag::EngineField{.field = entry.key, .owner = owners, .engine = engine});
      }
    }
  if (failed_) return;

  if (engine == "command") {
    const Entry *command = body.find("command"), *python = body.find("python");
    if (command && python) error(python->keyRange, diag::BothGiven{.first = "command", .second = "python"});
    if (python && ((python->value.is(ValueKind::List) && python->value.asList().empty()) || (python->value.is(ValueKind::String) && python->value.asString().empty())))
      error(python->range, diag::EmptyList{.what = "`python`"});
  }
  if (const Entry *image = body.find("image"); image && (image->value.asString().empty() || image->value.asString() != image->value.asString().trim()))
    error(image->range, diag::PaddedImage{});
  commandRules(body);

  if (engine != "native") return;
  for (StringRef needed : {"loss", "optimizer", "batch"})
    if (!body.find(needed)) error(at, diag::EngineNeeds{.engine = "native", .field = needed});
  const Entry *epochs = body.find("epochs"), *steps = body.find("steps");
  if (epochs && steps) {
    failed_ = true;
    const Entry *later = epochs->keyRange.begin > steps->keyRange.begin ? epochs : steps;
    if (once<diag::EpochsOrSteps>(later->keyRange))
      diags_.report(later->keyRange, diag::EpochsOrSteps{.found = "both `epochs` and `steps` are given"}).note((later == epochs ? steps : epochs)->keyRange, diag::FirstGivenHere{});
  }
  if (!epochs && !steps) error(at, diag::EpochsOrSteps{.found = "neither `epochs` nor `steps` is given"});
  const Entry *loss = body.find("loss");
  if (loss) {
    const Value judged = converted(loss->value, notation("\"cross_entropy\" | \"mse\""), loss->range, "`loss`");
    if (!judged.isPoison() && judged.asString() != "cross_entropy")
      for (const Item &metric : listAt(body, "metrics"))
        if (metric.value.asString() == "accuracy") error(metric.range, diag::AccuracyNeedsClasses{.loss = judged.asString()});
  }
  const Entry *batch = body.find("batch"), *micro = body.find("micro_batch");
  if (batch && micro && micro->value.asInt() > batch->value.asInt())
    error(micro->range, diag::MicroBatchTooLarge{.micro = std::to_string(micro->value.asInt()), .batch = std::to_string(batch->value.asInt())});
  if (const BlockValue *stop = blockAt(body, "early_stop"))
    if (const Entry *metric = stop->find("metric"); metric && metric->value.asString() == "accuracy" &&
                                                    llvm::none_of(listAt(body, "metrics"), [](const Item &item) { return item.value.asString() == "accuracy"; }))
      error(metric->range, diag::MetricNotMeasured{.metric = "accuracy"});
}

// `command` and `args` as an exec call takes them: no shell splits words or fills in variables.
void Checker::commandRules(const BlockValue &body) {
  const ArrayRef<Item> command = listAt(body, "command"), args = listAt(body, "args");
  if (const Entry *entry = body.find("command"); entry && entry->value.is(ValueKind::List) && !command.empty()) {
    const StringRef program = command[0].value.asString();
    if (program.empty()) error(command[0].range, diag::EmptyProgram{});
    if (program.contains(' ') && once<diag::CommandBlank>(command[0].range)) {
      auto report = diags_.report(command[0].range, diag::CommandBlank{.program = program});
      llvm::SmallVector<StringRef, 4> words;
      program.split(words, ' ', -1, false);
      std::string text;
      for (StringRef word : words)
        text += (text.empty() ? "" : ", ") + show(Value::string(word));
      if (words.size() > 1) report.fixit(command[0].range, text, diag::WriteSo{.text = text});
    }
  }
  // A shell does fill in variables: what follows it is its business.
  bool shell = false;
  for (ArrayRef<Item> list : {command, args})
    for (const Item &item : list) {
      if (!item.value.is(ValueKind::String)) continue;
      const StringRef text = item.value.asString();
      if (isShell(text)) shell = true;
      if (shell) continue;
      const size_t open = text.find("${");
      if (open == StringRef::npos) continue;
      const StringRef name = text.substr(open + 2).take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      if (name.empty() || !text.substr(open + 2 + name.size()).startswith("}") || !once<diag::ShellVariable>(item.range)) continue;
      auto report = diags_.report(item.range, diag::ShellVariable{.name = name});
      std::string fixed = text.str();
      fixed.replace(open, name.size() + 3, "$(" + name.str() + ")");
      const std::string quoted = show(Value::string(fixed), 4000);
      if (compilation_.sources.text(item.range).startswith("\"")) report.fixit(item.range, quoted, diag::WriteSo{.text = quoted});
    }
}

} // namespace kft::sema

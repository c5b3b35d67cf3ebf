// Names as Kubernetes takes them: their characters, their length (also of what is made from them), and that no two
// declarations end up with one.
#include "compiler/sema/check_rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

namespace kft::sema {
namespace {

bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isLowerAlnum(char c) { return isLower(c) || llvm::isDigit(c); }

std::string lowerDashed(StringRef name) {
  std::string result;
  for (char c : name.lower())
    result += isLowerAlnum(c) ? c : '-';
  StringRef text = StringRef(result).trim('-');
  return text.str();
}

size_t digits(int64_t number) { return std::to_string(number).size(); }

} // namespace

// Text in quotes is a name as it stands; a name of the language has `_` where Kubernetes wants `-`.
std::string Checker::kubeName(StringRef written, bool quoted) const {
  std::string name = written.str();
  if (!quoted)
    for (char &c : name)
      if (c == '_') c = '-';
  return name;
}

bool Checker::dnsLabel(StringRef name, SourceRange at, StringRef what, bool startsWithLetter, size_t longest) {
  if (name.size() > longest) {
    error(at, diag::NameTooLong{.what = what, .size = std::to_string(name.size()), .limit = std::to_string(longest)});
    return false;
  }
  const bool good = !name.empty() && llvm::all_of(name, [](char c) { return isLowerAlnum(c) || c == '-'; }) && name.front() != '-' && name.back() != '-' &&
                    (!startsWithLetter || isLower(name.front()));
  if (good) return true;
  failed_ = true;
  if (!once<diag::BadName>(at)) return false;
  auto report = diags_.report(at, diag::BadName{.what = what, .name = name,
                                                .rule = startsWithLetter ? "a lower-case letter first, then letters, digits and `-`, no `-` at the end"
                                                                         : "lower-case letters, digits and `-`, no `-` at an end"});
  std::string better = lowerDashed(name);
  while (startsWithLetter && !better.empty() && !isLower(better.front()))
    better.erase(0, 1);
  better = StringRef(better).trim('-').str();
  if (better.empty() || better == name) return false;
  const StringRef text = at.valid() ? compilation_.sources.text(at) : StringRef();
  // A plain word where it stood quoted stays quoted, and a name of the language may keep its `_`.
  std::string replacement = text.startswith("\"") || StringRef(better).contains('-') ? "\"" + better + "\"" : better;
  if (text.contains("\\(")) report.note(diag::NameByIndex{}); // a fixed name would be the same each time
  else if (text.startswith("\"") || text == name || kubeName(text, false) == name) report.fixit(at, replacement, diag::DidYouMean{.name = better});
  else report.note(diag::DidYouMean{.name = better});
  return false;
}

bool Checker::dnsSubdomain(StringRef name, SourceRange at, StringRef what) {
  if (name.size() > 253) {
    error(at, diag::NameTooLong{.what = what, .size = std::to_string(name.size()), .limit = "253"});
    return false;
  }
  llvm::SmallVector<StringRef, 4> parts;
  name.split(parts, '.');
  for (StringRef part : parts)
    if (part.empty() || !llvm::all_of(part, [](char c) { return isLowerAlnum(c) || c == '-'; }) || part.front() == '-' || part.back() == '-') {
      failed_ = true;
      if (once<diag::BadName>(at)) {
        auto report = diags_.report(at, diag::BadName{.what = what, .name = name, .rule = "lower-case letters, digits, `-` and `.`, each part beginning and ending with a letter or digit"});
        std::string better = lowerDashed(name);
        if (!better.empty() && better != name) report.note(diag::DidYouMean{.name = better});
      }
      return false;
    }
  return true;
}

bool Checker::labelKey(StringRef key, SourceRange at) {
  StringRef name = key;
  bool good = true;
  if (key.contains('/')) {
    auto [prefix, rest] = key.split('/');
    name = rest;
    llvm::SmallVector<StringRef, 4> parts;
    prefix.split(parts, '.');
    good = prefix.size() <= 253 && llvm::all_of(parts, [](StringRef part) {
             return !part.empty() && llvm::all_of(part, [](char c) { return isLowerAlnum(c) || c == '-'; }) && part.front() != '-' && part.back() != '-';
           });
  }
  good &= !name.empty() && name.size() <= 63 && llvm::isAlnum(name.front()) && llvm::isAlnum(name.back()) &&
          llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.'; });
  if (!good) error(at, diag::BadLabelKey{.key = key});
  return good;
}

bool Checker::labelValue(StringRef value, SourceRange at, const std::string &what) {
  const bool good = value.empty() || (value.size() <= 63 && llvm::isAlnum(value.front()) && llvm::isAlnum(value.back()) &&
                                      llvm::all_of(value, [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.'; }));
  if (!good) error(at, diag::BadLabelValue{.what = what, .value = value});
  return good;
}

// Names in Kubernetes are per kind and namespace; a job and a runtime may share one.
void Checker::names(ArrayRef<Decl *> decls) {
  std::map<std::string, const Decl *> seen;
  for (const Decl *decl : decls) {
    if (decl->isAbstract || (decl->kind != "job" && decl->kind != "runtime") || !decl->raw.is(ValueKind::Block)) continue;
    const Entry *given = decl->raw.asBlock().find("name");
    const SourceRange at = given ? given->range : decl->nameRange;
    if (decl->kind == "job") {
      if (!dnsLabel(decl->kubeName, at, "job", true)) continue;
    } else if (!dnsSubdomain(decl->kubeName, at, "runtime")) {
      continue;
    }
    const StringRef nameSpace = textOf(decl->raw.asBlock(), "namespace");
    const std::string key = (decl->kind + "/" + nameSpace + "/" + decl->kubeName).str();
    auto [first, isNew] = seen.try_emplace(key, decl);
    if (isNew || first->second == decl) continue;
    failed_ = true;
    if (once<diag::SameKubeName>(at))
      diags_.report(at, diag::SameKubeName{.kind = decl->kind, .name = decl->name, .other = first->second->name, .kubeName = decl->kubeName})
          .note(first->second->nameRange, diag::FirstGivenHere{});
  }
}

// JobSet makes `<job>-<group>-0-<index>-xxxxx` out of the name, and that must be a label. A name that is admitted but too
// long for it gives a job that never starts and never fails.
void Checker::jobNameBudget(const Decl &decl, const BlockValue &body) {
  const Entry *given = decl.raw.asBlock().find("name");
  const SourceRange at = given ? given->range : decl.nameRange;
  const Entry *runtime = body.find("runtime");
  if (!runtime || !runtime->value.is(ValueKind::Ref) || !runtime->value.asRef().body.is(ValueKind::Block) || decl.kubeName.size() > 63) return;
  const BlockValue &offer = runtime->value.asRef().body.asBlock();
  int64_t nodes = 1;
  if (const Entry *entry = offer.find("nodes")) nodes = entry->value.asInt();
  if (const Entry *entry = body.find("nodes")) nodes = entry->value.asInt();
  size_t limit = 63;
  StringRef group;
  for (const Entry &entry : offer.entries) {
    if (entry.key != "group" || !entry.value.is(ValueKind::Block)) continue;
    // The trainer's pods are counted in nodes; all others are one.
    const bool counted = textOf(entry.value.asBlock(), "step") == "trainer" || entry.name == "node";
    const size_t taken = 1 + entry.name.size() + 2 + 1 + digits((counted ? nodes : 1) - 1) + 6;
    if (63 - taken < limit) {
      limit = 63 - taken;
      group = entry.name;
    }
  }
  if (decl.kubeName.size() <= limit) return;
  failed_ = true;
  if (once<diag::JobNameTooLong>(at))
    diags_.report(at, diag::JobNameTooLong{.name = decl.kubeName, .size = std::to_string(decl.kubeName.size()), .limit = std::to_string(limit), .excess = std::to_string(decl.kubeName.size() - limit)})
        .note(diag::PodNameShape{.group = group})
        .rule("J020");
}

} // namespace kft::sema

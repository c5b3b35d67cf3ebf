// Datasets and models: where they come from, and what belongs together.
#include "compiler/sema/check_rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace kft::sema {
namespace {

bool isScheme(StringRef text) {
  return !text.empty() && llvm::isAlpha(text.front()) && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '+' || c == '.' || c == '-'; });
}

// `org/name`, as hubs call their things: two plain words, and not the name of a file.
bool looksLikeHubName(StringRef text) {
  auto [owner, name] = text.split('/');
  auto plain = [](StringRef part) {
    return !part.empty() && part != "." && part != ".." && llvm::all_of(part, [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.'; });
  };
  if (!plain(owner) || !plain(name)) return false;
  for (StringRef ending : {".csv", ".npy", ".npz", ".bin", ".json", ".jsonl", ".parquet", ".txt", ".tsv", ".idx", ".gz"})
    if (name.endswith(ending)) return false;
  return !owner.startswith(".");
}

} // namespace

void Checker::sourceUri(const BlockValue &body, bool isModel) {
  const Entry *source = body.find("source");
  if (!source || !source->value.is(ValueKind::String)) return;
  const StringRef text = source->value.asString();
  const StringRef known = isModel ? "`hf://`, `s3://`" : "`hf://`, `s3://`, `gs://`, `http://`, `https://`, `file://`, `cache://`, or a path such as `./data.csv`";
  auto without = [&] {
    failed_ = true;
    if (!once<diag::SourceWithoutScheme>(source->range)) return;
    auto report = diags_.report(source->range, diag::SourceWithoutScheme{.source = text, .known = known});
    report.rule("V030");
    if (looksLikeHubName(text)) {
      const std::string uri = "\"hf://" + text.str() + "\"";
      report.fixit(source->range, uri, diag::DidYouMean{.name = "hf://" + text.str()});
    }
  };
  if (text.empty()) return without();
  auto [scheme, rest] = text.split("://");
  if (scheme.size() == text.size()) {
    if (isModel || looksLikeHubName(text)) without();
    return;
  }
  if (!isScheme(scheme) || rest.empty()) return without();
  if (text.size() > 2048)
    error(source->range, diag::LengthBound{.what = "`source`", .size = std::to_string(text.size()), .unit = "characters", .rule = "at most 2048"});
  constexpr StringRef datasets[] = {"hf", "s3", "gs", "http", "https", "file", "cache"};
  constexpr StringRef models[] = {"hf", "s3"};
  if (isModel ? llvm::is_contained(models, scheme) : llvm::is_contained(datasets, scheme)) return;
  warn(source->range, diag::UnknownScheme{.scheme = scheme, .known = known});
}

void Checker::datasetRules(const BlockValue &body, SourceRange) {
  sourceUri(body, false);
  const Entry *split = body.find("split"), *test = body.find("test");
  if (split && test) {
    failed_ = true;
    if (once<diag::BothGiven>(test->keyRange)) diags_.report(test->keyRange, diag::BothGiven{.first = "split", .second = "test"}).note(split->keyRange, diag::FirstGivenHere{});
  }
  const Entry *label = body.find("label");
  llvm::StringMap<bool> seen;
  for (StringRef list : {"features", "columns"}) {
    seen.clear();
    for (const Item &item : listAt(body, list))
      if (item.value.is(ValueKind::String) && !seen.try_emplace(item.value.asString(), true).second)
        error(item.range, diag::DuplicateKey{.key = item.value.asString(), .member = "name"});
  }
  for (const Item &item : listAt(body, "features"))
    if (label && item.value.is(ValueKind::String) && label->value.is(ValueKind::String) && item.value.asString() == label->value.asString())
      error(item.range, diag::LabelIsFeature{.name = item.value.asString()});
}

void Checker::modelRules(const BlockValue &body, SourceRange at) {
  sourceUri(body, true);
  const Entry *source = body.find("source"), *layers = body.find("layers"), *input = body.find("input");
  if (source && layers) error(layers->keyRange, diag::BothGiven{.first = "source", .second = "layers"});
  if (layers && !input && !failed_) error(layers->keyRange, diag::LayersNeedInput{});
  if (!source && !layers && !failed_) error(at, diag::EmptyModel{});
  if (layers && !source && layers->value.is(ValueKind::List) && layers->value.asList().empty()) error(layers->range, diag::EmptyList{.what = "`layers`"});
  if (input && input->value.is(ValueKind::List) && input->value.asList().empty()) error(input->range, diag::EmptyList{.what = "`input`"});
}

} // namespace kft::sema

// Amounts of resources: names that a container may ask for, amounts that mean something, and what must hold between limits
// and requests. The checked form of `resources { … }` has `limits` and `requests` only.
#include "compiler/sema/check_rules.h"

#include "llvm/ADT/STLExtras.h"

namespace kft::sema {
namespace {

constexpr __int128 Unit = 1'000'000'000; // nano

bool isBytes(StringRef name) { return name == "memory" || name == "ephemeral-storage" || name.startswith("hugepages-"); }

// Short for the vendor's name, because it is what people write.
StringRef fullName(StringRef name) { return name == "gpu" ? StringRef("nvidia.com/gpu") : name; }

const Entry *resource(const BlockValue *block, StringRef name) {
  if (!block) return nullptr;
  for (const Entry &entry : block->entries)
    if (entry.key == name) return &entry;
  return nullptr;
}

} // namespace

// Judges one entry and fills `out` with its full name and amount.
bool Checker::resourceEntry(const Entry &entry, Entry &out) {
  out = entry;
  out.key = fullName(entry.key);
  const std::string what = "`" + entry.key.str() + "`";
  if (!out.key.contains('/') && !(out.key == "cpu" || isBytes(out.key))) {
    failed_ = true;
    if (once<diag::UnknownResource>(entry.keyRange)) {
      auto report = diags_.report(entry.keyRange, diag::UnknownResource{.name = entry.key});
      report.rule("K065");
      constexpr StringRef known[] = {"cpu", "memory", "ephemeral-storage", "gpu"};
      StringRef near = nearestName(entry.key, known);
      if (entry.key == "storage" || entry.key == "disk") near = "ephemeral-storage";
      if (entry.key == "gpus") near = "gpu";
      if (entry.key == "mem" || entry.key == "ram") near = "memory";
      if (near == "ephemeral-storage") report.fixit(entry.keyRange, "\"ephemeral-storage\"", diag::DidYouMean{.name = near});
      else if (!near.empty()) report.fixit(entry.keyRange, near, diag::DidYouMean{.name = near});
      else report.note(diag::DeviceNames{});
    }
    return false;
  }
  if (out.key.contains('/')) {
    if (!labelKey(out.key, entry.keyRange)) return false;
    if (out.key.startswith("requests.")) {
      error(entry.keyRange, diag::UnknownResource{.name = entry.key});
      return false;
    }
  }
  out.value = converted(entry.value, Type::amount, entry.range, what);
  if (out.value.isPoison()) return false;
  const Amount &amount = out.value.asAmount();
  if (amount.nano < 0) {
    error(entry.range, diag::NegativeAmount{.name = entry.key, .value = amount.str()});
    return false;
  }
  const std::string text = amount.str();
  const StringRef written = entry.range.valid() ? compilation_.sources.text(entry.range) : StringRef();
  if (isBytes(out.key) && amount.nano != 0) {
    if (!amount.isWhole()) {
      failed_ = true;
      if (once<diag::PartOfAByte>(entry.range)) {
        const std::string bytes = show(Value::number(static_cast<double>(amount.nano) / 1e9));
        auto report = diags_.report(entry.range, diag::PartOfAByte{.name = entry.key, .value = text, .bytes = bytes});
        StringRef digits = written;
        if (digits.consume_back("m")) {
          const std::string decimal = (digits + "M").str(), binary = (digits + "Mi").str();
          report.fixit(entry.range, binary, diag::MegabytesMeant{.decimal = decimal, .binary = binary});
        }
      }
      return false;
    }
    // A megabyte is less than any process needs: the suffix was forgotten.
    if (amount.nano < Unit * 1'000'000) {
      failed_ = true;
      if (once<diag::SuffixForgotten>(entry.range)) {
        auto report = diags_.report(entry.range, diag::SuffixForgotten{.name = entry.key, .value = text});
        int64_t ignored;
        if (!written.getAsInteger(10, ignored)) {
          const std::string meant = (written + "Gi").str();
          report.fixit(entry.range, meant, diag::DidYouMean{.name = meant});
        }
      }
      return false;
    }
  }
  if (out.key == "cpu" && amount.nano >= Unit * 100'000) {
    error(entry.range, diag::CoresNotBytes{.value = text});
    return false;
  }
  if (isDevice(out.key) && !amount.isWhole()) {
    failed_ = true;
    if (once<diag::PartOfADevice>(entry.range))
      diags_.report(entry.range, diag::PartOfADevice{.name = entry.key, .value = text}).note(diag::PartitionNames{}).rule("K067");
    return false;
  }
  return true;
}

Value Checker::resourceMap(const Value &value, SourceRange at, const std::string &what) {
  const Value given = converted(value, Type::block, at, what);
  if (given.isPoison()) return given;
  llvm::SmallVector<Entry, 8> entries;
  bool bad = false;
  for (const Entry &entry : given.asBlock().entries) {
    if (entry.value.isNull()) continue;
    if (entry.value.isPoison()) {
      bad = true;
      continue;
    }
    Entry made;
    if (!resourceEntry(entry, made)) {
      bad = true;
      continue;
    }
    if (const auto *twice = llvm::find_if(entries, [&](const Entry &e) { return e.key == made.key; }); twice != entries.end()) {
      bad = true;
      error(entry.keyRange, diag::BothGiven{.first = entry.key, .second = made.key == entry.key ? StringRef("gpu") : made.key});
      continue;
    }
    entries.push_back(made);
  }
  if (bad) return Value::poison();
  return blockOf(entries, given.asBlock().range);
}

void Checker::resourcePair(const BlockValue *limits, const BlockValue *requests, bool deviceNeedsLimit) {
  if (!requests) return;
  for (const Entry &request : requests->entries) {
    const Entry *limit = resource(limits, request.key);
    if (!limit) {
      if (!isDevice(request.key) || !deviceNeedsLimit) continue;
      failed_ = true;
      if (once<diag::DeviceNeedsLimit>(request.keyRange))
        diags_.report(request.keyRange, diag::DeviceNeedsLimit{.name = request.key}).note(diag::GiveDeviceOnce{}).rule("K005");
      continue;
    }
    const Amount &low = request.value.asAmount(), &high = limit->value.asAmount();
    const std::string lowText = low.str(), highText = high.str();
    if (isDevice(request.key) && !(low == high)) {
      failed_ = true;
      if (once<diag::DeviceAmountsDiffer>(request.range))
        diags_.report(request.range, diag::DeviceAmountsDiffer{.name = request.key, .request = lowText, .limit = highText}).note(limit->range, diag::LimitGivenHere{}).rule("K005");
    } else if (high.nano < low.nano) {
      failed_ = true;
      if (once<diag::LimitBelowRequest>(limit->range))
        diags_.report(limit->range, diag::LimitBelowRequest{.name = request.key, .limit = highText, .request = lowText}).note(request.range, diag::RequestGivenHere{}).rule("K064");
    }
  }
}

// From `cpu = 2` and friends, `limits { … }` and `requests { … }` to the last two. A plain entry means both.
Value Checker::resources(const BlockValue &value, SourceRange at) {
  llvm::SmallVector<Entry, 8> limits, requests;
  bool bad = failed_;
  auto put = [&](llvm::SmallVector<Entry, 8> &side, const Entry &entry, const Entry &written) {
    if (llvm::any_of(side, [&](const Entry &e) { return e.key == entry.key; })) {
      bad = true;
      error(written.keyRange, diag::GivenTwice{.name = entry.key});
      return;
    }
    side.push_back(entry);
  };
  for (const Entry &entry : value.entries) {
    if (entry.key == "limits" || entry.key == "requests") continue;
    Entry made;
    if (!resourceEntry(entry, made)) {
      bad = true;
      continue;
    }
    put(limits, made, entry);
    if (!llvm::any_of(requests, [&](const Entry &e) { return e.key == made.key; })) requests.push_back(made);
  }
  for (StringRef side : {"limits", "requests"}) {
    const Entry *entry = value.find(side);
    if (!entry) continue;
    const Value map = resourceMap(entry->value, entry->range, "`" + side.str() + "`");
    if (map.isPoison()) {
      bad = true;
      continue;
    }
    for (const Entry &member : map.asBlock().entries)
      put(side == "limits" ? limits : requests, member, member);
  }
  if (bad) return Value::poison();
  const BlockValue limitBlock{arena_.copy<Entry>(limits), at, nullptr}, requestBlock{arena_.copy<Entry>(requests), at, nullptr};
  resourcePair(&limitBlock, &requestBlock, true);
  // A device is asked for on both sides: a runtime that has the other side would otherwise disagree.
  for (const Entry &limit : limitBlock.entries)
    if (isDevice(limit.key) && !resource(&requestBlock, limit.key)) requests.push_back(limit);
  llvm::SmallVector<Entry, 2> sides;
  if (!limits.empty()) sides.push_back(entryOf("limits", blockOf(limits, at), at));
  if (!requests.empty()) sides.push_back(entryOf("requests", blockOf(requests, at), at));
  return blockOf(sides, value.range);
}

} // namespace kft::sema

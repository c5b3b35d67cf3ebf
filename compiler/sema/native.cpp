#include "compiler/sema/native.h"

namespace kft::sema::native {
namespace {

constexpr Spec Specs[] = {
#define KFT_SPEC(tag, name) {#tag, #name},
#include "compiler/sema/native.def"
};

constexpr Argument Arguments[] = {
#define KFT_SPEC_ARG(tag, name, argument, type, default_) {#tag, #name, #argument, type, default_},
#include "compiler/sema/native.def"
};

} // namespace

ArrayRef<Spec> specs() { return Specs; }

const Spec *find(StringRef tag, StringRef name) {
  for (const Spec &spec : Specs)
    if (spec.tag == tag && spec.name == name) return &spec;
  return nullptr;
}

ArrayRef<Argument> arguments(const Spec &spec) {
  auto belongs = [&](const Argument &argument) { return argument.tag == spec.tag && argument.spec == spec.name; };
  const Argument *first = std::begin(Arguments);
  while (first != std::end(Arguments) && !belongs(*first))
    ++first;
  const Argument *last = first;
  while (last != std::end(Arguments) && belongs(*last))
    ++last;
  return {first, last};
}

} // namespace kft::sema::native

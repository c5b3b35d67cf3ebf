#include "compiler/basic/timings.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kft::timings {

namespace {

using Clock = std::chrono::steady_clock;

struct State {
  const bool on = [] {
    const char *asked = std::getenv("KFT_TIMINGS");
    return asked && std::strcmp(asked, "1") == 0;
  }();
  std::array<Clock::duration, Phases> spent{};
  int now = -1;
  Clock::time_point since;

  void change(int to) {
    const Clock::time_point at = Clock::now();
    if (now >= 0) spent[static_cast<unsigned>(now)] += at - since;
    now = to;
    since = at;
  }
};

State &state() {
  static State only;
  return only;
}

} // namespace

Scope::Scope(Phase phase) {
  if (!state().on) return;
  before_ = state().now;
  state().change(static_cast<int>(phase));
}

Scope::~Scope() {
  if (state().on) state().change(before_);
}

void print() {
  if (!state().on) return;
  constexpr std::array<const char *, Phases> Names = {"lexer", "parser", "sema", "ir", "plan", "target", "emit"};
  for (unsigned i = 0; i < Phases; ++i)
    std::fprintf(stderr, "%-6s %8.1f ms\n", Names[i], std::chrono::duration<double, std::milli>(state().spent[i]).count());
}

} // namespace kft::timings

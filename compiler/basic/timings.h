// How long each phase takes, for tests/bench: KFT_TIMINGS=1 prints `sema 12.3 ms` and so on at the end, on standard error.
// Costs one comparison where it is not asked for.
#pragma once

#include <cstdint>

namespace kft::timings {

enum class Phase : uint8_t { Lexer, Parser, Sema, Ir, Plan, Target, Emit };
inline constexpr unsigned Phases = 7;

// From here to the end of the scope, without the phases that begin inside: an import is read while its importer is analysed.
class Scope {
public:
  explicit Scope(Phase phase);
  ~Scope();
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  int before_ = -1; // the phase around this one
};

// Nothing when KFT_TIMINGS is not `1`.
void print();

} // namespace kft::timings

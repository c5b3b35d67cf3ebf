// What the ranks of a run may ask of each other. Collective calls are made by all ranks in the same order.
#pragma once

#include "runtime/plan/error.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace kft::run {

class Communicator {
public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // In place, the same bits on every rank. The gradients' reduction is this one call over one flat buffer; whatever
  // replaces it (pieces sent while the backward pass still runs, a window that the ranks of a host share) does so
  // behind this interface.
  virtual void allReduceSum(float *values, int64_t count) = 0;
  virtual void allReduceSum(double *values, int64_t count) = 0;
  virtual int64_t allReduceMin(int64_t value) = 0;
  virtual void broadcast(void *bytes, int64_t count, int root) = 0;
  virtual void barrier() = 0;

  // Ends every rank of the run with `code`; for when the others may be waiting in a call that will never be answered.
  [[noreturn]] virtual void abort(int code) = 0;
};

// A mistake that every rank knows of: no rank waits, so each can leave by itself. Only one of them tells it.
class AgreedError : public Error {
public:
  AgreedError(Error error, bool tells) : Error(std::move(error)), tells(tells) {}
  bool tells;
};

// Runs `action` on every rank. If it threw an Error on any, all throw AgreedError with the code of the first such rank.
template <class Action>
void agree(Communicator &communicator, Action &&action) {
  std::optional<Error> failed;
  try {
    action();
  } catch (const Error &error) {
    failed = error;
  }
  int64_t first = communicator.allReduceMin(failed ? communicator.rank() : communicator.size());
  if (first == communicator.size()) return;
  auto code = failed ? failed->code : ExitCode::Internal;
  communicator.broadcast(&code, sizeof code, int(first));
  bool tells = first == communicator.rank();
  throw AgreedError(tells ? *failed : Error(code, "another rank failed"), tells);
}

} // namespace kft::run

#include "runtime/comm/local.h"

#include <unistd.h>

namespace kft::run {

namespace {

class Local final : public Communicator {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void allReduceSum(float *, int64_t) override {}
  void allReduceSum(double *, int64_t) override {}
  int64_t allReduceMin(int64_t value) override { return value; }
  void broadcast(void *, int64_t, int) override {}
  void barrier() override {}
  [[noreturn]] void abort(int code) override { ::_exit(code); }
};

} // namespace

std::unique_ptr<Communicator> makeLocalCommunicator() { return std::make_unique<Local>(); }

} // namespace kft::run

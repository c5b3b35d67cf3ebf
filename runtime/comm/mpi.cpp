#include "runtime/comm/mpi.h"

#include <climits>
#include <cstdlib>
#include <mpi.h>
#include <string>

namespace kft::run {

bool startedByMpi() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"})
    if (std::getenv(name)) return true;
  return false;
}

namespace {

class Mpi final : public Communicator {
public:
  Mpi(int &argc, char **&argv) {
    int provided = 0;
    // Only the main thread talks; nothing of ours runs beside it.
    check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "start");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "size");
  }
  ~Mpi() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void allReduceSum(float *values, int64_t count) override { sum(values, count, MPI_FLOAT); }
  void allReduceSum(double *values, int64_t count) override { sum(values, count, MPI_DOUBLE); }

  int64_t allReduceMin(int64_t value) override {
    int64_t lowest = value;
    check(MPI_Allreduce(&value, &lowest, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD), "minimum");
    return lowest;
  }

  void broadcast(void *bytes, int64_t count, int root) override {
    for (auto *p = static_cast<char *>(bytes); count > 0; p += Largest, count -= Largest)
      check(MPI_Bcast(p, int(count < Largest ? count : Largest), MPI_BYTE, root, MPI_COMM_WORLD), "broadcast");
  }

  void barrier() override { check(MPI_Barrier(MPI_COMM_WORLD), "barrier"); }

  [[noreturn]] void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::abort();
  }

private:
  static constexpr int64_t Largest = int64_t(1) << 30; // counts are ints in MPI 3

  template <class T>
  void sum(T *values, int64_t count, MPI_Datatype type) {
    for (; count > 0; values += Largest, count -= Largest)
      check(MPI_Allreduce(MPI_IN_PLACE, values, int(count < Largest ? count : Largest), type, MPI_SUM, MPI_COMM_WORLD),
            "sum");
  }

  void check(int status, const char *operation) const {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(status, text, &length);
    throw Error(ExitCode::Resource, "rank " + std::to_string(rank_) + ": MPI " + operation +
                                        " failed: " + std::string(text, size_t(length)));
  }

  int rank_ = 0, size_ = 1;
};

} // namespace

std::unique_ptr<Communicator> makeMpiCommunicator(int &argc, char **&argv) { return std::make_unique<Mpi>(argc, argv); }

} // namespace kft::run

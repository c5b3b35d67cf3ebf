#include "runtime/comm/local.h"

#include <algorithm>
#include <barrier>
#include <cstring>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

using namespace kft::run;

namespace {

// Ranks as threads, as far as `agree` needs them.
class World {
public:
  explicit World(int size) : size_(size), gate_(size), values_(size_t(size)) {}

  class Rank final : public Communicator {
  public:
    Rank(World &world, int rank) : world_(world), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return world_.size_; }
    void allReduceSum(float *, int64_t) override {}
    void allReduceSum(double *, int64_t) override {}
    int64_t allReduceMin(int64_t value) override {
      world_.values_[size_t(rank_)] = value;
      world_.gate_.arrive_and_wait();
      int64_t lowest = *std::min_element(world_.values_.begin(), world_.values_.end());
      world_.gate_.arrive_and_wait();
      return lowest;
    }
    void broadcast(void *bytes, int64_t count, int root) override {
      if (rank_ == root) world_.sent_.assign(static_cast<char *>(bytes), static_cast<char *>(bytes) + count);
      world_.gate_.arrive_and_wait();
      std::memcpy(bytes, world_.sent_.data(), size_t(count));
      world_.gate_.arrive_and_wait();
    }
    void barrier() override { world_.gate_.arrive_and_wait(); }
    [[noreturn]] void abort(int) override { std::abort(); }

  private:
    World &world_;
    int rank_;
  };

private:
  int size_;
  std::barrier<> gate_;
  std::vector<int64_t> values_;
  std::vector<char> sent_;
};

} // namespace

TEST(Communicator, AloneNothingChanges) {
  auto alone = makeLocalCommunicator();
  EXPECT_EQ(alone->rank(), 0);
  EXPECT_EQ(alone->size(), 1);
  float values[2] = {1, 2};
  alone->allReduceSum(values, 2);
  EXPECT_EQ(values[1], 2);
  EXPECT_EQ(alone->allReduceMin(7), 7);
}

TEST(Communicator, AgreeWhenAllIsWell) {
  auto alone = makeLocalCommunicator();
  int ran = 0;
  agree(*alone, [&] { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST(Communicator, OneFailureIsEverybodysAndToldOnce) {
  World world(4);
  std::mutex mutex;
  int told = 0, thrown = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      World::Rank rank(world, i);
      try {
        agree(rank, [&] {
          if (i == 1) throw Error(ExitCode::Missing, "gone");
          if (i == 3) throw Error(ExitCode::Invalid, "bad");
        });
      } catch (const AgreedError &error) {
        std::lock_guard lock(mutex);
        ++thrown, told += error.tells;
        EXPECT_EQ(error.code, ExitCode::Missing) << "of the first rank that failed";
        EXPECT_EQ(std::string(error.what()) == "gone", error.tells);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(thrown, 4);
  EXPECT_EQ(told, 1);
}

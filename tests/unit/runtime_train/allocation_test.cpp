// A step allocates nothing: a run of more steps makes as many allocations as a run of few.
#include "tests/unit/runtime_train/run_here.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

static std::atomic<int64_t> allocations;

void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

using namespace kft::run;

TEST(Trainer, StepsAllocateNothing) {
  Folder folder;
  std::string data = folder.file("data.csv", clouds(203));
  auto during = [&](int64_t epochs) {
    Plan plan = cloudPlan(data);
    plan.loop.epochs = epochs, plan.loop.clip = 1, plan.loop.microBatch = 10;
    plan.optimizer = {"adamw", {numberOf("lr", 0.01)}};
    RunHere here(plan, folder.path + "/run-" + std::to_string(epochs));
    int64_t before = allocations;
    here.trainer.run();
    return allocations - before;
  };
  during(1); // what is made once in a process
  EXPECT_EQ(during(2), during(60));
}

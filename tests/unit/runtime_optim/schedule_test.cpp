#include "runtime/optim/schedule.h"
#include "runtime/plan/error.h"

#include <gtest/gtest.h>

using namespace kft::run;

static Spec spec(const std::string &kind, double warmup, double final = 0) {
  Spec s;
  s.kind = kind;
  s.args = {{.name = "warmup", .kind = Arg::Kind::Number, .number = warmup, .text = {}, .shape = {}},
            {.name = "final", .kind = Arg::Kind::Number, .number = final, .text = {}, .shape = {}}};
  return s;
}

TEST(Schedule, Constant) {
  Schedule plain(spec("constant", 0), 0.5, 100), warm(spec("constant", 4), 0.5, 100);
  EXPECT_DOUBLE_EQ(plain.rate(0), 0.5);
  EXPECT_DOUBLE_EQ(plain.rate(99), 0.5);
  EXPECT_DOUBLE_EQ(warm.rate(0), 0.125);
  EXPECT_DOUBLE_EQ(warm.rate(3), 0.5);
  EXPECT_DOUBLE_EQ(warm.rate(4), 0.5);
}

TEST(Schedule, Cosine) {
  Schedule schedule(spec("cosine", 10, 0.1), 1, 110);
  EXPECT_DOUBLE_EQ(schedule.rate(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.rate(9), 1);
  EXPECT_DOUBLE_EQ(schedule.rate(10), 1);
  EXPECT_NEAR(schedule.rate(60), 0.55, 1e-12);
  EXPECT_GT(schedule.rate(109), 0.1);
  EXPECT_NEAR(schedule.rate(110), 0.1, 1e-12);
  EXPECT_NEAR(schedule.rate(1000), 0.1, 1e-12);
  for (int64_t step = 10; step < 109; ++step)
    EXPECT_GT(schedule.rate(step), schedule.rate(step + 1));
}

TEST(Schedule, WarmUpLongerThanTheRun) { EXPECT_LT(Schedule(spec("cosine", 50), 1, 10).rate(9), 1); }

TEST(Schedule, Unknown) { EXPECT_THROW(Schedule(spec("sawtooth", 0), 1, 10), Error); }

#include "runtime/train/trainer.h"
#include "runtime/tensor/blas.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace kft::run {

namespace {

[[noreturn]] void invalid(const std::string &text) { throw Error(ExitCode::Invalid, text); }

int64_t stepsPerEpochOf(const Plan &plan, const Dataset &data) {
  int64_t rows = data.rows(Part::Train), batch = plan.loop.globalBatch;
  if (batch < 1) invalid("the plan has no batch");
  int64_t steps = plan.loop.dropLast ? rows / batch : (rows + batch - 1) / batch;
  if (steps < 1) invalid(fmt::format("{} training rows do not fill a batch of {}", rows, batch));
  if (plan.data.trainRows && plan.data.trainRows != rows)
    invalid(fmt::format("the plan was made for {} training rows, but the data have {}; make it again",
                        plan.data.trainRows, rows));
  if (plan.loop.stepsPerEpoch && plan.loop.stepsPerEpoch != steps)
    invalid(fmt::format("the plan has {} steps an epoch, but {} rows in batches of {} make {}", plan.loop.stepsPerEpoch,
                        rows, batch, steps));
  return steps;
}

int64_t totalStepsOf(const Plan &plan, int64_t stepsPerEpoch) {
  int64_t steps = plan.loop.steps;
  if (plan.loop.epochs > 0 && __builtin_mul_overflow(plan.loop.epochs, stepsPerEpoch, &steps))
    invalid(fmt::format("{} epochs of {} steps are more than can be counted", plan.loop.epochs, stepsPerEpoch));
  if (steps < 1) invalid("the plan has neither epochs nor steps");
  return steps;
}

int64_t pieceRowsOf(const Plan &plan) {
  int64_t share = shareOf(plan.loop.globalBatch, plan.ranks, 0).size(); // the largest
  return plan.loop.microBatch > 0 ? std::min(plan.loop.microBatch, share) : share;
}

const Plan &checked(const Plan &plan, const Communicator &communicator) {
  if (plan.ranks != communicator.size())
    throw Error(ExitCode::Usage, fmt::format("the plan is for {} {}, but {} {} started; use `mpirun -n {}`", plan.ranks,
                                             plan.ranks == 1 ? "rank" : "ranks", communicator.size(),
                                             communicator.size() == 1 ? "was" : "were", plan.ranks));
  if (plan.precision != "float32")
    invalid("this engine computes in float32, but the plan asks for `" + plan.precision + "`");
  if (!plan.loop.stopMetric.empty() && plan.loop.stopMetric != "loss" && plan.loop.stopMetric != "accuracy")
    invalid("early stop watches loss or accuracy, but the plan says `" + plan.loop.stopMetric + "`");
  for (const std::string &metric : plan.loop.metrics)
    if (metric != "accuracy" && metric != "loss" && metric != "mae")
      invalid("this engine measures no `" + metric + "`");
  return plan;
}

using Clock = std::chrono::steady_clock;
double secondsBetween(Clock::time_point a, Clock::time_point b) { return std::chrono::duration<double>(b - a).count(); }

} // namespace

Trainer::Trainer(const Plan &plan, const Dataset &data, Communicator &communicator, Report &report,
                 const volatile std::sig_atomic_t *stop)
    : plan_(checked(plan, communicator)), data_(data), communicator_(communicator), report_(report), stop_(stop),
      stepsPerEpoch_(stepsPerEpochOf(plan, data)), totalSteps_(totalStepsOf(plan, stepsPerEpoch_)),
      pieceRows_(pieceRowsOf(plan)), model_(plan, pieceRows_, ExtraCount),
      loss_(plan.loss, plan.data, model_.outputs()), optimizer_(plan.optimizer, model_.parameterCount()),
      schedule_(plan.schedule, optimizer_.baseRate(), totalSteps_), classes_(size_t(pieceRows_)),
      reals_(size_t(pieceRows_ * data.targetWidth())) {
  if (plan.parameters && plan.parameters != model_.parameterCount())
    invalid(
        fmt::format("the plan counts {} parameters, but its layers have {}", plan.parameters, model_.parameterCount()));
  if (data.width() != model_.inputs())
    invalid(fmt::format("each row has {} features, but the model takes {}", data.width(), model_.inputs()));
  if (!plan.loop.stopMetric.empty() && !data.rows(Part::Test))
    invalid("early stop needs test rows, but the plan has none");
  report_.begin(plan, totalSteps_, stepsPerEpoch_, data.rows(Part::Train), data.rows(Part::Test), blasName(),
                kernels().name);
}

void Trainer::load(Part part, const EpochOrder *order, int64_t position, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i)
    data_.copy(part, order ? (*order)(position + i) : position + i, model_.input() + i * model_.inputs(),
               classes_.data() + i, reals_.data() + i * data_.targetWidth());
}

Trainer::Sums Trainer::step(int64_t epoch, Slice batch, const EpochOrder &order, double rate, double &waiting) {
  Slice mine = shareOf(batch.size(), communicator_.size(), communicator_.rank());
  LossSums sums;
  // A ragged last batch may leave a rank without rows.
  if (!mine.size()) std::memset(model_.gradients(), 0, size_t(model_.parameterCount()) * sizeof(float));
  for (int64_t from = mine.begin; from < mine.end; from += pieceRows_) {
    int64_t rows = std::min(pieceRows_, mine.end - from), position = batch.begin + from;
    load(Part::Train, &order, position, rows);
    Pass pass{
        .training = true, .firstSample = epoch * data_.rows(Part::Train) + position, .accumulate = from > mine.begin};
    const float *outputs = model_.forward(rows, pass);
    LossSums piece =
        loss_.evaluate(outputs, classes_.data(), reals_.data(), model_.outputGradient(), rows, batch.size());
    sums.loss += piece.loss, sums.second += piece.second;
    model_.backward(rows, pass);
  }
  float *extra = model_.gradients() + model_.parameterCount();
  extra[LossSum] = float(sums.loss), extra[SecondSum] = float(sums.second), extra[StopWanted] = stop_ && *stop_ ? 1 : 0;

  auto before = Clock::now();
  communicator_.allReduceSum(model_.gradients(), model_.parameterCount() + ExtraCount);
  waiting = secondsBetween(before, Clock::now());

  double scale = 1;
  if (plan_.loop.clip > 0) {
    double norm = std::sqrt(kernels().sumOfSquares(model_.gradients(), model_.parameterCount()));
    if (norm > plan_.loop.clip) scale = plan_.loop.clip / norm; // a NaN compares false, and is found below
  }
  double squaredNorm = optimizer_.step(model_.parameters(), model_.gradients(), rate, scale);
  return {double(extra[LossSum]), double(extra[SecondSum]), squaredNorm, extra[StopWanted] > 0};
}

EvalFacts Trainer::evaluate() {
  const int64_t rows = data_.rows(Part::Test);
  Slice mine = shareOf(rows, communicator_.size(), communicator_.rank());
  double sums[2] = {};
  for (int64_t from = mine.begin; from < mine.end; from += pieceRows_) {
    int64_t count = std::min(pieceRows_, mine.end - from);
    load(Part::Test, nullptr, from, count);
    LossSums piece =
        loss_.evaluate(model_.forward(count, {}), classes_.data(), reals_.data(), model_.outputGradient(), count, rows);
    sums[0] += piece.loss, sums[1] += piece.second;
  }
  communicator_.allReduceSum(sums, 2);
  LossSums total{sums[0], sums[1]};
  EvalFacts facts;
  facts.step = done_, facts.rows = rows, facts.epoch = double(done_) / double(stepsPerEpoch_);
  facts.loss = loss_.mean(total, rows);
  facts.second = loss_.hasClasses() ? loss_.accuracy(total, rows) : loss_.meanAbsoluteError(total, rows);
  facts.secondName = loss_.hasClasses() ? "accuracy" : "mae";
  return facts;
}

bool Trainer::worseForTooLong(const EvalFacts &facts) {
  if (plan_.loop.stopMetric.empty()) return false;
  // As a number to make small, so that both metrics read alike.
  double value = plan_.loop.stopMetric == "accuracy" ? -facts.second : facts.loss;
  if (evaluations_++ == 0 || value < best_ - plan_.loop.stopMinDelta)
    best_ = value, withoutGain_ = 0;
  else
    ++withoutGain_;
  return withoutGain_ >= plan_.loop.stopPatience;
}

ExitCode Trainer::run() {
  const int64_t rows = data_.rows(Part::Train), batch = plan_.loop.globalBatch;
  ExitCode code = ExitCode::Done;
  auto lastEnd = Clock::now();
  bool evaluated = false;
  for (int64_t epoch = 0; done_ < totalSteps_ && cause_.empty(); ++epoch) {
    EpochOrder order(rows, plan_.data.shuffle, plan_.data.shuffleSeed, epoch);
    for (int64_t inEpoch = 0; inEpoch < stepsPerEpoch_ && done_ < totalSteps_; ++inEpoch) {
      Slice slice{inEpoch * batch, std::min((inEpoch + 1) * batch, rows)};
      StepFacts facts;
      facts.rate = schedule_.rate(done_);
      Sums sums = step(epoch, slice, order, facts.rate, facts.waiting);
      evaluated = false;
      facts.step = ++done_, facts.samples = slice.size(),
      facts.epoch = double(epoch) + double(inEpoch + 1) / double(stepsPerEpoch_);
      LossSums total{sums.loss, sums.second};
      facts.loss = loss_.mean(total, slice.size()), facts.gradientNorm = std::sqrt(sums.squaredNorm);
      facts.hasAccuracy = loss_.hasClasses(),
      facts.accuracy = facts.hasAccuracy ? loss_.accuracy(total, slice.size()) : 0;
      auto end = Clock::now();
      facts.seconds = secondsBetween(lastEnd, end), lastEnd = end;
      report_.step(facts);
      // All ranks hold the same sums, so they leave together.
      if (!std::isfinite(sums.loss) || !std::isfinite(sums.squaredNorm)) {
        cause_ =
            fmt::format("the {} is not finite at step {} (epoch {:.2f}); a smaller learning rate or `clip` may help",
                        std::isfinite(sums.loss) ? "gradient" : "loss", done_, facts.epoch);
        return reason_ = "diverged", ExitCode::Diverged;
      }
      if (sums.stop) {
        cause_ = fmt::format("stopped on request after step {} of {}", done_, totalSteps_);
        reason_ = "stopped", code = ExitCode::Stopped;
        break;
      }
    }
    bool due =
        plan_.loop.evalEvery > 0 && (epoch + 1) % plan_.loop.evalEvery == 0 && done_ == (epoch + 1) * stepsPerEpoch_;
    if (due && cause_.empty() && data_.rows(Part::Test)) {
      EvalFacts facts = evaluate();
      report_.eval(facts);
      evaluated = true;
      if (worseForTooLong(facts)) {
        cause_ = fmt::format("stopped early: no better {} in {} evaluations", plan_.loop.stopMetric,
                             plan_.loop.stopPatience);
        reason_ = "early-stop";
      }
      lastEnd = Clock::now(); // evaluation is not part of a step's time
    }
  }
  if (!evaluated && code == ExitCode::Done && data_.rows(Part::Test)) report_.eval(evaluate());
  return code;
}

} // namespace kft::run

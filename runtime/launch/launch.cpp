#include "runtime/launch/launch.h"
#include "runtime/launch/exit_codes.h"
#include "runtime/plan/text.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace kft::run {

namespace {

using Clock = std::chrono::steady_clock;

std::string counted(int64_t count, const char *one, const char *many) { return fmt::format("{} {}", count, count == 1 ? one : many); }

class Launch {
public:
  Launch(const Plan &plan, const Preflight &ready, const LaunchOptions &options, int fd, ProgressStyle style)
      : plan_(plan), ready_(ready), options_(options), hash_(hash(plan)), directory_(RunDirectory::create(options.name, options.runDirectory)),
        progress_(fd, style), reader_(directory_.file("metrics.jsonl")), fd_(fd) {}

  int go();

private:
  void prepare();
  void header();
  void tableHead();
  void readMetrics();
  void status(bool now);
  void summary(const Outcome &outcome);
  void card(const Outcome &outcome);
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  const Plan &plan_;
  const Preflight &ready_;
  const LaunchOptions &options_;
  const std::string hash_;
  RunDirectory directory_;
  Progress progress_;
  MetricsReader reader_;
  int fd_;
  Environment env_;
  RunState state_ = RunState::Starting;
  Clock::time_point begin_ = Clock::now();
  std::optional<Clock::time_point> lastStatus_;
  std::optional<double> firstStep_;
  std::string started_ = timestamp();
  std::optional<Outcome> outcome_;
  bool headShown_ = false, statusFailed_ = false;
};

void Launch::prepare() {
  // The weights, what mpirun keeps while the ranks run, and the logs. A full disk found later costs the run.
  const int64_t need = plan_.parameters * 4 + (int64_t{4} << 20), have = freeDiskBytes(directory_.path());
  if (have >= 0 && have < need)
    throw LaunchError(Exit::InputOutput, fmt::format("`{}` is on a disk with {} free; the run needs about {}", directory_.shown(), bytesText(static_cast<double>(have)), bytesText(static_cast<double>(need))));
  for (const FrozenFile &file : options_.frozen) directory_.freeze(file);
  env_ = rankEnvironment(ready_.threadsPerRank, options_.env);
  env_.emplace_back("KFT_THREADS", std::to_string(ready_.threadsPerRank));
  directory_.writeOnce("plan.json", toJson(plan_));
  directory_.writeOnce("env.json", describeEnvironment(plan_.tool, hash_, env_, ready_.slots).dump(2) + "\n");
  directory_.event("prepared", {{"job", plan_.job}, {"plan", hash_}, {"ranks", plan_.ranks}});
}

void Launch::header() {
  const std::string title = fmt::format("{}  {} (native, {} on this machine)", plan_.tool, plan_.job, counted(plan_.ranks, "rank", "ranks"));
  progress_.line(progress_.paint("1", title) + "  plan " + hash_.substr(0, 8));
  const double flops = static_cast<double>(plan_.flopsPerSample) * std::ceil(static_cast<double>(plan_.loop.globalBatch) / plan_.ranks);
  progress_.line(fmt::format("  plan   {} params   {} a rank   {} a step   {} sent a step", countText(static_cast<double>(plan_.parameters)),
                             bytesText(static_cast<double>(plan_.bytesPerRank)), flopsText(flops), bytesText(static_cast<double>(plan_.bytesPerStep))));
  std::string shape;
  for (int64_t dimension : plan_.data.inputShape) shape += (shape.empty() ? "" : "×") + std::to_string(dimension);
  progress_.line(fmt::format("  data   {} rows × {} to train, {} to test   seed {}   sha {}", plan_.data.trainRows, shape, plan_.data.testRows, plan_.seed, plan_.data.sha256.substr(0, 8)));
  std::string cores;
  if (ready_.bindToCores)
    for (size_t i = 0; i < ready_.slots.cores.size() && i < static_cast<size_t>(plan_.ranks) * static_cast<size_t>(ready_.threadsPerRank); ++i) cores += fmt::format("{}{}", i ? "," : "", ready_.slots.cores[i]);
  progress_.line(fmt::format("  cpu    {}{}   {} of {}", counted(ready_.threadsPerRank, "thread", "threads") + " a rank", cores.empty() ? "" : "   pinned to cores " + cores,
                             counted(plan_.ranks, "rank", "ranks"), ready_.slots.describe()));
  if (options_.oversubscribe && plan_.ranks > ready_.slots.count) progress_.line("  note   more ranks than cores: they take turns, as --oversubscribe allows");
  if (plan_.threadsPerRank > ready_.threadsPerRank) progress_.line(fmt::format("  note   {} threads a rank on the cluster, {} here: the cores are taken", plan_.threadsPerRank, ready_.threadsPerRank));
  if (ready_.asRoot)
    progress_.line(ready_.container.empty() ? "  note   running as root, as --allow-root allows" : fmt::format("  note   running as root: allowed in a container ({})", ready_.container));
  progress_.line("  run    " + directory_.shown());
}

void Launch::tableHead() {
  if (std::exchange(headShown_, true)) return;
  if (!progress_.blas().empty()) progress_.line("  blas   " + progress_.blas());
  bool accuracy = false;
  for (const std::string &metric : plan_.loop.metrics) accuracy |= metric == "accuracy";
  progress_.columns(progress_.steps() > 0 ? progress_.steps() : plan_.loop.steps, accuracy);
}

void Launch::readMetrics() {
  for (const Json &line : reader_.read()) {
    const std::string event = line.value("event", std::string());
    if (event == "step" || event == "eval") tableHead();
    if (event == "step" && !firstStep_) firstStep_ = elapsed();
    progress_.metrics(line);
    if (event == "begin") tableHead();
  }
}

void Launch::status(bool now) {
  if (!now && lastStatus_ && std::chrono::duration<double>(Clock::now() - *lastStatus_).count() < 1) return;
  lastStatus_ = Clock::now();
  Json json{{"version", 1}, {"state", name(state_)}, {"job", plan_.job}, {"plan", hash_}, {"attempt", 1}, {"pid", getpid()}, {"host", hostName()}};
  json["started"] = started_;
  json["updated"] = timestamp();
  json["step"] = progress_.step();
  json["steps"] = progress_.steps() > 0 ? progress_.steps() : plan_.loop.steps;
  json["epoch"] = progress_.epoch();
  json["percent"] = std::floor(progress_.fraction() * 1000) / 10;
  const auto eta = progress_.etaSeconds();
  json["etaSeconds"] = eta ? Json(*eta) : Json();
  json["firstStepSeconds"] = firstStep_ ? Json(*firstStep_) : Json();
  Json metrics = Json::object();
  for (const char *key : {"loss", "accuracy", "lr"})
    if (progress_.lastStep().contains(key)) metrics[key] = progress_.lastStep()[key];
  for (const char *key : {"loss", "accuracy"})
    if (progress_.lastEval().contains(key)) metrics[fmt::format("test_{}", key)] = progress_.lastEval()[key];
  json["metrics"] = metrics;
  json["exit"] = outcome_ ? Json(outcome_->exitCode) : Json();
  json["cause"] = outcome_ && !outcome_->cause.empty() ? Json(outcome_->cause) : Json();
  if (outcome_ && outcome_->rank) json["rank"] = *outcome_->rank;
  const bool ok = directory_.replace("status.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!ok && !std::exchange(statusFailed_, true)) progress_.line(fmt::format("  note   cannot write {}/status.json; the run goes on", directory_.shown()));
}

void Launch::summary(const Outcome &outcome) {
  const Json &eval = progress_.lastEval();
  const Json &last = progress_.lastStep();
  auto value = [](const Json &from, const char *key) { return from.contains(key) && from[key].is_number() ? fmt::format("{:.4f}", from[key].get<double>()) : std::string(); };
  const std::string mark = outcome.state == RunState::Finished ? progress_.paint("32", "✓") : progress_.paint("33", "■");
  std::string text = outcome.state == RunState::Finished ? fmt::format("{} {} finished in {:.1f} s", mark, plan_.job, elapsed())
                                                         : fmt::format("{} {} — {}, after {:.1f} s", mark, plan_.job, outcome.cause, elapsed());
  if (progress_.step() > 0) text += outcome.state == RunState::Finished ? fmt::format(", {}", counted(progress_.step(), "step", "steps")) : fmt::format(", at step {} of {}", progress_.step(), progress_.steps());
  if (progress_.end().is_object() && progress_.end().value("reason", std::string()) == "early-stop") text += ", early: no more gain";
  if (firstStep_ && outcome.state == RunState::Finished) text += fmt::format(" (the first after {:.2f} s)", *firstStep_);
  progress_.line(text);
  std::string result;
  auto add = [&](const char *what, const std::string &number) {
    if (!number.empty()) result += fmt::format("{}{} {}", result.empty() ? "" : "   ", what, number);
  };
  const bool onTrain = eval.is_object() && eval.value("part", std::string("test")) == "train";
  if (eval.is_object()) {
    add(onTrain ? "accuracy" : "test accuracy", value(eval, "accuracy"));
    add(onTrain ? "loss" : "test loss", value(eval, "loss"));
  }
  if (last.is_object()) add("last step's loss", value(last, "loss"));
  if (!result.empty()) progress_.line("  result " + progress_.paint("1", result));
  for (const std::string &path : progress_.saved()) progress_.line(fmt::format("  export {}/{}", directory_.shown(), path));
  if (outcome.state != RunState::Finished) progress_.line(fmt::format("  exit status {}", outcome.exitCode));
}

void Launch::card(const Outcome &outcome) {
  ProgressStyle style = progress_.style();
  style.terminal = isatty(STDERR_FILENO);
  style.color = style.color && style.terminal;
  style.json = false;
  Progress out(STDERR_FILENO, style);
  out.line(fmt::format("{} {} failed after {} — {}{}", out.paint("1;31", "✗"), plan_.job, durationText(elapsed()), outcome.cause, plan_.ranks > 1 && outcome.rank ? fmt::format(" (first of {})", plan_.ranks) : ""));
  if (!outcome.lastLines.empty()) {
    out.line(outcome.rank ? fmt::format("  last lines of rank {}:", *outcome.rank) : "  last lines of the launcher:");
    for (const std::string &line : outcome.lastLines) out.line("    " + line);
  } else if (outcome.rank) {
    out.line(fmt::format("  rank {} wrote nothing", *outcome.rank));
  }
  if (outcome.exitCode == static_cast<int>(Exit::SignalBase) + SIGKILL) out.line("  SIGKILL comes from `kill -9`, or from the kernel when memory runs out");
  if (plan_.ranks > 1 && outcome.rank)
    out.line(fmt::format("  other ranks: {} still running; {} {:.1f} s, {} left", outcome.stopped, outcome.stopped ? "stopped in" : "over after", outcome.stopSeconds, outcome.left ? std::to_string(outcome.left) : "none"));
  if (!outcome.logFile.empty()) out.line(fmt::format("  {}/{}{}", directory_.shown(), outcome.logFile, options_.place.empty() ? "" : "     " + options_.place));
  out.line(fmt::format("  exit status {}", outcome.exitCode));
}

int Launch::go() {
  prepare();
  status(true);
  header();
  if (progress_.style().json) {
    const std::string line = Json{{"event", "run"}, {"job", plan_.job}, {"directory", directory_.path()}, {"plan", hash_}, {"ranks", plan_.ranks}}.dump() + "\n";
    if (::write(fd_, line.data(), line.size()) < 0) {} // a reader that went away is noticed later
  }
  RankProgram program;
  program.ranks = plan_.ranks;
  program.threadsPerRank = ready_.threadsPerRank;
  program.command = {ready_.rankProgram, directory_.file("plan.json"), "--run-dir", directory_.path()};
  program.env = env_;
  program.mpirun = ready_.mpirun;
  program.starter = ready_.starter;
  program.oversubscribe = plan_.ranks > ready_.slots.count;
  program.bindToCores = ready_.bindToCores;
  program.allowRoot = ready_.asRoot;
  program.deadlineSeconds = options_.deadlineSeconds;
  program.graceSeconds = options_.graceSeconds;

  SupervisorEvents events;
  events.state = [&](RunState state) {
    state_ = state;
    if (state == RunState::Running || state == RunState::Stopping) status(true);
  };
  events.tick = [&] {
    readMetrics();
    status(false);
    progress_.draw();
  };
  events.stopRequested = [&](int times, int signal) {
    const char *by = signal == SIGINT ? "^C" : signal == SIGHUP ? "the terminal is gone" : signal == SIGTERM ? "SIGTERM" : "SIGUSR1";
    if (times == 1) progress_.stopping(fmt::format("{}  stop requested: the ranks finish this step (again = stop now)", by));
    else if (times == 2) progress_.stopping(fmt::format("{}  stopping now (again = kill)", by));
    else if (times == 3) progress_.stopping(fmt::format("{}  killing", by));
  };
  Outcome outcome;
  try {
    outcome = supervise(program, directory_, events);
  } catch (const LaunchError &error) {
    outcome.state = RunState::Failed;
    outcome.exitCode = static_cast<int>(error.code);
    outcome.cause = error.what();
    outcome.logFile = "logs/attempt-1/launcher.log";
  }
  readMetrics();
  // Whatever ended with 0 there, it was not a training.
  if (outcome.state == RunState::Finished && !progress_.end().is_object()) {
    outcome.state = RunState::Failed;
    outcome.exitCode = static_cast<int>(Exit::RankLost);
    outcome.cause = fmt::format("all ranks ended with code 0, but none told of the end of a training; is {} the engine?", ready_.rankProgram);
    outcome.logFile = "logs/attempt-1/launcher.log";
  }
  state_ = outcome.state;
  outcome_ = outcome;
  progress_.clearLive();
  status(true);
  Json details{{"exit", outcome.exitCode}};
  if (!outcome.cause.empty()) details["cause"] = outcome.cause;
  directory_.event("ended", details);
  if (progress_.style().json) {
    Json line{{"event", name(outcome.state)}};
    line.update(details);
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (::write(fd_, text.data(), text.size()) < 0) {}
  }
  if (outcome.state == RunState::Failed) card(outcome);
  else summary(outcome);
  return outcome.exitCode;
}

} // namespace

std::string findRankProgram(std::string &searched) {
  if (const char *given = std::getenv("KFT_RANK"); given && *given) {
    searched = fmt::format("`KFT_RANK` ({})", given);
    const std::string found = findInPath(given);
    return found;
  }
  const std::string self = selfPath();
  const std::string folder = self.substr(0, self.rfind('/'));
  for (const std::string &path : {folder + "/kft-rank", folder + "/../libexec/kft/kft-rank"}) {
    if (isExecutable(path)) return path;
    searched += (searched.empty() ? "" : ", ") + path;
  }
  searched += ", PATH; `KFT_RANK` was not set";
  return findInPath("kft-rank");
}

Preflight preflight(const Plan &plan, const LaunchOptions &options) {
  Preflight ready;
  auto absolute = [](const std::string &path) {
    if (path.empty() || path.front() == '/') return path;
    char *folder = getcwd(nullptr, 0);
    const std::string result = std::string(folder ? folder : "") + "/" + path;
    std::free(folder);
    return result;
  };
  std::string searched;
  ready.rankProgram = absolute(findRankProgram(searched));
  if (ready.rankProgram.empty()) ready.problems.push_back({Problem::Kind::RankProgram, searched});
  ready.mpirun = absolute(findInPath("mpirun"));
  if (ready.mpirun.empty()) ready.problems.push_back({Problem::Kind::Mpirun, "PATH"});
  ready.starter = selfPath();
  ready.slots = usableSlots();
  if (plan.ranks > ready.slots.count && !options.oversubscribe) ready.problems.push_back({Problem::Kind::Slots, ready.slots.describe(), plan.ranks, ready.slots.count});
  // mpirun refuses root to protect people from their own mistakes. In a container root is the usual user and owns nothing
  // else, so there the answer is known.
  ready.asRoot = geteuid() == 0;
  if (ready.asRoot) {
    ready.container = options.allowRoot ? "" : containerSign();
    if (ready.container.empty() && !options.allowRoot) ready.problems.push_back({Problem::Kind::Root, ""});
  }
  ready.threadsPerRank = std::max(1, std::min(plan.threadsPerRank, ready.slots.count / std::max(1, plan.ranks)));
  const int64_t need = plan.bytesPerRank * plan.ranks, have = freeMemoryBytes();
  if (have > 0 && need > have) ready.problems.push_back({Problem::Kind::Memory, "", need, have});
  // A run that takes all cores there are is pinned; one that leaves some would sit on the first ones together with the next
  // such run, so there the kernel decides.
  const bool all = plan.ranks * ready.threadsPerRank == ready.slots.count && ready.slots.count == static_cast<int>(ready.slots.cores.size());
  ready.bindToCores = plan.ranks <= ready.slots.count && (options.bind == LaunchOptions::Bind::Core || (options.bind == LaunchOptions::Bind::Auto && all));
  return ready;
}

int launch(const Plan &plan, const Preflight &ready, const LaunchOptions &options, int fileDescriptor, ProgressStyle style) {
  const StopSignals signals;
  return Launch(plan, ready, options, fileDescriptor, style).go();
}

} // namespace kft::run

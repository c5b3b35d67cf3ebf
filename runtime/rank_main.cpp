// kft-rank: one process of a native run. Reads the plan, joins the other ranks, trains, and leaves with a code that
// says who has to act (runtime/plan/error.h).
#include "runtime/comm/local.h"
#include "runtime/comm/mpi.h"
#include "runtime/data/inspect.h"
#include "runtime/data/mapped_file.h"
#include "runtime/tensor/blas.h"
#include "runtime/train/safetensors.h"
#include "runtime/train/trainer.h"

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace kft::run;

namespace {

constexpr const char *Help = "Usage: kft-rank PLAN.json [--run-dir DIR] [--data PATH] [--progress-fd N]\n"
                             "\n"
                             "One rank of a native run. `kftc run` starts it; by hand:\n"
                             "  kftc compile --emit plan job.kft > plan.json\n"
                             "  mpirun -n 2 kft-rank plan.json --run-dir out\n"
                             "\n"
                             "  --run-dir DIR     where metrics.jsonl, ranks/ and export/ are written\n"
                             "  --data PATH       the data are here, not where the plan says (in a container)\n"
                             "  --progress-fd N   an open pipe that gets the lines of metrics.jsonl as well\n"
                             "  --version, --help\n";

struct Options {
  std::string plan, runDirectory, data;
  int progress = -1;
};

Options parse(int argc, char **argv) {
  auto wrong = [](const std::string &text) { return Error(ExitCode::Usage, text + "; `kft-rank --help` tells more"); };
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    auto value = [&](const char *name) {
      if (arg.rfind(std::string(name) + "=", 0) == 0) return arg.substr(std::strlen(name) + 1);
      if (i + 1 >= argc) throw wrong(std::string(name) + " needs a value");
      return std::string(argv[++i]);
    };
    if (arg == "--run-dir" || arg.rfind("--run-dir=", 0) == 0)
      options.runDirectory = value("--run-dir");
    else if (arg == "--data" || arg.rfind("--data=", 0) == 0)
      options.data = value("--data");
    else if (arg == "--progress-fd" || arg.rfind("--progress-fd=", 0) == 0) {
      std::string text = value("--progress-fd");
      auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), options.progress);
      if (code != std::errc() || end != text.data() + text.size() || options.progress < 0)
        throw wrong("--progress-fd takes the number of an open file");
    } else if (arg.size() > 1 && arg[0] == '-')
      throw wrong("unknown option `" + arg + "`");
    else if (options.plan.empty())
      options.plan = arg;
    else
      throw wrong("more than one plan is given");
  }
  if (options.plan.empty()) throw wrong("no plan is given");
  return options;
}

Plan readPlan(const std::string &path) {
  MappedFile file(path);
  try {
    return fromJson(std::string(file.text()));
  } catch (const std::runtime_error &error) {
    throw Error(ExitCode::Invalid, path, 0, error.what());
  }
}

volatile std::sig_atomic_t stopWanted = 0;

// The first signal asks for the end of the step, the second does what it does without us.
extern "C" void onSignal(int number) {
  if (stopWanted) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  stopWanted = 1;
}

void catchSignals() {
  struct sigaction action {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  for (int number : {SIGINT, SIGTERM, SIGUSR1})
    ::sigaction(number, &action, nullptr);
  // Found out by the write that fails: a reader that is gone, a file that may not grow.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int train(const Options &options, const Plan &plan, Communicator &communicator) {
  std::unique_ptr<Report> report;
  std::unique_ptr<Dataset> data;
  std::unique_ptr<Trainer> trainer;
  agree(communicator, [&] {
    // The launcher knows the cores of this machine and may give fewer than the plan has for the cluster.
    const char *threads = std::getenv("KFT_THREADS");
    loadBlas(threads && std::atoi(threads) > 0 ? std::atoi(threads) : plan.threadsPerRank);
    data = std::make_unique<Dataset>(plan.data);
    if (communicator.rank() == 0 && !plan.data.sha256.empty() && hashOfData(plan.data) != plan.data.sha256)
      throw Error(ExitCode::Invalid, plan.data.path, 0, "the data have changed since the plan was made; make it again");
    report = std::make_unique<Report>(options.runDirectory, communicator.rank(), options.progress);
    trainer = std::make_unique<Trainer>(plan, *data, communicator, *report, &stopWanted);
  });
  ExitCode code = trainer->run();
  agree(communicator, [&] {
    if (code != ExitCode::Diverged && communicator.rank() == 0 && !options.runDirectory.empty()) {
      const std::string name = "export/model.safetensors";
      report->saved(trainer->steps(), name,
                    writeSafetensors(options.runDirectory + "/" + name, plan, trainer->model(), *data));
    }
    report->end(trainer->steps(), trainer->epoch(), trainer->reason(), int(code));
  });
  if (communicator.rank() == 0 && !trainer->cause().empty())
    std::fprintf(stderr, "kft-rank: %s\n", trainer->cause().c_str());
  return int(code);
}

} // namespace

#ifdef __SANITIZE_ADDRESS__
// Open MPI keeps memory until the process ends; to a sanitizer those are leaks.
extern "C" const char *__asan_default_options() { return "detect_leaks=0"; }
#endif

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--help") || !std::strcmp(argv[i], "-h")) return std::fputs(Help, stdout) < 0;
    if (!std::strcmp(argv[i], "--version")) return std::puts("kft-rank " KFT_VERSION) < 0;
  }
  std::unique_ptr<Communicator> communicator;
  try {
    catchSignals();
    Options options = parse(argc, argv);
    Plan plan = readPlan(options.plan);
    if (!options.data.empty()) plan.data.path = options.data;
    if (plan.ranks > 1 && !startedByMpi())
      throw Error(ExitCode::Usage, "the plan is for " + std::to_string(plan.ranks) +
                                       " ranks, but no launcher started this one; use `mpirun -n " +
                                       std::to_string(plan.ranks) + " kft-rank …`, or `kftc run`");
    communicator = startedByMpi() ? makeMpiCommunicator(argc, argv) : makeLocalCommunicator();
    return train(options, plan, *communicator);
  } catch (const std::exception &exception) {
    auto *error = dynamic_cast<const Error *>(&exception);
    auto *agreed = dynamic_cast<const AgreedError *>(&exception);
    bool memory = dynamic_cast<const std::bad_alloc *>(&exception);
    int code = int(error ? error->code : memory ? ExitCode::Resource : ExitCode::Internal);
    if (!agreed || agreed->tells)
      std::fprintf(stderr, "kft-rank: %s\n", memory ? "there is not enough memory" : exception.what());
    // Ranks that agreed leave by themselves; otherwise the rest may wait forever for this one.
    if (communicator && !agreed) communicator->abort(code);
    return code;
  }
}

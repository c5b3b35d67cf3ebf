// kftc: reads the command line, hands over to one command, and turns what it found into an exit code. The one catch block.
#include "compiler/basic/timings.h"
#include "compiler/driver/driver.h"
#include "compiler/driver/files.h"
#include "compiler/driver/help.h"
#include "compiler/driver/usage.h"
#include "runtime/launch/rank_starter.h"
#include "runtime/plan/error.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <unistd.h>

namespace kft::driver {

namespace {

int run(int argc, char **argv) {
  CLI::App root("compile, check and run distributed training written in kft", "kftc");
  std::string diagnostics = "text";
  std::map<const CLI::App *, Action> actions;
  buildTree(root, diagnostics, actions);
  auto formatOf = [](const std::string &name) {
    return name == "json" ? render::Format::Json : name == "sarif" ? render::Format::Sarif : render::Format::Text;
  };
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    Session session(render::Format::Text);
    const CLI::App *asked = &root;
    while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
    return session.writeStdout(asked->help()) ? ExitFine : ExitMistakes;
  } catch (const CLI::CallForVersion &) {
    Session session(render::Format::Text);
    return session.writeStdout("kftc " KFT_VERSION "\n") ? ExitFine : ExitMistakes;
  } catch (const CLI::ParseError &error) {
    Session session(formatOf(diagnostics));
    reportUsage(session, root, error, argc, argv);
    session.finish();
    // The small numbers of `run` belong to the ranks.
    return argc > 1 && std::strcmp(argv[1], "run") == 0 ? static_cast<int>(run::ExitCode::Usage) : static_cast<int>(ExitUsage);
  }
  Session session(formatOf(diagnostics));
  int code = actions.at(root.get_subcommands().front())(session);
  session.finish();
  timings::print();
  return code;
}

} // namespace

} // namespace kft::driver

// With a standard stream closed, the next file to be opened would take its number, and what is printed would end up in it. The
// place is held by something that refuses: reading from 0, writing to 1 and 2 fail as they would have.
static void holdStandardStreams() {
  for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF) {
      const int held = ::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
      if (held >= 0 && held != number) ::close(held);
    }
}

int main(int argc, char **argv) {
  holdStandardStreams();
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error of the write, with a message
  try {
    // Between mpirun and a rank; not a command, and not a millisecond to lose.
    if (argc > 1 && std::strcmp(argv[1], kft::run::RankStarterArg) == 0)
      return kft::run::rankStarterMain(std::vector<std::string>(argv + 2, argv + argc));
    return kft::driver::run(argc, argv);
  } catch (const std::bad_alloc &) {
    (void)kft::driver::writeAll(STDERR_FILENO, "kftc: out of memory\n");
  } catch (const std::exception &error) {
    (void)kft::driver::writeAll(STDERR_FILENO, std::string("kftc: internal error: ") + error.what() +
                                                   "\n  This is a fault of kftc, not of your file. Please report it: the text "
                                                   "above,\n  `kftc --version`, the command, and the smallest file that shows it.\n");
  }
  return kft::driver::ExitFault;
}

#include "compiler/basic/check.h"

#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>

namespace kft {

void checkFailed(const char *condition, const char *why, const char *file, int line) {
  // The path below the source tree, so that a report does not tell where the program was built.
  for (const char *folder : {"/compiler/", "/runtime/", "/tests/"})
    if (const char *found = std::strstr(file, folder)) file = found + 1;
  llvm::raw_ostream &out = llvm::errs();
  out << "kftc: internal error: " << why << "\n  the check `" << condition << "` failed at " << file << ":" << line
      << "\n  This is a fault of kftc, not of your file. Please report it: the text above, `kftc --version`, the\n"
         "  command, and the smallest file that shows it.\n";
  llvm::sys::PrintStackTrace(out);
  out.flush();
#ifdef KFT_FUZZING
  std::abort(); // a fuzzer keeps the input of a signal, not of an exit
#else
  std::_Exit(4);
#endif
}

} // namespace kft

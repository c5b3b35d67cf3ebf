// Runs `kftc` on every case of this folder and compares what it says with what the case expects, at the very characters.
// A case is a .kft file (its neighbours may serve as imports: names that start with `_` are not run) with lines such as
//
//   #? error "1g" amount
//   #? warning "mpirun" -x
//   #? fix "1Gi"
//   #! check --set nodes=0
//
// `#?` names severity, the source text of the range that must be marked, and words that the message or its notes contain.
// The set must be complete: a diagnostic that no line expects fails the case, and so does an expected one that is missing.
// `#? fix` wants a fix-it with that replacement on any diagnostic. `#!` gives the command and options (default: check).
// `#? clean` expects no diagnostic at all.
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct Expected {
  std::string severity, text;
  std::vector<std::string> words;
  bool seen = false;
};

std::string readAll(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

// Byte offset of a one-based line and column, columns counted in characters.
size_t offsetOf(const std::string &text, int line, int column) {
  size_t at = 0;
  for (int l = 1; l < line; ++l) {
    at = text.find('\n', at);
    if (at == std::string::npos) return text.size();
    ++at;
  }
  for (int c = 1; c < column && at < text.size(); ++c) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

std::string quotedWord(std::istringstream &in) {
  std::string rest, result;
  in >> std::ws;
  if (in.peek() != '"') {
    in >> result;
    return result;
  }
  in.get();
  char c;
  while (in.get(c) && c != '"') {
    if (c == '\\') in.get(c), c = c == 'n' ? '\n' : c;
    result += c;
  }
  return result;
}

bool contains(const std::string &where, const std::string &what) { return where.find(what) != std::string::npos; }

int runCase(const std::string &kftc, const fs::path &file) {
  std::string text = readAll(file);
  std::vector<Expected> expected;
  std::vector<std::string> fixes;
  std::string command = "check";
  bool any = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("#! ", 0) == 0 && line.rfind("#!/", 0) != 0) command = line.substr(3);
    if (line.rfind("#? ", 0) != 0) continue;
    any = true;
    std::istringstream in(line.substr(3));
    Expected e;
    in >> e.severity;
    if (e.severity == "clean") continue;
    e.text = quotedWord(in);
    if (e.severity == "fix") {
      fixes.push_back(e.text);
      continue;
    }
    for (std::string word = quotedWord(in); !word.empty(); word = quotedWord(in)) e.words.push_back(word);
    expected.push_back(e);
  }
  if (!any) {
    std::cout << file.string() << ": the case expects nothing; write `#? clean` if that is meant\n";
    return 1;
  }
  std::string out = (fs::temp_directory_path() / ("kft-case-" + std::to_string(getpid()) + ".json")).string();
  std::string shell = "cd '" + file.parent_path().string() + "' && '" + kftc + "' " + command + " --diagnostics json '" +
                      file.filename().string() + "' >/dev/null 2>'" + out + "'";
  int status = std::system(shell.c_str());
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  std::string answer = readAll(out);
  fs::remove(out);
  json items = json::parse(answer.empty() ? "[]" : answer, nullptr, false);
  int failures = 0;
  auto fail = [&](const std::string &why) {
    if (!failures++) std::cout << "FAILED " << file.string() << "\n";
    std::cout << "  " << why << "\n";
  };
  if (items.is_discarded()) {
    fail("the answer is no JSON: " + answer.substr(0, 400));
    return 1;
  }
  bool wantsError = false;
  for (const Expected &e : expected) wantsError |= e.severity == "error";
  if (code != (wantsError ? 1 : 0)) fail("exit code " + std::to_string(code));
  std::vector<std::string> offered;
  for (const json &item : items) {
    std::string severity = item.value("severity", ""), message = item.value("message", "");
    std::string whole = message;
    for (const json &note : item.value("notes", json::array()))
      whole += "\n" + (note.is_string() ? note.get<std::string>() : note.value("message", ""));
    for (const json &fix : item.value("fixes", json::array())) {
      offered.push_back(fix.value("text", ""));
      whole += "\n" + fix.value("message", "");
    }
    size_t begin = offsetOf(text, item.value("line", 1), item.value("column", 1));
    size_t end = offsetOf(text, item.value("endLine", 1), item.value("endColumn", 1));
    std::string marked = text.substr(begin, end > begin ? end - begin : 0);
    bool matched = false;
    for (Expected &e : expected) {
      if (e.seen || e.severity != severity || e.text != marked) continue;
      bool all = true;
      for (const std::string &word : e.words) all &= contains(whole, word) || contains(item.value("id", ""), word);
      if (!all) continue;
      e.seen = matched = true;
      break;
    }
    if (!matched)
      fail("not expected: " + severity + " at `" + marked + "` (" + std::to_string(item.value("line", 0)) + ":" +
           std::to_string(item.value("column", 0)) + "): " + whole + " [" + item.value("id", "") + "]");
  }
  for (const Expected &e : expected)
    if (!e.seen) fail("missing: " + e.severity + " at `" + e.text + "`" + (e.words.empty() ? "" : " about " + e.words[0]));
  for (const std::string &fix : fixes) {
    bool found = false;
    for (const std::string &text : offered) found |= text == fix;
    if (!found) fail("no fix offers `" + fix + "`");
  }
  return failures ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::cerr << "use: run_cases KFTC FOLDER-OR-FILE...\n";
    return 2;
  }
  std::string kftc = fs::absolute(argv[1]).string();
  int passed = 0, failed = 0;
  for (int i = 2; i < argc; ++i) {
    std::vector<fs::path> files;
    if (fs::is_directory(argv[i])) {
      for (const auto &entry : fs::recursive_directory_iterator(argv[i]))
        if (entry.path().extension() == ".kft" && entry.path().filename().string()[0] != '_')
          files.push_back(fs::absolute(entry.path()));
    } else {
      files.push_back(fs::absolute(argv[i]));
    }
    std::sort(files.begin(), files.end());
    for (const fs::path &file : files) (runCase(kftc, file) ? failed : passed) += 1;
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed != 0 || passed == 0;
}

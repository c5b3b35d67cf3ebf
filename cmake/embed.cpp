// Writes text files as rows of a C++ table: `embed id OUT FILE...` gives `{2203, "..."},` for KFT2203.md, and
// `embed name OUT FILE...` gives `{"nn.kft", "..."},`. A host tool of the build, so that the table needs no other program.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  bool byId = std::strcmp(argv[1], "id") == 0;
  std::vector<std::string> files(argv + 3, argv + argc);
  auto baseName = [](const std::string &path) { return path.substr(path.find_last_of('/') + 1); };
  std::sort(files.begin(), files.end(),
            [&](const std::string &a, const std::string &b) { return baseName(a) < baseName(b); });
  std::string out;
  for (const std::string &path : files) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      std::fprintf(stderr, "embed: cannot read %s\n", path.c_str());
      return 1;
    }
    std::string text((std::istreambuf_iterator<char>(in)), {});
    std::string name = baseName(path);
    out += byId ? "{" + name.substr(3, 4) + ", \"" : "{\"" + name + "\", \"";
    size_t column = 0;
    for (unsigned char c : text) {
      char escape[8];
      if (c == '\n') {
        out += "\\n\"\n\"";
        column = 0;
      } else if (c == '"' || c == '\\') {
        (out += '\\') += static_cast<char>(c);
      } else if (c < 0x20 || c == '?') {
        std::snprintf(escape, sizeof escape, "\\%03o", c); // three digits: what follows cannot join in
        out += escape;
      } else {
        out += static_cast<char>(c);
      }
      if (++column > 2000) {
        out += "\"\n\"";
        column = 0;
      }
    }
    out += "\"},\n";
  }
  std::ofstream file(argv[2], std::ios::binary | std::ios::trunc);
  file << out;
  return file.good() ? 0 : 1;
}

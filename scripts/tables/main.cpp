// Writes the parts of documentation and editor files that repeat the compiler's tables. It includes the very .def files that
// the compiler is made from, so nothing here can say something else than kftc does.
//
//   kft-tables --write ROOT    brings the files up to date
//   kft-tables --check ROOT    1, and the names of the files, when one is not
//
// A file takes part in one of two ways. Templates (`x.in.json` beside `x.json`) are copied with each @NAME@ replaced.
// Others keep marked regions, whose marker line names what belongs between it and the next line that says `end generated`.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Field {
  std::string block, name, type, defaultText, need, applies, help;
};
struct Block {
  std::string name, form, help;
};
struct Message {
  int number;
  std::string severity, text;
};

const std::vector<Block> blocks = {
#define KFT_BLOCK(block, form, help) {#block, #form, help},
#define KFT_FIELD(...)
#include "compiler/sema/schema.def"
#undef KFT_BLOCK
#undef KFT_FIELD
};
const std::vector<Field> fields = {
#define KFT_BLOCK(...)
#define KFT_FIELD(block, field, type, text, need, applies, help) {#block, #field, type, text, #need, #applies, help},
#include "compiler/sema/schema.def"
#undef KFT_BLOCK
#undef KFT_FIELD
};
const std::vector<Message> messages = {
#define KFT_ERROR(number, Name, text, args) {number, "error", text},
#define KFT_WARNING(number, Name, text, args) {number, "warning", text},
#define KFT_NOTE(Name, text, args)
#define KFT_RETIRED(number, reason)
#include "compiler/basic/diagnostics.def"
#undef KFT_ERROR
#undef KFT_WARNING
#undef KFT_NOTE
#undef KFT_RETIRED
};
struct SpecArg {
  std::string tag, name, argument, type, defaultText;
};
const std::vector<std::pair<std::string, std::string>> specs = {
#define KFT_SPEC(tag, name) {#tag, #name},
#define KFT_SPEC_ARG(...)
#include "compiler/sema/native.def"
};
const std::vector<SpecArg> specArgs = {
#define KFT_SPEC(...)
#define KFT_SPEC_ARG(tag, name, argument, type, text) {#tag, #name, #argument, type, text},
#include "compiler/sema/native.def"
};
// The built-in functions: the first column of the table in compiler/sema/functions.cpp, which is read as text because its rows hold
// code that only the compiler can link.
std::vector<std::string> functions;

const std::vector<std::string> types = {"int",      "float", "bool", "string", "amount",
                                        "duration", "any",   "path", "list",   "map"};

std::string read(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void readFunctions(const std::filesystem::path &file) {
  std::istringstream in(read(file));
  std::string line;
  while (std::getline(in, line) && line.find("const Builtin Table[]") == std::string::npos) {}
  while (std::getline(in, line) && line.find("};") != 0) {
    size_t begin = line.find("{\""), end = begin == std::string::npos ? begin : line.find('"', begin + 2);
    if (end != std::string::npos) functions.push_back(line.substr(begin + 2, end - begin - 2));
  }
  if (functions.empty()) throw std::runtime_error("no table of functions in " + file.string());
}

std::string join(const std::vector<std::string> &words, const std::string &between) {
  std::string text;
  for (const std::string &word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::vector<std::string> sortedUnique(std::vector<std::string> words) {
  std::set<std::string> seen(words.begin(), words.end());
  return {seen.begin(), seen.end()};
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const Block &block : blocks)
    if (block.form == "Kind") names.push_back(block.name);
  return names;
}
std::vector<std::string> fieldNames() {
  std::vector<std::string> names;
  for (const Field &field : fields)
    if (field.name != "*") names.push_back(field.name);
  return sortedUnique(std::move(names));
}
// Blocks that are written with a name of their own: group node { … }.
std::vector<std::string> namedBlocks() {
  std::vector<std::string> names;
  for (const Field &field : fields)
    if (field.type.starts_with("named<")) names.push_back(field.name);
  return sortedUnique(std::move(names));
}

// Text of a cell: a bar would end it.
std::string cell(const std::string &text) {
  std::string out;
  for (char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}
std::string code(const std::string &text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

std::string fieldTable(const std::string &name) {
  auto block = std::find_if(blocks.begin(), blocks.end(), [&](const Block &b) { return b.name == name; });
  if (block == blocks.end()) throw std::runtime_error("a file asks for the fields of `" + name + "`, which schema.def does not have");
  std::string text = block->help + ".\n\n| field | type | default | for | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const Field &field : fields) {
    if (field.block != name) continue;
    std::string reach = field.applies == "k" ? "cluster" : field.applies == "n" ? "native" : "both";
    std::string standard = field.need == "Required" ? "*required*" : code(field.defaultText);
    text += "| " + (field.name == "*" ? std::string("*any other*") : code(field.name)) + " | " + code(field.type) + " | " + standard +
            " | " + reach + " | " + cell(field.help) + " |\n";
  }
  return text;
}

std::string diagnosticTable() {
  static const char *const stages[] = {"",
                                       "Text",
                                       "Names",
                                       "Types and values",
                                       "Rules of jobs and their parts",
                                       "Targets",
                                       "Plan and run",
                                       "",
                                       "",
                                       "The tool itself"};
  std::vector<Message> rows = messages;
  std::sort(rows.begin(), rows.end(), [](const Message &a, const Message &b) { return a.number < b.number; });
  std::string text;
  int stage = 0;
  for (const Message &row : rows) {
    if (row.number / 1000 != stage) {
      stage = row.number / 1000;
      text += "\n## " + std::to_string(stage) + "xxx: " + stages[stage] + "\n\n| id | | message |\n| --- | --- | --- |\n";
    }
    text += "| KFT" + std::to_string(row.number) + " | " + row.severity + " | " + cell(row.text) + " |\n";
  }
  return text;
}

// The words of a highlighter of vim, at most about 100 columns a line.
std::string vimWords(const std::string &begin, const std::vector<std::string> &words) {
  std::string text, line = begin;
  for (const std::string &word : words) {
    if (line.size() + word.size() > 100) {
      text += line + "\n";
      line = begin;
    }
    line += " " + word;
  }
  return text + line + "\n";
}

std::string vimTables() {
  return vimWords("syn keyword kftKind contained", kinds()) +
         "syn match kftDeclaration \"^\\s*\\%(" + join(kinds(), "\\|") + "\\)\\>\\ze\\%(\\s\\+[A-Za-z_\\\"]\\|\\s*{\\|\\.\\)\" contains=kftKind "
         "nextgroup=kftName skipwhite\n"
         "syn match kftKindRef \"\\%(\\.\\)\\@1<!\\<\\%(" + join(kinds(), "\\|") + "\\)\\ze\\.[A-Za-z_\\\"]\"\n"
         "syn match kftNamedBlock \"\\%(^\\|[{,]\\)\\@1<=\\s*\\%(" + join(namedBlocks(), "\\|") + "\\)\\>\\ze\\%(\\s\\+[A-Za-z_\\\"].*\\)\\?{\" "
         "nextgroup=kftName skipwhite\n" +
         vimWords("syn keyword kftKnownField contained", fieldNames()) + vimWords("syn keyword kftTypeName contained", types) +
         vimWords("syn keyword kftTypeName contained", kinds()) +
         "syn match kftFunction \"\\%(\\.\\)\\@1<!\\<\\%(" + join(functions, "\\|") + "\\)\\ze(\"\n";
}

// Layers, optimizers, schedules and formats, as one would write the call.
std::string nativeTable() {
  std::string text = "| | call | arguments |\n| --- | --- | --- |\n", last;
  for (const auto &[tag, name] : specs) {
    std::string call, types;
    for (const SpecArg &arg : specArgs) {
      if (arg.tag != tag || arg.name != name) continue;
      call += (call.empty() ? "" : ", ") + arg.argument + (arg.defaultText.empty() ? "" : " = " + arg.defaultText);
      types += (types.empty() ? "" : ", ") + code(arg.argument + ": " + arg.type);
    }
    text += "| " + (tag == last ? "" : tag) + " | " + code((tag == "format" ? "datasets." : "nn.") + name + "(" + call + ")") + " | " + types + " |\n";
    last = tag;
  }
  return text;
}

std::string functionList() {
  std::string text;
  for (const std::string &name : functions) text += (text.empty() ? "`" : ", `") + name + "`";
  return text + "\n";
}

std::string expand(const std::string &what) {
  if (what.starts_with("fields ")) return "\n" + fieldTable(what.substr(7)) + "\n";
  if (what == "diagnostics") return diagnosticTable() + "\n";
  if (what == "native") return "\n" + nativeTable() + "\n";
  if (what == "functions") return "\n" + functionList() + "\n";
  if (what == "vim") return vimTables();
  throw std::runtime_error("unknown region `" + what + "`");
}

// A template: every @NAME@ becomes an alternation, longest words first because the engines take the first that fits.
std::string fillTemplate(std::string text) {
  auto alternation = [](std::vector<std::string> words) {
    std::sort(words.begin(), words.end(), [](const std::string &a, const std::string &b) {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    });
    return join(words, "|");
  };
  std::map<std::string, std::string> values = {{"@KINDS@", alternation(kinds())},
                                               {"@FIELDS@", alternation(fieldNames())},
                                               {"@NAMED@", alternation(namedBlocks())},
                                               {"@TYPES@", alternation(types)},
                                               {"@FUNCTIONS@", alternation(functions)}};
  for (const auto &[name, value] : values)
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  return text;
}

// Regions: a line with `generated: WHAT` up to the next line with `end generated`.
std::string fillRegions(const std::string &text) {
  std::istringstream in(text);
  std::string out, line;
  while (std::getline(in, line)) {
    out += line + "\n";
    static const std::string marker = "generated: ";
    size_t at = line.find(marker);
    if (at == std::string::npos) continue;
    std::string what = line.substr(at + marker.size());
    if (size_t tail = what.find(" -->"); tail != std::string::npos) what.resize(tail);
    out += expand(what);
    bool closed = false;
    while (std::getline(in, line))
      if (line.find("end generated") != std::string::npos) {
        closed = true;
        break;
      }
    if (!closed) throw std::runtime_error("the region `" + what + "` has no end");
    out += line + "\n";
  }
  return out;
}

} // namespace

int main(int argc, char **argv) {
  std::string mode = argc == 3 ? argv[1] : "";
  if (mode != "--write" && mode != "--check") {
    std::fputs("usage: kft-tables --write|--check ROOT\n", stderr);
    return 2;
  }
  try {
    std::filesystem::path root = argv[2];
    readFunctions(root / "compiler/sema/functions.cpp");
    std::map<std::string, std::string> wanted;
    wanted["editors/vscode/syntaxes/kft.tmLanguage.json"] = fillTemplate(read(root / "editors/vscode/syntaxes/kft.tmLanguage.in.json"));
    for (const char *file : {"editors/vim/syntax/kft.vim", "docs/language.md", "docs/diagnostics.md"})
      wanted[file] = fillRegions(read(root / file));

    bool current = true;
    for (const auto &[file, text] : wanted) {
      if (std::filesystem::exists(root / file) && read(root / file) == text) continue;
      if (mode == "--check") {
        std::cerr << file << " is not what the tables say; run scripts/generate\n";
        current = false;
        continue;
      }
      std::ofstream out(root / file, std::ios::binary);
      out << text;
      if (!out.flush()) throw std::runtime_error("cannot write " + file);
      std::cout << "wrote " << file << "\n";
    }
    return current ? 0 : 1;
  } catch (const std::exception &error) {
    std::cerr << "kft-tables: " << error.what() << "\n";
    return 2;
  }
}

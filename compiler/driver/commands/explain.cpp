// kftc explain: the page behind a message.
#include "compiler/basic/explain.h"
#include "compiler/driver/driver.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <unistd.h>

namespace kft::driver {

namespace {

// Headings and code stand out on a terminal; elsewhere the page stays Markdown.
std::string onTerminal(llvm::StringRef page) {
  std::string out;
  bool code = false;
  while (!page.empty()) {
    auto [line, rest] = page.split('\n');
    page = rest;
    if (line.startswith("```")) {
      code = !code;
      continue;
    }
    if (code)
      out += line.empty() ? "\n" : "    " + line.str() + "\n";
    else if (line.startswith("#"))
      out += "\033[1m" + line.ltrim("# ").str() + "\033[0m\n";
    else
      out += line.str() + "\n";
  }
  return out;
}

int explain(const std::vector<std::string> &ids, Session &session) {
  std::string out;
  if (ids.empty()) {
    for (const explain::Row &row : explain::catalogue()) {
      llvm::StringRef title = explain::page(row.id).split('\n').first.split(": ").second;
      out += fmt::format("{}  {:<7}  {}\n", explain::idText(row.id), row.severity == Severity::Error ? "error" : "warning",
                         title.empty() ? row.text.str() : title.str());
    }
    return session.writeStdout(out) ? ExitFine : ExitMistakes;
  }
  for (const std::string &text : ids) {
    std::optional<int> id = explain::parseId(text);
    const explain::Row *row = id ? explain::find(*id) : nullptr;
    if (!row) {
      session.report(diag::UnknownDiagnosticId{.name = text}, diag::TryHelp{.command = "kftc explain"});
      return ExitUsage;
    }
    if (!out.empty()) out += '\n';
    llvm::StringRef page = explain::page(*id);
    // Every id has a page (a test sees to it); a build in between still has the template.
    if (page.empty())
      out += fmt::format("# {}: {}\n", explain::idText(*id), row->text.str());
    else
      out += wantsColor(STDOUT_FILENO) ? onTerminal(page) : page.str();
  }
  return session.writeStdout(out) ? ExitFine : ExitMistakes;
}

} // namespace

Action addExplain(CLI::App &app) {
  auto ids = std::make_shared<std::vector<std::string>>();
  app.add_option("ID", *ids, "numbers of messages, KFT2203 or 2203; without one, all of them are listed");
  return [ids](Session &session) -> int { return explain(*ids, session); };
}

} // namespace kft::driver

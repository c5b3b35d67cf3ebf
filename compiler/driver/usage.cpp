#include "compiler/driver/usage.h"

#include "compiler/driver/help.h"

#include "llvm/ADT/StringRef.h"

namespace kft::driver {

void buildTree(CLI::App &root, std::string &diagnostics, std::map<const CLI::App *, Action> &actions) {
  root.formatter(std::make_shared<HelpFormatter>());
  root.set_help_flag("-h,--help", "show help");
  root.set_version_flag("--version", "kftc " KFT_VERSION, "print the version");
  root.add_option("--diagnostics", diagnostics, "how mistakes are printed: text, json or sarif")
      ->type_name("FORM")
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  root.require_subcommand(1);
  root.footer("`kftc COMMAND --help` tells more about a command, `kftc explain KFT2203` about a\nmessage. "
              "A file `-` is standard input.");
#define KFT_COMMAND(name, Name, group_, help)                                                                          \
  {                                                                                                                    \
    CLI::App *command = root.add_subcommand(#name, help);                                                              \
    command->group(group_)->fallthrough();                                                                             \
    actions[command] = add##Name(*command);                                                                            \
  }
#include "compiler/driver/commands.def"
}

namespace {

// The candidate that differs least, if it is near enough to be a slip.
std::string nearest(llvm::StringRef word, const std::vector<std::string> &candidates) {
  std::string best;
  unsigned bestDistance = static_cast<unsigned>(word.size()) / 3 + 2;
  for (const std::string &candidate : candidates) {
    unsigned distance = word.edit_distance(candidate, /*AllowReplacements=*/true, bestDistance);
    if (candidate.empty()) continue;
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    } else if (best.empty() && word.size() > 1 && llvm::StringRef(candidate).startswith(word)) {
      best = candidate;
    }
  }
  return best;
}

void optionNames(const CLI::App &app, std::vector<std::string> &out) {
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames()) out.push_back("--" + name);
}

} // namespace

void reportUsage(Session &session, const CLI::App &root, const CLI::ParseError &error, int argc, char **argv) {
  const CLI::App *command = root.get_subcommands().empty() ? nullptr : root.get_subcommands().front();
  std::string where = command ? "kftc " + command->get_name() : "kftc";
  std::string help = where + " --help";
  // The first word that is no option, when it names no command.
  if (!command) {
    for (int i = 1; i < argc; ++i) {
      llvm::StringRef word = argv[i];
      if (word == "--diagnostics") {
        ++i;
        continue;
      }
      if (word.startswith("-")) continue;
      std::vector<std::string> names;
      for (const CLI::App *sub : root.get_subcommands([](const CLI::App *) { return true; })) names.push_back(sub->get_name());
      std::string best = nearest(word, names);
      if (!best.empty())
        session.report(diag::UnknownCommand{.name = word}, diag::DidYouMean{.name = best});
      else
        session.report(diag::UnknownCommand{.name = word}, diag::TryHelp{.command = help});
      return;
    }
  }
  // What a command does not know falls through to the root.
  std::vector<std::string> rest = root.remaining();
  if (command)
    for (const std::string &word : command->remaining()) rest.push_back(word);
  for (const std::string &word : rest) {
    if (!llvm::StringRef(word).startswith("-") || word == "-") continue;
    std::string name = word.substr(0, word.find('='));
    std::vector<std::string> names;
    optionNames(root, names);
    if (command) optionNames(*command, names);
    std::string best = nearest(name, names);
    if (!best.empty())
      session.report(diag::UnknownOption{.option = name, .command = where}, diag::DidYouMean{.name = best});
    else
      session.report(diag::UnknownOption{.option = name, .command = where}, diag::TryHelp{.command = help});
    return;
  }
  std::string message;
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    message = "`" + (rest.empty() ? std::string() : rest.front()) + "` is one argument too many";
  } else if (!command && error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError)) {
    message = "a command is missing";
  } else if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError)) {
    message = llvm::StringRef(error.what()).split(" is required").first.str() + " is missing";
  } else {
    message = error.what();
    if (!message.empty() && message.back() == '.') message.pop_back();
  }
  session.report(diag::BadUsage{.problem = message}, diag::TryHelp{.command = help});
}

} // namespace kft::driver

// kftc completion: scripts for bash, zsh and fish, made from the same tree of commands and options that reads the command
// line, so that they cannot fall behind.
#include "compiler/driver/driver.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace kft::driver {

namespace {

struct OptionInfo {
  std::vector<std::string> names; // --emit, -o
  std::string help;
  bool takesValue = false, takesDirectory = false, takesFile = false;
  std::vector<std::string> choices;
};
struct CommandInfo {
  std::string name, help;
  std::vector<OptionInfo> options;
  std::vector<std::string> choices; // of its argument; empty: files
};

// CLI11 shows the choices of an option as `FORM:{text,json}`.
std::vector<std::string> choicesOf(const CLI::Option *option) {
  std::string type = option->get_type_name();
  llvm::StringRef inner = llvm::StringRef(type).split('{').second.split('}').first;
  std::vector<std::string> out;
  for (llvm::StringRef rest = inner; !rest.empty();) {
    auto [first, more] = rest.split(',');
    out.push_back(first.str());
    rest = more;
  }
  return out;
}

OptionInfo infoOf(const CLI::Option *option) {
  OptionInfo info;
  for (const std::string &name : option->get_lnames()) info.names.push_back("--" + name);
  for (const std::string &name : option->get_snames()) info.names.push_back("-" + name);
  info.help = option->get_description();
  info.takesValue = option->get_type_size() != 0;
  info.choices = choicesOf(option);
  std::string type = option->get_type_name();
  info.takesDirectory = llvm::StringRef(type).startswith("DIR");
  info.takesFile = llvm::StringRef(type).startswith("FILE");
  return info;
}

std::vector<CommandInfo> commandsOf(const CLI::App &root) {
  std::vector<CommandInfo> out;
  for (const CLI::App *command : root.get_subcommands([](const CLI::App *app) { return !app->get_group().empty(); })) {
    CommandInfo info{command->get_name(), command->get_description(), {}, {}};
    for (const CLI::App *owner : {command, &root})
      for (const CLI::Option *option : owner->get_options()) {
        if (option->get_group().empty()) continue;
        if (option->get_positional()) {
          info.choices = choicesOf(option);
        } else if (owner == command || !(option == root.get_help_ptr() || option == root.get_version_ptr())) {
          info.options.push_back(infoOf(option));
        }
      }
    out.push_back(std::move(info));
  }
  return out;
}

std::string names(const std::vector<CommandInfo> &commands) {
  std::string out;
  for (const CommandInfo &command : commands) out += (out.empty() ? "" : " ") + command.name;
  return out;
}

std::string bash(const std::vector<CommandInfo> &commands) {
  std::string out = "# bash completion of kftc; put it where bash-completion looks, or: source <(kftc completion bash)\n"
                    "_kftc() {\n"
                    "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
                    "  COMPREPLY=()\n"
                    "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                    "    case ${COMP_WORDS[i]} in\n";
  out += "      " + llvm::join(llvm::split(names(commands), ' '), "|") + ") command=${COMP_WORDS[i]}; break ;;\n    esac\n  done\n";
  out += "  if [[ -z $command ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"" + names(commands) + " --help --version\" -- \"$cur\")\n"
         "    return\n"
         "  fi\n"
         "  local words= choices= files=kft\n"
         "  case $command in\n";
  for (const CommandInfo &command : commands) {
    std::string words;
    for (const OptionInfo &option : command.options)
      for (const std::string &name : option.names) words += (words.empty() ? "" : " ") + name;
    out += fmt::format("    {})\n      words='{}'\n", command.name, words);
    if (!command.choices.empty()) out += fmt::format("      choices='{}'\n", llvm::join(command.choices, " "));
    std::string cases;
    for (const OptionInfo &option : command.options) {
      if (!option.takesValue) continue;
      std::string what = !option.choices.empty() ? "choices='" + llvm::join(option.choices, " ") + "'"
                         : option.takesDirectory ? "files=directories"
                         : option.takesFile      ? "files=all"
                                                 : "files=none";
      cases += fmt::format("        {}) words=; choices=; {} ;;\n", llvm::join(option.names, "|"), what);
    }
    if (!cases.empty()) out += "      case $prev in\n" + cases + "      esac\n";
    out += "      ;;\n";
  }
  out += "  esac\n"
         "  if [[ $cur == -* && -n $words ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
         "  elif [[ -n $choices ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
         "  elif [[ $files == kft ]]; then\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    mapfile -t COMPREPLY < <(compgen -f -X '!*.kft' -- \"$cur\"; compgen -d -- \"$cur\")\n"
         "  elif [[ $files == all ]]; then\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
         "  elif [[ $files == directories ]]; then\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n"
         "  fi\n"
         "}\n"
         "complete -F _kftc kftc\n";
  return out;
}

// For the single quotes of zsh's _arguments and of fish: no quote, bracket or colon may end something early.
std::string quoted(llvm::StringRef text, bool zsh) {
  std::string out;
  for (char c : text) {
    if (c == '\'')
      out += zsh ? "'\\''" : "\\'";
    else if (zsh && (c == '[' || c == ']' || c == ':' || c == '\\'))
      (out += '\\') += c;
    else
      out += c;
  }
  return out;
}

std::string zsh(const std::vector<CommandInfo> &commands) {
  std::string out = "#compdef kftc\n# zsh completion of kftc; put it as _kftc into a folder of $fpath\n"
                    "_kftc() {\n  local curcontext=$curcontext state line\n  local -a commands\n  commands=(\n";
  for (const CommandInfo &command : commands) out += fmt::format("    '{}:{}'\n", command.name, quoted(command.help, true));
  out += "  )\n"
         "  _arguments -C '(- *)--help[show help]' '(- *)--version[print the version]' '1:command:->command' '*::argument:->argument'\n"
         "  case $state in\n"
         "    command) _describe command commands ;;\n"
         "    argument)\n"
         "      case $words[1] in\n";
  for (const CommandInfo &command : commands) {
    out += "        " + command.name + ") _arguments";
    for (const OptionInfo &option : command.options)
      for (const std::string &name : option.names) {
        std::string value;
        if (option.takesValue) {
          value = ":value:";
          if (!option.choices.empty())
            value += "(" + llvm::join(option.choices, " ") + ")";
          else if (option.takesDirectory)
            value += "_files -/";
          else if (option.takesFile)
            value += "_files";
        }
        out += fmt::format(" \\\n          '*{}[{}]{}'", name, quoted(option.help, true), value);
      }
    out += command.choices.empty() ? " \\\n          '*:file:_files -g \"*.kft(-.)\"' ;;\n"
                                   : " \\\n          '*:choice:(" + llvm::join(command.choices, " ") + ")' ;;\n";
  }
  out += "      esac ;;\n  esac\n}\n"
         "if [[ $funcstack[1] == _kftc ]]; then _kftc \"$@\"; else compdef _kftc kftc; fi\n";
  return out;
}

std::string fish(const std::vector<CommandInfo> &commands) {
  std::string out = "# fish completion of kftc; put it into ~/.config/fish/completions/kftc.fish\n"
                    "complete -c kftc -f\n"
                    "complete -c kftc -n __fish_use_subcommand -l help -d 'show help'\n"
                    "complete -c kftc -n __fish_use_subcommand -l version -d 'print the version'\n";
  for (const CommandInfo &command : commands) {
    out += fmt::format("complete -c kftc -n __fish_use_subcommand -a {} -d '{}'\n", command.name, quoted(command.help, false));
    std::string when = fmt::format("complete -c kftc -n '__fish_seen_subcommand_from {}'", command.name);
    out += when + (command.choices.empty() ? " -F\n" : " -a '" + llvm::join(command.choices, " ") + "'\n");
    for (const OptionInfo &option : command.options) {
      out += when;
      for (llvm::StringRef name : option.names) out += name.startswith("--") ? " -l " + name.drop_front(2).str() : " -s " + name.drop_front(1).str();
      if (option.takesValue) out += option.takesFile || option.takesDirectory ? " -r -F" : " -x";
      if (!option.choices.empty()) out += " -a '" + llvm::join(option.choices, " ") + "'";
      out += " -d '" + quoted(option.help, false) + "'\n";
    }
  }
  return out;
}

} // namespace

Action addCompletion(CLI::App &app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  const CLI::App *root = app.get_parent();
  return [shell, root](Session &session) -> int {
    std::vector<CommandInfo> commands = commandsOf(*root);
    std::string out = *shell == "bash" ? bash(commands) : *shell == "zsh" ? zsh(commands) : fish(commands);
    return session.writeStdout(out) ? ExitFine : ExitMistakes;
  };
}

} // namespace kft::driver

#include "compiler/driver/help.h"

#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cctype>

namespace kft::driver {

namespace {

constexpr size_t Width = 80;
constexpr size_t Column = 24; // where explanations start

// Words of `text` in lines of at most 80 columns, each but the first after `indent` blanks; starts in column `at`.
std::string wrap(llvm::StringRef text, size_t indent, size_t at) {
  std::string out;
  while (!text.empty()) {
    if (text.front() == '\n') {
      out += '\n';
      out.append(indent, ' ');
      at = indent;
      text = text.drop_front();
      continue;
    }
    llvm::StringRef word = text.take_until([](char c) { return c == ' ' || c == '\n'; });
    text = text.drop_front(word.size());
    if (at > indent && at + word.size() > Width) {
      while (!out.empty() && out.back() == ' ') out.pop_back();
      out += '\n';
      out.append(indent, ' ');
      at = indent;
    }
    out += word;
    at += word.size();
    if (!text.empty() && text.front() == ' ') {
      out += ' ';
      ++at;
      text = text.ltrim(' ');
    }
  }
  return out;
}

void row(std::string &out, const std::string &left, const std::string &right) {
  std::string line = "  " + left;
  if (line.size() + 2 > Column) {
    line += '\n';
    line.append(Column, ' ');
  } else {
    line.append(Column - line.size(), ' ');
  }
  out += line + wrap(right, Column, Column) + '\n';
}

std::string optionName(const CLI::Option *option) {
  std::string out;
  for (const std::string &name : option->get_snames()) out += (out.empty() ? "-" : ", -") + name;
  if (out.empty()) out = "    ";
  bool first = out == "    ";
  for (const std::string &name : option->get_lnames()) {
    out += (first ? "--" : ", --") + name;
    first = false;
  }
  if (option->get_type_size() != 0 && !option->get_type_name().empty()) {
    std::string type = option->get_type_name(); // with its choices: `FORM:{text,json}`
    out += ' ' + type.substr(0, type.find(':'));
  }
  return out;
}

std::string positionalUsage(const CLI::Option *option) {
  std::string name = option->get_name(true, false);
  if (option->get_expected_max() > 1) name += "...";
  return option->get_required() ? name : "[" + name + "]";
}

} // namespace

std::string HelpFormatter::make_help(const CLI::App *app, std::string name, CLI::AppFormatMode) const {
  std::string full = app->get_name();
  for (const CLI::App *parent = app->get_parent(); parent; parent = parent->get_parent()) full = parent->get_name() + ' ' + full;
  (void)name;
  std::vector<const CLI::App *> commands = app->get_subcommands([](const CLI::App *) { return true; });
  std::vector<const CLI::Option *> positionals =
      app->get_options([](const CLI::Option *option) { return option->get_positional() && !option->get_group().empty(); });

  std::string description = app->get_description();
  if (!description.empty()) description[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(description[0])));
  std::string out = wrap(description, 0, 0) + ".\n\nUsage: " + full;
  if (!commands.empty()) out += " COMMAND";
  out += " [options]";
  for (const CLI::Option *option : positionals) out += ' ' + positionalUsage(option);
  out += '\n';

  std::vector<std::string> groups;
  for (const CLI::App *command : commands)
    if (std::find(groups.begin(), groups.end(), command->get_group()) == groups.end()) groups.push_back(command->get_group());
  for (const std::string &group : groups) {
    out += '\n' + group + ":\n";
    for (const CLI::App *command : commands)
      if (command->get_group() == group) row(out, command->get_name(), command->get_description());
  }
  if (!positionals.empty()) out += "\nArguments:\n";
  for (const CLI::Option *option : positionals) row(out, option->get_name(true, false), option->get_description());
  // The groups of the command in order of appearance, then what every command has.
  auto options = [&](const CLI::App *owner, const std::string &group) {
    return owner->get_options(
        [&](const CLI::Option *option) { return option->nonpositional() && option->get_group() == group; });
  };
  std::vector<std::string> optionGroups = app->get_groups();
  std::stable_partition(optionGroups.begin(), optionGroups.end(), [](const std::string &g) { return g != "Options"; });
  for (const std::string &group : optionGroups) {
    if (group.empty() || options(app, group).empty()) continue;
    out += '\n' + (group == "Options" ? "Common options" : group) + ":\n";
    for (const CLI::Option *option : options(app, group)) row(out, optionName(option), option->get_description());
    if (group == "Options" && app->get_parent())
      for (const CLI::Option *option : options(app->get_parent(), "Options"))
        if (option != app->get_parent()->get_help_ptr() && option->get_lnames() != std::vector<std::string>{"version"})
          row(out, optionName(option), option->get_description());
  }
  if (!app->get_footer().empty()) out += '\n' + app->get_footer() + '\n';
  return out;
}

} // namespace kft::driver

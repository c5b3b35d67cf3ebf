// The tree of commands and options, and what is said when a command line does not fit it.
#pragma once

#include "compiler/driver/driver.h"

#include <CLI/CLI.hpp>

#include <map>
#include <string>

namespace kft::driver {

// All commands of commands.def under `root`, with the options that every command has.
void buildTree(CLI::App &root, std::string &diagnostics, std::map<const CLI::App *, Action> &actions);

// Words the complaint of CLI11, with the nearest command or option where there is one.
void reportUsage(Session &session, const CLI::App &root, const CLI::ParseError &error, int argc, char **argv);

} // namespace kft::driver

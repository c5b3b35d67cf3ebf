// Help that reads well at 80 columns.
#pragma once

#include <CLI/CLI.hpp>

namespace kft::driver {

class HelpFormatter : public CLI::Formatter {
public:
  std::string make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const override;
};

} // namespace kft::driver

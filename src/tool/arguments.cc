#include "tool/arguments.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/parse_number.h"
#include "base/wrong_use.h"

namespace weft::tool {

namespace {

// Why `text` is no number from 0 to `max`; empty where it is one. CLI11's own reading takes a minus
// sign and lets the number wrap around.
std::string WhyNoNumber(std::string_view text, uint64_t max) {
  uint64_t number = 0;
  if (base::ParseNumber(text, &number) && number <= max) return "";
  return "must be a number from 0 to " + std::to_string(max) + ", not " + std::string(text);
}

}  // namespace

void Arguments::AddWord(const char* name, const char* help, std::string* value) {
  app_->add_option(name, *value, help)->required();
}

void Arguments::AddOptionalWord(const char* name, const char* help, std::string* value) {
  app_->add_option(name, *value, help);
}

void Arguments::AddOption(const char* name, const char* form, const char* help,
                          std::string* value) {
  app_->add_option(name, *value, help)->type_name(form);
}

void Arguments::AddOption(const char* name, const char* form, const char* help,
                          std::optional<std::string>* value) {
  app_->add_option(name, *value, help)->type_name(form);
}

void Arguments::AddOption(const char* name, const char* form, const char* help, uint64_t* value,
                          uint64_t max) {
  app_->add_option(name, *value, help)->type_name(form)->check([max](const std::string& text) {
    return WhyNoNumber(text, max);
  });
}

void Arguments::AddChoice(const char* name, const char* form, const char* help, std::string* value,
                          std::initializer_list<const char*> choices) {
  app_->add_option(name, *value, help)
      ->type_name(form)
      ->check(CLI::IsMember(std::vector<std::string>(choices.begin(), choices.end())));
}

void Arguments::AddFlag(const char* name, const char* help, bool* value) {
  app_->add_flag(name, *value, help);
}

bool Arguments::WasNamed() const { return app_->parsed(); }

CommandLine::CommandLine(const char* description, const char* name, const char* footer)
    : footer_(footer), name_(name), app_(std::make_unique<CLI::App>(description, name)) {
  app_->footer(footer_);
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

Arguments CommandLine::AddCommand(const char* name, const char* help) {
  CLI::App* const command = app_->add_subcommand(name, help);
  command->footer(footer_);
  return Arguments(command);
}

bool CommandLine::HasCommand(const std::string& name) const {
  const auto commands = std::as_const(*app_).get_subcommands(nullptr);
  return std::ranges::any_of(commands,
                             [&](const CLI::App* command) { return command->get_name() == name; });
}

CommandLine::Outcome CommandLine::Parse(const std::vector<std::string>& given, std::string* text) {
  const std::vector<std::string> words = base::HelpAsOption(*app_, given);
  std::string who = name_;
  const auto wrong = [&](const std::string& what) {
    *text = who + ": " + what + "\nTry '" + who + " --help'.";
    return Outcome::kWrong;
  };
  if (words.empty())
    return wrong("a command is missing; the commands are " + base::CommandNames(*app_));
  const std::string& first = words.front();
  const bool is_option = first.starts_with('-');
  if (HasCommand(first)) {
    who += " " + first;
  } else if (!is_option) {
    return wrong(base::NoCommand(*app_, first));
  } else if (first != "--help" && first != "-h") {
    return wrong("the command must come before options such as " + first);
  }
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // CLI11 asks for that
  try {
    app_->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    *text = app_->help();
    return Outcome::kHelp;
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    std::ranges::replace(what, '\n', ' ');
    return wrong(what);
  }
  return Outcome::kNamed;
}

}  // namespace weft::tool

#include "tool/arguments.h"

#include <CLI/CLI.hpp>

namespace weft::tool {

void Arguments::AddWord(const char* name, const char* help, std::string* value) {
  app_->add_option(name, *value, help)->required();
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
  app_->add_option(name, *value, help)->type_name(form)->check(CLI::Range(uint64_t{0}, max));
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
    : footer_(footer), app_(std::make_unique<CLI::App>(description, name)) {
  app_->footer(footer_);
  app_->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

Arguments CommandLine::AddCommand(const char* name, const char* help) {
  CLI::App* const command = app_->add_subcommand(name, help);
  command->footer(footer_);
  return Arguments(command);
}

CommandLine::Outcome CommandLine::Parse(const std::vector<std::string>& words, std::string* text) {
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // CLI11 asks for that
  try {
    app_->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    *text = app_->help();
    return Outcome::kHelp;
  } catch (const CLI::ParseError& error) {
    *text = error.what();
    return Outcome::kWrong;
  }
  return Outcome::kNamed;
}

}  // namespace weft::tool

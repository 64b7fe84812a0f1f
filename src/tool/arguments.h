// tool/arguments.h: the command line of `weft db` and the options of its commands.
//
// Over CLI11, which only arguments.cc includes: it takes ten seconds to compile wherever it is.
// Names are CLI11's: "--limit" is an option, "KEY" a word that stands by itself. What an option
// stores to must live as long as the command line.
//
// Threads   one at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace weft::tool {

// What one command takes.
class Arguments {
 public:
  // A word that must be there; or may be, where it stands last.
  void AddWord(const char* name, const char* help, std::string* value);
  void AddOptionalWord(const char* name, const char* help, std::string* value);
  // Options with a value. `form` names it in the help ("KEY").
  void AddOption(const char* name, const char* form, const char* help, std::string* value);
  void AddOption(const char* name, const char* form, const char* help,
                 std::optional<std::string>* value);
  // A number from 0 to `max`, in digits.
  void AddOption(const char* name, const char* form, const char* help, uint64_t* value,
                 uint64_t max = UINT64_MAX);
  // One of `choices`.
  void AddChoice(const char* name, const char* form, const char* help, std::string* value,
                 std::initializer_list<const char*> choices);
  void AddFlag(const char* name, const char* help, bool* value);

  // Whether the line named this command.
  bool WasNamed() const;

 private:
  friend class CommandLine;
  explicit Arguments(CLI::App* app) : app_(app) {}

  CLI::App* app_;  // the command line's
};

class CommandLine {
 public:
  // `footer` ends the help of every command.
  CommandLine(const char* description, const char* name, const char* footer);
  ~CommandLine();

  Arguments AddCommand(const char* name, const char* help);

  enum class Outcome { kNamed, kHelp, kWrong };
  // Reads the words behind the program's name. *text: the help that was asked for; or what is
  // wrong, a line that begins with the program and the command, and which help to read.
  Outcome Parse(const std::vector<std::string>& given, std::string* text);

 private:
  bool HasCommand(const std::string& name) const;

  const char* const footer_;
  const std::string name_;
  const std::unique_ptr<CLI::App> app_;
};

}  // namespace weft::tool

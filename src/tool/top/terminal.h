// tool/top/terminal.h: a terminal as a screen that is drawn anew, with keys that are read at once.
//
// Leaving   the terminal is as before after the destructor, after Leave, and when a signal ends or
//           stops the program: signals only set marks, which the program's loop looks at.
// Threads   one; at most one Terminal at a time.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

namespace weft::tool {

struct ScreenSize {
  size_t rows = 24, columns = 80;
};

class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Whether standard input and output are one.
  static bool IsThere();
  static ScreenSize Size();
  // Whether a signal has asked for the end. Only while there is a Terminal; otherwise it ends the
  // program.
  static bool IsToEnd();

  // The first line is shown in reverse. False: it can't be written to any more.
  bool Show(const std::vector<std::string>& lines, const ScreenSize& size);
  // Waits so long for a key, or for a new size of the screen. What must be done then.
  enum class Event { kNone, kQuit, kRedraw };
  Event Wait(int ms);

 private:
  void Enter();
  void Leave();
  void Stop();

  termios before_ = {};
  bool entered_ = false;
};

}  // namespace weft::tool

#include "tool/top/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace weft::tool {
namespace {

std::atomic<int> ending{0};  // the signal that ends the program
std::atomic<int> stopping{0};
std::atomic<int> resized{0};

// Handlers may use them.
static_assert(std::atomic<int>::is_always_lock_free);

constexpr int kEndSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void OnEnd(int number) { ending = number; }
void OnStop(int) { stopping = 1; }
void OnResize(int) { resized = 1; }

void Handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;  // no SA_RESTART: waits end
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

bool WriteToScreen(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

constexpr std::string_view kOtherScreen = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kOwnScreen = "\x1b[?25h\x1b[?1049l";

}  // namespace

bool Terminal::IsThere() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

bool Terminal::IsToEnd() { return ending != 0; }

ScreenSize Terminal::Size() {
  winsize size = {};
  ScreenSize result;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return result;
  if (size.ws_row != 0) result.rows = size.ws_row;
  if (size.ws_col != 0) result.columns = size.ws_col;
  return result;
}

Terminal::Terminal() {
  for (const int number : kEndSignals) Handle(number, OnEnd);
  Handle(SIGTSTP, OnStop);
  Handle(SIGWINCH, OnResize);
  Enter();
}

Terminal::~Terminal() {
  Leave();
  for (const int number : kEndSignals) Handle(number, SIG_DFL);
  Handle(SIGTSTP, SIG_DFL);
  Handle(SIGWINCH, SIG_DFL);
  // Whoever sent another signal than Ctrl-C's is to see that it ended the program.
  if (ending != 0 && ending != SIGINT) raise(ending);
}

void Terminal::Enter() {
  if (tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  WriteToScreen(kOtherScreen);
  entered_ = true;
}

void Terminal::Leave() {
  if (!entered_) return;
  WriteToScreen(kOwnScreen);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  entered_ = false;
}

// Ctrl-Z: the shell has its terminal until the program goes on.
void Terminal::Stop() {
  stopping = 0;
  Leave();
  raise(SIGSTOP);
  Enter();
}

bool Terminal::Show(const std::vector<std::string>& lines, const ScreenSize& size) {
  std::string text = "\x1b[H";
  for (size_t i = 0; i < lines.size(); i++) {
    if (i != 0) text += "\r\n";
    std::string line = lines[i];
    if (i == 0) {
      if (line.size() < size.columns) line.resize(size.columns, ' ');
      line = "\x1b[7m" + line + "\x1b[0m";
    }
    // The rest of the line, unless it is full: that would clear its last character.
    text += line;
    if (lines[i].size() < size.columns && i != 0) text += "\x1b[K";
  }
  if (lines.size() < size.rows) text += "\x1b[J";
  return WriteToScreen(text);
}

Terminal::Event Terminal::Wait(int ms) {
  if (ending != 0) return Event::kQuit;
  if (stopping != 0) Stop();
  pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const int ready = poll(&input, 1, ms);
  if (ending != 0) return Event::kQuit;
  if (stopping != 0) {
    Stop();
    return Event::kRedraw;
  }
  if (resized != 0) {
    resized = 0;
    return Event::kRedraw;
  }
  if (ready <= 0) return Event::kNone;
  char key = 0;
  if (read(STDIN_FILENO, &key, 1) != 1) return Event::kQuit;  // the terminal has gone
  return key == 'q' || key == 'Q' ? Event::kQuit : Event::kRedraw;
}

}  // namespace weft::tool

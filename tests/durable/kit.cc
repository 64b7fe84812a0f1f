#include "durable/kit.h"

#include <unistd.h>

#include <bit>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/mutex.h"

namespace weft::durable {
namespace {

// The longest run takes a minute. Sanitized and on a busy machine, it takes five.
constexpr unsigned kRunSecondsMax = 1200;

constexpr size_t kNotesMax = 40;
constexpr size_t kNoteBytesMax = 400;
constexpr size_t kShownBytesMax = 40;

// What a signal handler may look at: plain memory that is written before it is needed.
struct Story {
  char repeat[512] = "";  // the command that repeats this run
  char notes[kNotesMax][kNoteBytesMax] = {};
  size_t notes_made = 0;
};
Story story;
base::Mutex story_mutex;

std::map<std::string, uint64_t>& Counts() {
  static auto* counts = new std::map<std::string, uint64_t>;  // freed by nobody: lives for ever
  return *counts;
}

// Only calls that a signal handler may make.
void WriteOut(const char* text) {
  const ssize_t written = write(STDOUT_FILENO, text, std::strlen(text));
  (void)written;
}

void WriteStory() {
  const size_t made = story.notes_made;
  for (size_t i = made < kNotesMax ? 0 : made - kNotesMax; i < made; ++i) {
    WriteOut("  ");
    WriteOut(story.notes[i % kNotesMax]);
    WriteOut("\n");
  }
  WriteOut("repeat: ");
  WriteOut(story.repeat);
  WriteOut("\n");
}

void OnSignal(int signal) {
  WriteOut(signal == SIGALRM ? "HUNG: the run takes too long\n" : "CRASHED\n");
  WriteStory();
  std::signal(signal, SIG_DFL);
  std::signal(SIGABRT, SIG_DFL);
  std::raise(signal == SIGALRM ? SIGABRT : signal);
}

std::string Repetition(const Arguments& arguments, uint64_t seed) {
  std::string command = std::filesystem::read_symlink("/proc/self/exe").string();
  command += " --seed " + std::to_string(seed) + " --runs 1";
  if (arguments.is_long) command += " --long";
  if (!arguments.folder.empty()) command += " --folder " + arguments.folder;
  if (arguments.store != "weft") command += " --store " + arguments.store;
  for (const std::string& word : arguments.rest) command += " " + word;
  return command;
}

void BeginStory(const std::string& repeat) {
  base::MutexLock lock(&story_mutex);
  std::snprintf(story.repeat, sizeof(story.repeat), "%s", repeat.c_str());
  story.notes_made = 0;
}

}  // namespace

bool Arguments::Has(std::string_view word) const {
  for (const std::string& own : rest) {
    if (own == word) return true;
  }
  return false;
}

Arguments ParseArguments(int argc, char** argv, uint64_t runs, uint64_t runs_long) {
  Arguments arguments;
  if (const char* seed = std::getenv("WEFT_SEED"))
    arguments.seed = std::strtoull(seed, nullptr, 10);
  bool told = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> const char* {
      if (i + 1 < argc) return argv[++i];
      std::fprintf(stderr, "%s needs a value\n", argv[i]);
      std::exit(2);
    };
    if (word == "--runs") {
      arguments.runs = std::strtoull(value(), nullptr, 10);
      told = true;
    } else if (word == "--seed") {
      arguments.seed = std::strtoull(value(), nullptr, 10);
    } else if (word == "--seconds-max") {
      arguments.seconds_max = std::strtod(value(), nullptr);
    } else if (word == "--store") {
      arguments.store = value();
    } else if (word == "--folder") {
      arguments.folder = value();
    } else if (word == "--long") {
      arguments.is_long = true;
    } else {
      arguments.rest.emplace_back(word);
    }
  }
  if (!told) arguments.runs = arguments.is_long ? runs_long : runs;
  return arguments;
}

int RunAll(const Arguments& arguments, const std::function<void(uint64_t seed)>& run) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    std::signal(signal, OnSignal);
  }
  std::printf("seeds %llu to %llu, store %s\n", static_cast<unsigned long long>(arguments.seed),
              static_cast<unsigned long long>(arguments.seed + arguments.runs - 1),
              arguments.store.c_str());
  std::fflush(stdout);
  const auto began = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  uint64_t done = 0;
  for (; done < arguments.runs && seconds() < arguments.seconds_max; ++done) {
    BeginStory(Repetition(arguments, arguments.seed + done));
    alarm(kRunSecondsMax);
    run(arguments.seed + done);
  }
  alarm(0);
  std::printf("%llu runs", static_cast<unsigned long long>(done));
  for (const auto& [what, count] : Counts()) {
    std::printf(", %llu %s", static_cast<unsigned long long>(count), what.c_str());
  }
  std::printf(", none failed, %.1f s\n", seconds());
  return 0;
}

void Fail(const std::string& message) {
  base::MutexLock lock(&story_mutex);
  std::printf("FAILED: %s\n", message.c_str());
  std::fflush(stdout);
  WriteStory();
  std::_Exit(1);
}

void RequireOk(const Status& status, std::string_view what) {
  if (!status.ok()) Fail(std::string(what) + ": " + status.ToString());
}

void Note(const std::string& line) {
  base::MutexLock lock(&story_mutex);
  std::snprintf(story.notes[story.notes_made % kNotesMax], kNoteBytesMax, "%s", line.c_str());
  ++story.notes_made;
}

void Count(const std::string& what, uint64_t by) {
  base::MutexLock lock(&story_mutex);
  Counts()[what] += by;
}

std::string Shown(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes.substr(0, kShownBytesMax)) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      text += c;
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\x%02x", static_cast<unsigned char>(c));
      text += escaped;
    }
  }
  text += "\"";
  if (bytes.size() > kShownBytesMax) text += "...(" + std::to_string(bytes.size()) + " bytes)";
  return text;
}

uint64_t Random::Skewed(uint64_t n) {
  const uint64_t bits = static_cast<uint64_t>(std::bit_width(n));
  return Below(uint64_t{1} << Below(bits + 1)) % n;
}

std::string Random::Bytes(size_t count) {
  std::string bytes(count, '\0');
  size_t at = 0;
  while (at < count) {
    const uint64_t draw = Next();
    const size_t step = std::min<size_t>(8, count - at);
    std::memcpy(bytes.data() + at, &draw, step);
    at += step;
    const size_t copied =
        std::min<size_t>({draw % 24, count - at, at});  // the half that compresses
    std::memcpy(bytes.data() + at, bytes.data(), copied);
    at += copied;
  }
  return bytes;
}

TempFolder::TempFolder(const Arguments& arguments, bool on_disk) {
  std::string where = arguments.folder;
  const char* disk = std::getenv("TMPDIR");
  if (where.empty()) where = disk != nullptr ? disk : "/tmp";
  if (!on_disk && arguments.folder.empty() && access("/dev/shm", W_OK) == 0) where = "/dev/shm";
  std::string path = where + "/weft-durable-XXXXXX";
  Require(mkdtemp(path.data()) != nullptr, "cannot make a folder in " + where);
  path_ = path;
  Note("files in " + path_);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace weft::durable

// Whole conversations: what a client sends, what memcached 1.6.18 answers.
//
// tests/testdata/protocol/*.txt hold them. Each starts with a sentence (#); then what is sent (>)
// and the whole answer (<), in C escapes, {x*9} for nine x. Version numbers and sizes are masked
// (c#, size=#). With WEFT_MEMCACHED_PORT set, the same files are put to a memcached on that port,
// which tells whether they still say what memcached does.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "protocol/model_store_test_kit.h"

namespace weft::protocol {
namespace {

struct Dialogue {
  std::string where;
  std::string sentence;
  std::string sent;
  std::string answer;
};

std::string Expand(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') {
      const size_t star = text.find('*', i);
      const size_t close = text.find('}', i);
      const std::string unit = Expand(text.substr(i + 1, star - i - 1));
      for (int n = std::stoi(text.substr(star + 1)); n > 0; --n) bytes += unit;
      i = close;
    } else if (text[i] != '\\') {
      bytes += text[i];
    } else if (text[++i] == 'x') {
      bytes += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      bytes += text[i] == 'r' ? '\r' : text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : '\\';
    }
  }
  return bytes;
}

std::vector<Dialogue> ReadConversations() {
  std::vector<Dialogue> conversations;
  const std::filesystem::path folder = WEFT_SOURCE_DIR "/tests/testdata/protocol";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      if (line.starts_with("# ")) {
        const std::string where = entry.path().filename().string() + ":" + std::to_string(number);
        conversations.push_back({where, line.substr(2), "", ""});
      } else if (line.starts_with("> ")) {
        conversations.back().sent += Expand(line.substr(2));
      } else if (line.starts_with("< ")) {
        conversations.back().answer += Expand(line.substr(2));
      }
    }
  }
  return conversations;
}

// Puts # for the digits behind every `name` whose first digit is not 0.
std::string MaskNumbers(const std::string& text, const std::string& name) {
  std::string masked;
  size_t done = 0;
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, done)) {
    const size_t digits = at + name.size();
    const size_t end = std::min(text.find_first_not_of("0123456789", digits), text.size());
    const bool number = end != digits && text[digits] != '0';
    masked.append(text, done, (number ? digits : end) - done);
    if (number) masked += '#';
    done = end;
  }
  return masked.append(text, done);
}

std::string Mask(const std::string& answer) {
  return MaskNumbers(MaskNumbers(MaskNumbers(answer, " c"), "cas="), "size=");
}

// Feeds `sent` in pieces of `piece_bytes`, as a connection would.
std::string Converse(const std::string& sent, size_t piece_bytes) {
  ModelStore store(1'700'000'000);
  char scratch[kScratchBytes];
  ParseContext context;
  context.now_s = 1'700'000'000;
  context.start_s = context.now_s - 100;
  context.scratch = scratch;
  std::string answer;
  std::string input;
  uint64_t swallow_bytes = 0;
  for (size_t at = 0; at < sent.size(); at += piece_bytes) {
    input += sent.substr(at, piece_bytes);
    for (;;) {
      const size_t skipped = std::min<uint64_t>(swallow_bytes, input.size());
      input.erase(0, skipped);
      swallow_bytes -= skipped;
      context.line_scanned_bytes = 0;
      Request request;
      const ParseResult result = Parse(input, context, &request);
      if (result.status == ParseStatus::kNeedMore) break;
      if (result.status == ParseStatus::kClose) return answer + "(closed)";
      answer += Answer(request, &store);
      swallow_bytes = request.swallow_bytes;
      input.erase(0, result.consumed_bytes);
      if (request.close) return answer + "(closed)";
    }
  }
  return answer;
}

// The same conversation with a live server whose keys are dropped first.
std::string ConverseWith(int port, const std::string& sent) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return "(no server)";
  const std::string bytes = "flush_all noreply\r\n" + sent;
  std::string answer;
  size_t written = 0;
  for (;;) {
    pollfd wait{fd, static_cast<short>(POLLIN | (written < bytes.size() ? POLLOUT : 0)), 0};
    if (poll(&wait, 1, 200) == 0) break;
    if ((wait.revents & POLLOUT) != 0) {
      const ssize_t count =
          send(fd, bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) written += static_cast<size_t>(count);
    }
    if ((wait.revents & (POLLIN | POLLHUP)) == 0) continue;
    char buffer[65536];
    const ssize_t count = recv(fd, buffer, sizeof buffer, 0);
    if (count <= 0) {
      answer += "(closed)";
      break;
    }
    answer.append(buffer, static_cast<size_t>(count));
  }
  close(fd);
  return answer;
}

TEST(Conversation, IsAnsweredAsMemcachedDoes) {
  const char* const port = std::getenv("WEFT_MEMCACHED_PORT");
  const std::vector<Dialogue> conversations = ReadConversations();
  ASSERT_GT(conversations.size(), 100u);
  for (const Dialogue& conversation : conversations) {
    SCOPED_TRACE(conversation.where + ": " + conversation.sentence);
    const std::string answer = port != nullptr
                                   ? ConverseWith(std::atoi(port), conversation.sent)
                                   : Converse(conversation.sent, conversation.sent.size());
    EXPECT_EQ(Mask(answer), conversation.answer);
  }
}

TEST(Conversation, DoesNotDependOnHowTheBytesArrive) {
  for (const Dialogue& conversation : ReadConversations()) {
    if (conversation.sent.size() > 20'000) continue;
    SCOPED_TRACE(conversation.where + ": " + conversation.sentence);
    for (const size_t piece_bytes : {1, 2, 3, 7, 64}) {
      EXPECT_EQ(Mask(Converse(conversation.sent, piece_bytes)), conversation.answer);
    }
  }
}

}  // namespace
}  // namespace weft::protocol

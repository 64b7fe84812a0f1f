// What speaks another protocol is hung up on; what is only a wrong command is answered.
#include "protocol/foreign.h"

#include <gtest/gtest.h>

#include <string>

#include "protocol/parse.h"

namespace weft::protocol {
namespace {

ParseStatus StatusOf(std::string_view input) {
  char scratch[kScratchBytes];
  ParseContext context;
  context.scratch = scratch;
  Request request;
  return Parse(input, context, &request).status;
}

TEST(Foreign, HttpIsHungUpOn) {
  for (const std::string_view line : {
           "GET / HTTP/1.1",
           "POST / HTTP/1.1",
           "GET / HTTP/1.0",
           "OPTIONS * HTTP/1.1",
           "PUT /a/b?c=d HTTP/1.1",
           "GET http://127.0.0.1:11211/ HTTP/1.1",
           "CONNECT 127.0.0.1:11211 HTTP/1.1",
           "PRI * HTTP/2.0",
           "  POST   /   HTTP/1.1  ",
           "post / HTTP/1.1",
           "patch / HTTP/1.1",
           "X / HTTP/1.1",
           "BREW\t/ HTTP/1.1",
           "HTTP/1.1",
           // A command's word as the method.
           "set / HTTP/1.1",
           "delete / HTTP/1.1",
           "add / HTTP/1.1",
           "incr / HTTP/1.1",
           "touch / HTTP/1.1",
           "mg / HTTP/1.1",
           "ms / HTTP/1.1",
           "stats_ / HTTP/1.1",
           "flush_all / HTTP/1.1",
           "replace / x y HTTP/1.1",
           "cas / HTTP/1.1",
           "gat / HTTP/1.1",
           "slabs / HTTP/1.1",
           "lru / HTTP/1.1",
           "verbosity / HTTP/1.1",
           // Cut, or of HTTP/0.9.
           "GET /",
           "POST /set",
           "Get /x",
           "HEAD / x",
           "OPTIONS *",
           "GET https://x/y z",
           // Of an answer.
           "HTTP/1.1 200 OK",
           // Headers.
           "Host: x",
           "host: x",
           "Host:x",
           "HOST:",
           "Content-Length: 5",
           "X-A_1:\tb",
           "Origin: null",
       }) {
    EXPECT_EQ(StatusOf(std::string(line) + "\r\n"), ParseStatus::kClose) << line;
    EXPECT_EQ(StatusOf(std::string(line) + "\n"), ParseStatus::kClose) << line;
  }
}

TEST(Foreign, AKeyThatIsTooLongMayBeginAsAVersionDoes) {
  const std::string key = "HTTP/" + std::string(250, 'k');
  for (const char* const command : {"get ", "gets ", "delete ", "mg "}) {
    EXPECT_NE(StatusOf(command + key + "\r\n"), ParseStatus::kClose) << command;
  }
  EXPECT_EQ(StatusOf("bogus " + key + "\r\n"), ParseStatus::kClose);
}

TEST(Foreign, WrongCommandsAreAnswered) {
  for (const std::string_view line : {
           "",
           "x",
           "GET",
           "GET a",
           "SET k 0 0 1",
           "FLUSH_ALL",
           "Get a b",
           "bogus /path",
           "set /key 0 0",
           "incr /key abc",
           "delete / 5",
           "touch /key x",
           "foo:bar baz",
           ":x y",
           "a:b",
           "9: x",
           "get",
           "mg",
           "http/1.1 x",
           "user:1: x",
           "HTTP x",
           "set k 0 0 x",
           "verbosity x",
           "watch *",
           // Right ones, whatever their keys are.
           "get / HTTP/1.1",
           "gets HTTP/1.0",
           "delete HTTP/1.1",
           "get Host: x",
           "version HTTP/1.1",
           "mn HTTP/1.1",
           "incr HTTP/1 5",
       }) {
    EXPECT_EQ(StatusOf(std::string(line) + "\r\n"), ParseStatus::kRequest) << line;
  }
}

TEST(Foreign, TlsAndTheBinaryProtocolAreHungUpOn) {
  using std::string_view_literals::operator""sv;
  const std::string hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  EXPECT_EQ(StatusOf(hello), ParseStatus::kClose) << "at once: its client waits for an answer";
  EXPECT_EQ(StatusOf(hello + "\r\nset a 0 0 1\r\nx\r\n"), ParseStatus::kClose);
  EXPECT_EQ(StatusOf("\x15\x03\x03\x00\x02\x02\x28"sv), ParseStatus::kClose);
  EXPECT_EQ(StatusOf("\x80\x01\x00\x03\x08\x00"sv), ParseStatus::kClose);
  EXPECT_EQ(StatusOf("\x80\n"sv), ParseStatus::kClose);
  EXPECT_EQ(StatusOf("\x16"sv), ParseStatus::kNeedMore);
  EXPECT_EQ(StatusOf("\x16\n"sv), ParseStatus::kRequest);
  EXPECT_EQ(StatusOf("get \x80\x16\x03\r\n"sv), ParseStatus::kRequest);
}

}  // namespace
}  // namespace weft::protocol

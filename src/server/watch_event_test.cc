#include "server/watch_event.h"

#include <string>

#include <gtest/gtest.h>

namespace weft::server {
namespace {

std::string LineOf(WatchEvent event, std::string_view text) {
  event.number = 7;
  event.time_us = 12'000'034;
  char line[kWatchLineBytesMax];
  return {line, static_cast<size_t>(WriteWatchLine(event, text, line) - line)};
}

WatchEvent Of(WatchType type) {
  WatchEvent event;
  event.type = type;
  event.fd = 9;
  event.size = 5;
  return event;
}

TEST(WatchEvent, LinesOfItems) {
  WatchEvent get = Of(WatchType::kItemGet);
  get.status = WatchStatus::kFound;
  EXPECT_EQ(LineOf(get, "a"),
            "ts=12.34 gid=7 type=item_get key=a status=found clsid=1 cfd=9 size=5\n");
  get.status = WatchStatus::kExpired;
  EXPECT_EQ(LineOf(get, ""),
            "ts=12.34 gid=7 type=item_get key= status=expired clsid=0 cfd=9 size=5\n");
  WatchEvent store = Of(WatchType::kItemStore);
  store.status = WatchStatus::kNoMemory;
  store.command = WatchCommand::kPrepend;
  store.ttl_s = -1;
  EXPECT_EQ(LineOf(store, "a"),
            "ts=12.34 gid=7 type=item_store key=a status=no_memory cmd=prepend ttl=4294967295 "
            "clsid=1 cfd=9 size=5\n");
  WatchEvent eviction = Of(WatchType::kEviction);
  eviction.ttl_s = -1;
  eviction.idle_s = 3;
  eviction.was_read = true;
  EXPECT_EQ(LineOf(eviction, "a"),
            "ts=12.34 gid=7 type=eviction key=a fetch=yes ttl=-1 la=3 clsid=1 size=5\n");
  WatchEvent deleted = Of(WatchType::kDeleted);
  deleted.command = WatchCommand::kMetaDelete;
  EXPECT_EQ(LineOf(deleted, "a"), "ts=12.34 gid=7 type=deleted key=a cmd=md clsid=1 size=5\n");
}

TEST(WatchEvent, LinesOfConnectionsAndPlans) {
  WatchEvent opened = Of(WatchType::kConnNew);
  opened.port = 4;
  EXPECT_EQ(LineOf(opened, "::1"),
            "ts=12.34 gid=7 type=conn_new rip=::1 rport=4 transport=tcp cfd=9\n");
  WatchEvent closed = Of(WatchType::kConnClose);
  closed.transport = WatchTransport::kLocal;
  closed.reason = CloseReason::kIdleTimeout;
  EXPECT_EQ(LineOf(closed, "unix"),
            "ts=12.34 gid=7 type=conn_close rip=unix rport=0 transport=local reason=idle_timeout "
            "cfd=9\n");
  EXPECT_EQ(LineOf(Of(WatchType::kTlsError), "no\ncipher"),
            "ts=12.34 gid=7 type=conntlserr fd=9 msg=no?cipher\n");
  EXPECT_EQ(LineOf(Of(WatchType::kPipeline), "[RV]cpu"),
            "ts=12.34 gid=7 type=pipeline plan=%5BRV%5Dcpu\n");
}

TEST(WatchEvent, NoByteOfAKeyIsTakenForTheLines) {
  std::string key;
  for (int byte = 0; byte < 256; byte++) key += static_cast<char>(byte);
  const std::string line = LineOf(Of(WatchType::kItemGet), key);
  const size_t begin = line.find("key=") + 4;
  const std::string shown = line.substr(begin, line.find(" status=") - begin);
  std::string read;
  for (size_t i = 0; i < shown.size(); i++) {
    const bool escaped = shown[i] == '%';
    read += escaped ? static_cast<char>(std::stoi(shown.substr(i + 1, 2), nullptr, 16)) : shown[i];
    if (escaped) i += 2;
  }
  EXPECT_EQ(read, key);
  EXPECT_EQ(shown.find_first_of(" \n\r="), std::string::npos);
}

TEST(WatchEvent, TheLongestLineFits) {
  const std::string text(kWatchTextBytesMax, '\xff');
  for (const WatchType type : {WatchType::kItemStore, WatchType::kEviction, WatchType::kPipeline}) {
    WatchEvent event = Of(type);
    event.status = WatchStatus::kNotStored;
    event.command = WatchCommand::kPrepend;
    event.size = event.number = event.time_us = UINT64_MAX;
    event.fd = INT32_MIN;
    event.ttl_s = INT64_MIN;
    event.idle_s = UINT32_MAX;
    char line[kWatchLineBytesMax];
    EXPECT_LE(WriteWatchLine(event, text, line), line + sizeof line);
  }
}

}  // namespace
}  // namespace weft::server

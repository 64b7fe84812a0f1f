#include "server/port_file.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace weft::server {
namespace {

net::SocketAddress Of(sa_family_t family, uint16_t port) {
  net::SocketAddress address;
  address.storage.ss_family = family;
  address.set_port(port);
  return address;
}

TEST(PortFile, HasALineForEachTcpAddress) {
  const net::SocketAddress addresses[] = {Of(AF_INET, 11211), Of(AF_INET6, 11212)};
  EXPECT_EQ(PortLines(addresses), "TCP INET: 11211\nTCP INET6: 11212\n");
}

TEST(PortFile, IsEmptyWithoutTcp) {
  const net::SocketAddress addresses[] = {*net::UnixAddress("/run/weft.sock")};
  EXPECT_EQ(PortLines(addresses), "");
}

}  // namespace
}  // namespace weft::server

#include "server/metrics_page.h"

#include <openssl/evp.h>

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include "base/base64.h"
#include "base/check.h"
#include "net/address.h"
#include "server/live_json.h"
#include "server/live_page.h"
#include "server/metrics.h"
#include "server/metrics_memcached.h"

namespace weft::server {
namespace {

constexpr std::string_view kTextPage = "text/plain; charset=utf-8";

HttpPage::Answer NotReady() { return {"the server does not serve\n", "503 Service Unavailable"}; }

// As a policy of contents names a script: 'sha256-...'.
std::string HashSource(std::string_view text) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned int bytes = 0;
  WEFT_CHECK(EVP_Digest(text.data(), text.size(), hash, &bytes, EVP_sha256(), nullptr) == 1);
  std::string base64(base::Base64Bytes(bytes), 0);
  base::Base64Encode({reinterpret_cast<const char*>(hash), bytes}, base64.data());
  return "'sha256-" + base64 + "'";
}

// What stands between <tag> and </tag> in the page.
std::string_view InTag(std::string_view page, std::string_view tag) {
  const size_t begin = page.find(fmt::format("<{}>", tag)) + tag.size() + 2;
  return page.substr(begin, page.find(fmt::format("</{}>", tag), begin) - begin);
}

std::string FieldsOfEveryAnswer() {
  return fmt::format(
      "Content-Security-Policy: default-src 'none'; script-src {}; style-src {}; "
      "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "Cache-Control: no-store\r\n",
      HashSource(InTag(kLivePage, "script")), HashSource(InTag(kLivePage, "style")));
}

HttpPage::Answer MetricsText(const ServerOptions& options, MetricsPage::Subject* subject) {
  const std::optional<ServerSnapshot> snapshot = subject->Snapshot();
  if (!snapshot) return NotReady();
  std::vector<prometheus::MetricFamily> families = MetricFamilies(*snapshot);
  if (options.metrics_memcached) {
    auto more = MemcachedFamilies(*snapshot, options);
    families.insert(families.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  return {prometheus::TextSerializer().Serialize(families)};
}

HttpPage::Site SiteOf(const ServerOptions& options, MetricsPage::Subject* subject) {
  HttpPage::Site site;
  site.names = options.metrics_hosts;
  site.fields = FieldsOfEveryAnswer();
  site.pages.push_back({"/metrics", "text/plain; version=0.0.4; charset=utf-8",
                        [options, subject] { return MetricsText(options, subject); }});
  site.pages.push_back({"/healthz", kTextPage, [] { return HttpPage::Answer{"ok\n"}; }});
  site.pages.push_back({"/readyz", kTextPage, [subject] {
                          return subject->IsReady() ? HttpPage::Answer{"ok\n"} : NotReady();
                        }});
  site.pages.push_back(
      {"/", "text/html; charset=utf-8", [] { return HttpPage::Answer{std::string(kLivePage)}; }});
  site.pages.push_back({"/live.json", "application/json", [subject] {
                          const std::optional<ServerSnapshot> snapshot = subject->Snapshot();
                          return snapshot ? HttpPage::Answer{LiveJson(*snapshot)} : NotReady();
                        }});
  return site;
}

}  // namespace

Result<std::unique_ptr<MetricsPage>> MetricsPage::Open(const ServerOptions& options,
                                                       Subject* subject) {
  const std::string& address = options.metrics_address;
  net::HostPort where{address, static_cast<uint16_t>(options.metrics_port)};
  if (address.starts_with('[') && address.ends_with(']'))
    where.host = address.substr(1, address.size() - 2);
  HttpPage::Site site = SiteOf(options, subject);
  site.names.push_back(where.host);
  auto page = HttpPage::Open(where, std::move(site));
  if (!page) {
    const bool is_v6 = where.host.find(':') != where.host.npos;
    return Status(page.error().code(),
                  fmt::format(fmt::runtime(is_v6 ? "metrics page on [{}]:{}: {}"
                                                 : "metrics page on {}:{}: {}"),
                              where.host, where.port, page.error().message()));
  }
  // The constructor is private, so make_unique cannot call it; the unique_ptr frees it.
  return std::unique_ptr<MetricsPage>(new MetricsPage(std::move(*page)));
}

}  // namespace weft::server

#include "sim/dram/memory_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/dram/memory_text.h"

namespace weft::sim {
namespace {

constexpr int kClock = 1;  // the least of most times

int PowerOr(MemoryText& text, const std::string& key, int otherwise, int64_t max) {
  return text.Has(key) ? text.PowerOfTwo(key, 1, max) : otherwise;
}

bool YesOrNo(MemoryText& text, const std::string& key) {
  if (!text.Has(key)) return false;
  const std::string word = text.Word(key);
  if (word != "yes" && word != "no") text.Wrong(key, "it must be yes or no");
  return word == "yes";
}

Organization ShapeOf(MemoryText& text, int* burst_length) {
  constexpr int kBanksMax = 64;
  constexpr int kRowsMax = 1 << 30;
  constexpr int kChannelBitsMax = 512;
  Organization shape{.channels = 1,
                     .ranks = text.PowerOfTwo("ranks", 1, 16),
                     .bank_groups = text.PowerOfTwo("bank_groups", 1, kBanksMax),
                     .banks_per_group = text.PowerOfTwo("banks_per_group", 1, kBanksMax),
                     .rows = static_cast<uint32_t>(text.PowerOfTwo("rows", 1, kRowsMax)),
                     .columns = static_cast<uint32_t>(text.PowerOfTwo("columns", 1, 1 << 20)),
                     .channel_bits = text.PowerOfTwo("channel_bits", 8, kChannelBitsMax),
                     .burst_bytes = 8,
                     .devices = text.Count("devices", 1, 64),
                     .has_column_bus = YesOrNo(text, "column_bus")};
  *burst_length = text.PowerOfTwo("burst_length", 1, 64);
  if (!text.status().ok()) return shape;
  shape.burst_bytes = *burst_length * (shape.channel_bits / 8);
  if (shape.burst_bytes < 8 || shape.burst_bytes > kLineBytes) {
    text.Wrong("burst_length",
               fmt::format("a burst of {} x {} bits is {} bytes, but must be from 8 to {}",
                           *burst_length, shape.channel_bits, shape.burst_bytes, kLineBytes));
  }
  if (shape.banks() > kBanksMax) {
    text.Wrong("banks_per_group",
               fmt::format("{} x {} are {} banks a rank, but must be at most {}", shape.bank_groups,
                           shape.banks_per_group, shape.banks(), kBanksMax));
  }
  const uint64_t row_bytes =
      uint64_t{shape.columns} * static_cast<uint64_t>(shape.channel_bits / 8);
  if (row_bytes < kLineBytes || row_bytes / kLineBytes > 65536) {
    text.Wrong(
        "columns",
        fmt::format("a row of {} x {} bits is {} bytes, but must be from {} to {}", shape.columns,
                    shape.channel_bits, row_bytes, kLineBytes, kLineBytes * 65536));
  }
  constexpr uint64_t kRankBytesMax = uint64_t{1} << 40;
  const uint64_t rank_bytes = row_bytes * shape.rows * static_cast<uint64_t>(shape.banks());
  if (rank_bytes > kRankBytesMax) {
    text.Wrong("rows", fmt::format("a rank is {} GiB, but must be at most {}", rank_bytes >> 30,
                                   kRankBytesMax >> 30));
  }
  return shape;
}

// A time that has one value, or a short and a long one.
struct ShortAndLong {
  int in_others;
  int in_group;
};
ShortAndLong ShortAndLongOf(MemoryText& text, const std::string& key, double tck_ns,
                            const char* of_short, const char* of_long) {
  const std::string short_key = key + of_short;
  const std::string long_key = key + of_long;
  if (text.Has(key)) {
    for (const std::string& other : {short_key, long_key}) {
      if (text.Has(other)) text.Wrong(other, key + " is given, too");
    }
    const int clocks = text.Clocks(key, tck_ns, kClock);
    return {clocks, clocks};
  }
  if (!text.Has(short_key) && !text.Has(long_key)) text.Clocks(key, tck_ns, kClock);  // missing
  return {text.Clocks(short_key, tck_ns, kClock), text.Clocks(long_key, tck_ns, kClock)};
}

// Both or none: what one alone means, nobody knows.
std::pair<int, int> BothOf(MemoryText& text, const char* one, const char* other, double tck_ns) {
  if (!text.Has(one) && !text.Has(other)) return {0, 0};
  return {text.Clocks(one, tck_ns, kClock), text.Clocks(other, tck_ns, kClock)};
}

Timing TimingOf(MemoryText& text, int burst_clocks) {
  const double tck = text.Nanoseconds("tCK");
  const auto clocks = [&](const char* key, int min = kClock) { return text.Clocks(key, tck, min); };
  const auto [trcd_rd, trcd_wr] = ShortAndLongOf(text, "tRCD", tck, "_RD", "_WR");
  const auto [trrd_s, trrd_l] = ShortAndLongOf(text, "tRRD", tck, "_S", "_L");
  const auto [twtr_s, twtr_l] = ShortAndLongOf(text, "tWTR", tck, "_S", "_L");
  const auto [tccd_s, tccd_l] = ShortAndLongOf(text, "tCCD", tck, "_S", "_L");
  const auto [txp, tcke] = BothOf(text, "tXP", "tCKE", tck);
  const auto [trfc_pb, trrefd] = BothOf(text, "tRFCpb", "tRREFD", tck);
  return {.tck_ns = tck,
          .cl = clocks("CL"),
          .cwl = clocks("CWL"),
          .trcd_rd = trcd_rd,
          .trcd_wr = trcd_wr,
          .trp = clocks("tRP"),
          .tras = clocks("tRAS"),
          .trc = clocks("tRC"),
          .trrd_s = trrd_s,
          .trrd_l = trrd_l,
          .tfaw = clocks("tFAW"),
          .twr = clocks("tWR"),
          .twtr_s = twtr_s,
          .twtr_l = twtr_l,
          .trtp = clocks("tRTP"),
          .tccd_s = tccd_s,
          .tccd_l = tccd_l,
          .tccd_l_wr = text.Has("tCCD_L_WR") ? clocks("tCCD_L_WR") : tccd_l,
          .tburst = burst_clocks,
          .trfc = clocks("tRFC"),
          .trefi = clocks("tREFI"),
          .trtrs = text.Has("tRTRS") ? clocks("tRTRS", 0) : 1,
          .trfc_pb = trfc_pb,
          .trrefd = trrefd,
          .txp = txp,
          .tcke = tcke};
}

// A time that can't be below another.
struct Order {
  const char* key;
  int clocks;
  const char* other;
  int at_least;
};

void CheckTiming(MemoryText& text, const Organization& shape, const Timing& t) {
  for (const Order& order :
       {Order{"tRC", t.trc, "tRAS", t.tras}, Order{"tRRD_L", t.trrd_l, "tRRD_S", t.trrd_s},
        Order{"tWTR_L", t.twtr_l, "tWTR_S", t.twtr_s},
        Order{"tCCD_L", t.tccd_l, "tCCD_S", t.tccd_s},
        Order{"tCCD_L_WR", t.tccd_l_wr, "tCCD_S", t.tccd_s},
        Order{"tFAW", t.tfaw, "tRRD_S", t.trrd_s}}) {
    if (order.clocks >= order.at_least) continue;
    text.Wrong(order.key, fmt::format("{} clocks are fewer than {}'s {}", order.clocks, order.other,
                                      order.at_least));
  }
  for (const auto& [key, in_others, in_group] :
       {std::tuple{"tRRD_S", t.trrd_s, t.trrd_l}, std::tuple{"tWTR_S", t.twtr_s, t.twtr_l},
        std::tuple{"tCCD_S", t.tccd_s, t.tccd_l}}) {
    if (shape.bank_groups > 1 || in_others == in_group) continue;
    text.Wrong(key, "with one bank group, short and long are the same time");
  }
  if (t.cwl >= t.cl + t.tburst + t.trtrs) {
    text.Wrong("CWL", fmt::format("{} clocks are not fewer than CL, a burst and tRTRS together, {}",
                                  t.cwl, t.cl + t.tburst + t.trtrs));
  }
  // Else a rank would have no time for requests between two refreshes.
  const int refreshing = 2 * (t.trfc + t.trc);
  if (t.trefi < refreshing) {
    text.Wrong("tREFI", fmt::format("{} clocks are fewer than twice tRFC and tRC, {}: refreshes "
                                    "would leave no time for requests",
                                    t.trefi, refreshing));
  }
  const int units = shape.ranks * shape.banks();
  if (t.trfc_pb > 0 && t.trefi / units < t.trrefd + t.trp + t.tras) {
    text.Wrong("tREFI", fmt::format("{} clocks for {} banks are fewer than tRREFD, tRP and tRAS of "
                                    "each, {}",
                                    t.trefi, units, t.trrefd + t.trp + t.tras));
  }
}

constexpr double kMostMa = 10'000;

struct FileCurrents {
  Currents of_vdd;   // as the file has them
  Currents of_both;  // with what VPP's pump draws of VDD
  bool has_pump;
};

Currents CurrentsOfVdd(MemoryText& text, double vdd_v) {
  constexpr double kLeastMa = 0.001;
  const auto current = [&](const char* key) { return text.Decimal(key, "mA", kLeastMa, kMostMa); };
  return {.vdd_v = vdd_v,
          .idd0_ma = current("IDD0"),
          .idd2p_ma = current("IDD2P"),
          .idd2n_ma = current("IDD2N"),
          .idd3n_ma = current("IDD3N"),
          .idd4r_ma = current("IDD4R"),
          .idd4w_ma = current("IDD4W"),
          .idd5_ma = current("IDD5")};
}

constexpr std::pair<const char*, double Currents::*> kStates[] = {
    {"0", &Currents::idd0_ma},   {"2P", &Currents::idd2p_ma}, {"2N", &Currents::idd2n_ma},
    {"3N", &Currents::idd3n_ma}, {"4R", &Currents::idd4r_ma}, {"4W", &Currents::idd4w_ma},
    {"5", &Currents::idd5_ma}};

FileCurrents CurrentsOf(MemoryText& text) {
  constexpr double kLeastV = 0.1;
  constexpr double kMostV = 10;
  const double vdd_v = text.Decimal("VDD", "V", kLeastV, kMostV);
  bool has_pump = text.Has("VPP");
  for (const auto& [state, current] : kStates) has_pump |= text.Has(std::string("IPP") + state);
  const double vpp_v = has_pump ? text.Decimal("VPP", "V", kLeastV, kMostV) : 0;
  const Currents of_vdd = CurrentsOfVdd(text, vdd_v);
  FileCurrents currents{.of_vdd = of_vdd, .of_both = of_vdd, .has_pump = has_pump};
  if (!has_pump) return currents;
  for (const auto& [state, current] : kStates) {
    const std::string key = std::string("IPP") + state;
    double& both_ma = currents.of_both.*current;
    both_ma += text.Decimal(key, "mA", 0, kMostMa) * vpp_v / vdd_v;
    if (both_ma <= kMostMa) continue;
    text.Wrong(key, fmt::format("with IDD{} it is {:.6g} mA of VDD, but must be at most {}", state,
                                both_ma, kMostMa));
  }
  return currents;
}

// Each state's energy is what it draws above the background's (energy.h), so it draws no less.
void CheckCurrents(MemoryText& text, const Timing& timing, const FileCurrents& currents) {
  const auto at_least = [&](const char* key, auto of, const char* other, auto least_of) {
    const double ma = std::invoke(of, currents.of_both);
    const double least_ma = std::invoke(least_of, currents.of_both);
    if (ma >= least_ma) return;
    std::string what = fmt::format("{:.6g} mA are less than {}, {:.6g} mA", ma, other, least_ma);
    if (currents.has_pump) {
      what = fmt::format("with VPP's share, {}; without it, they are {:.6g} and {:.6g} mA", what,
                         std::invoke(of, currents.of_vdd), std::invoke(least_of, currents.of_vdd));
    }
    text.Wrong(key, what);
  };
  at_least("IDD2N", &Currents::idd2n_ma, "IDD2P", &Currents::idd2p_ma);
  at_least("IDD3N", &Currents::idd3n_ma, "IDD2N", &Currents::idd2n_ma);
  at_least("IDD4R", &Currents::idd4r_ma, "IDD3N", &Currents::idd3n_ma);
  at_least("IDD4W", &Currents::idd4w_ma, "IDD3N", &Currents::idd3n_ma);
  at_least("IDD5", &Currents::idd5_ma, "IDD3N", &Currents::idd3n_ma);
  const auto standing_ma = [&](const Currents& of) {
    return (of.idd3n_ma * timing.tras + of.idd2n_ma * (timing.trc - timing.tras)) / timing.trc;
  };
  at_least("IDD0", &Currents::idd0_ma, "IDD3N over tRAS and IDD2N over the rest of tRC",
           standing_ma);
}

std::string NameOf(MemoryText& text, const std::string& otherwise) {
  if (!text.Has("name")) return otherwise;
  constexpr size_t kLettersMax = 64;
  std::string name = text.Word("name");
  const bool is_plain = std::all_of(name.begin(), name.end(),
                                    [](char letter) { return letter >= ' ' && letter < 127; });
  if (!is_plain || name.size() > kLettersMax) {
    text.Wrong("name", fmt::format("it must have 1 to {} ASCII letters", kLettersMax));
  }
  return name;
}

Result<Preset> PresetOf(MemoryText& text, const std::string& name) {
  Preset preset;
  preset.name = NameOf(text, name);
  int burst_length = 1;
  preset.organization = ShapeOf(text, &burst_length);
  const int data_per_clock = PowerOr(text, "data_per_clock", 2, 8);
  if (text.status().ok() && burst_length < data_per_clock) {
    text.Wrong("burst_length",
               fmt::format("{} are less than a clock of {} data", burst_length, data_per_clock));
  }
  preset.timing = TimingOf(text, burst_length / data_per_clock);
  if (text.status().ok()) CheckTiming(text, preset.organization, preset.timing);
  if (text.HasSection("currents")) {
    const FileCurrents currents = CurrentsOf(text);
    preset.currents = currents.of_both;
    if (text.status().ok()) CheckCurrents(text, preset.timing, currents);
  }
  if (!text.status().ok()) return text.status();
  const Status status = Validate(preset.organization);
  if (!status.ok()) return Status(status.code(), name + ": " + std::string(status.message()));
  return preset;
}

std::string TimingText(const Timing& t) {
  std::string text = fmt::format("[timing]\ntCK = {} ns\n", t.tck_ns);
  const std::pair<const char*, int> times[] = {{"CL", t.cl},
                                               {"CWL", t.cwl},
                                               {"tRCD_RD", t.trcd_rd},
                                               {"tRCD_WR", t.trcd_wr},
                                               {"tRP", t.trp},
                                               {"tRAS", t.tras},
                                               {"tRC", t.trc},
                                               {"tRRD_S", t.trrd_s},
                                               {"tRRD_L", t.trrd_l},
                                               {"tFAW", t.tfaw},
                                               {"tWR", t.twr},
                                               {"tWTR_S", t.twtr_s},
                                               {"tWTR_L", t.twtr_l},
                                               {"tRTP", t.trtp},
                                               {"tCCD_S", t.tccd_s},
                                               {"tCCD_L", t.tccd_l},
                                               {"tCCD_L_WR", t.tccd_l_wr},
                                               {"tRFC", t.trfc},
                                               {"tREFI", t.trefi},
                                               {"tRTRS", t.trtrs}};
  for (const auto& [key, clocks] : times) text += fmt::format("{} = {}\n", key, clocks);
  if (t.txp > 0) text += fmt::format("tXP = {}\ntCKE = {}\n", t.txp, t.tcke);
  if (t.trfc_pb > 0) text += fmt::format("tRFCpb = {}\ntRREFD = {}\n", t.trfc_pb, t.trrefd);
  return text;
}

}  // namespace

Result<Preset> ReadMemory(std::istream& in, const std::string& name) {
  Result<MemoryText> text = MemoryText::Read(in, name);
  if (!text) return text.error();
  return PresetOf(text.value(), name);
}

Result<Preset> ReadMemoryFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status of_file = std::filesystem::status(path, error);
  if (error || of_file.type() == std::filesystem::file_type::not_found) {
    return Status::FromErrno("open " + path, error ? error.value() : ENOENT);
  }
  // A pipe could be read only once, and a run asks several times.
  if (of_file.type() != std::filesystem::file_type::regular) {
    return Status(Code::kInvalidArgument, path + ": not a regular file");
  }
  std::ifstream in(path);
  if (!in) return Status::FromErrno("open " + path, errno);
  return ReadMemory(in, path);
}

std::string ToMemoryText(const Preset& preset) {
  const Organization& shape = preset.organization;
  const int burst_length = shape.burst_bytes / (shape.channel_bits / 8);
  std::string text = fmt::format(
      "name = {}\n[shape]\nranks = {}\nbank_groups = {}\nbanks_per_group = {}\nrows = {}\n"
      "columns = {}\nchannel_bits = {}\nburst_length = {}\ndata_per_clock = {}\ndevices = {}\n"
      "column_bus = {}\n",
      preset.name, shape.ranks, shape.bank_groups, shape.banks_per_group, shape.rows, shape.columns,
      shape.channel_bits, burst_length, burst_length / preset.timing.tburst, shape.devices,
      shape.has_column_bus ? "yes" : "no");
  text += TimingText(preset.timing);
  if (!preset.currents) return text;
  const Currents& c = *preset.currents;
  text += fmt::format(
      "[currents]\nVDD = {} V\nIDD0 = {} mA\nIDD2P = {} mA\nIDD2N = {} mA\nIDD3N = {} mA\n"
      "IDD4R = {} mA\nIDD4W = {} mA\nIDD5 = {} mA\n",
      c.vdd_v, c.idd0_ma, c.idd2p_ma, c.idd2n_ma, c.idd3n_ma, c.idd4r_ma, c.idd4w_ma, c.idd5_ma);
  return text;
}

}  // namespace weft::sim

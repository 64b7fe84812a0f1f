// What the figures run, and whether their judges can tell.

#include "sim/figure/catalogue.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/figure/figure_test_kit.h"
#include "sim/generator/mix.h"

namespace weft::sim {
namespace {

using testing::HasSubstr;

FigureSpec Spec(const std::string& name) {
  FigureBase base;
  base.of = SmallCase();
  base.traces = {"/traces/cuckoo", "/traces/set-associative/"};
  const auto spec = MakeFigure(name, base);
  EXPECT_TRUE(spec) << name;
  return spec.value();
}

std::map<std::string, bool> Verdicts(const std::string& name,
                                     const std::function<double(const Point&)>& gain_of) {
  const FigureSpec spec = Spec(name);
  std::map<std::string, bool> holds;
  for (const JudgedClaim& judged : ClaimsOf(spec, FigureWith(spec, gain_of))) {
    const auto [at, is_new] = holds.emplace(judged.claim.id, judged.claim.holds);
    EXPECT_EQ(at->second, judged.claim.holds) << judged.claim.id << ": all metrics are alike";
    EXPECT_FALSE(judged.claim.ours.empty());
    EXPECT_FALSE(judged.claim.band.empty());
  }
  return holds;
}

double ValueOf(const Point& point) {
  return std::stod(point.series.substr(point.series.find_first_of("0123456789")));
}

TEST(Catalogue, EveryFigureCanBeMadeAndIsItsOwn) {
  std::vector<std::string> names = PaperFigures();
  EXPECT_THAT(names, testing::ElementsAre("5a", "5b", "5c", "6", "7", "8", "9"));
  for (const auto& more : {OtherFigures(), TraceFigures()}) {
    names.insert(names.end(), more.begin(), more.end());
  }
  for (const std::string& name : names) {
    const FigureSpec spec = Spec(name);
    EXPECT_EQ(spec.name, name);
    EXPECT_GE(spec.points.size(), 10u) << name;
    std::set<std::pair<std::string, std::string>> places;
    for (const Point& point : spec.points) {
      EXPECT_TRUE(places.emplace(point.series, point.x).second)
          << name << ": " << point.series << " at " << point.x;
      EXPECT_NE(point.of.prefetch.pacu, "off") << name;
    }
    EXPECT_EQ(CasesOf(spec).size(), 2 * spec.points.size());
  }
}

TEST(Catalogue, APointRunsWhatItSays) {
  for (const Point& point : Spec("5a").points) {
    EXPECT_EQ(point.of.run.workload.mix, "fixed:" + point.series.substr(0, 3));
    EXPECT_EQ(point.of.run.workload.util, "exact:4");
    EXPECT_EQ(point.of.prefetch.pscu, "static:" + point.x);
    EXPECT_EQ(point.of.Baseline().prefetch.pacu, "off");
  }
  for (const Point& point : Spec("7").points) {
    EXPECT_EQ(point.of.run.workload.mix, point.x);
    const size_t number = point.series.find(", ") + 2;
    EXPECT_EQ(point.of.run.workload.util, "exact:" + point.series.substr(number, 1));
    EXPECT_EQ(point.of.run.workload.instr_per_op, point.is_drawn ? 5000u : 10'000u);
  }
  int loaded = 0;
  for (const Point& point : Spec("5b").points) loaded += !point.is_drawn;
  EXPECT_EQ(loaded, 3 * 3 * 5);
  for (const Point& point : Spec("trace-entries").points) {
    EXPECT_EQ(point.of.run.workload.ops, 0);
    EXPECT_EQ(std::to_string(point.of.prefetch.exhausted_max), point.x);
    EXPECT_THAT(point.of.run.workload.source, HasSubstr("trace:/traces/" + point.series));
  }
}

TEST(Catalogue, TracesOfOneNameAreToldApartByTheirPaths) {
  FigureBase base;
  base.traces = {"/a/cuckoo", "/b/cuckoo/", "/a/other/"};
  std::set<std::string> series;
  const FigureSpec spec = MakeFigure("trace-size", base).value();
  for (const Point& point : spec.points) series.insert(point.series);
  EXPECT_EQ(series, (std::set<std::string>{"/a/cuckoo", "/b/cuckoo/", "other"}));
}

TEST(Catalogue, NoSuchFigureAndNoTrace) {
  FigureBase base;
  for (const char* name : {"4", "", "all"}) {
    EXPECT_THAT(MakeFigure(name, base).error().ToString(), HasSubstr("is not one of 5a, 5b"));
  }
  EXPECT_THAT(MakeFigure("trace-size", base).error().ToString(), HasSubstr("--trace FOLDER"));
}

// The gains of a world in which all of 5a's claims hold, and of worlds without one of them.
TEST(Catalogue, JudgesSizes) {
  const auto fine = [](const Point& point) {
    const double value = ValueOf(point);
    const double size = point.at;
    return 0.2 + value / 1000 - (size < value ? (value - size) / 4000 : (size - value) / 3000);
  };
  using Map = std::map<std::string, bool>;
  EXPECT_EQ(Verdicts("5a", fine), (Map{{"A1", true}, {"A2", true}, {"A3", true}, {"A4", true}}));
  const auto flat = Verdicts("5a", [](const Point&) { return 0.3; });
  EXPECT_FALSE(flat.at("A2"));
  EXPECT_TRUE(flat.at("A3"));
  EXPECT_FALSE(flat.at("A4"));
  const auto small_harms = Verdicts(
      "5a", [&](const Point& point) { return point.at < ValueOf(point) ? -0.01 : fine(point); });
  EXPECT_EQ(small_harms, (Map{{"A1", true}, {"A2", true}, {"A3", false}, {"A4", true}}));
  const auto largest_is_best =
      Verdicts("5a", [](const Point& point) { return 0.1 + point.at / 2000; });
  EXPECT_FALSE(largest_is_best.at("A1"));
}

TEST(Catalogue, JudgesUtilization) {
  const auto fine = [](const Point& point) {
    if (point.series.starts_with("in-situ")) return 0.5;
    return (4.5 - point.at) * ValueOf(point) / 2000;
  };
  using Map = std::map<std::string, bool>;
  EXPECT_EQ(Verdicts("5b", fine), (Map{{"B1", true}, {"B2", true}, {"B3", true}, {"B4", true}}));
  const auto never_harms = Verdicts("5b", [&](const Point& point) {
    return point.series.starts_with("in-situ") ? 0.5 : fine(point) + 1;
  });
  EXPECT_EQ(never_harms, (Map{{"B1", true}, {"B2", false}, {"B3", true}, {"B4", false}}));
  const auto rises = Verdicts("5b", [](const Point& point) { return point.at / 10; });
  EXPECT_FALSE(rises.at("B1"));
  EXPECT_FALSE(rises.at("B3"));
  // At one of the loads is enough.
  const auto once = Verdicts("5b", [&](const Point& point) {
    return point.series.ends_with("1250 instructions") ? fine(point) : 0.4;
  });
  EXPECT_TRUE(once.at("B2"));
}

TEST(Catalogue, JudgesAccuracy) {
  const auto fine = [](const Point& point) {
    return point.at / 100 * (0.35 + ValueOf(point) / 10'000);
  };
  using Map = std::map<std::string, bool>;
  EXPECT_EQ(Verdicts("5c", fine), (Map{{"C1", true}, {"C2", true}, {"C1/C2", true}, {"C3", true}}));
  const auto steep =
      Verdicts("5c", [&](const Point& point) { return fine(point) - (1 - point.at / 100) * 0.1; });
  EXPECT_EQ(steep, (Map{{"C1", true}, {"C2", false}, {"C1/C2", false}, {"C3", true}}));
  const auto weak = Verdicts("5c", [&](const Point& point) { return fine(point) / 3; });
  EXPECT_FALSE(weak.at("C1"));
}

TEST(Catalogue, JudgesSizesOfMixes) {
  const auto fine = [](const Point& point) {
    if (point.series.starts_with("in-situ")) return 0.6;
    const double average = Mix::Find(point.x).value().AverageValueBytes();
    return 0.5 - std::abs(ValueOf(point) - average) / 2000;
  };
  using Map = std::map<std::string, bool>;
  EXPECT_EQ(Verdicts("6", fine), (Map{{"D1", true}, {"D1r", true}, {"D2", true}}));
  const auto late = Verdicts("6", [&](const Point& point) {
    return point.series.ends_with("run time") ? 0.1 : fine(point);
  });
  EXPECT_EQ(late, (Map{{"D1", true}, {"D1r", false}, {"D2", true}}));
  const auto more = Verdicts("6", [&](const Point& point) {
    return point.series.starts_with("in-situ") ? 0.6 : ValueOf(point) / 3000;
  });
  EXPECT_FALSE(more.at("D2"));
}

TEST(Catalogue, JudgesUtilizationOfMixes) {
  const auto fine = [](const Point& point) {
    if (point.series.starts_with("in-situ")) return 0.5;
    return (4.5 - ValueOf(point)) * (10 + point.at) / 200;
  };
  using Map = std::map<std::string, bool>;
  EXPECT_EQ(Verdicts("7", fine), (Map{{"E1", true}, {"E2", true}}));
  EXPECT_EQ(Verdicts("7", [&](const Point& point) { return fine(point) + 0.5; }),
            (Map{{"E1", false}, {"E2", true}}));
  EXPECT_EQ(Verdicts("7", [](const Point& point) { return (4.5 - ValueOf(point)) / point.at; }),
            (Map{{"E1", true}, {"E2", false}}));
  // At one of the loads is enough.
  const auto half = [&](const Point& point) {
    return point.series.ends_with("half of the load") ? fine(point) : fine(point) + 0.5;
  };
  EXPECT_EQ(Verdicts("7", half), (Map{{"E1", true}, {"E2", true}}));
}

TEST(Catalogue, JudgesUnitsAndEnergy) {
  const auto fine = [](const Point& point) {
    return point.series.starts_with("in-situ") ? 0.35 : 0.2;
  };
  // Nobody ran it, so that no table was right.
  EXPECT_TRUE(Verdicts("8", fine).at("F1"));
  EXPECT_FALSE(Verdicts("8", fine).at("F2"));
  EXPECT_FALSE(Verdicts("8", [](const Point&) { return 0.3; }).at("F1"));
  const auto once = [&](const Point& point) {
    return !point.series.starts_with("in-situ") && point.x == "7" ? 0.36 : fine(point);
  };
  EXPECT_FALSE(Verdicts("8", once).at("F1"));

  using Map = std::map<std::string, bool>;
  const auto energy = [](const Point& point) {
    return point.series.starts_with("in-situ") ? 0.005 : -0.1;
  };
  EXPECT_EQ(Verdicts("9", energy), (Map{{"G1", true}, {"G2", true}}));
  EXPECT_EQ(Verdicts("9", fine), (Map{{"G1", false}, {"G2", true}}));
  EXPECT_EQ(Verdicts("9", [](const Point&) { return 0.0; }), (Map{{"G1", true}, {"G2", false}}));
}

TEST(Catalogue, BreakEvenIsWhereTheLineCrosses) {
  EXPECT_DOUBLE_EQ(BreakEven({2, 3, 4}, {0.2, 0.1, -0.1}), 3.5);
  EXPECT_EQ(BreakEvenText({2, 3, 4}, {0.2, 0.1, -0.1}), "3.5");
  EXPECT_EQ(BreakEvenText({2, 3, 4}, {-0.2, -0.3, -0.4}), "<2");
  EXPECT_EQ(BreakEvenText({2, 3, 4}, {0.2, 0.1, 0.05}), ">4");
}

}  // namespace
}  // namespace weft::sim

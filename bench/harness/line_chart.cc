#include "bench/harness/line_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>

#include <fmt/format.h>

namespace weft::bench {
namespace {

// Pixels.
constexpr double kWidth = 900, kHeight = 420;
constexpr double kLeft = 80, kRight = 20, kBottom = 50;
constexpr double kLegendTop = 34, kLegendStep = 18, kBelowLegend = 32, kNoteStep = 18;
constexpr double kLetter = 6.5;  // the width of one, about
// Of the lines, in their order; told apart by those who see few colours, too (Okabe and Ito).
constexpr std::array<const char*, 12> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#000000", "#332288",
                                                  "#882255", "#8a8a1f", "#6f4c1e", "#3fbfb0"};
// Of the lines after as many; each is used as often.
constexpr std::array<const char*, 4> kDashes = {"", "6 3", "2 3", "9 3 2 3"};

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// 1, 2 or 5 times a power of ten: so that there are some five to ten steps up to `span`.
double StepFor(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / 5)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (span / (factor * power) <= 10) return factor * power;
  return 10 * power;
}

// From figures to pixels.
class Axes {
 public:
  Axes(const LineChart& chart, double top) : log2_x_(chart.log2_x), top_(top) {
    double x_low = std::numeric_limits<double>::infinity(), x_high = -x_low;
    for (const LineChart::Line& line : chart.lines) {
      for (const double x : line.x) {
        x_low = std::min(x_low, OfX(x));
        x_high = std::max(x_high, OfX(x));
      }
      for (size_t i = 0; i < line.y.size(); ++i) {
        const double error = line.y_error.empty() ? 0 : line.y_error[i];
        y_high_ = std::max({y_high_, line.y[i] + error, line.y_high.empty() ? 0 : line.y_high[i]});
      }
    }
    if (chart.reference_y) y_high_ = std::max(y_high_, *chart.reference_y);
    if (x_low > x_high) x_low = x_high = 0;
    x_low_ = x_low;
    x_span_ = x_high > x_low ? x_high - x_low : 1;
    y_high_ = y_high_ > 0 ? y_high_ * 1.05 : 1;
  }
  double X(double x) const {
    const double share = std::clamp((OfX(x) - x_low_) / x_span_, 0.0, 1.0);
    return kLeft + share * (kWidth - kLeft - kRight);
  }
  double Y(double y) const { return kHeight - kBottom - y / y_high_ * (kHeight - top_ - kBottom); }
  double top() const { return top_; }
  double y_high() const { return y_high_; }

  std::vector<LineChart::Tick> RoundTicks() const {
    std::vector<LineChart::Tick> ticks;
    const double step = log2_x_ ? 1 : StepFor(x_span_);
    for (double at = std::ceil(x_low_ / step) * step; at <= x_low_ + x_span_ * 1.0001; at += step) {
      const double x = log2_x_ ? std::exp2(at) : at;
      ticks.push_back({x, fmt::format("{:g}", x)});
    }
    return ticks;
  }

 private:
  double OfX(double x) const { return log2_x_ ? std::log2(x) : x; }

  const bool log2_x_;
  const double top_;
  double x_low_ = 0, x_span_ = 1, y_high_ = 0;
};

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     Escaped(text));
}

std::string Stroke(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" fill=\"none\"/>\n", x1,
                     y1, x2, y2, colour);
}

std::string GridOf(const LineChart& chart, const Axes& axes) {
  const double bottom = kHeight - kBottom;
  std::string out;
  for (const LineChart::Band& band : chart.bands)
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" "
        "fill=\"#f0f0f0\"/>\n",
        axes.X(band.begin), axes.top(), axes.X(band.end) - axes.X(band.begin), bottom - axes.top());
  const double step = StepFor(axes.y_high());
  for (double y = 0; y <= axes.y_high(); y += step) {
    out += Stroke(kLeft, axes.Y(y), kWidth - kRight, axes.Y(y), "#d0d0d0");
    out += Text(kLeft - 8, axes.Y(y) + 4, "end", fmt::format("{:g}", y));
  }
  for (const auto& [x, name] : chart.ticks.empty() ? axes.RoundTicks() : chart.ticks) {
    const double half_width = kLetter * static_cast<double>(name.size()) / 2;
    const char* const anchor = axes.X(x) + half_width > kWidth ? "end" : "middle";
    out += Text(axes.X(x), bottom + 18, anchor, name);
  }
  out += Stroke(kLeft, bottom, kWidth - kRight, bottom, "#000000");
  out += Text((kLeft + kWidth) / 2, kHeight - 10, "middle", chart.x_name);
  out += Text(kLeft - 70, axes.top() - 10, "start", chart.y_name);
  return out;
}

std::string StyleOf(size_t line) {
  const char* const dashes = kDashes[line / kColours.size() % kDashes.size()];
  return fmt::format("stroke=\"{}\" stroke-width=\"1.5\" fill=\"none\"{}",
                     kColours[line % kColours.size()],
                     *dashes == 0 ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

// Where each line's name stands.
struct Place {
  double x, y;
};
std::vector<Place> LegendOf(const LineChart& chart) {
  std::vector<Place> places;
  Place at{kLeft, kLegendTop};
  for (const LineChart::Line& line : chart.lines) {
    if (line.x.empty()) {
      places.push_back(at);
      continue;
    }
    const double width = 60 + kLetter * static_cast<double>(line.name.size());
    if (at.x > kLeft && at.x + width > kWidth) at = {kLeft, at.y + kLegendStep};
    places.push_back(at);
    at.x += width;
  }
  return places;
}

double HeightOf(const LineChart& chart) {
  return kHeight + kNoteStep * static_cast<double>(chart.notes.size());
}

std::string Drawn(const LineChart::Line& line, size_t number, bool marks_points, const Axes& axes) {
  std::string out = fmt::format("<path {} d=\"", StyleOf(number));
  for (size_t at = 0; at < line.x.size(); ++at)
    out +=
        fmt::format("{}{:.1f} {:.1f}", at == 0 ? 'M' : 'L', axes.X(line.x[at]), axes.Y(line.y[at]));
  out += "\"/>\n";
  for (size_t at = 0; marks_points && at < line.x.size(); ++at) {
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n",
                       axes.X(line.x[at]), axes.Y(line.y[at]), kColours[number % kColours.size()]);
  }
  const auto add_range = [&](size_t at, double low, double high) {
    if (low == high) return;
    const double x = axes.X(line.x[at]);
    out += Stroke(x, axes.Y(low), x, axes.Y(high), kColours[number % kColours.size()]);
  };
  for (size_t at = 0; at < line.y_error.size(); ++at)
    add_range(at, line.y[at] - line.y_error[at], line.y[at] + line.y_error[at]);
  for (size_t at = 0; at < line.y_low.size(); ++at) add_range(at, line.y_low[at], line.y_high[at]);
  return out;
}

// In a frame whose upper edge is at `top`.
std::string Panel(const LineChart& chart, double top) {
  const std::vector<Place> legend = LegendOf(chart);
  const Axes axes(chart, (legend.empty() ? kLegendTop : legend.back().y) + kBelowLegend);
  std::string out =
      fmt::format("<svg y=\"{}\" width=\"{}\" height=\"{}\">\n", top, kWidth, HeightOf(chart));
  out += Text(kWidth / 2, 18, "middle", chart.title);
  out += GridOf(chart, axes);
  if (chart.reference_y) {
    out += Stroke(kLeft, axes.Y(*chart.reference_y), kWidth - kRight, axes.Y(*chart.reference_y),
                  "#404040");
  }
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const auto [x, y] = legend[i];
    if (chart.lines[i].x.empty()) continue;
    out += Drawn(chart.lines[i], i, chart.marks_points, axes);
    out += fmt::format("<path {} d=\"M{:.1f} {:.1f}h20\"/>\n", StyleOf(i), x, y);
    out += Text(x + 25, y + 4, "start", chart.lines[i].name);
  }
  double y = kHeight + 4;
  for (const std::string& note : chart.notes) {
    out += Text(kLeft - 70, y, "start", note);
    y += kNoteStep;
  }
  return out + "</svg>\n";
}

}  // namespace

std::string ToSvg(const LineChart& chart) { return ToSvg(std::vector<LineChart>{chart}); }

std::string ToSvg(const std::vector<LineChart>& charts) {
  double height = 0;
  for (const LineChart& chart : charts) height += HeightOf(chart);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      kWidth, height);
  double top = 0;
  for (const LineChart& chart : charts) {
    out += Panel(chart, top);
    top += HeightOf(chart);
  }
  return out + "</svg>\n";
}

Status WriteSvg(const LineChart& chart, const std::string& path) {
  return WriteSvg(std::vector<LineChart>{chart}, path);
}

Status WriteSvg(const std::vector<LineChart>& charts, const std::string& path) {
  std::ofstream file(path, std::ios::trunc);
  file << ToSvg(charts);
  file.close();
  if (file) return Status::Ok();
  return {Code::kIoError, path + ": can't be written"};
}

}  // namespace weft::bench

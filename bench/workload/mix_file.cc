#include "bench/workload/mix_file.h"

#include <cerrno>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "bench/workload/builtin_mixes.h"

namespace weft::bench {
namespace {

// A value of the table, and where a complaint about it points to.
struct Field {
  const std::string& path;
  std::string_view name;
  const toml::node& node;

  Status Bad(std::string_view what) const {
    return {Code::kInvalidArgument,
            fmt::format("{}:{}: workload.{}: {}", path, node.source().begin.line, name, what)};
  }
};

std::string KindText(const toml::node& node) {
  std::ostringstream text;
  text << node.type();
  return text.str();
}

Status ReadText(const Field& field, std::string* text) {
  const auto* value = field.node.as_string();
  if (value == nullptr)
    return field.Bad(fmt::format("it must be text in quotes, not {}", KindText(field.node)));
  *text = value->get();
  return Status::Ok();
}

// Numbers may do without quotes.
Status ReadTextOrNumber(const Field& field, std::string* text) {
  if (const auto* whole = field.node.as_integer()) {
    *text = fmt::format("{}", whole->get());
  } else if (const auto* number = field.node.as_floating_point()) {
    *text = fmt::format("{}", number->get());
  } else {
    return ReadText(field, text);
  }
  return Status::Ok();
}

Status ReadOperations(const Field& field, OperationMix* mix) {
  const auto* table = field.node.as_table();
  if (table == nullptr)
    return field.Bad(fmt::format(
        "it must be a table such as {{ read = 0.5, update = 0.5 }}, not {}", KindText(field.node)));
  for (auto&& [key, node] : *table) {
    const std::string name = fmt::format("operations.{}", key.str());
    const Field share{field.path, name, node};
    bool known = false;
    std::string names;
    for (int i = 0; i < kOperationKinds; ++i) {
      const auto kind = static_cast<OperationKind>(i);
      names += fmt::format("{}{}", names.empty() ? "" : ", ", NameOf(kind));
      if (key.str() != NameOf(kind)) continue;
      known = true;
      if (!node.is_number())
        return share.Bad(fmt::format("a share must be a number, not {}", KindText(node)));
      const double value = *node.value<double>();
      if (!(value >= 0 && value <= 1))
        return share.Bad(fmt::format("{} is not a share from 0 to 1", value));
      mix->SetShare(kind, value);
    }
    if (!known) return share.Bad("unknown operation; the operations are: " + names);
  }
  return Status::Ok();
}

template <typename T>
Status ReadParsed(const Field& field, T* into) {
  std::string text;
  Status status = ReadTextOrNumber(field, &text);
  if (!status.ok()) return status;
  auto parsed = T::Parse(text);
  if (!parsed) return field.Bad(parsed.error().message());
  *into = *parsed;
  return Status::Ok();
}

Status ReadRecords(const Field& field, uint64_t* records) {
  const auto* whole = field.node.as_integer();
  if (whole == nullptr || whole->get() < 1)
    return field.Bad("it must be a whole number of at least 1");
  *records = static_cast<uint64_t>(whole->get());
  return Status::Ok();
}

Status ReadRate(const Field& field, OperationMix* mix) {
  RateSchedule rate = RateSchedule::Constant(1);
  Status status = ReadParsed(field, &rate);
  if (status.ok()) mix->rate = rate;
  return status;
}

Status ReadOrdered(const Field& field, bool* ordered) {
  const auto* value = field.node.as_boolean();
  if (value == nullptr) return field.Bad("it must be true or false");
  *ordered = value->get();
  return Status::Ok();
}

Status ReadField(const Field& field, OperationMix* mix) {
  const std::string_view name = field.name;
  if (name == "name") return ReadText(field, &mix->name);
  if (name == "operations") return ReadOperations(field, mix);
  if (name == "keys") return ReadParsed(field, &mix->keys);
  if (name == "scan_length") return ReadParsed(field, &mix->scan_length);
  if (name == "records") return ReadRecords(field, &mix->records);
  if (name == "key_bytes") return ReadParsed(field, &mix->record.key_bytes);
  if (name == "value_bytes") return ReadParsed(field, &mix->record.value_bytes);
  if (name == "ordered") return ReadOrdered(field, &mix->record.ordered);
  if (name == "rate") return ReadRate(field, mix);
  return field.Bad(
      "unknown field; the fields are: name, operations, keys, scan_length, records, key_bytes, "
      "value_bytes, ordered, rate");
}

Result<OperationMix> ReadMix(const toml::table& table, const std::string& path) {
  OperationMix mix;
  for (auto&& [key, node] : table) {
    Status status = ReadField({path, key.str(), node}, &mix);
    if (!status.ok()) return status;
  }
  const std::optional<MixFault> fault = FaultOf(mix);
  if (!fault) {
    const toml::node* const length = table.get("scan_length");
    if (length != nullptr && mix.ShareOf(OperationKind::kScan) == 0)
      return Field{path, "scan_length", *length}.Bad("none of its operations scans");
    return mix;
  }
  // The field itself, or what it lies in, or the workload that lacks it.
  const toml::node* node = table.get(fault->field.substr(0, fault->field.find('.')));
  return Field{path, fault->field, node == nullptr ? table : *node}.Bad(fault->what);
}

Status CheckName(const Field& field, const std::string& name,
                 const std::vector<OperationMix>& before) {
  for (const OperationMix& other : before)
    if (other.name == name) return field.Bad(fmt::format("'{}' is given twice", name));
  if (name == kClearStep || BuiltinMix(name))
    return field.Bad(fmt::format("'{}' is the name of a built-in workload", name));
  return Status::Ok();
}

}  // namespace

bool MixFilesAreSupported() { return true; }

Result<std::vector<OperationMix>> ParseMixFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file) return Status::FromErrno("read " + path, errno);
  text << file.rdbuf();  // an empty file sets the failbit
  if (file.bad() || text.bad()) return Status::FromErrno("read " + path, errno);
  return ParseMixText(text.str(), path);
}

Result<std::vector<OperationMix>> ParseMixText(std::string_view text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  const auto bad = [&path](const toml::node& node, std::string_view what) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}:{}: {}", path, node.source().begin.line, what));
  };
  if (!parsed)
    return Status(Code::kInvalidArgument,
                  fmt::format("{}:{}: {}", path, parsed.error().source().begin.line,
                              parsed.error().description()));
  const toml::table& table = parsed.table();
  for (auto&& [key, node] : table)
    if (key.str() != "workload")
      return bad(node, fmt::format("{}: only [[workload]] is allowed here", key.str()));
  const toml::node* node = table.get("workload");
  if (node == nullptr) return bad(table, "it has no [[workload]]");
  if (!node->is_array_of_tables()) return bad(*node, "a workload must begin with [[workload]]");
  std::vector<OperationMix> mixes;
  for (const toml::node& each : *node->as_array()) {
    auto mix = ReadMix(*each.as_table(), path);
    if (!mix) return mix.error();
    const Field name{path, "name", *each.as_table()->get("name")};
    Status status = CheckName(name, mix->name, mixes);
    if (!status.ok()) return status;
    mixes.push_back(std::move(*mix));
  }
  return mixes;
}

}  // namespace weft::bench

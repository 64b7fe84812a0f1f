#include "pipeline/plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace weft::pipeline {
namespace {

constexpr std::array<std::string_view, kTaskCount> kTaskNames = {
    "RV", "PP", "MM", "IN.search", "IN.insert", "IN.delete", "KC", "RD", "WR", "SD"};

// A task on the left may not stand in a later stage than the one on the right.
constexpr std::array<std::pair<Task, Task>, 9> kOrder = {{
    {Task::kReceive, Task::kParse},
    {Task::kParse, Task::kMemory},
    {Task::kParse, Task::kSearch},
    {Task::kMemory, Task::kInsert},
    {Task::kSearch, Task::kCompare},
    {Task::kCompare, Task::kRead},
    {Task::kRead, Task::kWrite},
    {Task::kInsert, Task::kWrite},  // a store is acknowledged after it took effect
    {Task::kDelete, Task::kWrite},
}};

// Sockets and the object log belong to the host.
constexpr std::array<Task, 5> kCpuOnly = {Task::kReceive, Task::kParse, Task::kMemory, Task::kWrite,
                                          Task::kSend};

std::optional<Task> TaskOfName(std::string_view name) {
  const auto at = std::find(kTaskNames.begin(), kTaskNames.end(), name);
  if (at == kTaskNames.end()) return std::nullopt;
  return static_cast<Task>(at - kTaskNames.begin());
}

void SkipBlanks(std::string_view* text) {
  while (!text->empty() && text->front() == ' ') text->remove_prefix(1);
}

bool Skip(std::string_view* text, std::string_view token) {
  SkipBlanks(text);
  if (!text->starts_with(token)) return false;
  text->remove_prefix(token.size());
  return true;
}

std::string_view TakeWord(std::string_view* text) {
  SkipBlanks(text);
  const std::string_view word = text->substr(0, text->find_first_of(" ]-\xe2"));
  text->remove_prefix(word.size());
  return word;
}

Result<Stage> ParseStage(std::string_view* text) {
  Stage stage;
  if (!Skip(text, "[")) return InvalidPlan("a stage must begin with '['");
  while (!Skip(text, "]")) {
    const std::string_view word = TakeWord(text);
    if (word.empty()) return InvalidPlan("a stage must end with ']'");
    const std::optional<Task> task = TaskOfName(word);
    if (!task) return InvalidPlan("unknown task '" + std::string(word) + "'");
    stage.tasks.push_back(*task);
  }
  stage.processor = TakeWord(text);
  if (stage.processor.empty()) return InvalidPlan("a processor's name must follow ']'");
  return stage;
}

}  // namespace

std::string_view TaskName(Task task) { return kTaskNames[static_cast<size_t>(task)]; }

bool Stage::Has(Task task) const {
  return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

Plan Plan::OneStageCpu() {
  Plan plan;
  Stage stage;
  for (uint32_t i = 0; i < kTaskCount; i++) stage.tasks.push_back(static_cast<Task>(i));
  stage.processor = "cpu";
  plan.stages_.push_back(std::move(stage));
  return plan;
}

Result<Plan> Plan::Parse(std::string_view text) {
  Plan plan;
  do {
    Result<Stage> stage = ParseStage(&text);
    if (!stage) return stage.error();
    plan.stages_.push_back(std::move(*stage));
  } while (Skip(&text, "→") || Skip(&text, "->"));
  SkipBlanks(&text);
  if (!text.empty()) return InvalidPlan("'" + std::string(text) + "' follows the last stage");
  if (Status status = plan.Check(); !status.ok()) return status;
  return plan;
}

size_t Plan::StageOf(Task task) const {
  return static_cast<size_t>(std::find_if(stages_.begin(), stages_.end(),
                                          [task](const Stage& stage) { return stage.Has(task); }) -
                             stages_.begin());
}

Status Plan::Check() const {
  for (uint32_t i = 0; i < kTaskCount; i++) {
    const Task task = static_cast<Task>(i);
    ptrdiff_t count = 0;
    for (const Stage& stage : stages_)
      count += std::count(stage.tasks.begin(), stage.tasks.end(), task);
    if (count != 1) {
      return InvalidPlan(std::string(TaskName(task)) +
                         (count == 0 ? " is in no stage" : " is in more than one place"));
    }
  }
  for (const auto& [earlier, later] : kOrder) {
    if (StageOf(earlier) > StageOf(later))
      return InvalidPlan(std::string(TaskName(later)) + " needs " + std::string(TaskName(earlier)) +
                         " in its own stage or an earlier one");
  }
  if (StageOf(Task::kReceive) != 0 || StageOf(Task::kSend) + 1 != stages_.size())
    return InvalidPlan("RV must be in the first stage and SD in the last");
  for (const Task task : kCpuOnly) {
    if (stages_[StageOf(task)].processor != "cpu")
      return InvalidPlan(std::string(TaskName(task)) + " runs only on the cpu");
  }
  return Status::Ok();
}

std::string Plan::ToText() const {
  std::string text;
  for (const Stage& stage : stages_) {
    if (!text.empty()) text += " → ";
    text += '[';
    for (size_t i = 0; i < stage.tasks.size(); i++) {
      if (i != 0) text += ' ';
      text += TaskName(stage.tasks[i]);
    }
    text += ']';
    text += stage.processor;
  }
  return text;
}

}  // namespace weft::pipeline

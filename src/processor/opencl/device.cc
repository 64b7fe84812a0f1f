#include "processor/opencl/device.h"

#include <algorithm>
#include <string_view>

#include "processor/opencl/shared_pages.h"
#include "task/query_job.h"

namespace weft::processor::opencl {
namespace {

// A property of fixed size; what the driver does not know is 0.
template <typename T>
T Get(cl_device_id device, cl_device_info property) {
  T value{};
  if (clGetDeviceInfo(device, property, sizeof value, &value, nullptr) != CL_SUCCESS) return T{};
  return value;
}

template <typename T>
std::vector<T> GetList(cl_device_id device, cl_device_info property) {
  size_t bytes = 0;
  if (clGetDeviceInfo(device, property, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::vector<T> list(bytes / sizeof(T));
  if (clGetDeviceInfo(device, property, bytes, list.data(), nullptr) != CL_SUCCESS) return {};
  return list;
}

std::string GetText(cl_device_id device, cl_device_info property) {
  const std::vector<char> text = GetList<char>(device, property);
  return text.empty() ? "" : std::string(text.data());  // it ends in 0
}

bool HasWord(std::string_view text, std::string_view word) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; at += word.size()) {
    const size_t end = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') && (end == text.size() || text[end] == ' ')) return true;
  }
  return false;
}

DeviceType TypeOf(cl_device_id device) {
  const auto type = Get<cl_device_type>(device, CL_DEVICE_TYPE);
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceType::kGpu;
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceType::kCpu : DeviceType::kOther;
}

Facts AskFacts(cl_device_id id) {
  Facts facts;
  facts.is_available = Get<cl_bool>(id, CL_DEVICE_AVAILABLE) != CL_FALSE;
  facts.has_compiler = Get<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE) != CL_FALSE;
  facts.is_little_endian = Get<cl_bool>(id, CL_DEVICE_ENDIAN_LITTLE) != CL_FALSE;
  facts.is_cpu = TypeOf(id) == DeviceType::kCpu;
  facts.address_bits = Get<cl_uint>(id, CL_DEVICE_ADDRESS_BITS);
  facts.group_items_max = Get<size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  facts.shared_memory = Get<cl_device_svm_capabilities>(id, CL_DEVICE_SVM_CAPABILITIES);
  facts.extensions = GetText(id, CL_DEVICE_EXTENSIONS);
  facts.language = GetText(id, CL_DEVICE_OPENCL_C_VERSION);
  // Drivers before OpenCL 3.0 know neither question.
  for (const auto& entry : GetList<cl_name_version>(id, CL_DEVICE_OPENCL_C_ALL_VERSIONS))
    facts.language_majors.insert(CL_VERSION_MAJOR(entry.version));
  for (const auto& entry : GetList<cl_name_version>(id, CL_DEVICE_OPENCL_C_FEATURES))
    facts.features.insert(entry.name);
  return facts;
}

Device Describe(cl_device_id id, size_t number) {
  Device device;
  device.id = id;
  const Facts facts = AskFacts(id);
  device.build_options = BuildOptions(facts);
  device.info.type = TypeOf(id);
  device.info.unusable = Lack(facts);
  Description& description = device.info.description;
  description.name = "opencl:" + std::to_string(number);
  description.hardware = GetText(id, CL_DEVICE_NAME) + " (" + GetText(id, CL_DEVICE_VERSION) + ")";
  description.memory = MemoryModel::kCoupled;
  description.memory_bytes = Get<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  const auto allocation_bytes = Get<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  description.allocation_bytes_max =
      allocation_bytes - std::min<cl_ulong>(allocation_bytes, kPageAlignment);
  description.units = Get<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS);
  description.tasks = kRunSearch | kRunCompare | kRunRead | kRunInsert | kRunDelete;
  description.steals = true;
  return device;
}

std::string MemoryLack(cl_device_svm_capabilities shared) {
  if ((shared & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) == 0) {
    return (shared & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0
               ? "no fine-grained shared virtual memory (only coarse-grained)"
               : "no shared virtual memory";
  }
  if ((shared & CL_DEVICE_SVM_ATOMICS) == 0) return "no atomics in shared virtual memory";
  return "";
}

}  // namespace

std::string BuildOptions(const Facts& facts) {
  const auto has = [&facts](const char* feature) { return facts.features.contains(feature); };
  const bool has_order = facts.language_majors.contains(3) &&
                         has("__opencl_c_atomic_order_acq_rel") &&
                         has("__opencl_c_atomic_order_seq_cst");
  if (has_order && has("__opencl_c_atomic_scope_all_devices")) return "-cl-std=CL3.0";
  // Version 2.0 has them all.
  if (facts.language_majors.contains(2) || facts.language.starts_with("OpenCL C 2."))
    return "-cl-std=CL2.0";
  // A processor that is the host's own needs no wider scope than itself.
  if (has_order && facts.is_cpu && has("__opencl_c_atomic_scope_device"))
    return "-cl-std=CL3.0 -DWEFT_DEVICE_SCOPE";
  return "";
}

std::string Lack(const Facts& facts) {
  if (!facts.is_available) return "the device is not available";
  if (!facts.has_compiler) return "no compiler";
  if (!facts.is_little_endian) return "the device is big-endian";
  if (facts.address_bits != 64) return "its addresses do not have 64 bits";
  if (std::string lack = MemoryLack(facts.shared_memory); !lack.empty()) return lack;
  if (!HasWord(facts.extensions, "cl_khr_int64_base_atomics") ||
      !HasWord(facts.extensions, "cl_khr_int64_extended_atomics"))
    return "no 64-bit atomics";
  if (BuildOptions(facts).empty())
    return "its OpenCL C has no sequentially consistent atomics shared with the host";
  if (facts.group_items_max < kSetQueries)
    return "work groups of fewer than " + std::to_string(kSetQueries) + " items";
  return "";
}

std::vector<Device> FindDevices() {
  cl_uint count = 0;
  // Without any driver the loader answers with an error, which means the same.
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_platform_id> platforms(count);
  if (clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return {};
  std::vector<Device> found;
  for (const cl_platform_id platform : platforms) {
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> ids(count);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) != CL_SUCCESS)
      continue;
    for (const cl_device_id id : ids) found.push_back(Describe(id, found.size()));
  }
  return found;
}

}  // namespace weft::processor::opencl

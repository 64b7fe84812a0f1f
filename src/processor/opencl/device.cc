#include "processor/opencl/device.h"

#include <algorithm>
#include <cstring>
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

bool HasName(const std::vector<cl_name_version>& names, const char* name) {
  return std::ranges::any_of(
      names, [name](const cl_name_version& entry) { return std::strcmp(entry.name, name) == 0; });
}

bool HasMajor(const std::vector<cl_name_version>& versions, uint32_t major) {
  return std::ranges::any_of(versions, [major](const cl_name_version& entry) {
    return CL_VERSION_MAJOR(entry.version) == major;
  });
}

// Which language its compiler is to take the tasks for (task/portable.h); empty: it has none with
// the atomics they need.
std::string BuildOptions(cl_device_id device) {
  const auto versions = GetList<cl_name_version>(device, CL_DEVICE_OPENCL_C_ALL_VERSIONS);
  const auto features = GetList<cl_name_version>(device, CL_DEVICE_OPENCL_C_FEATURES);
  const bool has_order = HasMajor(versions, 3) &&
                         HasName(features, "__opencl_c_atomic_order_acq_rel") &&
                         HasName(features, "__opencl_c_atomic_order_seq_cst");
  if (has_order && HasName(features, "__opencl_c_atomic_scope_all_devices")) return "-cl-std=CL3.0";
  // Version 2.0 has them all; drivers before 3.0 answer none of the questions above.
  if (HasMajor(versions, 2) ||
      GetText(device, CL_DEVICE_OPENCL_C_VERSION).starts_with("OpenCL C 2."))
    return "-cl-std=CL2.0";
  // A processor that is the host's own needs no wider scope than itself.
  const bool is_cpu = (Get<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  if (has_order && is_cpu && HasName(features, "__opencl_c_atomic_scope_device"))
    return "-cl-std=CL3.0 -DWEFT_DEVICE_SCOPE";
  return "";
}

std::string MemoryLack(cl_device_id device) {
  const auto shared = Get<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES);
  if ((shared & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) == 0) {
    return (shared & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0
               ? "no fine-grained shared virtual memory (coarse-grained alone)"
               : "no shared virtual memory";
  }
  if ((shared & CL_DEVICE_SVM_ATOMICS) == 0) return "no atomics in shared virtual memory";
  return "";
}

// Why the device cannot run Weft; empty: nothing speaks against it.
std::string Lack(const Device& device) {
  const cl_device_id id = device.id;
  if (Get<cl_bool>(id, CL_DEVICE_AVAILABLE) == CL_FALSE) return "it is not available";
  if (Get<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) return "no compiler";
  if (Get<cl_bool>(id, CL_DEVICE_ENDIAN_LITTLE) == CL_FALSE) return "it is big-endian";
  if (Get<cl_uint>(id, CL_DEVICE_ADDRESS_BITS) != 64) return "its addresses are not of 64 bits";
  if (std::string lack = MemoryLack(id); !lack.empty()) return lack;
  const std::string extensions = GetText(id, CL_DEVICE_EXTENSIONS);
  if (!HasWord(extensions, "cl_khr_int64_base_atomics") ||
      !HasWord(extensions, "cl_khr_int64_extended_atomics"))
    return "no 64-bit atomics";
  if (device.build_options.empty())
    return "its OpenCL C has no sequentially consistent atomics shared with the host";
  if (Get<size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE) < kSetQueries)
    return "work groups of fewer than " + std::to_string(kSetQueries) + " items";
  return "";
}

DeviceType TypeOf(cl_device_id device) {
  const auto type = Get<cl_device_type>(device, CL_DEVICE_TYPE);
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceType::kGpu;
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceType::kCpu : DeviceType::kOther;
}

Device Describe(cl_device_id id, size_t number) {
  Device device;
  device.id = id;
  device.build_options = BuildOptions(id);
  device.info.type = TypeOf(id);
  device.info.unusable = Lack(device);
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

}  // namespace

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

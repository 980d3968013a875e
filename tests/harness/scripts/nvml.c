/* A stand-in for NVIDIA's management library on a machine without a GPU. What it says stands in the environment. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned int gpu, memory; } utilisation_t;

static char devices[8];

static double setting(const char *name, double otherwise) {
    const char *text = getenv(name);
    return text ? atof(text) : otherwise;
}

int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int *count) { *count = (unsigned int)setting("NVML_GPUS", 1); return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device) { *device = devices + index; return 0; }
int nvmlDeviceGetName(void *device, char *name, unsigned int length) { strncpy(name, "NVIDIA RTX 4090", length); return 0; }
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int length) {
    strncpy(uuid, "GPU-0a0a0000-1111-2222-3333-444444444444", length);
    uuid[4] = (char)('0' + ((char *)device - devices));
    return 0;
}
int nvmlDeviceGetMemoryInfo(void *device, memory_t *memory) {
    memory->total = 24ULL << 30; memory->used = 1ULL << 30; memory->free = memory->total - memory->used;
    return 0;
}
int nvmlDeviceGetUtilizationRates(void *device, utilisation_t *use) {
    use->gpu = 50 + 10 * (unsigned int)((char *)device - devices); use->memory = 10;
    return 0;
}
int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts) {
    double watts = setting("NVML_WATTS", 100);
    if (watts < 0) return 3; /* NVML_ERROR_NOT_SUPPORTED */
    *milliwatts = (unsigned int)(1000 * watts);
    return 0;
}
#ifndef WITHOUT_COUNTER
/* Of GPU n, n + 1 kilowatts for as long as the machine runs. */
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules) {
    struct timespec now;
    if (setting("NVML_COUNTER", 1) == 0) return 3;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *millijoules = (unsigned long long)((1 + ((char *)device - devices)) * 1e6 * (now.tv_sec + now.tv_nsec / 1e9));
    return 0;
}
#endif
int nvmlSystemGetDriverVersion(char *text, unsigned int length) { strncpy(text, "560.1", length); return 0; }
int nvmlSystemGetCudaDriverVersion_v2(int *number) { *number = 12060; return 0; }

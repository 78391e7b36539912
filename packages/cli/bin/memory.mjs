/**
 * Settings of glibc's allocator for a long-running server. By default, glibc has one arena per thread and returns only
 * large free blocks, so tens of megabytes would stay allocated after a burst of work. Other C libraries ignore these
 * variables.
 */
export const memorySettings = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '1048576',
  MALLOC_MMAP_THRESHOLD_: '1048576',
};

/**
 * How the C library hands out memory, for a server that lives long: with a heap for each thread, and nothing given back
 * before it is large, it would keep tens of megabytes after a burst of work. Other libraries do not read these.
 */
export const memorySettings = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '1048576',
  MALLOC_MMAP_THRESHOLD_: '1048576',
};

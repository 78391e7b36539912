/**
 * Returns a function that makes glibc release free memory to the system. By default glibc releases only the free memory
 * at the end of its heap: after ten thousand writes, fifty megabytes of free memory lie between blocks that are in use.
 * Other C libraries keep less and have no such call.
 */
export function createMemoryReleaser(): () => void {
  let free: (() => void) | undefined;
  return () => {
    free ??= glibcTrimmer() ?? (() => {});
    free();
  };
}

function glibcTrimmer(): (() => void) | undefined {
  if (process.platform !== 'linux') return undefined;
  const foreign = withoutWarnings(() => process.getBuiltinModule('node:ffi'));
  // Older versions of Node.js have no FFI.
  if (!foreign) return undefined;
  try {
    const signature = { arguments: ['u64'], return: 'i32' } as const;
    const { functions } = foreign.dlopen(null, { malloc_trim: signature });
    return () => void functions.malloc_trim(0n);
  } catch {
    // The C library is not glibc, or the call is not permitted.
    return undefined;
  }
}

/**
 * Loads a module without its experimental warning. Users of a cluster need no such warning, because the module is
 * optional.
 */
function withoutWarnings<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

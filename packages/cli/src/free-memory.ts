/**
 * Has the C library give back what it holds for nobody. By itself glibc gives back only what is free at the end of its
 * heap: after ten thousand writes fifty megabytes lie between what is still in use. Other libraries do not keep so much,
 * and have nothing to be asked.
 */
export function memoryFreer(): () => void {
  let free: (() => void) | undefined;
  return () => {
    free ??= glibcTrimmer() ?? (() => {});
    free();
  };
}

function glibcTrimmer(): (() => void) | undefined {
  if (process.platform !== 'linux') return undefined;
  const foreign = quietly(() => process.getBuiltinModule('node:ffi'));
  // Older versions of Node have none.
  if (!foreign) return undefined;
  try {
    const signature = { arguments: ['u64'], return: 'i32' } as const;
    const { functions } = foreign.dlopen(null, { malloc_trim: signature });
    return () => void functions.malloc_trim(0n);
  } catch {
    // Not glibc, or no leave to call it.
    return undefined;
  }
}

/** Node warns that what is loaded here is an experiment. Whoever starts a cluster need not know: it can do without. */
function quietly<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

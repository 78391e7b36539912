/** Mutants of disks, which lose or restore writes. */
import { createDisk, type Disk, type DiskOptions, type StoredVersion } from '../disk.ts';

/** Acknowledges a write immediately, and syncs it half a second later. */
export function earlyAcknowledgingDisk(options: DiskOptions) {
  return createDisk({ ...options, syncMs: () => 500, acknowledgesEarly: true });
}

/** Loses the last write whenever it is opened again. */
export function lossyDisk(options: DiskOptions) {
  return createDisk({ ...options, onOpen: (saved) => void saved.delete(Math.max(...saved.keys())) });
}

/** Restores the last deleted Pod whenever it is opened again. */
export function restoringDisk(options: DiskOptions) {
  const revive = (saved: Map<number, StoredVersion>) => {
    const versions = [...saved.values()];
    const last = versions.findLast(({ deleted, key }) => deleted && key.includes('/pods/'));
    const before = versions.findLast(({ key, revision }) => key === last?.key && revision < last.revision);
    if (last && before) saved.set(last.revision, { ...before, revision: last.revision });
  };
  return createDisk({ ...options, onOpen: revive });
}

/** Answers every update with a conflict: the server re-reads and retries endlessly. */
export function conflictingDisk(options: DiskOptions): Disk {
  const disk = createDisk(options);
  return {
    open(life) {
      const store = disk.open(life);
      return {
        ...store,
        async write(request) {
          if (request.expected === 0 || 'delete' in request) return store.write(request);
          const { entry, revision } = await store.get(request.key);
          return { ok: false, revision, ...(entry ? { current: entry } : {}) };
        },
      };
    },
  };
}

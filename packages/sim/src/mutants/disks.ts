/** Disks that lose what they were trusted with. */
import { createDisk, type DiskOptions, type KeptVersion } from '../disk.ts';

/** Says that a write is safe as soon as it hears of it. */
export function hastyDisk(options: DiskOptions) {
  return createDisk({ ...options, isHasty: true });
}

/** Loses its last write whenever it is opened again. */
export function forgetfulDisk(options: DiskOptions) {
  return createDisk({ ...options, onOpen: (saved) => void saved.delete(Math.max(...saved.keys())) });
}

/** Brings back what was deleted last whenever it is opened again. */
export function revivingDisk(options: DiskOptions) {
  const revive = (saved: Map<number, KeptVersion>) => {
    const last = [...saved.values()].findLast(({ deleted, key }) => deleted && key.includes('/pods/'));
    if (last) saved.delete(last.revision);
  };
  return createDisk({ ...options, onOpen: revive });
}

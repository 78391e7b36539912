/** Removal of Pod cgroups: the runtime creates them as parents of its containers' cgroups, and leaves them behind. */
import { existsSync } from 'node:fs';
import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';

const qosTiers = ['', 'burstable', 'besteffort'];

/** Returns the mount points of the cgroup hierarchies. */
export function cgroupMounts(mountInfo: string): readonly string[] {
  return mountInfo.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ', 2);
    return /^cgroup2? /.test(after) ? [before.split(' ')[4] ?? ''] : [];
  });
}

/** Returns the UID of the Pod that a cgroup of the cgroupfs driver belongs to. */
export function podUidOf(name: string): string | undefined {
  return /^pod([0-9a-f-]{8,})$/.exec(name)?.[1];
}

/**
 * Removes the empty cgroups of Pods that are not known any more. The kernel refuses to remove a cgroup with processes,
 * so that the worst mistake is a cgroup that stays.
 */
export async function removePodCgroups(
  mounts: readonly string[],
  root: string,
  isKnown: (uid: string) => boolean,
): Promise<void> {
  for (const mount of mounts) {
    for (const tier of qosTiers) {
      const folder = join(mount, root, 'kubepods', tier);
      if (!existsSync(folder)) continue;
      for (const name of await readdir(folder)) {
        const uid = podUidOf(name);
        if (uid !== undefined && !isKnown(uid)) await removeCgroup(join(folder, name));
      }
    }
  }
}

/** Removes a cgroup and those below it, unless processes are in it. */
export async function removeCgroup(path: string): Promise<void> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    for (const entry of entries) if (entry.isDirectory()) await removeCgroup(join(path, entry.name));
    await rmdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Processes are still ending in it, or the runtime has removed it meanwhile.
    if (code !== 'EBUSY' && code !== 'ENOENT') throw error;
  }
}

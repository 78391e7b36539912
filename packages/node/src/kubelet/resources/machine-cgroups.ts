/** Cgroups of the machine that the kubelet runs on. */
import { existsSync, readFileSync } from 'node:fs';
import type { Clock } from '@kruise/values/clock';
import { machineCgroupFiles } from './cgroup-files.ts';
import { type Cgroups, createCgroups, hierarchiesOf } from './cgroup-hierarchies.ts';

const machineHierarchies = () => hierarchiesOf(readFileSync('/proc/self/mountinfo', 'utf8'));

/** Returns the cgroups of this machine. */
export function machineCgroups(clock: Clock): Cgroups {
  return createCgroups(clock, machineCgroupFiles, machineHierarchies());
}

/** Reports whether the kernel accounts swap by cgroup. */
export function hasSwapAccounting(): boolean {
  const { isUnified, mounts } = machineHierarchies();
  const mount = isUnified ? mounts[0] : mounts.find(({ controllers }) => controllers.includes('memory'));
  if (!mount) return false;
  if (!isUnified) return existsSync(`${mount.path}/memory.memsw.limit_in_bytes`);
  // The root cgroup has no limits.
  const [, own = '/'] = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
  return existsSync(`${mount.path}${own}/memory.swap.max`);
}

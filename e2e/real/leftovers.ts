/** Leftovers of real nodes on a machine: mounts, cgroups, processes and directories. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Places of a real node, which it records in its data directory. */
export type NodePlaces = { readonly data: string; readonly cgroupRoot: string; readonly run: string };

/** Returns the places of the node of a data directory. */
export function placesOf(data: string): NodePlaces {
  return { ...JSON.parse(readFileSync(join(data, 'node', 'runtime.json'), 'utf8')), data };
}

/** Returns the mounts, cgroups, network namespaces and processes that belong to a node. */
export function leftoversOf({ data, cgroupRoot, run }: NodePlaces): readonly string[] {
  const mountInfo = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const mounts = mountInfo
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => point.startsWith(`${data}/`) || point.startsWith(`${run}/`));
  const cgroups = mountInfo
    .filter((line) => / - cgroup2? /.test(line))
    .map((line) => join(line.split(' ')[4] ?? '', cgroupRoot))
    .filter(existsSync);
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => commandOf(pid))
    .filter((command) => command.includes(`${data}/`));
  return [...mounts, ...cgroups, ...processes, ...(existsSync(run) ? [run] : [])];
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // The process has ended.
    return '';
  }
}

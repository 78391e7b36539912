/**
 * Cgroups of the machine under either version: cgroup v1 has a hierarchy for each controller, so that one cgroup is a
 * directory in each of them; cgroup v2 has one hierarchy for all.
 */
import { after, type Clock } from '@kruise/values/clock';
import type { CgroupFiles } from './cgroup-files.ts';
import { type CgroupLimits, limitFilesV1, limitFilesV2, parseLimit } from './cgroup-limits.ts';

/** A mounted cgroup hierarchy. */
export type CgroupMount = {
  readonly path: string;
  /** Controllers of cgroup v1; empty for the hierarchies of cgroup v2 and of systemd. */
  readonly controllers: readonly string[];
};

/** The mounted hierarchies. A machine with any controller under cgroup v1 uses cgroup v1. */
export type CgroupHierarchies = {
  readonly isUnified: boolean;
  readonly mounts: readonly CgroupMount[];
};

/** Cgroups of the machine, by their path below the root. */
export type Cgroups = {
  exists(path: string): Promise<boolean>;
  /** Creates a cgroup and its parents. */
  create(path: string): Promise<void>;
  /** Writes the limits of a cgroup. */
  setLimits(path: string, limits: CgroupLimits): Promise<void>;
  /** Returns the CPU quota, the memory limit and the process limit of a cgroup. */
  readLimits(path: string): Promise<CgroupLimits>;
  /** Returns the names of the cgroups in a cgroup. */
  children(path: string): Promise<readonly string[]>;
  /** Kills the processes in a cgroup and below, and removes it. Throws if the processes do not end. */
  remove(path: string): Promise<void>;
  /** Removes a cgroup and those below that have no processes. */
  removeEmpty(path: string): Promise<void>;
};

const knownControllers = new Set([
  'blkio',
  'cpu',
  'cpuacct',
  'cpuset',
  'devices',
  'freezer',
  'hugetlb',
  'memory',
  'pids',
]);

/** Finds the hierarchies in the mount table `/proc/self/mountinfo`. */
export function hierarchiesOf(mountInfo: string): CgroupHierarchies {
  const mounts: CgroupMount[] = [];
  let hasControllers = false;
  const seen = new Set<string>();
  for (const line of mountInfo.split('\n')) {
    const [before = '', filesystem = ''] = line.split(' - ', 2);
    const [type = '', , options = ''] = filesystem.split(' ');
    if (type !== 'cgroup' && type !== 'cgroup2') continue;
    const controllers = type === 'cgroup' ? options.split(',').filter((each) => knownControllers.has(each)) : [];
    // A container's view of a hierarchy is a further mount of the same; the first one is the machine's.
    const key = `${type} ${type === 'cgroup' ? options : ''}`;
    if (seen.has(key)) continue;
    seen.add(key);
    hasControllers ||= controllers.length > 0;
    mounts.push({ path: before.split(' ')[4] ?? '', controllers });
  }
  return { isUnified: !hasControllers, mounts };
}

/** Controllers that Pods need in cgroup v2. */
const unifiedControllers = ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids'];
const maxRemovals = 20;
const removalRetryMs = 100;

/** Returns the cgroups of the machine. */
export function createCgroups(clock: Clock, files: CgroupFiles, { isUnified, mounts }: CgroupHierarchies): Cgroups {
  const used = isUnified ? mounts.slice(0, 1) : mounts.filter(({ controllers }) => controllers.length > 0);

  async function createIn({ path: mount, controllers }: CgroupMount, path: string): Promise<void> {
    let parent = mount;
    for (const name of partsOf(path)) {
      const at = `${parent}/${name}`;
      if (isUnified) await enableControllers(parent);
      await files.makeDirectory(at);
      if (controllers.includes('cpuset')) await inheritCpuset(parent, at);
      parent = at;
    }
  }

  /** A new cgroup of the cpuset controller of cgroup v1 has no CPUs, and no process can enter it. */
  async function inheritCpuset(parent: string, child: string): Promise<void> {
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const value = (await files.read(`${parent}/${file}`))?.trim();
      if (value && (await files.read(`${child}/${file}`))?.trim() === '') await files.write(`${child}/${file}`, value);
    }
  }

  async function enableControllers(path: string): Promise<void> {
    const namesIn = async (file: string) => (await files.read(`${path}/${file}`))?.trim().split(' ') ?? [];
    const available = await namesIn('cgroup.controllers');
    const enabled = await namesIn('cgroup.subtree_control');
    const missing = unifiedControllers.filter((each) => available.includes(each) && !enabled.includes(each));
    if (missing.length === 0) return;
    await files.write(`${path}/cgroup.subtree_control`, missing.map((each) => `+${each}`).join(' '));
  }

  const mountOf = (controller: string) =>
    isUnified ? mounts[0] : mounts.find(({ controllers }) => controllers.includes(controller));

  async function killAll(path: string): Promise<void> {
    for (const name of await files.directories(path)) await killAll(`${path}/${name}`);
    for (const line of ((await files.read(`${path}/cgroup.procs`)) ?? '').split('\n')) {
      const pid = Number(line);
      // Processes of another PID namespace are shown as 0.
      if (pid > 0) files.kill(pid);
    }
  }

  async function removeTree(path: string): Promise<boolean> {
    for (const name of await files.directories(path)) await removeTree(`${path}/${name}`);
    return files.removeDirectory(path);
  }

  async function removeEverywhere(path: string): Promise<boolean> {
    let isRemoved = true;
    for (const mount of mounts) isRemoved = (await removeTree(`${mount.path}${path}`)) && isRemoved;
    return isRemoved;
  }

  return {
    async exists(path) {
      for (const { path: mount } of used) if (!(await files.exists(`${mount}${path}`))) return false;
      return true;
    },
    async create(path) {
      for (const mount of used) await createIn(mount, path);
    },
    async setLimits(path, limits) {
      for (const { controller, file, content } of isUnified ? limitFilesV2(limits) : limitFilesV1(limits)) {
        const mount = mountOf(controller);
        const at = mount && `${mount.path}${path}/${file}`;
        if (at !== undefined && (await files.exists(at))) {
          await files.write(at, content);
          continue;
        }
        // A kernel without huge pages has nothing to limit; a missing quota or process limit only matters if there is one.
        if (controller === 'hugetlb' || content.startsWith('-1') || content.startsWith('max')) continue;
        throw new Error(`the cgroup controller ${controller} has no file ${file} in ${path}`);
      }
    },
    async readLimits(path) {
      const read = async (controller: string, file: string) => {
        const content = await files.read(`${mountOf(controller)?.path}${path}/${file}`);
        return content === undefined ? undefined : parseLimit(content);
      };
      const quota = await read('cpu', isUnified ? 'cpu.max' : 'cpu.cfs_quota_us');
      const memory = await read('memory', isUnified ? 'memory.max' : 'memory.limit_in_bytes');
      const pids = await read('pids', 'pids.max');
      return {
        ...(quota === undefined ? {} : { cpuQuotaMicroseconds: quota }),
        ...(memory === undefined ? {} : { memoryBytes: memory }),
        ...(pids === undefined ? {} : { pids }),
      };
    },
    children: async (path) => {
      const found = new Set<string>();
      for (const mount of mounts) for (const name of await files.directories(`${mount.path}${path}`)) found.add(name);
      return [...found];
    },
    async remove(path) {
      for (let attempt = 0; attempt < maxRemovals; attempt++) {
        for (const mount of mounts) await killAll(`${mount.path}${path}`);
        if (await removeEverywhere(path)) return;
        await after(clock, removalRetryMs);
      }
      throw new Error(`the processes in the cgroup ${path} do not end`);
    },
    async removeEmpty(path) {
      await removeEverywhere(path);
    },
  };
}

function partsOf(path: string): readonly string[] {
  return path.split('/').filter((each) => each !== '');
}

/** Capacity, resource usage and system information of the machine that the kubelet runs on. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { arch, availableParallelism, networkInterfaces, release, totalmem } from 'node:os';
import type { NodeSystemInfo } from '@kruise/api/core/node';
import type { ResourceList } from '@kruise/machinery/resource-list';
import type { DnsConfig } from '../../cri/messages.ts';
import type { Observations } from '../eviction/eviction.ts';

/** Returns the machine's capacity. */
export async function machineCapacity(rootDirectory: string, maxPods: number): Promise<ResourceList> {
  const { blocks, bsize } = await statfs(nearestExistingDirectory(rootDirectory));
  return {
    cpu: String(availableParallelism()),
    memory: `${Math.floor(totalmem() / 1024)}Ki`,
    'ephemeral-storage': `${Math.floor((blocks * bsize) / 1024)}Ki`,
    pods: String(maxPods),
    ...hugePageCapacity(),
  };
}

const hugePageDirectory = '/sys/kernel/mm/hugepages';

/** Returns the huge pages of the machine by resource name. */
function hugePageCapacity(): ResourceList {
  if (!existsSync(hugePageDirectory)) return {};
  return Object.fromEntries(
    readdirSync(hugePageDirectory).map((name) => {
      const kibibytes = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]);
      const pages = Number(readFileOrEmpty(`${hugePageDirectory}/${name}/nr_hugepages`));
      return [`hugepages-${binaryOf(kibibytes)}`, binaryOf(pages * kibibytes)];
    }),
  );
}

/** Writes an amount in the largest unit that divides it. */
function binaryOf(kibibytes: number): string {
  if (kibibytes === 0) return '0';
  const units = ['Ki', 'Mi', 'Gi', 'Ti'];
  let [amount, unit] = [kibibytes, 0];
  while (amount % 1024 === 0 && unit < units.length - 1) [amount, unit] = [amount / 1024, unit + 1];
  return `${amount}${units[unit]}`;
}

/** Returns how many processes the machine can have. */
export function machinePids(): number {
  const limits = ['/proc/sys/kernel/pid_max', '/proc/sys/kernel/threads-max'].map((path) =>
    Number(readFileOrEmpty(path)),
  );
  return Math.min(...limits.filter((limit) => limit > 0));
}

/** Returns the swap space of the machine in bytes. */
export function machineSwap(): number {
  const [, kibibytes = '0'] = /^SwapTotal:\s+(\d+) kB$/m.exec(readFileOrEmpty('/proc/meminfo')) ?? [];
  return Number(kibibytes) * 1024;
}

/** Returns the machine's available resources. */
export async function machineObservations(rootDirectory: string): Promise<Observations> {
  const { blocks, bavail, bsize, files, ffree } = await statfs(nearestExistingDirectory(rootDirectory));
  return {
    'memory.available': { available: availableMemory(), capacity: totalmem() },
    'nodefs.available': { available: bavail * bsize, capacity: blocks * bsize },
    ...(files > 0 ? { 'nodefs.inodesFree': { available: ffree, capacity: files } } : {}),
  };
}

/** Memory available without swapping; more than free memory, because the kernel can reclaim caches. */
function availableMemory(): number {
  const [, kibibytes] = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileOrEmpty('/proc/meminfo')) ?? [];
  return kibibytes === undefined ? totalmem() : Number(kibibytes) * 1024;
}

const architectures: { readonly [name: string]: string } = { x64: 'amd64', ia32: '386' };

/** Returns the system information of the machine. */
export function machineInfo(): Partial<NodeSystemInfo> {
  const [, osImage = 'Linux'] = /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(readFileOrEmpty('/etc/os-release')) ?? [];
  return {
    machineID: readFileOrEmpty('/etc/machine-id').trim(),
    systemUUID: readFileOrEmpty('/sys/class/dmi/id/product_uuid').trim(),
    bootID: readFileOrEmpty('/proc/sys/kernel/random/boot_id').trim(),
    kernelVersion: release(),
    osImage,
    operatingSystem: 'linux',
    architecture: architectures[arch()] ?? arch(),
  };
}

/** Returns the first IPv4 address that is not a loopback address. */
export function machineAddress(): string | undefined {
  for (const addresses of Object.values(networkInterfaces())) {
    const found = addresses?.find(({ family, internal }) => family === 'IPv4' && !internal);
    if (found) return found.address;
  }
  return undefined;
}

/** Reports whether the kernel uses the unified cgroup hierarchy (cgroup v2). */
export function hasUnifiedCgroups(): boolean {
  return existsSync('/sys/fs/cgroup/cgroup.controllers');
}

/** Returns the DNS configuration of the machine. */
export function machineDns(path = '/etc/resolv.conf'): Required<DnsConfig> {
  const lines = readFileOrEmpty(path)
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const valuesOf = (keyword: string) => lines.filter(([first]) => first === keyword).map(([, ...rest]) => rest);
  return {
    servers: valuesOf('nameserver').flatMap(([address]) => address ?? []),
    // Only the last of several search lines takes effect.
    searches: valuesOf('search').at(-1) ?? [],
    options: valuesOf('options').flat(),
  };
}

function readFileOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The file does not exist on every machine, or is not readable by every user.
    if (code === 'ENOENT' || code === 'EACCES') return '';
    throw error;
  }
}

/** Returns the directory itself or its nearest existing ancestor. */
function nearestExistingDirectory(path: string): string {
  if (existsSync(path) || path === '/') return path;
  return nearestExistingDirectory(path.slice(0, path.lastIndexOf('/')) || '/');
}

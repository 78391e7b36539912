/** Files of the real node of this machine, below the data directory of its cluster. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../data-directory.ts';
import { networkNamespace } from './network-claim.ts';

export type MachineNodeDirectory = {
  readonly path: string;
  /** Root directory of the kubelet. */
  readonly kubelet: string;
  readonly podLogs: string;
  readonly containerLogs: string;
  readonly certificates: string;
  readonly containerd: string;
  /** Addresses that the Pod network has allocated. */
  readonly addresses: string;
  readonly record: string;
  /** Directory of what must not survive a reboot. */
  readonly run: string;
  /** Parent of the cgroups of this node's Pods. */
  readonly cgroupRoot: string;
};

/** Returns the paths of the node in a data directory. */
export function machineNodeDirectory(data: string): MachineNodeDirectory {
  const path = join(data, 'node');
  const unique = createHash('sha256').update(path).digest('hex').slice(0, 8);
  return {
    path,
    kubelet: join(path, 'kubelet'),
    podLogs: join(path, 'logs', 'pods'),
    containerLogs: join(path, 'logs', 'containers'),
    certificates: join(path, 'pki'),
    containerd: join(path, 'containerd'),
    addresses: join(path, 'addresses'),
    record: join(path, 'runtime.json'),
    run: join('/run/kruise', unique),
    cgroupRoot: `/kruise-${unique}`,
  };
}

/** The runtime that a node uses, for other commands. */
export type RuntimeRecord = {
  readonly endpoint: string;
  /** True if the runtime was started for this node. */
  readonly isOwn: boolean;
  /** Directory of CNI configurations that the runtime watches. */
  readonly cniConfiguration: string;
  readonly cgroupRoot: string;
  readonly run: string;
  /** Network namespace of the node. */
  readonly networkNamespace: string;
};

export function readRuntimeRecord(data: string): RuntimeRecord | undefined {
  const { record } = machineNodeDirectory(data);
  return existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : undefined;
}

export function writeRuntimeRecord(
  data: string,
  record: Omit<RuntimeRecord, 'cgroupRoot' | 'run' | 'networkNamespace'>,
): void {
  const { path, record: file, cgroupRoot, run } = machineNodeDirectory(data);
  mkdirSync(path, { recursive: true, mode: 0o711 });
  writeFileAtomically(
    file,
    JSON.stringify({ ...record, cgroupRoot, run, networkNamespace: networkNamespace() } satisfies RuntimeRecord),
  );
}

export function removeRuntimeRecord(data: string): void {
  rmSync(machineNodeDirectory(data).record, { force: true });
}

/** Returns whether a Pod belongs to a node, by the directories of its kubelet. */
export function podsOfNode({ kubelet }: MachineNodeDirectory): (uid: string) => boolean {
  const pods = join(kubelet, 'pods');
  const uids = new Set(existsSync(pods) ? readdirSync(pods) : []);
  return (uid) => uids.has(uid);
}

/** Removal of what a real node leaves on its machine: containers, mounts, cgroups and the bridge of the Pod network. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createGrpcRuntime } from '@kruise/node/cri/grpc/grpc-runtime';
import { cgroupPath } from '@kruise/node/kubelet/resources/cgroup-paths';
import { machineCgroups } from '@kruise/node/kubelet/resources/machine-cgroups';
import { systemClock } from '@kruise/values/system';
import { restartContainerd } from './containerd.ts';
import { machineNodeDirectory, podsOfNode, readRuntimeRecord, removeRuntimeRecord } from './directory.ts';
import { removePodNetwork } from './pod-network.ts';

/** Removes the containers of the stopped node of a data directory. Returns their number; undefined without a node. */
export async function removeContainers(data: string): Promise<number | undefined> {
  const record = readRuntimeRecord(data);
  if (!record) return undefined;
  const directory = machineNodeDirectory(data);
  const containerd = record.isOwn
    ? await restartContainerd({ directory: directory.containerd, run: directory.run })
    : undefined;
  const isOwned = record.isOwn ? () => true : podsOfNode(directory);
  const removed = await removeSandboxes(record.endpoint, isOwned).finally(() => containerd?.stop());
  for (const path of [directory.path, directory.run]) unmountBelow(path);
  if (record.isOwn) rmSync(directory.run, { recursive: true, force: true });
  for (const driver of ['CGROUPFS', 'SYSTEMD'] as const) {
    await machineCgroups(systemClock).removeEmpty(cgroupPath({ driver, root: directory.cgroupRoot }, []));
  }
  removePodNetwork(record.cniConfiguration);
  removeRuntimeRecord(data);
  return removed;
}

async function removeSandboxes(endpoint: string, isOwned: (uid: string) => boolean): Promise<number> {
  const connection = new AbortController();
  try {
    const runtime = createGrpcRuntime({ clock: systemClock, endpoint, signal: connection.signal });
    const { items } = await runtime.listPodSandbox({});
    const owned = items.filter(({ metadata }) => isOwned(metadata.uid));
    await Promise.all(
      owned.map(async ({ id: podSandboxId }) => {
        await runtime.stopPodSandbox({ podSandboxId });
        await runtime.removePodSandbox({ podSandboxId });
      }),
    );
    return owned.length;
  } finally {
    connection.abort();
  }
}

function unmountBelow(path: string): void {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) =>
      (line.split(' ')[4] ?? '').replaceAll(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(parseInt(code, 8))),
    )
    .filter((point) => point.startsWith(`${path}/`));
  for (const point of points.toReversed()) {
    const { status, stderr } = spawnSync('umount', ['--no-canonicalize', point], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`could not unmount ${point}: ${stderr.trim()}`);
  }
}

/** Cleanup of orphaned Pods: sandboxes and directories without a pod worker. */
import type { NodeRuntime } from '../../cri/runtime.ts';
import type { NodeSettings } from '../containers/sandbox-config.ts';
import type { CsiVolumes } from '../csi/csi-volumes.ts';
import { removePodDirectory } from '../volumes/pod-directory.ts';

/** Grace period of orphaned containers, which is the minimum. */
const graceSeconds = 2;

/** Dependencies of the cleanup. */
export type OrphanContext = {
  readonly runtime: NodeRuntime;
  readonly settings: NodeSettings;
  /** Volumes of CSI drivers; absent on nodes without plugins. */
  readonly csi?: CsiVolumes | undefined;
  /** Reports whether a Pod UID has a pod worker. */
  readonly isKnown: (uid: string) => boolean;
};

/** Kills and removes orphaned sandboxes, then removes the directories of orphaned Pods. */
export async function removeOrphans(context: OrphanContext, signal: AbortSignal): Promise<void> {
  const { runtime, settings, csi, isKnown } = context;
  const { items } = await runtime.listPodSandbox({}, { signal });
  const orphans = items.filter(({ metadata }) => !isKnown(metadata.uid));
  await Promise.all(orphans.map(({ id }) => removeSandbox(runtime, id, signal)));
  const { files } = runtime;
  const removePod = (path: string) => removePodDirectory(files, path, csi);
  await removeDirectories(context, `${settings.rootDirectory}/pods`, (name) => name, removePod);
  await removeDirectories(
    context,
    settings.podLogsDirectory,
    (name) => name.slice(name.lastIndexOf('_') + 1),
    files.remove,
  );
}

async function removeSandbox(runtime: NodeRuntime, podSandboxId: string, signal: AbortSignal): Promise<void> {
  const filter = { podSandboxId, state: 'CONTAINER_RUNNING' } as const;
  const { containers } = await runtime.listContainers({ filter }, { signal });
  await Promise.all(
    containers.map(({ id }) => runtime.stopContainer({ containerId: id, timeout: graceSeconds }, { signal })),
  );
  await runtime.stopPodSandbox({ podSandboxId }, { signal });
  await runtime.removePodSandbox({ podSandboxId }, { signal });
}

async function removeDirectories(
  { runtime, isKnown }: OrphanContext,
  path: string,
  uidOf: (name: string) => string,
  remove: (path: string) => Promise<void>,
): Promise<void> {
  if (!(await runtime.files.stat(path))) return;
  const failures: unknown[] = [];
  for (const name of await runtime.files.list(path)) {
    if (isKnown(uidOf(name))) continue;
    // The driver of one Pod's volume may be missing: the others are removed nevertheless.
    await remove(`${path}/${name}`).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, `failed to remove orphaned directories of ${path}`);
}

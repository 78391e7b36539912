/** Clears away what Pods left behind that nobody knows any more. */
import type { NodeRuntime } from '../cri/runtime.ts';
import { removePodDirectory } from './pod-directory.ts';
import type { NodeSettings } from './sandbox-config.ts';

/** What nobody asks for is given no more time than it takes to hear that it is to end. */
const graceSeconds = 2;

/** What orphans are told from others by. */
export type OrphanContext = {
  readonly runtime: NodeRuntime;
  readonly settings: NodeSettings;
  /** Whether a Pod, by its uid, is looked after. */
  readonly isKnown: (uid: string) => boolean;
};

/** Ends what runs of Pods that are gone, and removes it with their folders. */
export async function removeOrphans(context: OrphanContext, signal: AbortSignal): Promise<void> {
  const { runtime, settings, isKnown } = context;
  const { items } = await runtime.listPodSandbox({}, { signal });
  const orphans = items.filter(({ metadata }) => !isKnown(metadata.uid));
  await Promise.all(orphans.map(({ id }) => removeSandbox(runtime, id, signal)));
  const { files } = runtime;
  const removePod = (path: string) => removePodDirectory(files, path);
  await removeFolders(context, `${settings.rootDirectory}/pods`, (name) => name, removePod);
  await removeFolders(
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

async function removeFolders(
  { runtime, isKnown }: OrphanContext,
  path: string,
  uidOf: (name: string) => string,
  remove: (path: string) => Promise<void>,
): Promise<void> {
  if (!(await runtime.files.stat(path))) return;
  for (const name of await runtime.files.list(path)) {
    if (!isKnown(uidOf(name))) await remove(`${path}/${name}`);
  }
}

/**
 * User namespaces of Pods with `hostUsers: false`: each gets its own range of the node's user and group IDs. The range
 * is recorded in the Pod's directory, which outlasts the kubelet process and is removed with the Pod, so that no other
 * state can disagree with the record.
 */
import type { Pod } from '@kruise/api/core/pod';
import type { IdMapping, UserNamespace } from '../../cri/messages.ts';
import type { HostFiles } from '../../cri/runtime.ts';
import { podDirectory, privateMode } from '../volumes/pod-directory.ts';

/** Allocates user namespaces to Pods. */
export type UserNamespaces = {
  /** Returns the user namespace of a Pod, and allocates one if needed; undefined if the Pod uses the node's users. */
  get(pod: Pod, runtimeHandler: string): Promise<UserNamespace | undefined>;
};

export type UserNamespaceOptions = {
  readonly files: HostFiles;
  readonly rootDirectory: string;
  readonly maxPods: number;
  /** Reports whether a runtime handler supports user namespaces; undefined if the runtime does not know the handler. */
  readonly supports: (runtimeHandler: string) => boolean | undefined;
};

const rangeLength = 65_536;
const fileName = 'userns';

export function createUserNamespaces(options: UserNamespaceOptions): UserNamespaces {
  const { files, rootDirectory, maxPods, supports } = options;
  let allocating: Promise<unknown> = Promise.resolve();

  async function allocate(pod: Pod): Promise<UserNamespace> {
    const directory = podDirectory(pod, rootDirectory);
    const recorded = await read(`${directory}/${fileName}`);
    if (recorded !== undefined) return namespaceAt(recorded);
    const hostId = await freeRange();
    await files.makeDirectory(directory, { mode: privateMode });
    const mappings = [mappingAt(hostId)];
    const record = JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
    await files.writeFile(`${directory}/${fileName}`, record, { mode: 0o600 });
    return namespaceAt(hostId);
  }

  async function freeRange(): Promise<number> {
    const used = new Set<number>();
    for (const uid of await files.list(`${rootDirectory}/pods`)) {
      const hostId = await read(`${rootDirectory}/pods/${uid}/${fileName}`);
      if (hostId !== undefined) used.add(hostId);
    }
    // The first range holds the node's own users.
    for (let index = 1; index <= maxPods; index++) if (!used.has(index * rangeLength)) return index * rangeLength;
    throw new Error('could not find an empty slot to allocate a user namespace');
  }

  async function read(path: string): Promise<number | undefined> {
    if (!(await files.stat(path))) return undefined;
    const record = JSON.parse(Buffer.from(await files.readFile(path)).toString()) as {
      readonly uidMappings?: readonly IdMapping[];
    };
    const hostId = record.uidMappings?.[0]?.hostId;
    if (hostId === undefined || hostId <= 0 || hostId % rangeLength !== 0) {
      throw new Error(`wrong user namespace in ${path}`);
    }
    return hostId;
  }

  return {
    async get(pod, runtimeHandler) {
      if (pod.spec?.hostUsers !== false) return undefined;
      const isSupported = supports(runtimeHandler);
      if (isSupported === undefined) throw new Error(`the handler ${JSON.stringify(runtimeHandler)} is not known`);
      if (!isSupported) {
        const what = runtimeHandler === '' ? 'runtime' : `RuntimeClass handler ${JSON.stringify(runtimeHandler)}`;
        throw new Error(`can't set \`spec.hostUsers: false\`, ${what} does not support user namespaces`);
      }
      // Allocations are serialized: two Pods must not find the same range free.
      const allocated = allocating.then(
        () => allocate(pod),
        () => allocate(pod),
      );
      allocating = allocated;
      return allocated;
    },
  };
}

function mappingAt(hostId: number): IdMapping {
  return { hostId, containerId: 0, length: rangeLength };
}

function namespaceAt(hostId: number): UserNamespace {
  return { mode: 'POD', uids: [mappingAt(hostId)], gids: [mappingAt(hostId)] };
}

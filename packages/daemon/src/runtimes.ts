/** Finds what runs containers on a machine (daemon.md §3). */
import type { NodeRuntime } from '@kruise/node/cri/runtime';

/** Where runtimes listen, below the run directory of the host, in the order in which they are preferred. */
const knownSockets = [
  'containerd.sock',
  'containerd/containerd.sock',
  'crio.sock',
  'crio/crio.sock',
  'cri-dockerd.sock',
  'cri-dockerd/cri-dockerd.sock',
];

/** The sockets that are there; only the one that is named, where one is. */
export function findSockets(
  directory: string,
  isThere: (path: string) => boolean,
  named: string = '',
): readonly string[] {
  const candidates = named === '' ? knownSockets : [named];
  return candidates.map((file) => `${directory}/${file}`).filter(isThere);
}

/** No runtime of the machine can be spoken to. */
export class NoRuntimeError extends Error {
  override readonly name = 'NoRuntimeError';
}

/** Those that answer as a runtime should; throws where none does. `onRefused` is told of the others. */
export async function usableRuntimes(
  candidates: readonly NodeRuntime[],
  onRefused: (error: unknown) => void,
): Promise<readonly NodeRuntime[]> {
  if (candidates.length === 0) throw new NoRuntimeError('not found container runtime sock');
  const usable: NodeRuntime[] = [];
  let last: unknown;
  for (const runtime of candidates) {
    try {
      await runtime.imageFsInfo({});
      await runtime.listImages({});
      await runtime.version({ version: '0.1.0' });
      usable.push(runtime);
    } catch (error) {
      last = error;
      onRefused(error);
    }
  }
  if (usable.length === 0) throw new NoRuntimeError('no container runtime can be used', { cause: last });
  return usable;
}

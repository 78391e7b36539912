/** Discovery of the container runtimes of a machine. */
import type { NodeRuntime } from '@kruise/node/cri/runtime';

/** Sockets of runtimes, relative to the run directory of the host, in order of preference. */
const knownSockets = [
  'containerd.sock',
  'containerd/containerd.sock',
  'crio.sock',
  'crio/crio.sock',
  'cri-dockerd.sock',
  'cri-dockerd/cri-dockerd.sock',
];

/** Returns the existing sockets; only the configured one, if one is configured. */
export function findSockets(
  directory: string,
  isThere: (path: string) => boolean,
  named: string = '',
): readonly string[] {
  const candidates = named === '' ? knownSockets : [named];
  return candidates.map((file) => `${directory}/${file}`).filter(isThere);
}

/** No runtime of the machine can be reached. */
export class NoRuntimeError extends Error {
  override readonly name = 'NoRuntimeError';
}

/** Returns the runtimes that respond. Throws if none does. `onRefused` is called for the others. */
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
  if (usable.length === 0) throw new NoRuntimeError('no usable container runtime', { cause: last });
  return usable;
}

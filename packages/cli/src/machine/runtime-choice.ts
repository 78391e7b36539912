/** Values of `--runtime`. Every command loads this file, so it imports no other code. */

/** The image of Kubernetes v1.33. */
export const defaultSandboxImage = 'registry.k8s.io/pause:3.10';

/** Runtimes by the value of `--runtime`, with the sockets of those that run as a system service. */
const systemSockets: { readonly [name: string]: readonly string[] } = {
  containerd: ['/run/containerd/containerd.sock'],
  crio: ['/run/crio/crio.sock', '/var/run/crio/crio.sock'],
};

/** Parsed value of `--runtime`. */
export type RuntimeChoice =
  | { readonly kind: 'simulated' }
  /** A runtime that runs already. `mayStart` if an own containerd is started without one. */
  | { readonly kind: 'socket'; readonly sockets: readonly string[]; readonly mayStart: boolean; readonly name: string }
  | { readonly kind: 'own' };

/** Parses the value of `--runtime`. */
export function parseRuntime(value: string): RuntimeChoice {
  if (value === 'simulated') return { kind: 'simulated' };
  if (value === 'own-containerd') return { kind: 'own' };
  if (value.startsWith('unix:///')) {
    return { kind: 'socket', sockets: [value.slice('unix://'.length)], mayStart: false, name: value };
  }
  const sockets = systemSockets[value];
  if (sockets) return { kind: 'socket', sockets, mayStart: value === 'containerd', name: value };
  throw new Error(
    `--runtime must be simulated, containerd, own-containerd, crio or the socket of a runtime (unix:///…), not ${value}`,
  );
}

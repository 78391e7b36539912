/** Test fixtures: Pods and runtime states, with defaults for every field that a test does not care about. */
import type { Container } from '@kruise/api/core/container';
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { containerHash } from './containers/containers.ts';
import type { RuntimeContainer, RuntimePod, RuntimeSandbox } from './runtime/runtime-pod.ts';

export type PodFixture = Partial<PodSpec> & {
  readonly metadata?: Partial<Pod['metadata']>;
  readonly status?: Pod['status'];
};

/** Returns a Pod with a container `c` by default. */
export function makePod({ metadata, status, ...spec }: PodFixture = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-1', ...metadata },
    spec: { restartPolicy: 'Always', containers: [makeContainer('c')], nodeName: 'node-1', ...spec },
    ...(status ? { status } : {}),
  };
}

export function makeContainer(name: string, more: Partial<Container> = {}): Container {
  return { name, image: `${name}:1`, ...more };
}

export const sidecar = (name: string, more: Partial<Container> = {}) =>
  makeContainer(name, { restartPolicy: 'Always', ...more });

/** Returns a ready sandbox. */
export function makeSandbox(more: Partial<RuntimeSandbox> = {}): RuntimeSandbox {
  return { id: 's0', attempt: 0, isReady: true, createdAt: 0, isHostNetwork: false, ips: ['10.0.0.1'], ...more };
}

/** Returns a container in the runtime; see `running('c')` and `exited('c', 1)`. */
export function runtimeContainer(name: string, more: Partial<RuntimeContainer> = {}): RuntimeContainer {
  return {
    id: `${name}-0`,
    name,
    sandboxId: 's0',
    state: 'running',
    createdAt: 1000,
    startedAt: 1000,
    finishedAt: 0,
    exitCode: 0,
    reason: '',
    message: '',
    hash: containerHash(makeContainer(name)),
    restartCount: 0,
    image: `${name}:1`,
    imageRef: `sha256:${name}`,
    ...more,
  };
}

export const running = (name: string, more: Partial<RuntimeContainer> = {}) => runtimeContainer(name, more);

export const exited = (name: string, exitCode: number, more: Partial<RuntimeContainer> = {}) =>
  runtimeContainer(name, {
    state: 'exited',
    exitCode,
    finishedAt: 2000,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    ...more,
  });

/** Returns the runtime state of a Pod with one ready sandbox. */
export function inSandbox(...containers: readonly RuntimeContainer[]): RuntimePod {
  return { sandboxes: [makeSandbox()], containers };
}

/** Returns a container status from a short description: `waiting`, `running`, `exit 1`, `waiting after 1`. */
export function statusOf(name: string, description: string, more: Partial<ContainerStatus> = {}): ContainerStatus {
  const [, ended] = /^exit (\d+)$/.exec(description) ?? [];
  const [, after] = /^waiting after (\d+)$/.exec(description) ?? [];
  return {
    name,
    ready: false,
    restartCount: 0,
    image: '',
    imageID: '',
    state:
      ended !== undefined
        ? { terminated: { exitCode: Number(ended) } }
        : description === 'running'
          ? { running: {} }
          : description.startsWith('waiting')
            ? { waiting: {} }
            : {},
    lastState: after === undefined ? {} : { terminated: { exitCode: Number(after) } },
    ...more,
  };
}

/** Pods of Kruise and their containers in a runtime, for tests. */
import type { Container as PodContainer } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { plainHash } from '@kruise/manager/workload/inplace/container-hash';
import { formatRuntimeMeta, type RuntimeContainerMeta } from '@kruise/manager/workload/inplace/runtime-meta';
import type { Container } from '@kruise/node/cri/runtime';

export const plain: PodContainer = { name: 'main', image: 'app:v1' };
/** A container with a label of its Pod in its environment. */
export const labelled: PodContainer = {
  ...plain,
  env: [{ name: 'CONF', valueFrom: { fieldRef: { fieldPath: "metadata.labels['conf']" } } }],
};

export type PodParts = {
  readonly containers?: readonly PodContainer[];
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  /** The API group of its controller. */
  readonly group?: string;
  readonly ids?: readonly (string | undefined)[];
  readonly reported?: readonly RuntimeContainerMeta[];
  readonly isUpdating?: boolean;
  readonly isTerminating?: boolean;
};

export function podOf({
  containers = [plain],
  labels = {},
  annotations = {},
  group = 'apps.kruise.io',
  ids = ['sim://1'],
  reported,
  isUpdating = false,
  isTerminating = false,
}: PodParts = {}): Pod {
  const owner = { apiVersion: `${group}/v1`, kind: 'CloneSet', name: 'web', uid: 'o', controller: true };
  const meta = reported ? { 'apps.kruise.io/runtime-containers-meta': formatRuntimeMeta(reported) } : {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'u',
      labels,
      annotations: { ...annotations, ...meta },
      ownerReferences: [owner],
      ...(isTerminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { nodeName: 'node-1', containers },
    status: {
      conditions: [{ type: 'InPlaceUpdateReady', status: isUpdating ? 'False' : 'True' }],
      containerStatuses: containers.flatMap(({ name, image = '' }, index) =>
        index < ids.length ? [{ ...statusOf(name, image), ...(ids[index] ? { containerID: ids[index] } : {}) }] : [],
      ),
    },
  };
}

function statusOf(name: string, image: string) {
  return { name, image, imageID: '', ready: true, restartCount: 0, state: {}, lastState: {} };
}

/** Returns a container in the runtime. */
export function running(id: string, of: PodContainer = plain, more: Partial<Container> = {}): Container {
  return {
    id,
    podSandboxId: 's',
    metadata: { name: of.name, attempt: 0 },
    image: { image: of.image ?? '' },
    imageRef: '',
    imageId: '',
    state: 'CONTAINER_RUNNING',
    createdAt: 0n,
    labels: {},
    annotations: {
      'io.kubernetes.container.hash': plainHash(of).toString(16),
      'io.kubernetes.container.restartCount': '2',
    },
    ...more,
  };
}

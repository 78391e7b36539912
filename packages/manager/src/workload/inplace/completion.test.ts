import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import {
  inPlaceUpdateGraceAnnotation,
  inPlaceUpdateStateAnnotation,
  runtimeContainersMetaAnnotation,
} from '@kruise/api/kruise/well-known';
import { featureGates } from '../../configuration/feature-gates.ts';
import { updateObstacle } from './completion.ts';
import { envFromMetadataHash, plainHash, plainHashBefore131 } from './container-hash.ts';
import { fromLabel, podOf } from './fixtures.ts';
import { formatState, type InPlaceUpdateState, noChanges } from './state.ts';

const state: InPlaceUpdateState = {
  revision: 'new',
  updateTimestamp: '2026-01-01T12:00:00Z',
  lastContainerStatuses: { c1: { imageID: 'old-id' } },
  updatesEnv: false,
  updatesResources: false,
  updatesImages: true,
  next: noChanges,
  batches: [],
};
const c1: Container = { name: 'c1', image: 'app:v2' };
const written = (some: Partial<InPlaceUpdateState> = {}) => ({
  [inPlaceUpdateStateAnnotation]: formatState({ ...state, ...some }),
});
const runs = (image: string, id: string) => ({ running: { c1: [image, id] as const } });

/** Returns the metadata that a daemon reports for a Pod whose statuses have no container IDs. */
const metadataAnnotation = (hashes: object) => ({
  [runtimeContainersMetaAnnotation]: JSON.stringify({ containers: [{ name: 'c1', hashes }] }),
});
const withEnv: Container = { ...c1, env: [fromLabel('e', 'k')] };
const envHash = envFromMetadataHash(withEnv, { labels: { k: 'v' } });

const cases: { is: string; pod: Pod; obstacle?: RegExp }[] = [
  { is: 'that was never updated is done', pod: podOf([c1]) },
  { is: 'whose image has changed is done', pod: podOf([c1], { annotations: written(), ...runs('app:v2', 'new-id') }) },
  {
    is: 'that still runs the old image is not',
    pod: podOf([c1], { annotations: written(), ...runs('app:v1', 'old-id') }),
    obstacle: /imageID not changed/,
  },
  {
    is: 'that runs the same image by its new name is done',
    pod: podOf([c1], { annotations: written(), ...runs('app:v2', 'old-id') }),
  },
  {
    is: 'that runs the same image by its new name in full is done',
    pod: podOf([c1], { annotations: written(), ...runs('docker.io/library/app:v2', 'old-id') }),
  },
  {
    is: 'whose image has no tag is done when it runs the latest',
    pod: podOf([{ name: 'c1', image: 'app' }], { annotations: written(), ...runs('app:latest', 'old-id') }),
  },
  {
    is: 'without a status is not',
    pod: { ...podOf([c1], { annotations: written() }), status: {} },
    obstacle: /not found container c1/,
  },
  {
    is: 'in its grace period is not',
    pod: podOf([c1], {
      annotations: { ...written(), [inPlaceUpdateGraceAnnotation]: '{"revision":"new"}' },
      ...runs('app:v2', 'new-id'),
    }),
    obstacle: /grace period/,
  },
  {
    is: 'with another batch to come is not',
    pod: podOf([c1], {
      annotations: written({ next: { ...noChanges, images: { c2: 'v2' } } }),
      ...runs('app:v2', 'new-id'),
    }),
    obstacle: /next batches/,
  },
  {
    is: 'whose container has the new hash is done, whatever its image is called',
    pod: podOf([c1], {
      annotations: { ...written(), ...metadataAnnotation({ plainHash: plainHash(c1) }) },
      ...runs('mirror/app:v2', 'old-id'),
    }),
  },
  {
    is: 'whose container has the hash of an older kubelet is done',
    pod: podOf([c1], {
      annotations: { ...written(), ...metadataAnnotation({ plainHash: plainHashBefore131(c1) }) },
      ...runs('x', 'old-id'),
    }),
  },
  {
    is: 'whose container has another hash is not',
    pod: podOf([c1], {
      annotations: { ...written(), ...metadataAnnotation({ plainHash: 1 }) },
      ...runs('app:v1', 'old-id'),
    }),
    obstacle: /imageID not changed/,
  },
  {
    is: 'whose variables wait for a daemon is not',
    pod: podOf([withEnv], { annotations: written({ updatesEnv: true }), ...runs('app:v2', 'new-id') }),
    obstacle: /not found/,
  },
  {
    is: 'whose variables are old is not',
    pod: podOf([withEnv], {
      labels: { k: 'v' },
      annotations: { ...written({ updatesEnv: true }), ...metadataAnnotation({ extractedEnvFromMetadataHash: 7 }) },
      ...runs('app:v2', 'new-id'),
    }),
    obstacle: /hash consistent/,
  },
  {
    is: 'whose variables are new is done',
    pod: podOf([withEnv], {
      labels: { k: 'v' },
      annotations: {
        ...written({ updatesEnv: true }),
        ...metadataAnnotation({ extractedEnvFromMetadataHash: envHash }),
      },
      ...runs('app:v2', 'new-id'),
    }),
  },
  {
    is: 'whose daemon writes nonsense is not',
    pod: podOf([c1], { annotations: { ...written(), [runtimeContainersMetaAnnotation]: 'x' } }),
    obstacle: /invalid/,
  },
  {
    is: 'whose daemon reports no hash is checked by its image',
    pod: podOf([c1], {
      annotations: { ...written(), [runtimeContainersMetaAnnotation]: '{"containers":[{"name":"c1"}]}' },
      ...runs('app:v2', 'new-id'),
    }),
  },
  {
    is: 'whose state has another form is not',
    pod: podOf([c1], { annotations: { [inPlaceUpdateStateAnnotation]: '{"revision":7}' } }),
    obstacle: /cannot be read/,
  },
  {
    is: 'whose state cannot be read is not',
    pod: podOf([c1], { annotations: { [inPlaceUpdateStateAnnotation]: '[' } }),
    obstacle: /cannot be read/,
  },
];
for (const { is, pod, obstacle } of cases) {
  test(`a Pod ${is}`, () => {
    const found = updateObstacle(pod, featureGates());
    if (obstacle) assert.match(found ?? '', obstacle);
    else assert.equal(found, undefined);
  });
}

const sized: Container = { ...c1, resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } } };
const withResources = (resources: Container['resources'] | undefined): Pod => {
  const pod = podOf([sized], { annotations: written({ updatesResources: true, updatesImages: false }) });
  const [status] = pod.status?.containerStatuses ?? [];
  return {
    ...pod,
    status: { ...pod.status, containerStatuses: [{ ...status!, ...(resources ? { resources } : {}) }] },
  };
};
const vertical = featureGates({ InPlaceWorkloadVerticalScaling: true });
const resizes: { is: string; resources: Container['resources'] | undefined; isDone: boolean }[] = [
  {
    is: 'all requested resources',
    resources: { limits: { cpu: '1000m', memory: '1Gi' }, requests: { cpu: '0.5' } },
    isDone: true,
  },
  { is: 'less cpu', resources: { limits: { cpu: '800m', memory: '1Gi' }, requests: { cpu: '0.5' } }, isDone: false },
  { is: 'no requests', resources: { limits: { cpu: '1', memory: '1Gi' } }, isDone: false },
  { is: 'nothing known', resources: undefined, isDone: false },
];
for (const { is, resources, isDone } of resizes) {
  test(`a Pod whose container has ${is} ${isDone ? 'has been' : 'has not been'} resized`, () => {
    assert.equal(updateObstacle(withResources(resources), vertical) === undefined, isDone);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '@kruise/api/core/configmap';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import { seededRandom } from '@kruise/values/random';
import { managerSettings } from '../configuration/settings.ts';
import { decide } from './controller.ts';
import { launchPriorityOf } from './launch-priority.ts';
import { withLaunchBarriers } from './pod-webhook.ts';

const context = {
  settings: managerSettings(),
  caches: {} as Caches,
  client: {} as Client,
  now: () => 0,
  random: seededRandom(1),
};
const container = (name: string, priority?: string): Container => ({
  name,
  ...(priority === undefined ? {} : { env: [{ name: 'KRUISE_CONTAINER_PRIORITY', value: priority }] }),
});
const podOf = (containers: readonly Container[], metadata: Pod['metadata'] = { name: 'web' }): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', uid: 'u', ...metadata },
  spec: { containers },
});
const ordered = { name: 'web', annotations: { 'apps.kruise.io/container-launch-priority': 'Ordered' } };
const prioritiesOf = (pod: Pod) => pod.spec?.containers.map(launchPriorityOf);

const pods: { is: string; pod: Pod; priorities: readonly (number | undefined)[] }[] = [
  { is: 'without priorities', pod: podOf([container('a'), container('b')]), priorities: [undefined, undefined] },
  { is: 'with one container', pod: podOf([container('a', '5')]), priorities: [undefined] },
  {
    is: 'with equal priorities',
    pod: podOf([container('a', '5'), container('b', '5')]),
    priorities: [undefined, undefined],
  },
  { is: 'with one priority', pod: podOf([container('a'), container('b', '10')]), priorities: [0, 10] },
  { is: 'with negative priorities', pod: podOf([container('a', '-1'), container('b')]), priorities: [-1, 0] },
  {
    is: 'with ordered launch',
    pod: podOf([container('a', '9'), container('b'), container('c')], ordered),
    priorities: [0, -1, -2],
  },
];
for (const { is, pod, priorities } of pods) {
  test(`a Pod ${is} has barriers [${priorities}]`, () => {
    assert.deepEqual(prioritiesOf(withLaunchBarriers(pod, context)), priorities);
  });
}

test('the barrier is the last environment variable, and refers to the ConfigMap of the Pod', () => {
  const { spec } = withLaunchBarriers(podOf([container('a'), container('b', '10')]), context);
  assert.deepEqual(spec?.containers[1]?.env?.at(-1), {
    name: 'KRUISE_CONTAINER_BARRIER',
    valueFrom: { configMapKeyRef: { name: 'web-barrier', key: 'p_10' } },
  });
});

test('a Pod without a name gets one', () => {
  const { metadata } = withLaunchBarriers(
    podOf([container('a'), container('b', '1')], { generateName: 'web-' }),
    context,
  );
  assert.match(metadata.name ?? '', /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('a non-numeric priority is refused', () => {
  assert.throws(() => withLaunchBarriers(podOf([container('a', 'x'), container('b')]), context), {
    message: 'strconv.Atoi: parsing "x": invalid syntax',
  });
});

const barrierWith = (...keys: readonly string[]): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web-barrier', namespace: 'default' },
  data: Object.fromEntries(keys.map((key) => [key, 'true'])),
});
const waiting = withLaunchBarriers(podOf([container('a'), container('b', '10'), container('c', '5')]), context);
const withReady = (...ready: readonly string[]): Pod => ({
  ...waiting,
  status: {
    containerStatuses: ready.map((name) => ({
      name,
      ready: true,
      restartCount: 0,
      image: 'app:v1',
      imageID: '',
    })),
  },
});
const steps: { name: string; pod: Pod; barrier?: ConfigMap; does: readonly string[] }[] = [
  { name: 'the controller creates the barrier for the highest priority', pod: waiting, does: ['create p_10'] },
  {
    name: 'the controller waits until these containers are ready',
    pod: waiting,
    barrier: barrierWith('p_10'),
    does: [],
  },
  {
    name: 'the controller releases the next priority',
    pod: withReady('b'),
    barrier: barrierWith('p_10'),
    does: ['patch p_5'],
  },
  {
    name: 'the controller completes with the last priority',
    pod: withReady('b', 'c'),
    barrier: barrierWith('p_10', 'p_5'),
    does: ['patch p_0', 'complete'],
  },
  {
    name: 'the controller completes once the last priority is released, even if containers are not ready any more',
    pod: waiting,
    barrier: barrierWith('p_10', 'p_5', 'p_0'),
    does: ['complete'],
  },
  { name: 'the controller does nothing when all containers are ready', pod: withReady('a', 'b', 'c'), does: [] },
];
for (const { name, pod, barrier, does } of steps) {
  test(name, () => {
    const { actions } = decide({ pod, barrier });
    const formatDecision = actions.map((action) => {
      if (action.type === 'create') return `create ${Object.keys((action.object as ConfigMap).data ?? {})}`;
      const changes = action.type === 'patch' ? (action.patch as ConfigMap) : undefined;
      return changes?.data ? `patch ${Object.keys(changes.data)}` : 'complete';
    });
    assert.deepEqual(formatDecision, does);
  });
}

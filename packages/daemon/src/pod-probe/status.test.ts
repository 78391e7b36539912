import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePodProbe, NodePodProbeStatus } from '@kruise/api/kruise/nodepodprobe';
import { formatTime, instantOf } from '@kruise/values/time';
import { statusOf, type TimedResult } from './status.ts';

const now = instantOf(2026, 1, 1);
const earlier = formatTime(now - 60_000);

const nodePodProbeOf = (names: readonly string[], status?: NodePodProbeStatus): NodePodProbe => ({
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'NodePodProbe',
  metadata: { name: 'node-1' },
  spec: {
    podProbes: [
      {
        name: 'p',
        namespace: 'n',
        uid: 'u',
        IP: '',
        probes: names.map((name) => ({ name, containerName: 'c', probe: {} })),
      },
    ],
  },
  ...(status ? { status } : {}),
});
const statusWith = (name: string, state: 'Succeeded' | 'Failed'): NodePodProbeStatus => ({
  podProbeStatuses: [
    {
      name: 'p',
      namespace: 'n',
      uid: 'u',
      probeStates: [{ name, state, lastProbeTime: earlier, lastTransitionTime: earlier }],
    },
  ],
});
const states = (nodePodProbe: NodePodProbe, found?: TimedResult) =>
  statusOf(nodePodProbe, () => found).podProbeStatuses?.[0]?.probeStates;

const succeeded: TimedResult = { state: 'Succeeded', message: 'fine', at: now };

test('the result of a probe is reported with its transition time', () => {
  const [state] = states(nodePodProbeOf(['m#a']), succeeded) ?? [];
  assert.deepEqual(state, {
    name: 'm#a',
    state: 'Succeeded',
    message: 'fine',
    lastProbeTime: formatTime(now),
    lastTransitionTime: formatTime(now),
  });
  const since = (before: 'Succeeded' | 'Failed') =>
    states(nodePodProbeOf(['m#a'], statusWith('m#a', before)), succeeded)?.[0]?.lastTransitionTime;
  assert.deepEqual([since('Succeeded'), since('Failed')], [earlier, formatTime(now)]);
});

test('a reported result stays until there is a new one, or the probe is removed', () => {
  assert.equal(states(nodePodProbeOf(['m#a'], statusWith('m#a', 'Failed')))?.[0]?.state, 'Failed');
  assert.equal(states(nodePodProbeOf(['m#b'], statusWith('m#a', 'Failed'))), undefined);
  assert.deepEqual(
    statusOf(nodePodProbeOf([], statusWith('m#a', 'Failed')), () => succeeded),
    {},
  );
});

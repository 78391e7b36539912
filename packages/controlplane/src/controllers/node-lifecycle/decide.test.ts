import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, Taint } from '@kruise/api/core/node';
import fc from 'fast-check';
import { decide } from './decide.ts';

const now = Date.UTC(2026, 0, 1);

type Fixture = { conditions?: string; taints?: string; unschedulable?: boolean; labels?: Record<string, string> };

/** `conditions` such as `Ready=True`, `taints` such as `not-ready:NoSchedule`. */
function node({ conditions = '', taints = '', unschedulable = false, labels = {} }: Fixture): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a', resourceVersion: '7', labels },
    spec: { unschedulable, taints: words(taints).map(taint) },
    status: {
      conditions: words(conditions).map((word) => {
        const [type = '', status = ''] = word.split('=');
        return { type, status };
      }),
    },
  };
}

const words = (text: string) => text.split(' ').filter(Boolean);

function taint(text: string): Taint {
  const [key = '', effect] = text.split(':');
  return { key: key.includes('/') ? key : `node.kubernetes.io/${key}`, effect: effect as Taint['effect'] };
}

/** What the node has after the decision, and what it was told. */
function after(before: Node): Node {
  let result = before;
  for (const action of decide(before, now).actions) {
    assert.equal(action.type, 'patch');
    if (action.type !== 'patch') continue;
    const { spec, metadata } = action.patch as Partial<Node>;
    result = {
      ...result,
      spec: { ...result.spec, ...spec },
      metadata: { ...result.metadata, labels: { ...result.metadata.labels, ...metadata?.labels } },
    };
  }
  return result;
}

const taintsOf = ({ spec }: Node) =>
  spec?.taints?.map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`).join(' ');

const cases: readonly [name: string, before: Fixture, taints: string][] = [
  ['a node that is ready has no taints', { conditions: 'Ready=True' }, ''],
  ['a node that is not ready has its taint', { conditions: 'Ready=False' }, 'not-ready:NoSchedule'],
  ['a node nothing is known of has its taint', { conditions: 'Ready=Unknown' }, 'unreachable:NoSchedule'],
  [
    'a node under pressure has a taint for each',
    { conditions: 'MemoryPressure=True DiskPressure=True PIDPressure=True' },
    'memory-pressure:NoSchedule disk-pressure:NoSchedule pid-pressure:NoSchedule',
  ],
  ['a pressure nothing is known of has no taint', { conditions: 'Ready=True MemoryPressure=Unknown' }, ''],
  ['a node without network has its taint', { conditions: 'NetworkUnavailable=True' }, 'network-unavailable:NoSchedule'],
  ['a cordoned node has its taint', { conditions: 'Ready=True', unschedulable: true }, 'unschedulable:NoSchedule'],
  [
    'a node that became ready loses the taint it was made with',
    { conditions: 'Ready=True', taints: 'not-ready:NoSchedule' },
    '',
  ],
  ['a node that said nothing yet loses it, too', { taints: 'not-ready:NoSchedule' }, ''],
  [
    'one taint takes the place of the other',
    { conditions: 'Ready=Unknown', taints: 'not-ready:NoSchedule' },
    'unreachable:NoSchedule',
  ],
  ['an uncordoned node loses its taint', { conditions: 'Ready=True', taints: 'unschedulable:NoSchedule' }, ''],
  [
    'taints of others stay',
    { conditions: 'Ready=False', taints: 'example.com/gpu:NoSchedule memory-pressure:PreferNoSchedule' },
    'example.com/gpu:NoSchedule memory-pressure:PreferNoSchedule not-ready:NoSchedule',
  ],
  [
    'a ready node drives no Pod out',
    { conditions: 'Ready=True', taints: 'not-ready:NoExecute unreachable:NoExecute example.com/a:NoExecute' },
    'example.com/a:NoExecute',
  ],
  [
    'a node that is not ready keeps what drives Pods out',
    { conditions: 'Ready=False', taints: 'not-ready:NoExecute' },
    'not-ready:NoExecute not-ready:NoSchedule',
  ],
];
for (const [name, before, taints] of cases) {
  test(name, () => assert.equal(taintsOf(after(node(before))), taints));
}

test('a taint tells when it was put on, and is put on only if nobody changed the node', () => {
  const [action] = decide(node({ conditions: 'Ready=False' }), now).actions;
  assert.deepEqual(action?.type === 'patch' && action.patch, {
    metadata: { resourceVersion: '7' },
    spec: {
      taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule', timeAdded: '2026-01-01T00:00:00Z' }],
    },
  });
});

const labelCases: readonly [name: string, labels: Record<string, string>, beta: string | undefined][] = [
  ['the old label is made', { 'kubernetes.io/os': 'linux' }, 'linux'],
  ['the old label is set right', { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'plan9' }, 'linux'],
  ['an old label alone stays', { 'beta.kubernetes.io/os': 'linux' }, 'linux'],
  ['where there is none, none is made', {}, undefined],
];
for (const [name, labels, beta] of labelCases) {
  test(name, () => assert.equal(after(node({ labels })).metadata.labels?.['beta.kubernetes.io/os'], beta));
}

test('it has nothing to add to its own decision', () => {
  const status = fc.constantFrom('True', 'False', 'Unknown');
  const conditions = fc.uniqueArray(
    fc.tuple(fc.constantFrom('Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'), status),
    { selector: ([type]) => type },
  );
  const key = fc.constantFrom('not-ready', 'unreachable', 'memory-pressure', 'unschedulable', 'example.com/a');
  const taints = fc.uniqueArray(fc.tuple(key, fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule')), {
    selector: (pair) => pair.join(),
  });
  fc.assert(
    fc.property(conditions, taints, fc.boolean(), (some, present, unschedulable) => {
      const before = node({
        conditions: some.map((pair) => pair.join('=')).join(' '),
        taints: present.map((pair) => pair.join(':')).join(' '),
        unschedulable,
        labels: { 'kubernetes.io/arch': 'arm64' },
      });
      assert.deepEqual(decide(after(before), now).actions, []);
    }),
  );
});

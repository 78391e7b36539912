import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node, Taint } from '@kruise/api/core/node';
import { flattenSteps } from '@kruise/client/actions';
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

/** Returns the node after the decision. */
function after(before: Node): Node {
  let result = before;
  for (const action of flattenSteps(decide(before, now).actions)) {
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
  ['a ready node has no taints', { conditions: 'Ready=True' }, ''],
  ['an unready node has its taint', { conditions: 'Ready=False' }, 'not-ready:NoSchedule'],
  ['an unreachable node has its taint', { conditions: 'Ready=Unknown' }, 'unreachable:NoSchedule'],
  [
    'a node under pressure has a taint per condition',
    { conditions: 'MemoryPressure=True DiskPressure=True PIDPressure=True' },
    'memory-pressure:NoSchedule disk-pressure:NoSchedule pid-pressure:NoSchedule',
  ],
  ['a pressure condition with status Unknown has no taint', { conditions: 'Ready=True MemoryPressure=Unknown' }, ''],
  ['a node without network has its taint', { conditions: 'NetworkUnavailable=True' }, 'network-unavailable:NoSchedule'],
  ['a cordoned node has its taint', { conditions: 'Ready=True', unschedulable: true }, 'unschedulable:NoSchedule'],
  [
    'a node that became ready loses its initial taint',
    { conditions: 'Ready=True', taints: 'not-ready:NoSchedule' },
    '',
  ],
  ['a node without conditions loses its initial taint, too', { taints: 'not-ready:NoSchedule' }, ''],
  [
    'one taint replaces the other',
    { conditions: 'Ready=Unknown', taints: 'not-ready:NoSchedule' },
    'unreachable:NoSchedule',
  ],
  ['an uncordoned node loses its taint', { conditions: 'Ready=True', taints: 'unschedulable:NoSchedule' }, ''],
  [
    'foreign taints are kept',
    { conditions: 'Ready=False', taints: 'example.com/gpu:NoSchedule memory-pressure:PreferNoSchedule' },
    'example.com/gpu:NoSchedule memory-pressure:PreferNoSchedule not-ready:NoSchedule',
  ],
  [
    'a ready node has no NoExecute taints',
    { conditions: 'Ready=True', taints: 'not-ready:NoExecute unreachable:NoExecute example.com/a:NoExecute' },
    'example.com/a:NoExecute',
  ],
  [
    'an unready node keeps its NoExecute taint',
    { conditions: 'Ready=False', taints: 'not-ready:NoExecute' },
    'not-ready:NoExecute not-ready:NoSchedule',
  ],
];
for (const [name, before, taints] of cases) {
  test(name, () => assert.equal(taintsOf(after(node(before))), taints));
}

test('a taint has a timestamp, and is written with optimistic concurrency', () => {
  const [action] = decide(node({ conditions: 'Ready=False' }), now).actions;
  assert.deepEqual(action?.type === 'patch' && action.patch, {
    metadata: { resourceVersion: '7' },
    spec: {
      taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule', timeAdded: '2026-01-01T00:00:00Z' }],
    },
  });
});

const labelCases: readonly [name: string, labels: Record<string, string>, beta: string | undefined][] = [
  ['the deprecated label is added', { 'kubernetes.io/os': 'linux' }, 'linux'],
  ['the deprecated label is corrected', { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'plan9' }, 'linux'],
  ['a deprecated label alone is kept', { 'beta.kubernetes.io/os': 'linux' }, 'linux'],
  ['without the source label, none is added', {}, undefined],
];
for (const [name, labels, beta] of labelCases) {
  test(name, () => assert.equal(after(node({ labels })).metadata.labels?.['beta.kubernetes.io/os'], beta));
}

test('the decision is idempotent', () => {
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

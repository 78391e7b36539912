import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePlan } from './plan.ts';

const names = ['apiserver', 'node-1'];

test('a plan has faults and user actions with their times', () => {
  const plan = parsePlan(
    `
- {at: 3m, what: loses power, which: node-1, for: 90s}
- {at: 30s, which: Deployment/web, patch: {spec: {replicas: 2}}}
- {delete: shop/CloneSet/clones}
`,
    names,
  );
  assert.deepEqual(plan, {
    faults: [{ kind: 'loses power', target: 'node-1', atMs: 180_000, lastsMs: 90_000 }],
    userActions: [
      {
        type: 'patch',
        atMs: 30_000,
        target: { namespace: 'default', kind: 'Deployment', name: 'web' },
        patch: { spec: { replicas: 2 } },
      },
      { type: 'delete', atMs: 0, target: { namespace: 'shop', kind: 'CloneSet', name: 'clones' } },
    ],
  });
});

const refused = [
  {
    name: 'an unknown fault',
    text: '- {what: explodes, which: node-1}',
    why: /entry 1 of the plan has an unknown fault explodes/,
  },
  {
    name: 'an unknown process',
    text: '- {what: crashes, which: node-9}',
    why: /has an unknown target node-9: use one of apiserver, node-1/,
  },
  { name: 'an unknown field', text: '- {what: crashes, which: node-1, until: 3m}', why: /has an unknown field until/ },
  {
    name: 'a time without a unit',
    text: '- {at: 3, what: crashes, which: node-1}',
    why: /has at: 3, which is not a duration/,
  },
  { name: 'a target without a kind', text: '- {delete: web}', why: /has the target web/ },
  { name: 'an object instead of a list', text: 'at: 3m', why: /the plan must be a list/ },
];
for (const { name, text, why } of refused) {
  test(`a plan with ${name} is rejected`, () => {
    assert.throws(() => parsePlan(text, names), why);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePlan } from './plan.ts';

const names = ['apiserver', 'node-1'];

test('a plan has faults and deeds, each at its time', () => {
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
    deeds: [
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
    why: /entry 1 of the plan says that something explodes/,
  },
  {
    name: 'an unknown process',
    text: '- {what: crashes, which: node-9}',
    why: /is about node-9: there is apiserver, node-1/,
  },
  { name: 'an unknown field', text: '- {what: crashes, which: node-1, until: 3m}', why: /has until/ },
  {
    name: 'a time without a unit',
    text: '- {at: 3, what: crashes, which: node-1}',
    why: /is at 3, which is no duration/,
  },
  { name: 'a target that names no kind', text: '- {delete: web}', why: /names web/ },
  { name: 'what is no list', text: 'at: 3m', why: /a plan is a list/ },
];
for (const { name, text, why } of refused) {
  test(`a plan with ${name} is refused`, () => {
    assert.throws(() => parsePlan(text, names), why);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { type DeleteOptions, planDeletion } from './deletion.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

const usual: Strategy = {
  createOnUpdate: false,
  unconditionalUpdate: true,
  propagation: 'Background',
  returnsDeleted: false,
  prepareForCreate() {},
  prepareForUpdate() {},
  validate: () => [],
  validateUpdate: () => [],
};
const orphaning: Strategy = { ...usual, propagation: 'Orphan' };
const without: Strategy = { ...usual, propagation: 'Unsupported' };
const graceful: Strategy = { ...usual, gracePeriodSeconds: (_, asked) => asked ?? 30 };

const object = (metadata: KubeObject['metadata'] = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', generation: 1, ...metadata },
});
const deleting = (graceSeconds: number, ...finalizers: string[]) =>
  object({
    generation: 2,
    deletionTimestamp: new Date(now - 10_000 + graceSeconds * 1000).toISOString().replace('.000', ''),
    deletionGracePeriodSeconds: graceSeconds,
    ...(finalizers.length > 0 ? { finalizers } : {}),
  });

/** What a plan does, as one would say it. */
function told(strategy: Strategy, subject: KubeObject, options: Partial<DeleteOptions> = {}): string {
  const plan = planDeletion(strategy, subject, { dryRun: false, ...options }, now);
  if (plan.action !== 'mark') return plan.action;
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [], generation } = plan.object.metadata;
  const offset = (Date.parse(deletionTimestamp ?? '') - now) / 1000;
  return `mark at ${offset}s grace ${deletionGracePeriodSeconds} generation ${generation} [${finalizers.join(' ')}]`;
}

const cases: readonly [string, string, string][] = [
  ['an object goes at once', told(usual, object()), 'remove'],
  ['a finalizer keeps it, marked', told(usual, object({ finalizers: ['x'] })), 'mark at 0s grace 0 generation 2 [x]'],
  [
    'an object without generation gets none',
    told(usual, object({ finalizers: ['x'], generation: 0 })),
    'mark at 0s grace 0 generation 0 [x]',
  ],
  ['a second delete changes nothing', told(usual, deleting(0, 'x')), 'nothing'],
  ['the last finalizer gone, a delete removes', told(usual, deleting(0)), 'remove'],
  [
    'foreground waits for dependents',
    told(usual, object(), { propagationPolicy: 'Foreground' }),
    'mark at 0s grace 0 generation 2 [foregroundDeletion]',
  ],
  [
    'orphaning waits for dependents to be let go',
    told(usual, object(), { propagationPolicy: 'Orphan' }),
    'mark at 0s grace 0 generation 2 [orphan]',
  ],
  [
    'the older way to say orphan',
    told(usual, object(), { orphanDependents: true }),
    'mark at 0s grace 0 generation 2 [orphan]',
  ],
  ['some kinds orphan unless told', told(orphaning, object()), 'mark at 0s grace 0 generation 2 [orphan]'],
  ['background overrides the kind', told(orphaning, object(), { propagationPolicy: 'Background' }), 'remove'],
  [
    'what the object carries outranks the kind',
    told(usual, object({ finalizers: ['orphan'] })),
    'mark at 0s grace 0 generation 2 [orphan]',
  ],
  [
    'what is said outranks what it carries',
    told(usual, object({ finalizers: ['orphan'] }), { propagationPolicy: 'Background' }),
    'remove',
  ],
  [
    'a policy can still change while it is on its way',
    told(usual, deleting(0, 'foregroundDeletion', 'x'), { propagationPolicy: 'Orphan' }),
    'mark at -10s grace 0 generation 2 [x orphan]',
  ],
  ['kinds without dependents take no policy', told(without, object(), { propagationPolicy: 'Foreground' }), 'remove'],
  ['time to end is given', told(graceful, object()), 'mark at 30s grace 30 generation 2 []'],
  [
    'as much as is asked for',
    told(graceful, object(), { gracePeriodSeconds: 5 }),
    'mark at 5s grace 5 generation 2 []',
  ],
  ['none if none is asked for', told(graceful, object(), { gracePeriodSeconds: 0 }), 'remove'],
  ['a later delete cannot make it longer', told(graceful, deleting(30), { gracePeriodSeconds: 60 }), 'nothing'],
  [
    'but shorter, counted from the first',
    told(graceful, deleting(30), { gracePeriodSeconds: 20 }),
    'mark at 10s grace 20 generation 2 []',
  ],
  [
    'never earlier than now',
    told(graceful, deleting(30), { gracePeriodSeconds: 5 }),
    'mark at 0s grace 1 generation 2 []',
  ],
  ['or at once', told(graceful, deleting(30), { gracePeriodSeconds: 0 }), 'remove'],
  [
    'unless a finalizer keeps it',
    told(graceful, deleting(30, 'x'), { gracePeriodSeconds: 0 }),
    'mark at -10s grace 0 generation 2 [x]',
  ],
];
for (const [name, told, expected] of cases) {
  test(name, () => assert.equal(told, expected));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { type DeleteOptions, planDeletion } from './deletion.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

const defaultStrategy: Strategy = {
  createOnUpdate: false,
  unconditionalUpdate: true,
  propagation: 'Background',
  returnsDeleted: false,
  prepareForCreate() {},
  prepareForUpdate() {},
  validate: () => [],
  validateUpdate: () => [],
};
const orphaning: Strategy = { ...defaultStrategy, propagation: 'Orphan' };
const without: Strategy = { ...defaultStrategy, propagation: 'Unsupported' };
const graceful: Strategy = { ...defaultStrategy, gracePeriodSeconds: (_, asked) => asked ?? 30 };

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

/** Formats a deletion plan. */
function formatPlan(strategy: Strategy, subject: KubeObject, options: Partial<DeleteOptions> = {}): string {
  const plan = planDeletion(strategy, subject, { dryRun: false, ...options }, now);
  if (plan.action !== 'mark') return plan.action;
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [], generation } = plan.object.metadata;
  const offset = (Date.parse(deletionTimestamp ?? '') - now) / 1000;
  return `mark at ${offset}s grace ${deletionGracePeriodSeconds} generation ${generation} [${finalizers.join(' ')}]`;
}

const cases: readonly [string, string, string][] = [
  ['an object without finalizers is removed at once', formatPlan(defaultStrategy, object()), 'remove'],
  [
    'an object with a finalizer is marked',
    formatPlan(defaultStrategy, object({ finalizers: ['x'] })),
    'mark at 0s grace 0 generation 2 [x]',
  ],
  [
    'an object without a generation gets none',
    formatPlan(defaultStrategy, object({ finalizers: ['x'], generation: 0 })),
    'mark at 0s grace 0 generation 0 [x]',
  ],
  ['a second delete changes nothing', formatPlan(defaultStrategy, deleting(0, 'x')), 'nothing'],
  ['a delete without remaining finalizers removes the object', formatPlan(defaultStrategy, deleting(0)), 'remove'],
  [
    'foreground deletion waits for dependents',
    formatPlan(defaultStrategy, object(), { propagationPolicy: 'Foreground' }),
    'mark at 0s grace 0 generation 2 [foregroundDeletion]',
  ],
  [
    'orphaning waits for the release of dependents',
    formatPlan(defaultStrategy, object(), { propagationPolicy: 'Orphan' }),
    'mark at 0s grace 0 generation 2 [orphan]',
  ],
  [
    'orphanDependents means Orphan',
    formatPlan(defaultStrategy, object(), { orphanDependents: true }),
    'mark at 0s grace 0 generation 2 [orphan]',
  ],
  ['some kinds orphan by default', formatPlan(orphaning, object()), 'mark at 0s grace 0 generation 2 [orphan]'],
  [
    'Background overrides the default of the kind',
    formatPlan(orphaning, object(), { propagationPolicy: 'Background' }),
    'remove',
  ],
  [
    'existing finalizers override the default of the kind',
    formatPlan(defaultStrategy, object({ finalizers: ['orphan'] })),
    'mark at 0s grace 0 generation 2 [orphan]',
  ],
  [
    'the options override existing finalizers',
    formatPlan(defaultStrategy, object({ finalizers: ['orphan'] }), { propagationPolicy: 'Background' }),
    'remove',
  ],
  [
    'the propagation policy can change during deletion',
    formatPlan(defaultStrategy, deleting(0, 'foregroundDeletion', 'x'), { propagationPolicy: 'Orphan' }),
    'mark at -10s grace 0 generation 2 [x orphan]',
  ],
  [
    'kinds without dependents support no propagation policy',
    formatPlan(without, object(), { propagationPolicy: 'Foreground' }),
    'remove',
  ],
  [
    'graceful deletion sets the default grace period',
    formatPlan(graceful, object()),
    'mark at 30s grace 30 generation 2 []',
  ],
  [
    'the requested grace period is used',
    formatPlan(graceful, object(), { gracePeriodSeconds: 5 }),
    'mark at 5s grace 5 generation 2 []',
  ],
  ['a grace period of zero removes the object', formatPlan(graceful, object(), { gracePeriodSeconds: 0 }), 'remove'],
  [
    'a later delete cannot extend the grace period',
    formatPlan(graceful, deleting(30), { gracePeriodSeconds: 60 }),
    'nothing',
  ],
  [
    'a later delete shortens the grace period from the first delete on',
    formatPlan(graceful, deleting(30), { gracePeriodSeconds: 20 }),
    'mark at 10s grace 20 generation 2 []',
  ],
  [
    'a shortened deadline is never in the past',
    formatPlan(graceful, deleting(30), { gracePeriodSeconds: 5 }),
    'mark at 0s grace 1 generation 2 []',
  ],
  [
    'a later delete with zero removes the object',
    formatPlan(graceful, deleting(30), { gracePeriodSeconds: 0 }),
    'remove',
  ],
  [
    'a finalizer keeps an object with a grace period of zero',
    formatPlan(graceful, deleting(30, 'x'), { gracePeriodSeconds: 0 }),
    'mark at -10s grace 0 generation 2 [x]',
  ],
];
for (const [name, formatPlan, expected] of cases) {
  test(name, () => assert.equal(formatPlan, expected));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ReconcileInterval, reconcileIntervalFor } from './reconcile-interval.ts';

const cases: { name: string; objects: number; options?: ReconcileInterval; ms: number }[] = [
  { name: 'few Pods need no interval', objects: 99, ms: 0 },
  { name: 'many Pods get an interval by their number', objects: 100, ms: 2 },
  { name: '5,000 Pods get 100 ms', objects: 5000, ms: 100 },
  { name: 'the interval has whole milliseconds', objects: 149, ms: 2 },
  {
    name: 'a costly reconcile has fewer objects per millisecond',
    objects: 40,
    options: { from: 0, objectsPerMs: 20 },
    ms: 2,
  },
  {
    name: 'fewer objects than one millisecond need no interval',
    objects: 19,
    options: { from: 0, objectsPerMs: 20 },
    ms: 0,
  },
  { name: 'the interval is limited', objects: 20_000, options: { objectsPerMs: 20, maxMs: 400 }, ms: 400 },
];
for (const { name, objects, options, ms } of cases) {
  test(name, () => assert.equal(reconcileIntervalFor(objects, options), ms));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Metrics } from './metrics-api.ts';
import { asTable, wantsTable } from './tables.ts';

const metrics: Metrics = {
  kind: 'PodMetrics',
  apiVersion: 'metrics.k8s.io/v1beta1',
  metadata: { name: 'web', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
  timestamp: '2026-01-01T00:00:00Z',
  window: '15s',
  containers: [
    { name: 'a', usage: { cpu: '100m', memory: '10Mi' } },
    { name: 'b', usage: { cpu: '23456789n', memory: '6Mi' } },
  ],
};
type Table = {
  readonly columnDefinitions: readonly { readonly name: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
};

test('a Pod is a row with the total usage of its containers', () => {
  const { columnDefinitions, rows } = asTable([metrics]) as Table;
  assert.deepEqual(
    columnDefinitions.map(({ name }) => name),
    ['Name', 'cpu', 'memory', 'Window'],
  );
  assert.deepEqual(rows[0]?.cells, ['web', '123456789n', '16Mi', '15s']);
});

test('an empty table has no columns', () => {
  assert.deepEqual((asTable([]) as Table).columnDefinitions, []);
});

test('kubectl get requests a table, kubectl top does not', () => {
  assert.equal(wantsTable('application/json;as=Table;v=v1;g=meta.k8s.io,application/json'), true);
  assert.equal(wantsTable('application/json'), false);
});

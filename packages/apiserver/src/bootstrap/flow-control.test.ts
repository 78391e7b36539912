import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlowSchema } from '@kruise/api/flowcontrol/flowschema';
import type { KubeObject } from '../object.ts';
import { defaultFlowControl, reconcileFlowControl } from './flow-control.ts';
import { statusOf } from './flow-schema-status.ts';

const mark = 'apf.kubernetes.io/autoupdate-spec';
const all = defaultFlowControl();
const found = (kind: string, name: string) => all.find((each) => each.kind === kind && each.metadata.name === name)!;
const suggested = found('FlowSchema', 'service-accounts');
const mandatory = found('FlowSchema', 'catch-all');
const changed = (object: KubeObject, annotations: object | undefined, generation = 1): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, generation, annotations: annotations as { [key: string]: string } },
  spec: { ...(object.spec as object), matchingPrecedence: 5000 },
});

test('every FlowSchema references an existing priority level', () => {
  const levels = new Set(all.filter(({ kind }) => kind !== 'FlowSchema').map(({ metadata }) => metadata.name));
  for (const { kind, spec } of all as unknown as FlowSchema[]) {
    if (kind === 'FlowSchema') assert.ok(levels.has(spec!.priorityLevelConfiguration.name));
  }
});

test('a current object is kept', () => {
  for (const object of all) assert.equal(reconcileFlowControl(object, object), undefined);
});

test('an auto-updated object is reconciled', () => {
  assert.deepEqual(reconcileFlowControl(changed(suggested, { [mark]: 'true' }), suggested)?.spec, suggested.spec);
});

test('an object with auto-update disabled is kept', () => {
  assert.equal(reconcileFlowControl(changed(suggested, { [mark]: 'false' }, 2), suggested), undefined);
});

test('an object that was modified before the annotation existed gets auto-update disabled', () => {
  const existing = changed(suggested, undefined, 2);
  const result = reconcileFlowControl(existing, suggested);
  assert.deepEqual(result?.metadata.annotations, { [mark]: 'false' });
  assert.deepEqual(result?.spec, existing.spec);
});

test('a mandatory object is reconciled whatever its annotation says', () => {
  const result = reconcileFlowControl(changed(mandatory, { [mark]: 'false' }, 2), mandatory);
  assert.deepEqual(result?.spec, mandatory.spec);
  assert.deepEqual(result?.metadata.annotations, { [mark]: 'true' });
});

test('the administrator may change the lendable share of the exempt level', () => {
  const exempt = found('PriorityLevelConfiguration', 'exempt');
  const spec = { ...(exempt.spec as object), exempt: { nominalConcurrencyShares: 10, lendablePercent: 50 } };
  assert.equal(reconcileFlowControl({ ...exempt, spec }, exempt), undefined);
});

test('the Dangling condition of a FlowSchema is written once', () => {
  const schema = suggested as unknown as FlowSchema;
  const now = Date.parse('2026-01-01T00:00:00Z');
  const dangling = statusOf(schema, 'workload-low', false, now) as unknown as FlowSchema;
  assert.deepEqual(dangling.status?.conditions, [
    {
      type: 'Dangling',
      status: 'True',
      reason: 'NotFound',
      message:
        'This FlowSchema references the PriorityLevelConfiguration object named "workload-low" but there is no such object',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ]);
  assert.equal(statusOf({ ...schema, status: dangling.status! }, 'workload-low', false, now), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { parseQuantity } from '@kruise/values/quantity';
import { type PodResourcesOptions, podLimits, podRequests } from './pod-resources.ts';
import { type ResourceList, resourceListOf } from './resource-list.ts';

const container = (requests: ResourceList = {}, more: object = {}) => ({
  name: 'c',
  resources: { requests, limits: requests },
  ...more,
});
const sidecar = (requests: ResourceList) => container(requests, { name: 's', restartPolicy: 'Always' });
const specOf = (containers: readonly object[], initContainers: readonly object[] = [], more: object = {}) =>
  ({ containers, initContainers, ...more }) as unknown as PodSpec;
const status = (more: object) => ({ containerStatuses: [{ name: 'c', ...more }] }) as unknown as PodStatus;

type Row = readonly [name: string, spec: PodSpec, expected: ResourceList, options?: PodResourcesOptions];
const rows: Row[] = [
  ['nothing', specOf([{ name: 'c' }]), {}],
  [
    'its containers together',
    specOf([container({ cpu: '1', memory: '1Gi' }), container({ cpu: '500m' })]),
    { cpu: '1500m', memory: '1Gi' },
  ],
  [
    'its largest init container if that is more',
    specOf([container({ cpu: '1' })], [container({ cpu: '2' }), container({ cpu: '3' })]),
    { cpu: '3' },
  ],
  ['its containers if they are more', specOf([container({ cpu: '4' })], [container({ cpu: '3' })]), { cpu: '4' }],
  ['sidecars beside its containers', specOf([container({ cpu: '1' })], [sidecar({ cpu: '2' })]), { cpu: '3' }],
  [
    'sidecars beside the init containers after them',
    specOf([container({ cpu: '1' })], [sidecar({ cpu: '2' }), container({ cpu: '5' })]),
    { cpu: '7' },
  ],
  [
    'no sidecars beside the init containers before them',
    specOf([container({ cpu: '1' })], [container({ cpu: '5' }), sidecar({ cpu: '2' })]),
    { cpu: '5' },
  ],
  ['what running it costs', specOf([container({ cpu: '1' })], [], { overhead: { cpu: '10m' } }), { cpu: '1010m' }],
  [
    'not what running it costs, if that is not to be counted',
    specOf([container({ cpu: '1' })], [], { overhead: { cpu: '10m' } }),
    { cpu: '1' },
    { overhead: false },
  ],
  [
    'what it still has while it shrinks',
    specOf([container({ cpu: '1' })]),
    { cpu: '2' },
    { status: status({ resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }) },
  ],
  [
    'what it is to have while it grows',
    specOf([container({ cpu: '3' })]),
    { cpu: '3' },
    { status: status({ resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }) },
  ],
  [
    'what it has if it cannot grow',
    specOf([container({ cpu: '3' })]),
    { cpu: '2' },
    {
      status: {
        ...status({ resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }),
        conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
      },
    },
  ],
];
for (const [name, spec, expected, options] of rows) {
  test(`a Pod asks for ${name}`, () => {
    assert.deepEqual(resourceListOf(podRequests(spec, options)), expected);
    assert.deepEqual(resourceListOf(podLimits(spec, options)), expected);
  });
}

test('what running a Pod costs limits nothing that had no limit', () => {
  assert.deepEqual(resourceListOf(podLimits(specOf([{ name: 'c' }], [], { overhead: { cpu: '10m' } }))), {});
});

test('a container that does not ask for a resource is taken to need some of it, where that is wanted', () => {
  const missing = new Map([['cpu', parseQuantity('100m')]]);
  const requestsOf = (spec: PodSpec) => resourceListOf(podRequests(spec, { missing }));
  assert.deepEqual(requestsOf(specOf([container({ cpu: '1' }), container(), container({ cpu: '0' })])), {
    cpu: '1100m',
  });
  assert.deepEqual(requestsOf(specOf([container({ cpu: '50m' })], [container()])), { cpu: '100m' });
  assert.deepEqual(requestsOf(specOf([container({ cpu: '50m' })], [sidecar({})])), { cpu: '150m' });
});

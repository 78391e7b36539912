import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type Service, service } from '@kruise/api/core/service';
import type { Caches, Change } from '@kruise/client/informer';
import { createObjectStore } from '@kruise/client/object-store';
import { selectorOf } from '@kruise/machinery/label-selector';
import { podsMatching } from '@kruise/workload-kit/pod-indexes';
import { podsOf, servicesAffectedBy } from './membership.ts';

type Labels = Record<string, string>;
const web = { app: 'web' };

const podOf = (name: string, labels: Labels, more: Partial<Pod> = {}, namespace = 'default'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels },
  ...more,
});
const serviceOf = (name: string, selector: Labels | undefined, namespace = 'default'): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: selector ? { selector } : {},
});

/** Returns caches with these objects. */
function cachesOf(services: readonly Service[], pods: readonly Pod[] = []): Caches {
  const stores = new Map<unknown, unknown>([
    [service, filled(services)],
    [pod, filled(pods)],
  ]);
  // Only reads are needed here.
  return { of: (kind: unknown) => stores.get(kind) } as Caches;
}

function filled<T extends Service | Pod>(objects: readonly T[]) {
  const store = createObjectStore<T>();
  for (const object of objects) store.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
  return store;
}

const services = [
  serviceOf('web', web),
  serviceOf('canary', { track: 'canary', app: 'web' }),
  serviceOf('none', undefined),
  serviceOf('elsewhere', web, 'other'),
];
const ready = (is: boolean): Partial<Pod> => ({
  status: { conditions: [{ type: 'Ready', status: is ? 'True' : 'False' }] },
});

const cases: readonly [name: string, change: Partial<Change<Pod>> & { object: Pod }, affected: readonly string[]][] = [
  ['a new Pod affects the Services that select it', { type: 'added', object: podOf('a', web) }, ['default/web']],
  [
    'all labels of the selector must match',
    { type: 'added', object: podOf('a', { ...web, track: 'canary' }) },
    ['default/web', 'default/canary'],
  ],
  ['a Pod without labels affects nothing', { type: 'added', object: podOf('a', {}) }, []],
  ['a deleted Pod affects its Services', { type: 'deleted', object: podOf('a', web) }, ['default/web']],
  [
    'a change of readiness matters',
    { type: 'updated', object: podOf('a', web, ready(true)), previous: podOf('a', web, ready(false)) },
    ['default/web'],
  ],
  [
    'a change of the IP matters',
    {
      type: 'updated',
      object: podOf('a', web, { status: { podIPs: [{ ip: '10.0.0.1' }] } }),
      previous: podOf('a', web),
    },
    ['default/web'],
  ],
  [
    'a change to a finished phase matters',
    {
      type: 'updated',
      object: podOf('a', web, { status: { phase: 'Failed' } }),
      previous: podOf('a', web, { status: { phase: 'Running' } }),
    },
    ['default/web'],
  ],
  [
    'changes outside of the endpoint do not matter',
    { type: 'updated', object: podOf('a', web, { status: { message: 'x' } }), previous: podOf('a', web) },
    [],
  ],
  [
    'a relabelled Pod affects its former and its new Services',
    { type: 'updated', object: podOf('a', { ...web, track: 'canary' }), previous: podOf('a', web) },
    ['default/web', 'default/canary'],
  ],
  [
    'a Pod that lost its labels affects its former Services',
    { type: 'updated', object: podOf('a', {}), previous: podOf('a', web) },
    ['default/web'],
  ],
];
for (const [name, change, affected] of cases) {
  test(name, () => {
    const keys = servicesAffectedBy({ type: 'added', cause: 'event', ...change }, cachesOf(services));
    assert.deepEqual([...keys].sort(), [...affected].sort());
  });
}

const pods = [
  podOf('a', web),
  podOf('b', { ...web, track: 'canary' }),
  podOf('c', { app: 'db' }),
  podOf('d', web, {}, 'other'),
];
const names = (found: readonly Pod[]) => found.map(({ metadata }) => metadata.name);

test('a Service finds the Pods of its own namespace', () => {
  assert.deepEqual(names(podsOf(cachesOf(services, pods), services[0]!)), ['a', 'b']);
  assert.deepEqual(names(podsOf(cachesOf(services, pods), services[1]!)), ['b']);
});

test('Pods are found by any selector', () => {
  const found = (selector: Parameters<typeof selectorOf>[0]) =>
    names(podsMatching(cachesOf([], pods), 'default', selectorOf(selector)));
  assert.deepEqual(found({}), ['a', 'b', 'c']);
  assert.deepEqual(found(undefined), []);
  assert.deepEqual(found({ matchExpressions: [{ key: 'track', operator: 'DoesNotExist' }] }), ['a', 'c']);
  assert.deepEqual(found({ matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] }), [
    'a',
    'b',
    'c',
  ]);
  assert.deepEqual(found({ matchLabels: web, matchExpressions: [{ key: 'track', operator: 'Exists' }] }), ['b']);
});

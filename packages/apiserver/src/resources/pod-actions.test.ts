import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { binding } from '@kruise/api/core/binding';
import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import { type Pod, pod } from '@kruise/api/core/pod';
import { eviction } from '@kruise/api/policy/eviction';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { isConflict, isNotFound, StatusError } from '@kruise/machinery/status';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

// Admission is tested elsewhere; without it Pods need no ServiceAccounts.
const server = await startTestServer({ admission: [] });
after(() => server.close());

let places = 0;

/** Creates a namespace for a test, on the shared server. */
async function place(): Promise<Place> {
  const name = `place-${places++}`;
  await server.client.create(namespaceKind, { metadata: { name } });
  return { server, namespace: name };
}

type Place = { readonly server: TestServer; readonly namespace: string };
const labels = { app: 'a' };
const containers = [{ name: 'c', image: 'i' }];

async function run({ namespace }: Place, name: string, { ready = true } = {}): Promise<Pod> {
  const { client } = server;
  await client.create(pod, { metadata: { name, namespace, labels }, spec: { containers, nodeName: 'n' } });
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  const patch = { status: { phase: 'Running', conditions } };
  return client.patch(pod, { name, namespace }, patch, { type: 'merge', subresource: 'status' });
}

async function budget({ namespace }: Place, name: string, status: object): Promise<void> {
  const { client } = server;
  const spec = { minAvailable: 1, selector: { matchLabels: labels } };
  await client.create(podDisruptionBudget, { metadata: { name, namespace }, spec });
  const baseStatus = {
    disruptionsAllowed: 0,
    currentHealthy: 1,
    desiredHealthy: 1,
    expectedPods: 1,
    observedGeneration: 1,
  };
  await client.patch(
    podDisruptionBudget,
    { name, namespace },
    { status: { ...baseStatus, ...status } },
    { type: 'merge', subresource: 'status' },
  );
}

const evict = ({ namespace }: Place, name: string, options = {}) =>
  server.client.post(pod, { name, namespace }, { name: 'eviction', kind: eviction }, { metadata: { name } }, options);

function rejectsWith(code: number, cause?: string) {
  return (error: unknown) => {
    assert.ok(error instanceof StatusError);
    assert.equal(error.code, code);
    if (cause !== undefined) assert.equal(error.status.details?.causes?.[0]?.message, cause);
    return true;
  };
}

describe('an eviction', () => {
  test('deletes a Pod without a budget gracefully', async () => {
    const here = await place();
    const { namespace } = here;
    await run(here, 'a');
    await evict(here, 'a');
    const { metadata, status } = await server.client.get(pod, { name: 'a', namespace });
    assert.ok(metadata.deletionTimestamp);
    const target = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual([target?.status, target?.reason], ['True', 'EvictionByEvictionAPI']);
  });

  test('uses one allowed disruption of the budget', async () => {
    const here = await place();
    const { namespace } = here;
    await run(here, 'a');
    await budget(here, 'b', { disruptionsAllowed: 1 });
    await evict(here, 'a');
    const { status } = await server.client.get(podDisruptionBudget, { name: 'b', namespace });
    assert.equal(status?.disruptionsAllowed, 0);
    assert.deepEqual(Object.keys(status?.disruptedPods ?? {}), ['a']);
    assert.equal(status?.conditions?.[0]?.reason, 'InsufficientPods');
  });

  test('in a dry run uses no disruption', async () => {
    const here = await place();
    const { namespace } = here;
    await run(here, 'a');
    await budget(here, 'b', { disruptionsAllowed: 1 });
    await evict(here, 'a', { dryRun: true });
    const { status } = await server.client.get(podDisruptionBudget, { name: 'b', namespace });
    assert.equal(status?.disruptionsAllowed, 1);
    assert.equal((await server.client.get(pod, { name: 'a', namespace })).metadata.deletionTimestamp, undefined);
  });

  test('waits for a budget without allowed disruptions', async () => {
    const here = await place();
    await run(here, 'a');
    await budget(here, 'b', {});
    const why = 'The disruption budget b needs 1 healthy pods and has 1 currently';
    await assert.rejects(evict(here, 'a'), rejectsWith(429, why));
  });

  test('waits for a budget whose status is stale', async () => {
    const here = await place();
    await run(here, 'a');
    await budget(here, 'b', { disruptionsAllowed: 1, observedGeneration: 0 });
    const why = 'The disruption budget b is still being processed by the server.';
    await assert.rejects(evict(here, 'a'), rejectsWith(429, why));
  });

  test('fails if two budgets match', async () => {
    const here = await place();
    await run(here, 'a');
    await budget(here, 'b', { disruptionsAllowed: 1 });
    await budget(here, 'c', { disruptionsAllowed: 1 });
    await assert.rejects(evict(here, 'a'), rejectsWith(500));
  });

  test('of an unready Pod is free while enough others are healthy', async () => {
    const here = await place();
    const { namespace } = here;
    await run(here, 'a', { ready: false });
    await budget(here, 'b', { currentHealthy: 1, desiredHealthy: 1 });
    await evict(here, 'a');
    assert.ok((await server.client.get(pod, { name: 'a', namespace })).metadata.deletionTimestamp);
  });

  test('of a pending Pod needs no budget', async () => {
    const here = await place();
    const { namespace } = here;
    await server.client.create(pod, { metadata: { name: 'a', namespace, labels }, spec: { containers } });
    await budget(here, 'b', {});
    await evict(here, 'a');
    await assert.rejects(server.client.get(pod, { name: 'a', namespace }), isNotFound);
  });

  test('never exceeds the budget, however many run concurrently', async () => {
    const here = await place();
    const { namespace } = here;
    const names = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'];
    for (const name of names) await run(here, name);
    await budget(here, 'b', { disruptionsAllowed: 2 });
    const outcomes = await Promise.allSettled(names.map((name) => evict(here, name)));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2);
    const { items } = await server.client.list(pod, { namespace });
    assert.equal(items.filter(({ metadata }) => metadata.deletionTimestamp).length, 2);
  });
});

describe('a binding', () => {
  const bind = ({ namespace }: Place, name: string, target: object, metadata = {}) =>
    server.client.post(
      pod,
      { name, namespace },
      { name: 'binding', kind: binding },
      { metadata: { name, ...metadata }, target: { kind: 'Node', ...target } },
    );
  const create = ({ namespace }: Place, spec = {}) =>
    server.client.create(pod, { metadata: { name: 'a', namespace }, spec: { containers, ...spec } });

  test('assigns a Pod to a node and sets PodScheduled', async () => {
    const here = await place();
    const { namespace } = here;
    await create(here);
    await bind(here, 'a', { name: 'n1' }, { annotations: { why: 'room' } });
    const { spec, status, metadata } = await server.client.get(pod, { name: 'a', namespace });
    assert.equal(spec?.nodeName, 'n1');
    assert.deepEqual(metadata.annotations, { why: 'room' });
    assert.equal(status?.conditions?.find(({ type }) => type === 'PodScheduled')?.status, 'True');
  });

  test('fails for a bound Pod', async () => {
    const here = await place();
    await create(here);
    await bind(here, 'a', { name: 'n1' });
    await assert.rejects(bind(here, 'a', { name: 'n2' }), isConflict);
  });

  test('fails for a Pod with scheduling gates', async () => {
    const here = await place();
    await create(here, { schedulingGates: [{ name: 'example.com/wait' }] });
    await assert.rejects(bind(here, 'a', { name: 'n1' }), isConflict);
  });

  test('fails for another uid', async () => {
    const here = await place();
    await create(here);
    await assert.rejects(bind(here, 'a', { name: 'n1' }, { uid: '11111111-2222-4333-8444-555555555555' }), isConflict);
  });
});

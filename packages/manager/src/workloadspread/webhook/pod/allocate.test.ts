/** Assignment of new Pods to subsets, on a real API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { configMap } from '@kruise/api/core/configmap';
import { pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import { type WorkloadSpreadSpec, workloadSpread } from '@kruise/api/kruise/workloadspread';
import { dynamicKind } from '@kruise/client/dynamic-kind';
import { startTestCluster, type TestCluster } from '../../../testing/test-cluster.ts';
import { placementOf } from '../../placement.ts';

const namespace = 'default';
const ws = { namespace, name: 'ws' };
const labels = { app: 'web' };
const selector = { matchLabels: labels };
const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app' }] } };

type Owner = { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
const ownedBy = (owner: Owner) => ({ ownerReferences: [{ ...owner, controller: true }] });
const ownerOf = (object: object): Owner => {
  // Objects of the server have all of these fields.
  const { apiVersion, kind, metadata } = object as Omit<Owner, 'name' | 'uid'> & { metadata: Owner };
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
};

async function spread({ client, pass }: TestCluster, targetRef: Omit<Owner, 'uid'>, spec: Partial<WorkloadSpreadSpec>) {
  const { apiVersion, kind, name } = targetRef;
  const subsets = [{ name: 'a', maxReplicas: 1 }, { name: 'b' }];
  await client.create(workloadSpread, {
    metadata: ws,
    spec: { targetRef: { apiVersion, kind, name }, subsets, ...spec },
  });
  await pass(1);
}

/** Creates a Pod of an owner, and returns its subset; `-` if it has none. */
async function sent({ client }: TestCluster, owner: Owner, extra = {}): Promise<string> {
  const metadata = { namespace, generateName: 'web-', labels: { ...labels, ...extra }, ...ownedBy(owner) };
  const made = await client.create(pod, { metadata, spec: template.spec });
  return placementOf(made)?.subset ?? '-';
}

/** Creates a CloneSet without replicas. */
async function idle({ client }: TestCluster, name = 'web'): Promise<Owner> {
  return ownerOf(
    await client.create(cloneSet, { metadata: { namespace, name }, spec: { replicas: 0, selector, template } }),
  );
}

/** Creates a ReplicaSet whose Pods no controller creates or deletes here. */
async function staffed({ client }: TestCluster, replicas: number): Promise<Owner> {
  const made = { metadata: { namespace, name: 'web' }, spec: { replicas, selector, template } };
  return ownerOf(await client.create(replicaSet, made));
}

test('a Pod of the workload gets the first subset with a free place', async () => {
  await using cluster = await startTestCluster();
  // A CloneSet without replicas would delete the first Pod, which frees its place for the second.
  const owner = await staffed(cluster, 2);
  await spread(cluster, owner, {});
  assert.deepEqual([await sent(cluster, owner), await sent(cluster, owner)], ['a', 'b']);
});

test('Pods of other workloads get no subset', async () => {
  await using cluster = await startTestCluster();
  const [owner, other] = [await idle(cluster), await idle(cluster, 'other')];
  await spread(cluster, owner, {});
  assert.equal(await sent(cluster, other), '-');
  assert.equal(await sent(cluster, { apiVersion: 'x.io/v1', kind: 'Fleet', name: 'web', uid: 'u' }), '-');
  const { metadata } = await cluster.client.create(pod, {
    metadata: { namespace, name: 'alone', labels },
    spec: template.spec,
  });
  assert.equal(metadata.annotations, undefined);
});

test('only Pods that match the target filter get a subset', async () => {
  await using cluster = await startTestCluster();
  const owner = await idle(cluster);
  await spread(cluster, owner, { targetFilter: { selector: { matchLabels: { role: 'worker' } } } });
  assert.deepEqual([await sent(cluster, owner), await sent(cluster, owner, { role: 'worker' })], ['-', 'a']);
});

test('a filter without a selector selects no Pod', async () => {
  await using cluster = await startTestCluster();
  const owner = await idle(cluster);
  await spread(cluster, owner, { targetFilter: { replicasPathList: ['spec.replicas'] } });
  assert.equal(await sent(cluster, owner), '-');
});

test('concurrent creations never exceed the limit of a subset', async () => {
  await using cluster = await startTestCluster();
  const owner = await idle(cluster);
  await spread(cluster, owner, {
    subsets: [
      { name: 'a', maxReplicas: 7 },
      { name: 'b', maxReplicas: 5 },
    ],
  });
  const all = await Promise.all(Array.from({ length: 30 }, () => sent(cluster, owner)));
  const count = (name: string) => all.filter((each) => each === name).length;
  assert.deepEqual([count('a'), count('b'), count('-')], [7, 5, 18]);
});

test('the place of a terminated Pod is free before the controller counts again', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const owner = await staffed(cluster, 2);
  await spread(cluster, owner, {});
  const metadata = { namespace, name: 'web-0', labels, ...ownedBy(owner) };
  await client.create(pod, { metadata, spec: template.spec });
  assert.equal(await sent(cluster, owner), 'b');
  await cluster.pass(1);
  await client.patch(
    pod,
    { namespace, name: 'web-0' },
    { status: { phase: 'Failed' } },
    { type: 'merge', subresource: 'status' },
  );
  assert.equal(await sent(cluster, owner), 'a');
});

test('a percentage is relative to the replicas of the workload', async () => {
  await using cluster = await startTestCluster();
  const owner = await staffed(cluster, 4);
  await spread(cluster, owner, {
    subsets: [
      { name: 'a', maxReplicas: '50%' },
      { name: 'b', maxReplicas: '50%' },
    ],
  });
  const all = [];
  for (let made = 0; made < 5; made++) all.push(await sent(cluster, owner));
  assert.deepEqual(all, ['a', 'a', 'b', 'b', '-']);
});

test('a Pod of a Deployment is assigned through its ReplicaSet, and versions are counted separately', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const spec = { replicas: 2, selector, template };
  const top = ownerOf(await client.create(deployment, { metadata: { namespace, name: 'web' }, spec }));
  await spread(cluster, top, {});
  const setOf = async (hash: string) => {
    const metadata = { namespace, name: `web-${hash}`, labels, ...ownedBy(top) };
    return ownerOf(await client.create(replicaSet, { metadata, spec }));
  };
  const [older, newer] = [await setOf('1'), await setOf('2')];
  const made = async (owner: Owner, hash: string) => sent(cluster, owner, { 'pod-template-hash': hash });
  assert.deepEqual(
    [await made(older, '1'), await made(older, '1'), await made(newer, '2'), await made(newer, '2')],
    ['a', 'b', 'a', 'b'],
  );
});

test('a Pod whose ReplicaSet does not exist is refused', async () => {
  await using cluster = await startTestCluster();
  await spread(cluster, { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, {});
  await assert.rejects(
    sent(cluster, { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 'u' }),
    /ReplicaSet\.apps "web-1" not found/,
  );
});

test('Pods of a StatefulSet are assigned by ordinal', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  const subset = (name: string, maxReplicas?: number) => ({
    name,
    patch: { metadata: { labels: { tier: name } } },
    ...(maxReplicas === undefined ? {} : { maxReplicas }),
  });
  const target = { apiVersion: 'apps.kruise.io/v1beta1', kind: 'StatefulSet', name: 'web' };
  await spread(cluster, target, { subsets: [subset('a', 2), subset('b', 2), subset('c')] });
  const spec = { replicas: 5, selector, template, serviceName: 'web', podManagementPolicy: 'Parallel' as const };
  await client.create(statefulSet, { metadata: { namespace, name: 'web' }, spec });
  await pass(2);
  const tiers = async () => {
    const { items } = await client.list(pod, { namespace });
    return items.map(({ metadata }) => `${metadata.name} ${metadata.labels?.['tier']}`).sort();
  };
  assert.deepEqual(await tiers(), ['web-0 a', 'web-1 a', 'web-2 b', 'web-3 b', 'web-4 c']);
  const { status } = await client.get(workloadSpread, ws);
  assert.deepEqual(
    status?.subsetStatuses?.map(({ replicas, missingReplicas }) => [replicas, missingReplicas]),
    [
      [2, 0],
      [2, 0],
      [1, -1],
    ],
  );
});

const fleet = dynamicKind({ group: 'x.io', version: 'v1', kind: 'Fleet', plural: 'fleets', scope: 'Namespaced' });
const ship = dynamicKind({ group: 'x.io', version: 'v1', kind: 'Ship', plural: 'ships', scope: 'Namespaced' });

async function define({ client }: TestCluster, { kind, plural }: { kind: string; plural: string }) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await client.create(customResourceDefinition, {
    metadata: { name: `${plural}.x.io` },
    spec: {
      group: 'x.io',
      names: { kind, plural },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
}

async function allow({ client, pass }: TestCluster, workloads: readonly object[]) {
  const data = { WorkloadSpread_Watch_Custom_Workload_WhiteList: JSON.stringify({ workloads }) };
  await client.create(configMap, { metadata: { namespace: 'kruise-system', name: 'kruise-configuration' }, data });
  await pass(1);
}

/** Creates a Fleet with one Ship, which owns Pods. */
async function launch({ client }: TestCluster): Promise<Owner> {
  // These kinds have no types.
  const admiral = { metadata: { namespace, name: 'web' }, spec: { size: 4 } } as { metadata: object };
  const top = ownerOf(await client.create(fleet, admiral));
  return ownerOf(await client.create(ship, { metadata: { namespace, name: 'web-1', ...ownedBy(top) } }));
}

const fleetRef = { apiVersion: 'x.io/v1', kind: 'Fleet', name: 'web' };
const entry = { Group: 'x.io', Version: 'v1', Kind: 'Fleet', replicasPath: 'spec.size' };

test('custom workloads on the allowlist are spread, with the replicas at their path', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await define(cluster, { kind: 'Fleet', plural: 'fleets' });
  await define(cluster, { kind: 'Ship', plural: 'ships' });
  await allow(cluster, [{ ...entry, subResources: [{ Group: 'x.io', Version: 'v1', Kind: 'Ship' }] }]);
  const owner = await launch(cluster);
  await spread(cluster, fleetRef, {
    subsets: [
      { name: 'a', maxReplicas: '25%' },
      { name: 'b', maxReplicas: '75%' },
    ],
  });
  const all = [];
  for (let made = 0; made < 3; made++) all.push(await sent(cluster, owner));
  assert.deepEqual(all, ['a', 'b', 'b']);
  const missing = async () => {
    await pass(1);
    const { status } = await client.get(workloadSpread, ws);
    return status?.versionedSubsetStatuses?.['versionIgnored']?.map(({ missingReplicas }) => missingReplicas);
  };
  assert.deepEqual(await missing(), [0, 1]);
  await client.patch(fleet, { namespace, name: 'web' }, { spec: { size: 8 } }, { type: 'merge' });
  assert.deepEqual(await missing(), [1, 4]);
});

test('only listed kinds are followed between a Pod and its workload', async () => {
  await using cluster = await startTestCluster();
  await define(cluster, { kind: 'Fleet', plural: 'fleets' });
  await define(cluster, { kind: 'Ship', plural: 'ships' });
  await allow(cluster, [entry]);
  const owner = await launch(cluster);
  await spread(cluster, fleetRef, {});
  assert.equal(await sent(cluster, owner), '-');
});

test('with the gate disabled nothing is spread', async () => {
  await using cluster = await startTestCluster({ WorkloadSpread: false });
  const owner = await idle(cluster);
  await assert.rejects(spread(cluster, owner, {}), /feature-gate WorkloadSpread is not enabled/);
  assert.equal(await sent(cluster, owner), '-');
});

/** Updates that the API server refuses: the rate of attempts, and the state of the Pods meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validatingAdmissionPolicy } from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { validatingAdmissionPolicyBinding } from '@kruise/api/admissionregistration/validatingadmissionpolicybinding';
import { event } from '@kruise/api/core/event';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { daemonSet } from '@kruise/api/kruise/daemonset';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import { startTestCluster, type TestCluster } from '../../testing/test-cluster.ts';

const reference = { namespace: 'default', name: 'web' };
const selector = { matchLabels: { app: 'web' } };

type Policy = 'ReCreate' | 'InPlaceIfPossible' | 'InPlaceOnly';
type Workload = 'CloneSet' | 'StatefulSet' | 'DaemonSet';

const kinds = { CloneSet: cloneSet, StatefulSet: statefulSet, DaemonSet: daemonSet };

type Main = {
  readonly image?: string;
  readonly resources?: object;
  readonly resizePolicy?: readonly object[];
};

const templateOf = (main: Main = {}) => ({
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [{ name: 'main', image: 'app:v1', ...main }],
    readinessGates: [{ conditionType: inPlaceUpdateReadyCondition }],
    terminationGracePeriodSeconds: 0,
  },
});

function specOf(workload: Workload, podUpdatePolicy: Policy, main: Main) {
  const common = { selector, template: templateOf(main) };
  if (workload === 'DaemonSet') {
    return {
      ...common,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { rollingUpdateType: podUpdatePolicy } },
    };
  }
  const rollingUpdate = { podUpdatePolicy };
  return {
    ...common,
    replicas: 3,
    updateStrategy: { ...(workload === 'StatefulSet' ? { type: 'RollingUpdate' } : {}), rollingUpdate },
    ...(workload === 'StatefulSet' ? { serviceName: 'web', podManagementPolicy: 'Parallel' } : {}),
  };
}

async function startWorkload(workload: Workload, podUpdatePolicy: Policy, main: Main = {}): Promise<TestCluster> {
  const cluster = await startTestCluster();
  const { client } = cluster;
  if (workload === 'DaemonSet') {
    // The node on which the test cluster runs every Pod.
    const metadata = { name: 'node-1' };
    await client.create(node, { metadata });
    await client.patch(node, metadata, { spec: { taints: null } }, { type: 'merge' });
  }
  // The table has three kinds, whose common fields belong to none of their types.
  await client.create(kinds[workload], { metadata: reference, spec: specOf(workload, podUpdatePolicy, main) } as never);
  await settle(cluster, 10);
  return cluster;
}

async function settle(cluster: TestCluster, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) await cluster.runPods();
}

async function change({ client }: TestCluster, workload: Workload, main: Main): Promise<void> {
  const spec = { template: templateOf(main) };
  await client.patch(kinds[workload], reference, { spec }, { type: 'merge' });
}

const policyName = 'deny-image';

async function denyImage(
  { client }: TestCluster,
  image: string,
  operations: readonly ('CREATE' | 'UPDATE')[] = ['CREATE', 'UPDATE'],
): Promise<void> {
  const metadata = { name: policyName };
  await client.create(validatingAdmissionPolicy, {
    metadata,
    spec: {
      matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations, resources: ['pods'] }] },
      validations: [{ expression: `object.spec.containers.all(c, c.image != '${image}')`, message: 'denied image' }],
    },
  });
  await client.create(validatingAdmissionPolicyBinding, {
    metadata,
    spec: { policyName, validationActions: ['Deny'] },
  });
}

async function allowImage({ client }: TestCluster): Promise<void> {
  await client.delete(validatingAdmissionPolicyBinding, { name: policyName });
  await client.delete(validatingAdmissionPolicy, { name: policyName });
}

async function podsOf({ client }: TestCluster): Promise<readonly Pod[]> {
  return (await client.list(pod, { namespace: 'default' })).items;
}

const uids = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.uid).sort();
const images = (pods: readonly Pod[]) => pods.map(({ spec }) => spec?.containers[0]?.image);
const isGateClosed = ({ status }: Pod) =>
  findCondition(status?.conditions, inPlaceUpdateReadyCondition)?.status === 'False';

/** Counts writes that were accepted or refused and dry runs for some seconds, and checks whether a Pod was drained. */
async function watch(cluster: TestCluster, seconds: number) {
  const { client, managerWrites } = cluster;
  const from = managerWrites.length;
  let drained = 0;
  const stop = new AbortController();
  const watching = (async () => {
    for await (const { object } of client.watch(pod, { namespace: 'default', signal: stop.signal })) {
      if (isGateClosed(object)) drained++;
    }
  })();
  await settle(cluster, seconds);
  stop.abort();
  await watching;
  const sent = managerWrites.slice(from);
  return {
    writes: sent.filter(({ isDryRun }) => !isDryRun).map(({ what }) => what),
    dryRuns: sent.filter(({ isDryRun }) => isDryRun).length,
    drained,
  };
}

/** Returns the message of the condition by which a workload reports that Pods cannot be updated. */
async function failureOf({ client }: TestCluster, workload: Exclude<Workload, 'DaemonSet'>): Promise<string> {
  const { status } = await client.get(kinds[workload], reference);
  const type = { CloneSet: 'FailedUpdate', StatefulSet: 'FailedUpdatePod' }[workload];
  return (
    findCondition<{ type: string; status: string; message?: string }>(status?.conditions ?? [], type)?.message ?? ''
  );
}

async function warningsOf({ client }: TestCluster): Promise<readonly string[]> {
  const { items } = await client.list(event, { namespace: 'default' });
  return items.filter(({ type }) => type === 'Warning').map(({ reason, count }) => `${reason} ${count ?? 1}`);
}

const denials: readonly { readonly workload: Workload; readonly policy: Policy; readonly events: readonly string[] }[] =
  [
    { workload: 'CloneSet', policy: 'ReCreate', events: ['FailedUpdatePodReCreate 1'] },
    {
      workload: 'CloneSet',
      policy: 'InPlaceIfPossible',
      events: ['FailedUpdatePodInPlace 1', 'FailedUpdatePodReCreate 1'],
    },
    { workload: 'CloneSet', policy: 'InPlaceOnly', events: ['FailedUpdatePodInPlace 1'] },
    { workload: 'StatefulSet', policy: 'ReCreate', events: ['FailedUpdatePodReCreate 1'] },
    {
      workload: 'StatefulSet',
      policy: 'InPlaceIfPossible',
      events: ['FailedUpdatePodInPlace 1', 'FailedUpdatePodReCreate 1'],
    },
    { workload: 'StatefulSet', policy: 'InPlaceOnly', events: ['FailedUpdatePodInPlace 1'] },
    {
      workload: 'DaemonSet',
      policy: 'InPlaceIfPossible',
      events: ['FailedUpdatePodInPlace 1', 'FailedUpdatePodReCreate 1'],
    },
  ];
for (const { workload, policy, events } of denials) {
  test(`a policy that denies the new image leaves the Pods of a ${workload} in service: ${policy}`, async () => {
    await using cluster = await startWorkload(workload, policy);
    const before = await podsOf(cluster);
    await denyImage(cluster, 'app:v2');
    await change(cluster, workload, { image: 'app:v2' });
    const { writes, dryRuns, drained } = await watch(cluster, 60);
    // The revision, its mark for images that are pulled ahead, and the status of the new generation with its condition.
    assert.ok(writes.length <= 5, writes.join(', '));
    assert.ok(dryRuns >= 2 && dryRuns <= 14, `${dryRuns} dry runs`);
    assert.equal(drained, 0);
    assert.deepEqual(uids(await podsOf(cluster)), uids(before));
    if (workload !== 'DaemonSet') assert.match(await failureOf(cluster, workload), /denied image/);

    // Nothing is written once the workload is stable, and each event is recorded once.
    assert.deepEqual((await watch(cluster, 60)).writes, []);
    assert.deepEqual((await warningsOf(cluster)).toSorted(), events);

    await allowImage(cluster);
    await settle(cluster, 400);
    const after = await podsOf(cluster);
    assert.deepEqual(
      images(after),
      before.map(() => 'app:v2'),
    );
    if (policy === 'InPlaceOnly') assert.deepEqual(uids(after), uids(before));
  });
}

test('another spec is tried at once, however long the backoff has become', async () => {
  await using cluster = await startWorkload('CloneSet', 'InPlaceOnly');
  const before = await podsOf(cluster);
  await denyImage(cluster, 'app:v2');
  await change(cluster, 'CloneSet', { image: 'app:v2' });
  await settle(cluster, 300);
  await change(cluster, 'CloneSet', { image: 'app:v3' });
  await settle(cluster, 12);
  const after = await podsOf(cluster);
  assert.deepEqual(images(after), ['app:v3', 'app:v3', 'app:v3']);
  assert.deepEqual(uids(after), uids(before));
});

test('InPlaceIfPossible recreates Pods that a policy forbids to update, but not to create', async () => {
  await using cluster = await startWorkload('CloneSet', 'InPlaceIfPossible');
  const before = await podsOf(cluster);
  await denyImage(cluster, 'app:v2', ['UPDATE']);
  await change(cluster, 'CloneSet', { image: 'app:v2' });
  const { drained } = await watch(cluster, 60);
  const after = await podsOf(cluster);
  assert.deepEqual(images(after), ['app:v2', 'app:v2', 'app:v2']);
  assert.equal(
    uids(after).some((uid) => uids(before).includes(uid)),
    false,
  );
  // Newly created Pods start with an open gate.
  assert.equal(drained, 0);
});

const large = { limits: { cpu: '1', memory: '200Mi' }, requests: { cpu: '1', memory: '100Mi' } };
const small = { limits: { cpu: '1', memory: '150Mi' }, requests: { cpu: '1', memory: '100Mi' } };
/** The CPU needs a restart, so that Pods are drained; the memory limit may not be decreased. */
const resizePolicy = [
  { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
  { resourceName: 'memory', restartPolicy: 'NotRequired' },
];
const resized = { limits: { ...small.limits, cpu: '900m' }, requests: { ...small.requests, cpu: '900m' } };

for (const workload of ['CloneSet', 'StatefulSet', 'DaemonSet'] as const) {
  test(`InPlaceIfPossible recreates the Pods of a ${workload} that pods/resize refuses to change`, async () => {
    await using cluster = await startWorkload(workload, 'InPlaceIfPossible', { resources: large, resizePolicy });
    const before = await podsOf(cluster);
    assert.equal(before.length, workload === 'DaemonSet' ? 1 : 3);
    await change(cluster, workload, { resources: resized, resizePolicy });
    const { drained, writes } = await watch(cluster, 60);
    const after = await podsOf(cluster);
    assert.equal(drained, 0);
    assert.equal(
      uids(after).some((uid) => uids(before).includes(uid)),
      false,
    );
    assert.deepEqual(
      after.map(({ spec }) => spec?.containers[0]?.resources?.limits?.['memory']),
      before.map(() => '150Mi'),
    );
    assert.ok(writes.length < 80, `${writes.length} writes: ${writes.join(', ')}`);
  });
}

test('InPlaceOnly leaves Pods in service that pods/resize refuses to change', async () => {
  await using cluster = await startWorkload('CloneSet', 'InPlaceOnly', { resources: large, resizePolicy });
  const before = await podsOf(cluster);
  await change(cluster, 'CloneSet', { resources: resized, resizePolicy });
  const { drained, writes, dryRuns } = await watch(cluster, 60);
  assert.equal(drained, 0);
  assert.deepEqual(uids(await podsOf(cluster)), uids(before));
  assert.ok(writes.length <= 5, writes.join(', '));
  assert.ok(dryRuns <= 7, `${dryRuns} dry runs`);
  assert.match(await failureOf(cluster, 'CloneSet'), /memory limits cannot be decreased/);
  assert.deepEqual(await warningsOf(cluster), ['FailedUpdatePodInPlace 1']);
  assert.deepEqual((await watch(cluster, 60)).writes, []);

  // Resources that are permitted are set at once.
  const allowed = { ...large, requests: { cpu: '1', memory: '90Mi' } };
  await change(cluster, 'CloneSet', { resources: allowed, resizePolicy });
  await settle(cluster, 20);
  assert.deepEqual(
    (await podsOf(cluster)).map(({ spec }) => spec?.containers[0]?.resources?.requests?.['memory']),
    ['90Mi', '90Mi', '90Mi'],
  );
});

test('a rollout of many Pods costs one dry run', async () => {
  await using cluster = await startWorkload('CloneSet', 'InPlaceOnly');
  await cluster.client.patch(cloneSet, reference, { spec: { replicas: 30 } }, { type: 'merge' });
  await settle(cluster, 10);
  await change(cluster, 'CloneSet', { image: 'app:v2' });
  const { dryRuns } = await watch(cluster, 60);
  assert.deepEqual(new Set(images(await podsOf(cluster))), new Set(['app:v2']));
  assert.equal(dryRuns, 1);
});

test('a Pod that is refused though the others are not blocks no other Pod', async () => {
  await using cluster = await startWorkload('CloneSet', 'InPlaceOnly');
  const { client } = cluster;
  const [odd] = await podsOf(cluster);
  const name = odd?.metadata.name ?? '';
  const metadata = { name: policyName };
  await client.create(validatingAdmissionPolicy, {
    metadata,
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods'] }],
      },
      validations: [
        {
          expression: `object.metadata.name != '${name}' || object.spec.containers[0].image == 'app:v1'`,
          message: 'odd',
        },
      ],
    },
  });
  await client.create(validatingAdmissionPolicyBinding, {
    metadata,
    spec: { policyName, validationActions: ['Deny'] },
  });
  await change(cluster, 'CloneSet', { image: 'app:v2' });
  await settle(cluster, 30);
  const pods = await podsOf(cluster);
  assert.deepEqual(images(pods).toSorted(), ['app:v1', 'app:v2', 'app:v2']);
  assert.equal(pods.some(isGateClosed), false);
  assert.deepEqual((await watch(cluster, 60)).drained, 0);
});

test('a quota that refuses newly created Pods is tried with growing backoff until all are created', async () => {
  await using cluster = await startWorkload('CloneSet', 'InPlaceOnly');
  const { client } = cluster;
  const quota = { namespace: 'default', name: 'pods' };
  const hard = { pods: '3' };
  await client.create(resourceQuota, { metadata: quota, spec: { hard } });
  const used = { pods: '3' };
  await client.patch(resourceQuota, quota, { status: { hard, used } }, { type: 'merge', subresource: 'status' });
  await client.patch(cloneSet, reference, { spec: { replicas: 5 } }, { type: 'merge' });
  const { writes } = await watch(cluster, 60);
  assert.equal(writes.filter((what) => what === 'POST pods').length, 6);
  assert.ok(writes.length <= 9, writes.join(', '));
  assert.ok((await warningsOf(cluster)).some((each) => each.startsWith('FailedCreate')));
  await client.delete(resourceQuota, quota);
  await settle(cluster, 120);
  assert.equal((await podsOf(cluster)).length, 5);
});

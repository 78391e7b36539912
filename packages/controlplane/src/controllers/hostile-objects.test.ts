/**
 * Hostile or broken objects. With each of them in the cluster and all controllers running, everything else works as if
 * the object were absent, and problems are reported where users look.
 *
 * The tests depend on order, not on the speed of the machine: the clock only advances by the second of
 * `assertAllElseWorks`, so work that waits for a backoff, a timeout or another key is too late.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { horizontalPodAutoscaler } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import { cronJob } from '@kruise/api/batch/cronjob';
import { job } from '@kruise/api/batch/job';
import { configMap } from '@kruise/api/core/configmap';
import { endpoints } from '@kruise/api/core/endpoints';
import { event } from '@kruise/api/core/event';
import { namespace } from '@kruise/api/core/namespace';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import { service } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { type Client, createClient } from '@kruise/client/client';
import type { KubernetesObject } from '@kruise/client/object-key';
import { findCondition } from '@kruise/machinery/conditions';
import { isControlledBy } from '@kruise/machinery/owner-references';
import { internalError, isNotFound } from '@kruise/machinery/status';
import { seededRandom } from '@kruise/values/random';
import { formatTime } from '@kruise/values/time';
import { type Cluster, startCluster } from '../testing/cluster.ts';
import { startFakeNodes } from '../testing/nodes.ts';
import { runControllerManager } from './controller-manager.ts';

const at = (name: string, place = 'default') => ({ name, namespace: place });
const templateOf = (app: string, metadata: object = {}) => ({
  metadata: { labels: { app }, ...metadata },
  spec: { containers: [{ name: 'main', image: 'a' }] },
});
const jobTemplateOf = (app: string) => ({
  spec: { ...templateOf(app).spec, restartPolicy: 'Never' as const },
});
const workloadOf = (app: string, replicas = 1) => ({
  replicas,
  selector: { matchLabels: { app } },
  template: templateOf(app),
});

/** Starts a cluster with all default controllers, and fake nodes that run every Pod. */
async function startWhole(): Promise<Cluster> {
  const cluster = await startCluster();
  const stop = new AbortController();
  startFakeNodes(cluster.client, cluster.clock, seededRandom('nodes'), stop.signal);
  await cluster.run(['*'], { namespaceDeletionDelaySeconds: 0 });
  await cluster.advance(1);
  const close = async () => {
    stop.abort();
    await cluster.close();
  };
  return { ...cluster, close, [Symbol.asyncDispose]: close };
}

/** Returns the events of an object, as `reason: message`. */
async function eventsOf({ client }: Cluster, name: string, place = 'default'): Promise<readonly string[]> {
  const { items } = await client.list(event, { namespace: place });
  return items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`);
}

const isGone = (found: Promise<unknown>) =>
  found.then(
    () => false,
    (error) => isNotFound(error) || Promise.reject(error),
  );

const refer = ({ apiVersion, kind, metadata }: KubernetesObject) => ({
  apiVersion,
  kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  blockOwnerDeletion: true,
});

let spaces = 0;

/** Asserts that a namespace can be filled, its workloads run, orphans are collected, and the namespace is deleted. */
async function assertAllElseWorks(cluster: Cluster): Promise<void> {
  const { client } = cluster;
  const place = `well-${spaces++}`;
  await client.create(namespace, { metadata: { name: place } });
  // Pods are rejected until the default ServiceAccount exists.
  await cluster.advance(0);
  await client.create(deployment, { metadata: at('web', place), spec: workloadOf('web', 2) });
  await client.create(statefulSet, { metadata: at('db', place), spec: { ...workloadOf('db', 2), serviceName: 'db' } });
  await client.create(job, {
    metadata: at('sum', place),
    spec: { template: jobTemplateOf('sum') },
  });
  await client.create(service, {
    metadata: at('web', place),
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
  await client.create(podDisruptionBudget, {
    metadata: at('web', place),
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  });
  await client.create(resourceQuota, { metadata: at('limit', place), spec: { hard: { pods: '100' } } });
  const orphan = { ...at('orphan', place), ownerReferences: [{ ...refer(await ownerThatGoes(client, place)) }] };
  await client.create(configMap, { metadata: orphan });
  await cluster.advance(1);

  const [web, db, sum, budget, quota] = await Promise.all([
    client.get(deployment, at('web', place)),
    client.get(statefulSet, at('db', place)),
    client.get(job, at('sum', place)),
    client.get(podDisruptionBudget, at('web', place)),
    client.get(resourceQuota, at('limit', place)),
  ]);
  assert.equal(web.status?.availableReplicas, 2);
  assert.equal(db.status?.readyReplicas, 2);
  assert.equal(sum.status?.active, 1);
  assert.equal(budget.status?.disruptionsAllowed, 1);
  assert.equal(quota.status?.used?.['pods'], '5');
  assert.equal((await client.list(endpointSlice, { namespace: place })).items.length, 1);
  assert.ok(await isGone(client.get(configMap, at('orphan', place))), 'the orphan is collected');

  await client.delete(namespace, { name: place });
  await cluster.advance(40);
  assert.ok(await isGone(client.get(namespace, { name: place })), 'the namespace is deleted');
}

async function ownerThatGoes(client: Client, place: string): Promise<KubernetesObject> {
  const owner = await client.create(configMap, { metadata: at('owner', place) });
  await client.delete(configMap, at('owner', place));
  return { ...owner, apiVersion: 'v1', kind: 'ConfigMap' };
}

for (const [name, size] of [
  ['itself', 1],
  ['each other', 2],
  ['each other in a cycle of three', 3],
] as const) {
  test(`objects that own ${name} stay until one is deleted, and then all are deleted`, async () => {
    await using cluster = await startWhole();
    const { client } = cluster;
    const names = Array.from({ length: size }, (_, index) => `circle-${index}`);
    for (const each of names) await client.create(deployment, { metadata: at(each), spec: workloadOf(each) });
    const sets = (await client.list(deployment, { namespace: 'default' })).items;
    for (const [index, each] of names.entries()) {
      const ownerReferences = [refer({ ...sets[(index + 1) % size]!, apiVersion: 'apps/v1', kind: 'Deployment' })];
      await client.patch(deployment, at(each), { metadata: { ownerReferences } }, { type: 'merge' });
    }
    await assertAllElseWorks(cluster);
    for (const each of names)
      assert.equal((await client.get(deployment, at(each))).status?.availableReplicas, 1, `${each} is kept`);
    await client.delete(deployment, at(names[0]!), { propagationPolicy: 'Foreground' });
    await cluster.advance(1);
    for (const kind of [deployment, replicaSet, pod]) {
      assert.deepEqual((await client.list(kind, { namespace: 'default' })).items, []);
    }
    await assertAllElseWorks(cluster);
  });
}

test('workloads with the same selector keep to their own Pods', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  const selector = { matchExpressions: [{ key: 'app', operator: 'Exists' }] };
  for (const each of ['a', 'b']) {
    await client.create(deployment, { metadata: at(each), spec: { ...workloadOf(each, 3), selector } });
    await client.create(replicaSet, { metadata: at(`${each}-set`), spec: { ...workloadOf(each, 2), selector } });
    await client.create(statefulSet, {
      metadata: at(`${each}-db`),
      spec: { ...workloadOf(each, 2), selector, serviceName: each },
    });
  }
  await client.create(pod, { metadata: { ...at('stray'), labels: { app: 'a' } }, spec: templateOf('a').spec });
  await assertAllElseWorks(cluster);
  const pods = (await client.list(pod, { namespace: 'default' })).items;
  const counts = new Map<string, number>();
  for (const { metadata } of pods) {
    const owners = metadata.ownerReferences?.filter(({ controller }) => controller) ?? [];
    assert.equal(owners.length, 1, `${metadata.name} has one controller`);
    const owner = `${owners[0]!.kind} ${owners[0]!.name.replace(/^([ab])-[0-9a-z]{6,}$/, '$1')}`;
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  assert.deepEqual(Object.fromEntries([...counts].sort()), {
    'ReplicaSet a': 3,
    'ReplicaSet a-set': 2,
    'ReplicaSet b': 3,
    'ReplicaSet b-set': 2,
    'StatefulSet a-db': 2,
    'StatefulSet b-db': 2,
  });
  const versions = () =>
    client.list(pod, { namespace: 'default' }).then(({ items }) => items.map((each) => each.metadata.resourceVersion));
  const before = await versions();
  await cluster.advance(60);
  assert.deepEqual(await versions(), before, 'no Pod changes its controller');
});

test('a budget for everything counts every workload and reports Pods it cannot count; an empty one reports that', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  await client.create(deployment, { metadata: at('web'), spec: workloadOf('web', 3) });
  await client.create(replicaSet, { metadata: at('set'), spec: workloadOf('set', 2) });
  await client.create(statefulSet, { metadata: at('db'), spec: { ...workloadOf('db', 1), serviceName: 'db' } });
  await cluster.advance(1);
  await client.create(podDisruptionBudget, { metadata: at('all'), spec: { maxUnavailable: '50%', selector: {} } });
  const nothing = { matchExpressions: [{ key: 'app', operator: 'In', values: ['nowhere'] }] };
  await client.create(podDisruptionBudget, {
    metadata: at('none'),
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' }, ...nothing } },
  });
  await assertAllElseWorks(cluster);
  const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed } = (
    await client.get(podDisruptionBudget, at('all'))
  ).status!;
  assert.deepEqual([expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed], [6, 3, 6, 3]);
  assert.deepEqual(await eventsOf(cluster, 'none'), ['NoPods: No matching pods found']);

  await client.create(pod, { metadata: at('bare'), spec: templateOf('bare').spec });
  await assertAllElseWorks(cluster);
  assert.match(
    (await eventsOf(cluster, 'all')).find((text) => text.startsWith('UnmanagedPods')) ?? '',
    /Pods selected by this PodDisruptionBudget \(selector: .*\) were found to be unmanaged/,
  );

  const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Nothing', name: 'n', uid: 'n', controller: true }];
  await client.create(pod, { metadata: { ...at('odd'), ownerReferences }, spec: templateOf('odd').spec });
  await assertAllElseWorks(cluster);
  const { status } = await client.get(podDisruptionBudget, at('all'));
  const condition = findCondition(status?.conditions, 'DisruptionAllowed');
  assert.deepEqual([condition?.status, condition?.reason, status?.disruptionsAllowed], ['False', 'SyncFailed', 0]);
  assert.ok((await eventsOf(cluster, 'all')).some((text) => text.startsWith('CalculateExpectedPodCountFailed')));
  // An unknown kind may be added later, so its dependents are kept.
  assert.equal((await client.get(pod, at('odd'))).status?.phase, 'Running');
});

test('ten thousand labels are supported', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`example.com/l-${index}`, 'x']));
  const many = { ...labels, app: 'many' };
  await client.create(deployment, {
    metadata: { ...at('many'), labels: many },
    spec: { ...workloadOf('many', 2), template: templateOf('many', { labels: many }) },
  });
  await client.create(service, { metadata: at('many'), spec: { selector: many, ports: [{ port: 80 }] } });
  await client.create(podDisruptionBudget, {
    metadata: at('many'),
    spec: { minAvailable: 1, selector: { matchLabels: many } },
  });
  await assertAllElseWorks(cluster);
  assert.equal((await client.get(deployment, at('many'))).status?.availableReplicas, 2);
  assert.equal((await client.get(podDisruptionBudget, at('many'))).status?.currentHealthy, 2);
  const [first] = (await client.list(pod, { namespace: 'default' })).items;
  assert.equal(Object.keys(first?.metadata.labels ?? {}).length, 10_002);
});

test('annotations that leave no room for those of the controller are rejected, and the Deployment reports it', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  const annotations = { 'example.com/all': 'x'.repeat(256 * 1024 - 'example.com/all'.length) };
  await client.create(deployment, { metadata: { ...at('full'), annotations }, spec: workloadOf('full') });
  await assertAllElseWorks(cluster);
  const text = await eventsOf(cluster, 'full');
  assert.ok(
    text.some((each) => /^ReplicaSetCreateError: .*metadata\.annotations: Too long/.test(each)),
    text.join('\n'),
  );
  const { status } = await client.get(deployment, at('full'));
  const progressing = findCondition(status?.conditions, 'Progressing');
  assert.deepEqual([progressing?.status, progressing?.reason], ['False', 'ReplicaSetCreateError']);
});

test('a CronJob that missed every second of a year creates one Job, and reports the missed runs', async () => {
  await using cluster = await startWhole();
  const { client, clock } = cluster;
  const schedules = { minutes: '* * * * *', seconds: '@every 1s' };
  const jobTemplate = { spec: { template: jobTemplateOf('tick') } };
  const lastScheduleTime = formatTime(clock.now() - 366 * 24 * 3_600_000);
  for (const [name, schedule] of Object.entries(schedules)) {
    for (const [suffix, more] of [
      ['', {}],
      ['-late', { startingDeadlineSeconds: 100 }],
    ] as const) {
      const reference = at(`${name}${suffix}`);
      await client.create(cronJob, { metadata: reference, spec: { schedule, jobTemplate, suspend: true, ...more } });
      await client.patch(
        cronJob,
        reference,
        { status: { lastScheduleTime } },
        { type: 'merge', subresource: 'status' },
      );
      await client.patch(cronJob, reference, { spec: { suspend: false } }, { type: 'merge' });
    }
  }
  await cluster.advance(0);
  for (const name of ['minutes', 'minutes-late', 'seconds', 'seconds-late']) {
    const { status } = await client.get(cronJob, at(name));
    assert.equal(status?.active?.length, 1, `${name} creates one Job`);
    const complaints = (await eventsOf(cluster, name)).filter((text) => !text.startsWith('SuccessfulCreate'));
    assert.deepEqual(
      complaints,
      name.endsWith('late')
        ? []
        : [
            'TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
          ],
    );
  }
  await assertAllElseWorks(cluster);
});

test('a Job with the maximum parallelism fills its quota, reports it, and blocks nothing', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  await client.create(namespace, { metadata: { name: 'huge' } });
  await cluster.advance(1);
  await client.create(resourceQuota, { metadata: at('limit', 'huge'), spec: { hard: { pods: '700' } } });
  await cluster.advance(1);
  const most = 2 ** 31 - 1;
  const template = jobTemplateOf('huge');
  await client.create(job, {
    metadata: at('huge', 'huge'),
    spec: { parallelism: most, completions: most, template },
  });
  await client.create(job, {
    metadata: at('indexed', 'huge'),
    spec: { parallelism: 100_000, completions: 100_000, completionMode: 'Indexed', template },
  });
  await assertAllElseWorks(cluster);
  await cluster.advance(60);
  assert.equal((await client.list(pod, { namespace: 'huge' })).items.length, 700);
  for (const name of ['huge', 'indexed']) {
    const text = await eventsOf(cluster, name, 'huge');
    assert.ok(
      text.some((each) => /^FailedCreate: .*exceeded quota: limit/.test(each)),
      `${name} reports why it has no more Pods`,
    );
  }
  await assertAllElseWorks(cluster);
});

test('an autoscaler of itself, of a missing target or of an unknown kind reports that it cannot scale', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  const targets = {
    itself: { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', name: 'itself' },
    absent: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'absent' },
    unknown: { apiVersion: 'example.com/v1', kind: 'Nothing', name: 'unknown' },
    nonsense: { apiVersion: 'a/b/c', kind: 'Nothing', name: 'nonsense' },
  };
  for (const [name, scaleTargetRef] of Object.entries(targets))
    await client.create(horizontalPodAutoscaler, { metadata: at(name), spec: { scaleTargetRef, maxReplicas: 3 } });
  await assertAllElseWorks(cluster);
  for (const name of Object.keys(targets)) {
    const { status } = await client.get(horizontalPodAutoscaler, at(name));
    const condition = findCondition(status?.conditions, 'AbleToScale');
    assert.deepEqual([condition?.status, condition?.reason], ['False', 'FailedGetScale'], name);
    assert.ok(
      (await eventsOf(cluster, name)).some((text) => text.startsWith('FailedGetScale')),
      name,
    );
  }
});

test('a Service with too many Pods is truncated, and reports it', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  const count = 1500;
  await client.create(service, {
    metadata: at('crowd'),
    spec: { selector: { app: 'crowd' }, publishNotReadyAddresses: true, ports: [{ port: 80 }] },
  });
  const pods = Array.from({ length: count }, (_, index) => index);
  const metadataOf = (index: number) => ({ ...at(`crowd-${index}`), labels: { app: 'crowd' } });
  await Promise.all(
    pods.map((index) => client.create(pod, { metadata: metadataOf(index), spec: templateOf('').spec })),
  );
  await cluster.advance(1);
  await Promise.all(
    pods.map((index) => {
      const podIP = `10.1.${index >> 8}.${index & 255}`;
      const status = { podIP, podIPs: [{ ip: podIP }] };
      return client.patch(pod, at(`crowd-${index}`), { status }, { type: 'merge', subresource: 'status' });
    }),
  );
  await assertAllElseWorks(cluster);
  const slices = (await client.list(endpointSlice, { namespace: 'default' })).items;
  assert.equal(slices.flatMap((each) => each.endpoints ?? []).length, count);
  assert.ok(slices.every((each) => (each.endpoints?.length ?? 0) <= 100));
  const shown = await client.get(endpoints, at('crowd'));
  assert.equal(shown.subsets?.flatMap(({ addresses = [] }) => addresses ?? []).length, 1000);
  assert.equal(shown.metadata.annotations?.['endpoints.kubernetes.io/over-capacity'], 'truncated');
});

test('a quota with odd amounts and unknown resources counts what it can', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  const hard = {
    pods: '1e3',
    'requests.cpu': '0.1m',
    'requests.memory': '1e30',
    'limits.memory': '9223372036854775807',
    'requests.storage': '0',
    'requests.example.com/thing': '1.5',
    'count/nothings.example.com': '5',
    'example.com/other': '1',
  };
  await client.create(resourceQuota, { metadata: at('odd'), spec: { hard } });
  await assertAllElseWorks(cluster);
  const { status } = await client.get(resourceQuota, at('odd'));
  assert.deepEqual(Object.keys(status?.hard ?? {}).sort(), Object.keys(hard).sort());
  assert.equal(status?.used?.['pods'], '0');
  assert.equal(status?.used?.['requests.memory'], '0');
  const hugeJobs = {
    ...templateOf('a').spec.containers[0]!,
    resources: { requests: { cpu: '2m' }, limits: { memory: '1' } },
  };
  await assert.rejects(
    client.create(pod, { metadata: at('greedy'), spec: { containers: [hugeJobs] } }),
    /exceeded quota: odd, requested: requests.cpu=2m, used: requests.cpu=0, limited: requests.cpu=1m/,
  );
});

test('a namespace held by a finalizer reports it, and others are deleted', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  await client.create(namespace, { metadata: { name: 'stuck' } });
  await cluster.advance(1);
  const finalizers = ['example.com/never'];
  await client.create(configMap, { metadata: { ...at('held', 'stuck'), finalizers } });
  await client.create(pod, { metadata: { ...at('held', 'stuck'), finalizers }, spec: templateOf('a').spec });
  await client.delete(namespace, { name: 'stuck' });
  await assertAllElseWorks(cluster);
  const { status } = await client.get(namespace, { name: 'stuck' });
  const condition = findCondition(status?.conditions, 'NamespaceFinalizersRemaining');
  assert.match(condition?.message ?? '', /example\.com\/never in 1 resource instances/);
});

test('any text is preserved, and causes no second revision', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  const odd = '\u0000\u0007\u001b[31m\u2028\u202e\ufeff\u{1f4a5}\u{10ffff}"\\<>&\t\r\n%s$(y){{z}}';
  const container = { name: 'main', image: 'a', env: [{ name: 'ODD', value: odd }], args: [odd] };
  const template = {
    metadata: { labels: { app: 'odd' }, annotations: { 'example.com/odd': odd } },
    spec: { containers: [container] },
  };
  const metadata = { ...at('odd'), annotations: { 'example.com/odd': odd } };
  await client.create(deployment, { metadata, spec: { ...workloadOf('odd'), template } });
  await client.create(statefulSet, { metadata, spec: { ...workloadOf('odd'), template, serviceName: 'odd' } });
  await assertAllElseWorks(cluster);
  const [stateful, web] = [await client.get(statefulSet, at('odd')), await client.get(deployment, at('odd'))];
  assert.deepEqual([stateful.status?.readyReplicas, web.status?.availableReplicas], [1, 1]);
  assert.equal(stateful.status?.currentRevision, stateful.status?.updateRevision);
  for (const { metadata: own, spec } of (await client.list(pod, { namespace: 'default' })).items) {
    assert.equal(own.annotations?.['example.com/odd'], odd);
    assert.deepEqual([spec?.containers?.[0]?.env?.[0]?.value, spec?.containers?.[0]?.args], [odd, [odd]]);
  }
  const sets = (await client.list(replicaSet, { namespace: 'default' })).items;
  assert.equal(sets.length, 1);
  assert.ok(isControlledBy(sets[0]!, web));
  const versions = [stateful, web].map((each) => each.metadata.resourceVersion);
  await cluster.advance(600);
  const later = [await client.get(statefulSet, at('odd')), await client.get(deployment, at('odd'))];
  assert.deepEqual(
    later.map((each) => each.metadata.resourceVersion),
    versions,
    'nothing is written repeatedly',
  );
});

test('invalid annotations do not stop any controller', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  await client.create(deployment, { metadata: at('odd'), spec: workloadOf('odd', 3) });
  await cluster.advance(1);
  const nonsense = ['', 'x', '-1', '1e9', '9'.repeat(40), '\u{1f4a5}'];
  const keys = ['revision', 'desired-replicas', 'max-replicas', 'revision-history'];
  for (const [index, text] of nonsense.entries()) {
    const [set] = (await client.list(replicaSet, { namespace: 'default' })).items;
    const annotations = Object.fromEntries(keys.map((key) => [`deployment.kubernetes.io/${key}`, text]));
    await client.patch(replicaSet, at(set?.metadata.name ?? ''), { metadata: { annotations } }, { type: 'merge' });
    await client.patch(deployment, at('odd'), { spec: { replicas: 1 + (index % 3) } }, { type: 'merge' });
    await cluster.advance(1);
    const { status } = await client.get(deployment, at('odd'));
    assert.equal(status?.availableReplicas, 1 + (index % 3), JSON.stringify(text));
  }
  await assertAllElseWorks(cluster);
});

test('maximum numbers are supported', async () => {
  await using cluster = await startWhole();
  const { client } = cluster;
  const most = 2 ** 31 - 1;
  // Numbers that exceed JavaScript's safe range are bigints; the public types say number.
  const huge = (2n ** 63n - 1n) as unknown as number;
  const spec = {
    ...templateOf('a').spec,
    restartPolicy: 'Never' as const,
    terminationGracePeriodSeconds: huge,
    tolerations: [{ operator: 'Exists' as const, effect: 'NoExecute' as const, tolerationSeconds: huge }],
  };
  const patient = { ...templateOf('a'), spec: { ...templateOf('a').spec, terminationGracePeriodSeconds: 2 ** 53 - 1 } };
  await client.create(deployment, {
    metadata: at('web'),
    spec: { ...workloadOf('a'), template: patient, progressDeadlineSeconds: most, minReadySeconds: most - 1 },
  });
  await client.create(statefulSet, {
    metadata: at('db'),
    spec: { ...workloadOf('a'), template: patient, serviceName: 'db', minReadySeconds: most },
  });
  await client.create(job, {
    metadata: at('sum'),
    spec: { template: { spec }, activeDeadlineSeconds: huge, ttlSecondsAfterFinished: most, backoffLimit: most },
  });
  await client.create(cronJob, {
    metadata: at('tick'),
    spec: { schedule: '@every 9999h', startingDeadlineSeconds: huge, jobTemplate: { spec: { template: { spec } } } },
  });
  await client.create(namespace, { metadata: { name: 'slow' } });
  await cluster.advance(1);
  await client.create(pod, { metadata: at('slow', 'slow'), spec: { ...spec, nodeName: 'gone' } });
  await client.create(node, { metadata: { name: 'gone' }, spec: { taints: [{ key: 'fire', effect: 'NoExecute' }] } });
  await client.delete(namespace, { name: 'slow' });
  await assertAllElseWorks(cluster);
  const [web, db, sum] = [
    await client.get(deployment, at('web')),
    await client.get(statefulSet, at('db')),
    await client.get(job, at('sum')),
  ];
  assert.deepEqual([web.status?.readyReplicas, web.status?.availableReplicas], [1, undefined]);
  assert.deepEqual([db.status?.readyReplicas, db.status?.availableReplicas], [1, 0]);
  assert.equal(sum.status?.active, 1);
  assert.ok(await isGone(client.get(namespace, { name: 'slow' })), 'the namespace is deleted');
  assert.deepEqual(
    cluster.warnings.filter((complaint) => /reconcile failed|requeued/.test(complaint)),
    [],
  );
});

test('if all writes fail, everything is retried with backoff', async () => {
  await using cluster = await startCluster();
  const { client, clock } = cluster;
  const attempts = new Map<string, number>();
  const refusing = (account: string) => {
    const { transport } = cluster.clientOfAccount(account);
    return createClient({
      ...transport,
      async request(request) {
        const { method, path } = request;
        if (method === 'GET' || path.startsWith('/apis/authorization')) return transport.request(request);
        attempts.set(account, (attempts.get(account) ?? 0) + 1);
        throw internalError('broken');
      },
    });
  };
  const owner = await ownerThatGoes(client, 'default');
  await client.create(configMap, { metadata: { ...at('orphan'), ownerReferences: [refer(owner)] } });
  await client.create(namespace, { metadata: { name: 'leaving' } });
  await client.create(configMap, { metadata: at('settings', 'leaving') });
  await client.delete(namespace, { name: 'leaving' });
  const spec = workloadOf('web', 3);
  await client.create(deployment, { metadata: at('web'), spec });
  await client.create(replicaSet, { metadata: at('set'), spec });
  await client.create(statefulSet, { metadata: at('db'), spec: { ...spec, serviceName: 'db' } });
  await client.create(job, { metadata: at('sum'), spec: { template: jobTemplateOf('sum') } });
  await client.create(cronJob, {
    metadata: at('tick'),
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplateOf('tick') } } },
  });
  await client.create(service, { metadata: at('web'), spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } });
  await client.create(podDisruptionBudget, { metadata: at('all'), spec: { maxUnavailable: 1, selector: {} } });
  await client.create(resourceQuota, { metadata: at('limit'), spec: { hard: { pods: '100' } } });
  await client.create(node, { metadata: { name: 'silent' } });

  const stop = new AbortController();
  const running = runControllerManager(
    {
      client: cluster.clientOf({ username: 'system:kube-controller-manager', groups: [] }),
      clientOf: refusing,
      clock,
      random: seededRandom('refused'),
      settings: { rootAuthorities: '', namespaceDeletionDelaySeconds: 0, clusterRanges: ['10.0.0.0/16'] },
    },
    stop.signal,
  );
  await cluster.advance(60);
  const first = new Map(attempts);
  await cluster.advance(60);
  for (const [account, count] of attempts) {
    const before = first.get(account) ?? 0;
    assert.ok(before < 150, `${account} made ${before} attempts in a minute`);
    assert.ok(count - before <= Math.max(before, 60), `${account} made ${count - before} attempts in the next`);
  }
  assert.ok(attempts.size > 10, [...attempts.keys()].join());
  stop.abort();
  await cluster.advance(60);
  await running;
});

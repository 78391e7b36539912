/**
 * Two replicas of kruise-manager on a cluster without a built-in one, each a process with exactly the shipped
 * permissions. The leader is killed during rollouts.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { lease } from '@kruise/api/coordination/lease';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import { inPlaceUpdateStateAnnotation } from '@kruise/api/kruise/well-known';
import type { Client } from '@kruise/client/client';
import { discover } from '@kruise/client/discovery';
import type { KubernetesObject } from '@kruise/client/object-key';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import type { Kind } from '@kruise/schema/kind';
import { parseYaml } from '@kruise/schema/yaml-text';
import { bundledProgram, kruise, startCluster, temporaryHome } from './cluster.ts';
import { leaseMs, managersOf } from './manager-processes.ts';
import { statesOf, until } from './states.ts';

const namespace = 'default';
const own = { namespace: 'kruise-system', name: 'kruise-manager' };
const replicas = 8;
const maxUnavailable = 2;
const images = { before: 'nginx:1.25', after: 'nginx:1.26' };

const inPlace = { podUpdatePolicy: 'InPlaceIfPossible', maxUnavailable };
const byReplacement = { maxUnavailable };

type Workload = {
  readonly kind: Kind;
  readonly name: string;
  readonly rollingUpdate: object;
  readonly more?: object;
};
const parallel = { podManagementPolicy: 'Parallel' };
const workloads: readonly Workload[] = [
  { kind: cloneSet, name: 'clones', rollingUpdate: inPlace },
  { kind: cloneSet, name: 'copies', rollingUpdate: byReplacement },
  { kind: statefulSet, name: 'queue', rollingUpdate: inPlace, more: parallel },
  { kind: statefulSet, name: 'shards', rollingUpdate: byReplacement, more: parallel },
];
const isReplaced = ({ rollingUpdate }: Workload) => rollingUpdate === byReplacement;

function specOf({ name, rollingUpdate, more }: Workload): object {
  const labels = { app: name };
  return {
    ...more,
    replicas,
    updateStrategy: { rollingUpdate },
    selector: { matchLabels: labels },
    template: {
      // Slow container starts, so that the leader can be killed during the rollout.
      metadata: { labels, annotations: { 'sim.kruise.io/start-latency': '800ms' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        readinessGates: [{ conditionType: 'InPlaceUpdateReady' }],
        containers: [{ name: 'main', image: images.before }],
      },
    },
  };
}

/** Observed history of a Pod: its images and its in-place updates, without duplicates. */
type PodHistory = { readonly app: string; readonly images: Set<string>; readonly updates: Set<string> };

function recordState(histories: Map<string, PodHistory>, { metadata, spec }: Pod): void {
  const { uid = '', labels = {}, annotations = {} } = metadata;
  const history = histories.get(uid) ?? { app: labels['app'] ?? '', images: new Set(), updates: new Set() };
  histories.set(uid, history);
  history.images.add(spec?.containers[0]?.image ?? '');
  const state = annotations[inPlaceUpdateStateAnnotation];
  // The start time of an update is written with the update itself and never changed.
  if (state !== undefined) history.updates.add(JSON.parse(state).updateTimestamp);
}

test('the standby manager takes over from a killed leader and completes its rollouts', async (context) => {
  const home = temporaryHome();
  context.after(() => rmSync(home, { recursive: true, force: true }));
  const program = await bundledProgram();
  const cluster = await startCluster(home, ['--without', 'manager'], { program });
  context.after(() => cluster.stop());
  const { client, close } = cluster.connect();
  context.after(close);
  await install(home, client);

  const start = await managersOf(context, { home, cluster, program, client });
  const leader = await start('first');
  const held = await holder(client);
  await start('second');
  for (const each of workloads) {
    await client.create(each.kind, { metadata: { name: each.name, namespace }, spec: specOf(each) } as never);
  }
  await until(client, pod, (pods) => pods.filter(isPodReady).length === workloads.length * replicas);

  const histories = new Map<string, PodHistory>();
  const states = statesOf(client, pod);
  await states.next();
  const change = { spec: { template: { spec: { containers: [{ name: 'main', image: images.after }] } } } };
  for (const { kind, name } of workloads) await client.patch(kind, { name, namespace }, change, { type: 'merge' });
  let diedAtMs: number | undefined;
  for await (const pods of states) {
    for (const each of pods) recordState(histories, each);
    const updated = workloads.map(({ name }) => {
      const active = pods.filter((each) => each.metadata.labels?.['app'] === name && isPodActive(each));
      const ready = active.filter(isPodReady);
      assert.ok(active.length <= replicas, `${name} has ${active.length} Pods at once`);
      assert.ok(ready.length >= replicas - maxUnavailable, `${name} has only ${ready.length} Pods ready`);
      return ready.filter(({ spec }) => spec?.containers[0]?.image === images.after).length;
    });
    if (diedAtMs === undefined && updated.every((count) => count > 0)) {
      assert.ok(
        updated.every((count) => count < replicas),
        'every rollout is under way',
      );
      await leader.kill();
      diedAtMs = Date.now();
    }
    if (updated.every((count) => count === replicas) && pods.length === workloads.length * replicas) break;
  }

  const { spec } = await client.get(lease, own);
  assert.notEqual(spec?.holderIdentity, held, 'the other has taken over');
  const waitedMs = Date.parse(spec?.acquireTime ?? '') - diedAtMs!;
  assert.ok(waitedMs < 2 * leaseMs, `it took ${waitedMs} ms to take over`);
  for (const each of workloads) {
    const { kind, name } = each;
    await until(client, kind, (all) => all.some((found) => isDone(found as unknown as Rolled, name)));
    const pods = [...histories.values()].filter(({ app }) => app === name);
    assert.equal(pods.length, isReplaced(each) ? 2 * replicas : replicas, `Pods that ${name} has had`);
    for (const { images: seen, updates } of pods) {
      assert.equal(seen.size, isReplaced(each) ? 1 : 2, `a Pod of ${name} was to run ${[...seen]}`);
      assert.equal(updates.size, isReplaced(each) ? 0 : 1, `a Pod of ${name} was updated ${updates.size} times`);
    }
    const { items } = await client.list(pod, { namespace, labelSelector: `app=${name}` });
    for (const { metadata, status } of items) {
      const restarts = status?.containerStatuses?.[0]?.restartCount;
      assert.equal(restarts, isReplaced(each) ? 0 : 1, `restarts of ${metadata.name}`);
    }
  }
});

type Rolled = KubernetesObject & {
  readonly status?: { readonly observedGeneration?: number; readonly updatedReadyReplicas?: number };
};

function isDone({ metadata, status }: Rolled, name: string): boolean {
  const { observedGeneration, updatedReadyReplicas } = status ?? {};
  return metadata.name === name && observedGeneration === metadata.generation && updatedReadyReplicas === replicas;
}

/** Applies the output of `kruise manifests` to a cluster. */
async function install(home: string, client: Client): Promise<void> {
  const { code, stdout, stderr } = await kruise(home, ['manifests']);
  assert.equal(code, 0, stderr);
  const { kinds } = await discover(client);
  for (const text of stdout.split(/^---$/m)) {
    const manifest = parseYaml(text) as { readonly apiVersion: string; readonly kind: string };
    const kind = kinds.find(({ group, version, kind: name }) => {
      return [group, version].filter(Boolean).join('/') === manifest.apiVersion && name === manifest.kind;
    });
    assert.ok(kind, `there is no ${manifest.kind}`);
    await client.apply(kind, manifest as never, { fieldManager: 'installation', force: true });
  }
}

function holder(client: Client): Promise<string> {
  return until(client, lease, (all) => all.find(({ metadata }) => metadata.name === own.name)?.spec?.holderIdentity);
}

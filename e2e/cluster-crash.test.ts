/** Kills a whole cluster in one process repeatedly while users change workloads. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deployment } from '@kruise/api/apps/deployment';
import { configMap } from '@kruise/api/core/configmap';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import type { Client } from '@kruise/client/client';
import type { KubernetesObject } from '@kruise/client/object-key';
import { listAll } from '@kruise/client/pages';
import { isPodReady } from '@kruise/machinery/pods';
import { isAlreadyExists } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import { pick, type Random, randomInteger, seededRandom } from '@kruise/values/random';
import {
  assertCounted,
  assertStored,
  attempt,
  type Count,
  createAcknowledgedWrites,
  write,
} from './acknowledged-writes.ts';
import { bundledProgram, startCluster, temporaryHome } from './cluster.ts';

const rounds = Number(process.env.KRUISE_CRASH_ROUNDS ?? 8);
const writers = 4;
const namespace = 'default';
const images = ['nginx:1.25', 'nginx:1.26', 'nginx:1.27'];
const stepAnnotation = 'example.com/step';

type Workload = { readonly kind: Kind; readonly name: string; readonly spec: object };

const inPlace = { type: 'RollingUpdate', rollingUpdate: { podUpdatePolicy: 'InPlaceIfPossible', maxUnavailable: 2 } };
const workloads: readonly Workload[] = [
  { kind: deployment, name: 'web', spec: {} },
  { kind: cloneSet, name: 'clones', spec: { updateStrategy: inPlace } },
  { kind: cloneSet, name: 'copies', spec: {} },
  { kind: statefulSet, name: 'queue', spec: { podManagementPolicy: 'Parallel' } },
];

const container = (image: string) => ({ containers: [{ name: 'main', image }] });

/** Creates a workload, then scales and updates it as fast as responses arrive, until it is stopped. */
async function changeWorkload(
  client: Client,
  { kind, name, spec }: Workload,
  count: Count,
  random: Random,
  signal: AbortSignal,
) {
  const metadata = { name, namespace };
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, ...container(images[0]!) } };
  const made = { metadata, spec: { ...spec, replicas: 3, selector: { matchLabels: labels }, template } };
  let isMade = false;
  while (!isMade) {
    isMade = await attempt(() => client.create(kind, made as never)).then(Boolean, isAlreadyExists);
  }
  while (!signal.aborted) {
    const step = ++count.tried;
    const change = pick(random, [
      { replicas: 1 + randomInteger(random, 5) },
      { template: { spec: container(pick(random, images)) } },
    ]);
    const patch = { metadata: { annotations: { [stepAnnotation]: String(step) } }, spec: change };
    if (await attempt(() => client.patch(kind, metadata, patch, { type: 'merge' }))) count.acknowledged = step;
    await sleep(random.next() * 200);
  }
}

/** The parts of a workload that the test reads. */
type ObservedWorkload = KubernetesObject & {
  readonly spec: { readonly replicas: number; readonly template: { readonly spec: Pod['spec'] } };
  readonly status?: { readonly [figure: string]: number | undefined };
};

const imageOf = (spec: Pod['spec']) => spec?.containers[0]?.image;

/** Returns the first deviation from the desired state; undefined after convergence. */
async function findDeviation(client: Client): Promise<string | undefined> {
  const { items: pods } = await client.list(pod, { namespace });
  for (const { kind, name } of workloads) {
    const found = (await client.get(kind, { name, namespace })) as unknown as ObservedWorkload;
    const { spec, status = {}, metadata } = found;
    const own = pods.filter((each) => each.metadata.labels?.['app'] === name);
    const what = `${kind.kind} ${name}`;
    if (status['observedGeneration'] !== metadata.generation) return `${what} was not looked at`;
    if (own.length !== spec.replicas) return `${what} wants ${spec.replicas} Pods and has ${own.length}`;
    for (const figure of ['replicas', 'readyReplicas', 'availableReplicas', 'updatedReplicas']) {
      if ((status[figure] ?? 0) !== spec.replicas) return `${what} says ${figure} ${status[figure]}`;
    }
    const wrong = own.find((each) => !isPodReady(each) || imageOf(each.spec) !== imageOf(spec.template.spec));
    if (wrong) return `${what}: ${wrong.metadata.name} is not ready, or of another image`;
  }
  return undefined;
}

test(`a cluster that is killed ${rounds} times while it is used loses nothing, and comes to rest`, async (context) => {
  const home = temporaryHome();
  context.after(() => rmSync(home, { recursive: true, force: true }));
  const program = await bundledProgram();
  const random = seededRandom(rounds);
  let cluster = await startCluster(home, [], { program });
  context.after(() => cluster.kill());
  const { client, close } = cluster.connect();
  context.after(close);
  const writes = createAcknowledgedWrites();
  const counts = new Map(workloads.map(({ name }) => [name, { acknowledged: 0, tried: 0 }]));
  const stop = new AbortController();
  context.after(() => stop.abort());
  const load = Promise.all([
    ...Array.from({ length: writers }, (_, writer) => write(client, writer, writes, namespace, stop.signal)),
    ...workloads.map((each) =>
      changeWorkload(client, each, counts.get(each.name)!, seededRandom(each.name), stop.signal),
    ),
  ]);
  for (let round = 0; round < rounds; round++) {
    // From the middle of a start to well into a rollout.
    await sleep(random.next() * 1500);
    await cluster.kill();
    cluster = await startCluster(home, [], { program });
  }
  const startedAt = Date.now();
  stop.abort();
  await load;

  const { items } = await listAll(client, configMap, { namespace, limit: 1000 });
  assertStored(writes, items);
  for (const { kind, name } of workloads) {
    const { metadata } = (await client.get(kind, { name, namespace })) as unknown as ObservedWorkload;
    assertCounted(name, counts.get(name)!, Number(metadata.annotations?.[stepAnnotation] ?? 0));
  }

  const deadline = performance.now() + 60_000;
  for (let why = await findDeviation(client); why !== undefined; why = await findDeviation(client)) {
    assert.ok(performance.now() < deadline, why);
    await sleep(50);
  }
  const { items: pods } = await client.list(pod, { namespace });
  // Containers of the killed process are gone: every container was started once, by the last process.
  for (const { metadata, status } of pods) {
    const [main] = status?.containerStatuses ?? [];
    const began = Date.parse(main?.state?.running?.startedAt ?? '');
    assert.ok(began >= Math.floor(startedAt / 1000) * 1000 - 5000, `${metadata.name} runs since ${began}`);
    assert.ok((main?.restartCount ?? 0) <= rounds + counts.get(metadata.labels?.['app'] ?? '')!.tried);
  }
  const addresses = pods.map(({ status }) => status?.podIP);
  assert.equal(new Set(addresses).size, pods.length, 'every Pod has an address of its own');
  assert.ok([...counts.values()].every(({ acknowledged }) => acknowledged > 0));
});

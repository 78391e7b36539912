/**
 * Simulates one node whose kubelet is killed again and again, just before or just after a call, and restarted, while
 * Pods of every scenario are created, changed and deleted on it. Records every violation.
 */
import { namespace } from '@kruise/api/core/namespace';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { inProcessTransport } from '@kruise/apiserver/in-process';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { createClient } from '@kruise/client/client';
import { startInformer } from '@kruise/client/informer';
import { silentLog } from '@kruise/client/log';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { createSimulatedRuntime } from '@kruise/node/cri/simulated/simulated-runtime';
import { createKubelet } from '@kruise/node/kubelet/kubelet';
import { pick, type Random, randomInteger, seededRandom } from '@kruise/values/random';
import { type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import { worldStart } from '../foundation.ts';
import { beginLife, type Life } from '../life.ts';
import { heardOnlyAlive } from '../mortal.ts';
import { type Career, careers } from './careers.ts';
import { type Witness, witnessOf } from './pod-witness.ts';

/** Result of a simulated node. */
export type Outcome = { readonly faults: readonly string[]; readonly crashCount: number };

const nodeName = 'node-1';
const node = { username: `system:node:${nodeName}`, groups: ['system:nodes', 'system:authenticated'] };
const podCount = 4;
/** Time during which Pods are created and changed and kubelets crash, and the maximum time to converge after it. */
const stormMs = 60_000;
const calmMs = 240_000;
const maxCallsToLive = 120;
const maxDownMs = 8000;

/** Runs the simulation of a seed. */
export async function crashingNode(seed: string): Promise<Outcome> {
  const clock = virtualClock(worldStart);
  const random = seededRandom(seed);
  const server = await startTestServer({ clock, random: seededRandom(`${seed} server`), onError() {} });
  const ended = new AbortController();
  const { client } = server;
  for (const name of ['kube-node-lease', 'default']) {
    await client.create(namespace, { metadata: { name } }).catch(() => {});
  }
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } }).catch(() => {});
  const runtime = createSimulatedRuntime({
    clock,
    random: seededRandom(`${seed} runtime`),
    nodeAddress: '172.18.0.2',
    podCidr: '10.244.0.0/24',
    images: ['nginx:1.25', 'nginx:1.26', 'busybox:1.36'],
    signal: ended.signal,
  });
  const witness = witnessOf(runtime, ended.signal);
  startInformer(client, clock, random, podKind, {}, ended.signal).handle(({ type, object }) => {
    if (type !== 'deleted') witness.saw(object);
  });
  const kubelets = keepStarting({ clock, random, server, runtime });
  const pods = Array.from({ length: podCount }, (_, index) => live(server, clock, random, index));
  await clock.advanceAsync(stormMs);
  kubelets.calmDown();
  await restOf(clock, witness);
  const faults = [...witness.faults, ...(await atRest(server, runtime, witness, pods))];
  ended.abort();
  kubelets.end();
  await clock.advanceAsync(1000);
  await server.close();
  return { faults, crashCount: kubelets.count() - 1 };
}

type Machine = {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly server: TestServer;
  readonly runtime: NodeRuntime;
};

/** Starts a kubelet, and another one whenever it has died. */
function keepStarting({ clock, random, server, runtime }: Machine) {
  let count = 0;
  let isCalm = false;
  let life: Life;
  const boot = () => {
    count++;
    const own = beginLife(clock);
    life = own;
    let left = 1 + randomInteger(random, maxCallsToLive);
    const diesAfter = random.next() < 0.5;
    const strike = () => {
      if (!isCalm && left === 0) own.end();
    };
    const fate = {
      before() {
        left--;
        if (!diesAfter) strike();
      },
      after() {
        if (diesAfter) strike();
      },
    };
    own.onEnd(() => void clock.setTimer(randomInteger(random, maxDownMs), boot));
    createKubelet(
      {
        client: createClient(heardOnlyAlive(inProcessTransport(server.core, node, 'kubelet'), own, fate)),
        clock: own.clock,
        random: seededRandom(`${count}`),
        runtime: heardOnlyAlive(runtime, own, fate),
        nodeName,
        addresses: ['172.18.0.2'],
        log: silentLog,
      },
      // The kubelet is never stopped gracefully: it dies.
      new AbortController().signal,
    );
  };
  boot();
  return {
    count: () => count,
    calmDown() {
      isCalm = true;
    },
    end: () => life.end(),
  };
}

type LivingPod = { readonly name: string; readonly career: Career };

/** Schedules the creation of a Pod and the action of its scenario. */
function live({ client }: TestServer, clock: VirtualClock, random: Random, index: number): LivingPod {
  const career = pick(random, careers);
  const name = `${career.name}-${index}`;
  const reference = { name, namespace: 'default' };
  const comesAt = randomInteger(random, stormMs / 2);
  clock.setTimer(comesAt, () => {
    const { annotations, spec } = career;
    void client.create(podKind, {
      metadata: { ...reference, ...(annotations ? { annotations } : {}) },
      spec: { nodeName, automountServiceAccountToken: false, ...spec },
    });
  });
  if (career.happens) {
    const { happens } = career;
    // Often while the Pod is still starting.
    const after = 1 + randomInteger(random, random.next() < 0.5 ? 6000 : stormMs / 2 - 1);
    clock.setTimer(comesAt + after, () => void happens(client, reference).catch(() => {}));
  }
  return { name, career };
}

/** Advances time until no change was observed for a while. */
async function restOf(clock: VirtualClock, witness: Witness): Promise<void> {
  const until = clock.now() + calmMs;
  const quietMs = 45_000;
  for (let seen = -1; seen !== witness.count() && clock.now() < until; ) {
    seen = witness.count();
    await clock.advanceAsync(quietMs);
  }
}

/** Returns the violations after convergence. */
async function atRest(
  { client }: TestServer,
  runtime: NodeRuntime,
  witness: Witness,
  pods: readonly LivingPod[],
): Promise<readonly string[]> {
  const faults: string[] = [];
  const { items } = await client.list(podKind, { namespace: 'default' });
  for (const { name, career } of pods) {
    const found: Pod | undefined = items.find(({ metadata }) => metadata.name === name);
    const fault = career.fault(found);
    if (fault) faults.push(`${name} after convergence: ${fault}: ${JSON.stringify(found?.status?.containerStatuses)}`);
    const starts = found && career.runsOnce ? witness.starts(found, 'c') : 1;
    if (starts !== 1) faults.push(`${name} must run once and ran ${starts} times`);
  }
  const uids = new Set(items.map(({ metadata }) => metadata.uid));
  for (const { metadata } of (await runtime.listPodSandbox({})).items) {
    if (!uids.has(metadata.uid)) faults.push(`a sandbox of ${metadata.name} is left over`);
  }
  return faults;
}

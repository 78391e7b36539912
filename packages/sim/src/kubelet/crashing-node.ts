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
import { simulationStart } from '../bootstrap-snapshot.ts';
import { scopeToLifetime } from '../lifetime-scope.ts';
import { type Lifetime, startLifetime } from '../process-lifetime.ts';
import { observePods, type PodObserver } from './pod-observer.ts';
import { type PodScenario, podScenarios } from './pod-scenarios.ts';

/** Result of a simulated node. */
export type Outcome = { readonly faults: readonly string[]; readonly crashCount: number };

const nodeName = 'node-1';
const node = { username: `system:node:${nodeName}`, groups: ['system:nodes', 'system:authenticated'] };
const podCount = 4;
/** Time during which Pods are created and changed and kubelets crash, and the maximum time to converge after it. */
const faultMs = 60_000;
const convergenceMs = 240_000;
const maxCallsToLive = 120;
const maxDownMs = 8000;

/** Runs the simulation of a seed. */
export async function simulateCrashingNode(seed: string): Promise<Outcome> {
  const clock = virtualClock(simulationStart);
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
  const observer = observePods(runtime, ended.signal);
  startInformer(client, clock, random, podKind, {}, ended.signal).handle(({ type, object }) => {
    if (type !== 'deleted') observer.observe(object);
  });
  const kubelets = restartRepeatedly({ clock, random, server, runtime });
  const pods = Array.from({ length: podCount }, (_, index) => startScenario(server, clock, random, index));
  await clock.advanceAsync(faultMs);
  kubelets.stopFaults();
  await waitForConvergence(clock, observer);
  const faults = [...observer.faults, ...(await findViolations(server, runtime, observer, pods))];
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
function restartRepeatedly({ clock, random, server, runtime }: Machine) {
  let count = 0;
  let areFaultsOver = false;
  let life: Lifetime;
  const boot = () => {
    count++;
    const own = startLifetime(clock);
    life = own;
    let left = 1 + randomInteger(random, maxCallsToLive);
    const diesAfter = random.next() < 0.5;
    const crashIfDue = () => {
      if (!areFaultsOver && left === 0) own.end();
    };
    const crashPoint = {
      before() {
        left--;
        if (!diesAfter) crashIfDue();
      },
      after() {
        if (diesAfter) crashIfDue();
      },
    };
    own.onEnd(() => void clock.setTimer(randomInteger(random, maxDownMs), boot));
    createKubelet(
      {
        client: createClient(scopeToLifetime(inProcessTransport(server.core, node, 'kubelet'), own, crashPoint)),
        clock: own.clock,
        random: seededRandom(`${count}`),
        runtime: scopeToLifetime(runtime, own, crashPoint),
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
    stopFaults() {
      areFaultsOver = true;
    },
    end: () => life.end(),
  };
}

type ScenarioPod = { readonly name: string; readonly scenario: PodScenario };

/** Schedules the creation of a Pod and the action of its scenario. */
function startScenario({ client }: TestServer, clock: VirtualClock, random: Random, index: number): ScenarioPod {
  const scenario = pick(random, podScenarios);
  const name = `${scenario.name}-${index}`;
  const reference = { name, namespace: 'default' };
  const comesAt = randomInteger(random, faultMs / 2);
  clock.setTimer(comesAt, () => {
    const { annotations, spec } = scenario;
    void client.create(podKind, {
      metadata: { ...reference, ...(annotations ? { annotations } : {}) },
      spec: { nodeName, automountServiceAccountToken: false, ...spec },
    });
  });
  if (scenario.action) {
    const { action } = scenario;
    // Often while the Pod is still starting.
    const after = 1 + randomInteger(random, random.next() < 0.5 ? 6000 : faultMs / 2 - 1);
    clock.setTimer(comesAt + after, () => void action(client, reference).catch(() => {}));
  }
  return { name, scenario };
}

/** Advances time until no change was observed for a while. */
async function waitForConvergence(clock: VirtualClock, observer: PodObserver): Promise<void> {
  const until = clock.now() + convergenceMs;
  const quietMs = 45_000;
  for (let seen = -1; seen !== observer.count() && clock.now() < until; ) {
    seen = observer.count();
    await clock.advanceAsync(quietMs);
  }
}

/** Returns the violations after convergence. */
async function findViolations(
  { client }: TestServer,
  runtime: NodeRuntime,
  observer: PodObserver,
  pods: readonly ScenarioPod[],
): Promise<readonly string[]> {
  const faults: string[] = [];
  const { items } = await client.list(podKind, { namespace: 'default' });
  for (const { name, scenario } of pods) {
    const found: Pod | undefined = items.find(({ metadata }) => metadata.name === name);
    const fault = scenario.fault(found);
    if (fault) faults.push(`${name} after convergence: ${fault}: ${JSON.stringify(found?.status?.containerStatuses)}`);
    const starts = found && scenario.runsOnce ? observer.starts(found, 'c') : 1;
    if (starts !== 1) faults.push(`${name} must run once and ran ${starts} times`);
  }
  const uids = new Set(items.map(({ metadata }) => metadata.uid));
  for (const { metadata } of (await runtime.listPodSandbox({})).items) {
    if (!uids.has(metadata.uid)) faults.push(`a sandbox of ${metadata.name} is left over`);
  }
  return faults;
}

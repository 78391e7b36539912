import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@kruise/api/core/endpoints';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { service } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { createClient } from '@kruise/client/client';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { isAlreadyExists } from '@kruise/machinery/status';
import { after } from '@kruise/values/clock';
import { run } from './run.ts';
import type { View } from './view.ts';
import type { Program } from './world.ts';

const apps = ['web', 'db', 'agent', 'clones'];
const namespace = 'default';

/** Creates a Service and a budget for each possible workload, however long that takes. */
const user: Program = {
  name: 'user',
  async run({ life, transportOf }) {
    const client = createClient(transportOf({ username: 'user', groups: ['system:masters'] }));
    const insist = async (what: () => Promise<unknown>) => {
      for (;;) {
        try {
          return await what();
        } catch (error) {
          if (isAlreadyExists(error)) return undefined;
          await after(life.clock, 1000);
        }
      }
    };
    for (const app of apps) {
      const metadata = { name: app, namespace };
      await insist(() => client.create(service, { metadata, spec: { selector: { app }, ports: [{ port: 80 }] } }));
      const selector = { matchLabels: { app } };
      // A DaemonSet has no scale subresource, so the maximum of unavailable Pods cannot be computed from replicas.
      const amount = app === 'agent' ? { minAvailable: 1 } : { maxUnavailable: 1 };
      await insist(() => client.create(podDisruptionBudget, { metadata, spec: { selector, ...amount } }));
    }
    // A program that returns is restarted, so this one never does.
    await new Promise<never>(() => {});
  },
};

/** Yields the errors in Services, budgets and nodes of a converged cluster. */
function* wrongs(view: View): Generator<string> {
  const show = (ips: readonly (string | undefined)[]) => ips.toSorted().join(' ');
  const ipsOf = (pods: readonly Pod[]) => pods.map(({ status }) => status?.podIP);
  for (const { metadata, spec, status } of view.list(podDisruptionBudget)) {
    const pods = view.list(pod).filter((each) => each.metadata.labels?.['app'] === metadata.name && isPodActive(each));
    const { currentHealthy, observedGeneration } = status ?? {};
    const ready = pods.filter(isPodReady).length;
    if (currentHealthy !== ready) yield `budget ${metadata.name} counts ${currentHealthy} of ${ready}`;
    if (observedGeneration !== metadata.generation || spec === undefined)
      yield `budget ${metadata.name} was not looked at`;
  }
  for (const { metadata, spec } of view.list(service)) {
    const app = spec?.selector?.['app'];
    if (app === undefined) continue;
    const pods = view.list(pod).filter((each) => each.metadata.labels?.['app'] === app && isPodActive(each));
    const ready = show(ipsOf(pods.filter(isPodReady)));
    const published = view
      .list(endpoints)
      .find((each) => each.metadata.name === metadata.name)
      ?.subsets?.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));
    if (show(published ?? []) !== ready)
      yield `Endpoints ${metadata.name} are ${show(published ?? [])} rather than ${ready}`;
    const slices = view
      .list(endpointSlice)
      .filter((each) => each.metadata.labels?.['kubernetes.io/service-name'] === app);
    const sliced = slices.flatMap((slice) =>
      (slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready).flatMap(({ addresses }) => addresses),
    );
    if (show(sliced) !== ready) yield `slices of ${metadata.name} have ${show(sliced)} rather than ${ready}`;
    if (slices.length !== 1) yield `${metadata.name} has ${slices.length} slices`;
  }
  for (const { metadata, spec } of view.list(node)) {
    const left = spec?.taints?.map(({ key, effect }) => `${key}:${effect}`) ?? [];
    if (left.length > 0) yield `${metadata.name} is tainted ${left.join(' ')}`;
  }
}

for (const seed of ['services', 'more services']) {
  test(`endpoints, budgets and taints converge (${seed})`, async () => {
    const { failure, view } = await run({ seed, parts: { programs: (usual) => [...usual, user] }, minutes: 1 });
    assert.equal(failure, undefined);
    assert.deepEqual([...wrongs(view!)], []);
  });
}

/**
 * Simulates a PodUnavailableBudget in a cluster where every Pod that is not ready was made so through the API. The
 * number of available Pods must never drop below the budget, whatever happens to kruise-manager and the API server, and
 * however many clients delete, evict and update Pods at the same time.
 */
import { validatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type CloneSet, cloneSet } from '@kruise/api/kruise/cloneset';
import { podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import type { Client } from '@kruise/client/client';
import { evict } from '@kruise/client/subresources';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { scaleUp } from '@kruise/values/int-or-string';
import { pick, type Random, randomInteger, seededRandom } from '@kruise/values/random';
import { faultKinds, networkConditionsOf } from './faults.ts';
import { noFaults } from './network.ts';
import type { ProgramOptions } from './programs.ts';
import { type Simulation, startSimulation } from './simulation.ts';
import type { View } from './view.ts';

export type BudgetResult = {
  /** Number of replicas, number of Pods that must be available, and the minimum that was available. */
  readonly replicas: number;
  readonly desired: number;
  readonly minAvailable: number;
  /** Number of disruptions that were admitted. */
  readonly disruptions: number;
};

const namespace = 'default';
const at = { name: 'web', namespace };
const selector = { matchLabels: { app: 'web' } };
const images = ['nginx:1.25', 'nginx:1.26', 'nginx:1.27'] as const;
const actionCount = 60;
const patienceMs = 600_000;

/** Runs one simulation until all Pods are available again; throws if they never are. */
export async function simulateBudget(seed: string, control: ProgramOptions = {}): Promise<BudgetResult> {
  const random = seededRandom(seed);
  const spec = drawCloneSet(random);
  const { replicas = 0 } = spec;
  const maxUnavailable = pick(random, [1, 2, '30%']);
  const desired = replicas - scaleUp(maxUnavailable, replicas);
  let minAvailable: number | undefined;
  const stage = await startSimulation({
    seed,
    nodes: 2,
    control,
    replicated: pick(random, [[], ['manager']] as const),
    onChange: (view) => {
      if (minAvailable !== undefined) minAvailable = Math.min(minAvailable, available(view));
    },
  });
  const { world, client, advanceUntilSettled, waitFor } = stage;
  await waitFor('the webhooks are registered', (view) => view.list(validatingWebhookConfiguration).length > 0);
  await advanceUntilSettled(
    client().create(podUnavailableBudget, { metadata: at, spec: { selector, maxUnavailable } }),
  );
  await advanceUntilSettled(client().create(cloneSet, { metadata: at, spec }));
  const isAvailable = (view: View) =>
    available(view) === replicas && view.list(podUnavailableBudget)[0]?.status?.currentAvailable === replicas;
  await waitFor('all Pods are available', isAvailable);

  minAvailable = replicas;
  let disruptions = 0;
  for (let action = 0; action < actionCount; action++) {
    if (randomInteger(random, 6) === 0) injectRandomFault(stage, random);
    // A request that is rejected or gets no response is not repeated.
    if (world.server()) {
      disrupt(client(), random).then(
        () => disruptions++,
        () => {},
      );
    }
    await stage.advance(randomInteger(random, 3000));
  }
  for (const name of world.names()) world.setNetworkConditions(name, noFaults);
  await waitFor('all Pods are available again', isAvailable, patienceMs);
  world.end();
  return { replicas, desired, minAvailable, disruptions };
}

function available(view: View): number {
  return view.list(pod).filter((each: Pod) => isPodActive(each) && isPodReady(each)).length;
}

const running = (image: string) => ({ containers: [{ name: 'main', image }] });

function drawCloneSet(random: Random): CloneSet['spec'] {
  const rollingUpdate = {
    podUpdatePolicy: pick(random, ['ReCreate', 'InPlaceIfPossible'] as const),
    maxUnavailable: '100%',
    inPlaceUpdateStrategy: { gracePeriodSeconds: pick(random, [0, 3]) },
  };
  const spec = { ...running(images[0]), terminationGracePeriodSeconds: 1 };
  const template = { metadata: { labels: { app: 'web' } }, spec };
  return { replicas: 4 + randomInteger(random, 3), selector, template, updateStrategy: { rollingUpdate } };
}

/** Disrupts one Pod or all Pods at once, or updates the template. */
async function disrupt(client: Client, random: Random): Promise<void> {
  const [what, image, which] = [randomInteger(random, 8), pick(random, images), random.next()];
  if (what === 0) {
    await client.patch(cloneSet, at, { spec: { template: { spec: running(image) } } }, { type: 'merge' });
    return;
  }
  const { items } = await client.list(pod, { namespace });
  const references = items.map(({ metadata }) => ({ name: metadata.name ?? '', namespace }));
  const one = references[Math.floor(which * references.length)];
  if (what === 1) await Promise.any(references.map((each) => client.delete(pod, each)));
  else if (!one) return;
  else if (what < 4) await client.delete(pod, one);
  else if (what < 6) await evict(client, one);
  else await client.patch(pod, one, { spec: running(image) }, { type: 'strategic' });
}

/**
 * Injects a fault into a component for a few seconds. Nodes would lose their Pods if they were unreachable for longer.
 */
function injectRandomFault({ world }: Simulation, random: Random): void {
  const names = world.names().filter((name) => /^(?:manager|controller-manager|apiserver)/.test(name));
  const target = pick(random, [...names, 'manager']);
  const lastsMs = 1000 + randomInteger(random, 9000);
  const conditions = networkConditionsOf(pick(random, faultKinds));
  if (target === 'apiserver' || !conditions) {
    world.crash(target, Math.min(lastsMs, 3000));
    return;
  }
  world.setNetworkConditions(target, conditions);
  world.clock.setTimer(lastsMs, () => world.setNetworkConditions(target, noFaults));
}

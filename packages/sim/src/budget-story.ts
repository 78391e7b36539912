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
import { faultKinds, weatherOf } from './faults.ts';
import { fairWeather } from './network.ts';
import type { ProgramOptions } from './programs.ts';
import { openStage, type Stage } from './stage.ts';
import type { View } from './view.ts';

export type BudgetStory = {
  /** Number of replicas, number of Pods that must be available, and the minimum that was available. */
  readonly replicas: number;
  readonly desired: number;
  readonly least: number;
  /** Number of disruptions that were admitted. */
  readonly taken: number;
};

const namespace = 'default';
const at = { name: 'web', namespace };
const selector = { matchLabels: { app: 'web' } };
const images = ['nginx:1.25', 'nginx:1.26', 'nginx:1.27'] as const;
const deeds = 60;
const patienceMs = 600_000;

/** Runs one simulation until all Pods are available again; throws if they never are. */
export async function playBudget(seed: string, control: ProgramOptions = {}): Promise<BudgetStory> {
  const random = seededRandom(seed);
  const spec = drawCloneSet(random);
  const { replicas = 0 } = spec;
  const maxUnavailable = pick(random, [1, 2, '30%']);
  const desired = replicas - scaleUp(maxUnavailable, replicas);
  let least: number | undefined;
  const stage = await openStage({
    seed,
    nodes: 2,
    control,
    doubled: pick(random, [[], ['manager']] as const),
    onChange: (view) => {
      if (least !== undefined) least = Math.min(least, available(view));
    },
  });
  const { world, client, during, until } = stage;
  await until('the webhooks are registered', (view) => view.list(validatingWebhookConfiguration).length > 0);
  await during(client().create(podUnavailableBudget, { metadata: at, spec: { selector, maxUnavailable } }));
  await during(client().create(cloneSet, { metadata: at, spec }));
  const isWhole = (view: View) =>
    available(view) === replicas && view.list(podUnavailableBudget)[0]?.status?.currentAvailable === replicas;
  await until('all Pods are available', isWhole);

  least = replicas;
  let taken = 0;
  for (let deed = 0; deed < deeds; deed++) {
    if (randomInteger(random, 6) === 0) befall(stage, random);
    // A request that is rejected or gets no response is not repeated.
    if (world.server()) {
      act(client(), random).then(
        () => taken++,
        () => {},
      );
    }
    await stage.pass(randomInteger(random, 3000));
  }
  for (const name of world.names()) world.setWeather(name, fairWeather);
  await until('all Pods are available again', isWhole, patienceMs);
  world.end();
  return { replicas, desired, least, taken };
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
async function act(client: Client, random: Random): Promise<void> {
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
function befall({ world }: Stage, random: Random): void {
  const names = world.names().filter((name) => /^(?:manager|controller-manager|apiserver)/.test(name));
  const target = pick(random, [...names, 'manager']);
  const lastsMs = 1000 + randomInteger(random, 9000);
  const weather = weatherOf(pick(random, faultKinds));
  if (target === 'apiserver' || !weather) {
    world.crash(target, Math.min(lastsMs, 3000));
    return;
  }
  world.setWeather(target, weather);
  world.clock.setTimer(lastsMs, () => world.setWeather(target, fairWeather));
}

/**
 * A PodUnavailableBudget in a world where nothing breaks by itself: every Pod that is not ready was made so through the
 * API. There must never be fewer than the budget asks for, whatever becomes of kruise-manager and the API server
 * meanwhile, and whoever deletes, evicts and updates at the same time.
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
  /** How many Pods there were to be, how many of them were to be ready, and how many were at the least. */
  readonly replicas: number;
  readonly desired: number;
  readonly least: number;
  /** How often somebody who wanted to take a Pod was let. */
  readonly taken: number;
};

const namespace = 'default';
const at = { name: 'web', namespace };
const selector = { matchLabels: { app: 'web' } };
const images = ['nginx:1.25', 'nginx:1.26', 'nginx:1.27'] as const;
const deeds = 60;
const patienceMs = 600_000;

/** Plays one until all is whole again; throws if that never comes about. */
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
  await until('there are webhooks', (view) => view.list(validatingWebhookConfiguration).length > 0);
  await during(client().create(podUnavailableBudget, { metadata: at, spec: { selector, maxUnavailable } }));
  await during(client().create(cloneSet, { metadata: at, spec }));
  const isWhole = (view: View) =>
    available(view) === replicas && view.list(podUnavailableBudget)[0]?.status?.currentAvailable === replicas;
  await until('all Pods count', isWhole);

  least = replicas;
  let taken = 0;
  for (let deed = 0; deed < deeds; deed++) {
    if (randomInteger(random, 6) === 0) befall(stage, random);
    // Whoever is refused, or not answered, lets it be.
    if (world.server()) {
      act(client(), random).then(
        () => taken++,
        () => {},
      );
    }
    await stage.pass(randomInteger(random, 3000));
  }
  for (const name of world.names()) world.setWeather(name, fairWeather);
  await until('all Pods count again', isWhole, patienceMs);
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

/** Somebody takes a Pod, or all of them at once, or wants all of them updated. */
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

/** Something happens to a component for a few seconds. Nodes that are out of sight for longer would lose their Pods. */
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

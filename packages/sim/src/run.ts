/** One world from its seed: users act, things go wrong, and then nothing does any more and all must come to rest. */
import { createHash } from 'node:crypto';
import { createClient } from '@kruise/client/client';
import type { Controller, Runnable } from '@kruise/client/controller';
import { isAlreadyExists, isNotFound } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import { pick, randomInteger, seededRandom } from '@kruise/values/random';
import { counting, type Reached } from './coverage.ts';
import type { createDisk } from './disk.ts';
import { drainer } from './drainer.ts';
import { clockErrorMs, drawFaults, type Fault, longestFaultMs, told, weatherOf } from './faults.ts';
import { worldStart } from './foundation.ts';
import { unrest } from './invariants/at-rest.ts';
import { invariants } from './invariants/catalogue.ts';
import type { Scene } from './invariants/invariant.ts';
import { fairWeather } from './network.ts';
import { createMachines, type Machines } from './nodes.ts';
import { controlPlane, type Leading, type ProgramOptions, storageProgram } from './programs.ts';
import { drawSteps, type Step } from './scenario.ts';
import { type View, viewOf } from './view.ts';
import { createWorld, type Program, type World } from './world.ts';

/** What a world is made of, where it is not as usual. */
export type Parts = {
  /** What the programs of the control plane run with. */
  readonly control?: ProgramOptions;
  /** The programs, those of machines included, in place of the usual ones. */
  readonly programs?: (usual: readonly Program[]) => readonly Program[];
  readonly createDisk?: typeof createDisk;
};

export type RunOptions = {
  readonly seed: string;
  /** How long users act and things go wrong. */
  readonly minutes?: number;
  /** How long everything has to come to rest once nothing goes wrong any more, or faults have had their time. */
  readonly patienceMinutes?: number;
  /** What goes wrong, in place of what the seed says. */
  readonly faults?: readonly Fault[];
  readonly parts?: Parts;
  readonly freezesObjects?: boolean;
  /** The one kind of workload there is, in place of those the seed says. */
  readonly only?: Kind;
  /** Told what happens, as it happens. */
  readonly tell?: (line: string) => void;
};

/** How a world went. */
export type Result = {
  readonly seed: string;
  /** What was broken, and when; nothing, if all held. */
  readonly failure?: { readonly invariant: string; readonly why: string; readonly atMs: number };
  readonly faults: readonly Fault[];
  /** A digest of all that was written, to the byte, and when: the same for the same seed. */
  readonly trace: string;
  readonly simulatedMs: number;
  readonly revisions: number;
  /** What the controllers did, and how often. */
  readonly reached: Readonly<Reached>;
  /** The cluster as it was in the end, if there was a server to ask. */
  readonly view?: View;
};

const atRest = 'everything comes to rest';
const defaultMinutes = 3;
/** Nodes that were lost are noticed after 50 s, their Pods evicted after 300 s more, and failed Jobs wait up to 10 min. */
const defaultPatienceMinutes = 20;
const machineCount = 3;
/** Whom another stands by for. Nobody, mostly: a second process costs time, and has to do with its own component alone. */
const doublings: readonly (readonly Leading[])[] = [
  [],
  [],
  [],
  ['manager'],
  ['manager'],
  ['controller-manager', 'scheduler'],
];
/** Events are for people to read and nothing depends on them, but they are a quarter of what is written. */
const worldsPerEvents = 4;
/** How long nothing may be amiss before it is believed that all is at rest. */
const quietMs = 5000;
/** Worlds write a few thousand times. Who writes without end keeps time from passing, and would never be found out. */
const mostRevisions = 30_000;

export async function run(options: RunOptions): Promise<Result> {
  const { seed, minutes = defaultMinutes, patienceMinutes = defaultPatienceMinutes, parts = {} } = options;
  const { tell = () => {} } = options;
  const durationMs = minutes * 60_000;
  let machines: Machines | undefined;
  const reached: Reached = {};
  const since = () => ((world.clock.now() - worldStart) / 1000).toFixed(3);
  const world = createWorld({
    seed,
    programs: (clock) => {
      machines = createMachines(clock, seed, machineCount);
      const { adapt = (each: Controller | Runnable) => each } = parts.control ?? {};
      const counted = counting(reached);
      const doubled = pick(seededRandom(`${seed} doubled`), doublings);
      const control = controlPlane({ ...parts.control, adapt: (each) => counted(adapt(each)) }, doubled);
      const usual = [...control, storageProgram(machines), ...machines.kubelets, drainer];
      return parts.programs?.(usual) ?? usual;
    },
    freezesObjects: options.freezesObjects ?? true,
    keepsEvents: randomInteger(seededRandom(`${seed} events`), worldsPerEvents) === 0,
    ...(parts.createDisk ? { createDisk: parts.createDisk } : {}),
    record: (line) => tell(`${since()} ${line}`),
  });
  const faults = options.faults ?? drawFaults(seededRandom(`${seed} faults`), world.names(), durationMs);
  const steps = drawSteps(seededRandom(`${seed} steps`), durationMs, options.only);
  const trace = createHash('sha256');
  let revisions = 0;
  let changes = 0;
  let lastKey = '';
  world.onWrite(({ deleted, key, revision, value }) => {
    revisions++;
    lastKey = key;
    // Nothing that must hold is about these, and they are most of what is written.
    if (!/^\/registry\/(?:leases|events)\//.test(key)) changes++;
    const line = `${since()} ${deleted ? 'delete' : 'put'} ${key} ${revision}`;
    trace.update(line);
    if (value) trace.update(value);
    tell(line);
  });

  const view = () => world.server() && viewOf(world.server()!.core, world.clock.now());
  const { onRequest, onServerStart } = world;
  const scene: Scene = { machines: machines!, faults, view, onRequest, onServerStart };
  const watchers = invariants.map(({ name, begin: beginOf }) => ({ name, check: beginOf(scene) }));

  await world.start();
  const begin = world.clock.now();
  for (const fault of faults) world.clock.setTimer(fault.atMs, () => befall(world, machines!, fault, tell));
  const acting = steps.map((step) => act(world, step, tell));

  const broken = (): { readonly invariant: string; readonly why: string } | undefined => {
    const core = world.server()?.core;
    if (!core) return undefined;
    const view = viewOf(core, world.clock.now());
    for (const { name, check } of watchers) {
      const why = check(view);
      if (why !== undefined) return { invariant: name, why };
    }
    return undefined;
  };
  const restless = (): string | undefined => {
    const core = world.server()?.core;
    if (!core) return 'the API server is down';
    return unrest(viewOf(core, world.clock.now())).next().value ?? undefined;
  };
  const end = (failure?: { readonly invariant: string; readonly why: string }): Result => {
    const last = view();
    world.end();
    return {
      seed,
      ...(failure ? { failure: { ...failure, atMs: world.clock.now() - begin } } : {}),
      faults,
      trace: trace.digest('hex'),
      simulatedMs: world.clock.now() - worldStart,
      revisions,
      reached,
      ...(last ? { view: last } : {}),
    };
  };

  let checkedAt = -1;
  const pass = async (until: number): Promise<ReturnType<typeof broken>> => {
    while (world.clock.now() < until) {
      const next = world.clock.nextTimer() ?? until;
      await world.clock.advanceAsync(Math.min(Math.max(next, world.clock.now()), until) - world.clock.now());
      if (revisions > mostRevisions) return { invariant: atRest, why: `${revisions} writes, the last to ${lastKey}` };
      if (changes === checkedAt) continue;
      checkedAt = changes;
      const found = broken();
      if (found) return found;
    }
    return undefined;
  };

  const ends = faults.map(({ atMs, lastsMs }) => Math.min(atMs + lastsMs, durationMs + longestFaultMs));
  const healed = Math.max(durationMs, ...ends);
  const failed = await pass(begin + healed);
  if (failed) return end(failed);
  let left = steps.length;
  for (const each of acting) void each.then(() => left--);
  const latest = begin + healed + patienceMinutes * 60_000;
  for (let quietSince = Number.POSITIVE_INFINITY; ; ) {
    const found = await pass(Math.min(world.clock.now() + 1000, latest));
    if (found) return end(found);
    const why = left > 0 ? 'a user has not had his way' : restless();
    if (why === undefined) {
      quietSince = Math.min(quietSince, world.clock.now());
      if (world.clock.now() - quietSince >= quietMs) return end();
    } else {
      quietSince = Number.POSITIVE_INFINITY;
      if (world.clock.now() >= latest) return end({ invariant: atRest, why });
    }
  }
}

/** Has something go wrong, and come right again. */
export function befall(world: World, machines: Machines, fault: Fault, tell: (line: string) => void): void {
  const { kind, target, lastsMs } = fault;
  tell(`-- ${told(fault)}`);
  const weather = weatherOf(kind);
  if (weather) {
    world.setWeather(target, weather);
    const fair = Object.fromEntries(
      Object.keys(weather).map((name) => [name, fairWeather[name as keyof typeof fairWeather]]),
    );
    world.clock.setTimer(lastsMs, () => world.setWeather(target, fair));
    return;
  }
  if (kind === 'has a wrong clock') {
    world.setClock(target, clockErrorMs(fault));
    world.clock.setTimer(lastsMs, () => world.setClock(target, 0));
    return;
  }
  world.crash(target, lastsMs);
  if (kind === 'loses power') void machines.switchOff(target);
}

/** How long a user waits before trying again. */
const retryMs = 500;

/** Does a step at its time, as often as it takes. */
function act(world: World, { atMs, what, act: attempt }: Step, tell: (line: string) => void): Promise<void> {
  return new Promise((resolve) => {
    const tryOnce = async () => {
      const transport = world.observer({ username: 'user', groups: ['system:masters', 'system:authenticated'] });
      try {
        if (!transport) throw new Error('the API server is down');
        await attempt(createClient(transport));
      } catch (error) {
        // What is there, or gone, is as the user wanted it, or can never be.
        if (!isAlreadyExists(error) && !isNotFound(error)) {
          tell(`-- a user ${what}, in vain: ${error instanceof Error ? error.message : String(error)}`);
          world.clock.setTimer(retryMs, () => void tryOnce());
          return;
        }
      }
      tell(`-- a user ${what}`);
      resolve();
    };
    world.clock.setTimer(atMs, () => void tryOnce());
  });
}

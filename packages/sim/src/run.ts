/**
 * Runs one simulation from its seed: users act, faults are injected, and then, without faults, the cluster must
 * converge.
 */
import { createHash } from 'node:crypto';
import { type Client, createClient } from '@kruise/client/client';
import type { Controller, Runnable } from '@kruise/client/controller';
import { isAlreadyExists, isNotFound } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import { pick, randomInteger, seededRandom } from '@kruise/values/random';
import { simulationStart } from './bootstrap-snapshot.ts';
import { type Companion, companions, drawCompanions } from './companions.ts';
import { type Coverage, countActions } from './coverage.ts';
import type { createDisk } from './disk.ts';
import { drainer } from './drainer.ts';
import { clockErrorMs, describeFault, drawFaults, type Fault, maxFaultMs, networkConditionsOf } from './faults.ts';
import { invariants } from './invariants/catalogue.ts';
import { incorrectStatuses } from './invariants/container-statuses.ts';
import { convergenceErrors } from './invariants/convergence.ts';
import type { InvariantContext } from './invariants/invariant.ts';
import { noFaults } from './network.ts';
import { createMachines, type Machines } from './nodes.ts';
import { controlPlane, daemonProgram, type ElectedComponent, type ProgramOptions, storageProgram } from './programs.ts';
import { drawRejections, isRejection, permanentMs, rejectWrites } from './rejections.ts';
import { drawSteps, type Step } from './scenario.ts';
import { EndlessSimulationError } from './step-budget.ts';
import { type View, viewOf } from './view.ts';
import { createWorld, type Program, type World } from './world.ts';

/** Non-default parts of a simulation. */
export type Parts = {
  /** Options of the control plane's programs. */
  readonly control?: ProgramOptions;
  /** Replaces the programs, including the kubelets. */
  readonly programs?: (usual: readonly Program[]) => readonly Program[];
  readonly createDisk?: typeof createDisk;
};

export type RunOptions = {
  readonly seed: string;
  /** Duration of user actions and fault injection. */
  readonly minutes?: number;
  /** Maximum time to converge after the last fault. */
  readonly patienceMinutes?: number;
  /** Faults to inject instead of those of the seed. */
  readonly faults?: readonly Fault[];
  readonly parts?: Parts;
  readonly freezesObjects?: boolean;
  /** The only kind of workload, instead of those of the seed. */
  readonly only?: Kind;
  /** Called for each event as it happens. */
  readonly onLine?: (line: string) => void;
};

/** Result of a simulation. */
export type Result = {
  readonly seed: string;
  /** The violated invariant; undefined if all hold. */
  readonly failure?: { readonly invariant: string; readonly why: string; readonly atMs: number };
  readonly faults: readonly Fault[];
  /** Digest of all writes, with their bytes and times: the same for the same seed. */
  readonly trace: string;
  readonly simulatedMs: number;
  readonly revisions: number;
  /** Actions of the controllers with their counts. */
  readonly reached: Readonly<Coverage>;
  /** Final state of the cluster, if the API server is up. */
  readonly view?: View;
};

const convergence = 'the cluster converges';
const noWritesAfterConvergence = 'nothing is written after convergence';
const starts = 'a cluster starts';
const termination = 'a simulation terminates';
const defaultMinutes = 3;
/**
 * Lost nodes are detected after 50 s, their Pods are evicted 300 s later, and failed Jobs back off for up to 10 min.
 */
const defaultPatienceMinutes = 20;
const machineCount = 3;
/** Components with a standby replica. Mostly none: a second process costs time and concerns only its own component. */
const replicaChoices: readonly (readonly ElectedComponent[])[] = [
  [],
  [],
  [],
  ['manager'],
  ['manager'],
  ['controller-manager', 'scheduler'],
];
/** Nothing depends on Events, but they are a quarter of all writes. */
const worldsPerEvents = 4;
/** Time without an error after which the cluster counts as converged. */
const quietMs = 5000;
/** Time without writes after convergence, and time for which permanently rejected writes are observed. */
const idleMs = 90_000;
const refusedMs = 300_000;
/** Writes that are allowed after convergence: heartbeats, leases, Events, and image pulls, which time out. */
const heartbeats = /^\/registry\/(?:leases|events|minions|apps\.kruise\.io\/(?:nodeimages|imagepulljobs))\//;
/** Simulations have a few thousand writes. Endless writes keep time from advancing and would never be detected. */
const maxRevisions = 30_000;

export async function run(options: RunOptions): Promise<Result> {
  const { seed, minutes = defaultMinutes, patienceMinutes = defaultPatienceMinutes, parts = {} } = options;
  const { onLine = () => {} } = options;
  const durationMs = minutes * 60_000;
  const drawnCompanions = companionsOf(options);
  let machines: Machines | undefined;
  const reached: Coverage = {};
  const since = () => ((world.clock.now() - simulationStart) / 1000).toFixed(3);
  const world = createWorld({
    seed,
    programs: (clock) => {
      machines = createMachines(clock, seed, machineCount);
      const { adapt = (each: Controller | Runnable) => each } = parts.control ?? {};
      const counted = countActions(reached);
      const replicated = pick(seededRandom(`${seed} doubled`), replicaChoices);
      const control = controlPlane({ ...parts.control, adapt: (each) => counted(adapt(each)) }, replicated);
      const daemons = drawnCompanions.some(({ needsDaemon }) => needsDaemon) ? [daemonProgram(machines)] : [];
      const usual = [...control, storageProgram(machines), ...machines.kubelets, drainer, ...daemons];
      return parts.programs?.(usual) ?? usual;
    },
    freezesObjects: options.freezesObjects ?? true,
    keepsEvents: randomInteger(seededRandom(`${seed} events`), worldsPerEvents) === 0,
    ...(parts.createDisk ? { createDisk: parts.createDisk } : {}),
    record: (line) => onLine(`${since()} ${line}`),
  });
  const drawn = () => [
    ...drawFaults(seededRandom(`${seed} faults`), world.names(), durationMs),
    ...drawRejections(seededRandom(`${seed} refusals`), durationMs, maxFaultMs),
  ];
  const faults = options.faults ?? drawn();
  const steps = stepsOf(options, drawnCompanions, durationMs);
  const trace = createHash('sha256');
  let revisions = 0;
  let changes = 0;
  let lastKey = '';
  let lastChange = { key: '', at: 0 };
  world.onWrite(({ deleted, key, revision, value }) => {
    revisions++;
    lastKey = key;
    // No invariant depends on these keys, and they are the majority of all writes.
    if (!/^\/registry\/(?:leases|events)\//.test(key)) changes++;
    if (!heartbeats.test(key)) lastChange = { key, at: world.clock.now() };
    const line = `${since()} ${deleted ? 'delete' : 'put'} ${key} ${revision}`;
    trace.update(line);
    if (value) trace.update(value);
    onLine(line);
  });

  const view = () => world.server() && viewOf(world.server()!.core, world.clock.now());
  const { clock, onRequest: onRequestOrDryRun, onServerStart, onWrite } = world;
  const onRequest: World['onRequest'] = (observer) =>
    onRequestOrDryRun((observed) =>
      observed.request.query?.['dryRun'] === undefined ? observer(observed) : undefined,
    );
  const now = () => clock.now();
  const scene: InvariantContext = {
    machines: machines!,
    faults,
    now,
    view,
    onRequest,
    onRequestOrDryRun,
    onServerStart,
    onWrite,
  };
  const watchers = invariants.map(({ name, observe: beginOf }) => ({ name, check: beginOf(scene) }));

  const findViolation = (): Violation | undefined => {
    const core = world.server()?.core;
    if (!core) return undefined;
    const view = viewOf(core, world.clock.now());
    for (const { name, check } of watchers) {
      const why = check(view);
      if (why !== undefined) return { invariant: name, why };
    }
    return undefined;
  };
  const findConvergenceError = (): string | undefined => {
    const core = world.server()?.core;
    if (!core) return 'the API server is down';
    const seen = viewOf(core, world.clock.now());
    return convergenceErrors(seen).next().value ?? incorrectStatuses(seen, machines!).next().value ?? undefined;
  };
  let checkedAt = -1;
  const pass = async (until: number): Promise<Violation | undefined> => {
    while (world.clock.now() < until) {
      const next = world.clock.nextTimer() ?? until;
      await world.clock.advanceAsync(Math.min(Math.max(next, world.clock.now()), until) - world.clock.now());
      if (revisions > maxRevisions)
        return { invariant: convergence, why: `${revisions} writes, the last to ${lastKey}` };
      if (changes === checkedAt) continue;
      checkedAt = changes;
      const found = findViolation();
      if (found) return found;
    }
    return undefined;
  };

  /** Runs the whole scenario and returns the first violation. */
  const runScenario = async (): Promise<Violation | undefined> => {
    try {
      await world.start();
    } catch (error) {
      if (error instanceof EndlessSimulationError) throw error;
      return { invariant: starts, why: error instanceof Error ? error.message : String(error) };
    }
    begin = clock.now();
    for (const fault of faults) clock.setTimer(fault.atMs, () => injectFault(world, machines!, fault, onLine));
    let left = steps.length;
    for (const step of steps) void act(world, step, onLine).then(() => left--);

    const ends = faults.map(({ atMs, lastsMs }) => Math.min(atMs + lastsMs, durationMs + maxFaultMs));
    const faultsEndMs = Math.max(durationMs, ...ends);
    const failed = await pass(begin + faultsEndMs);
    if (failed) return failed;
    // A simulation with a permanent rejection never converges, but must not retry endlessly.
    if (faults.some((fault) => isRejection(fault) && fault.lastsMs >= permanentMs))
      return pass(clock.now() + refusedMs);
    const latest = begin + faultsEndMs + patienceMinutes * 60_000;
    for (let quietSince = Number.POSITIVE_INFINITY; ; ) {
      const found = await pass(Math.min(clock.now() + 1000, latest));
      if (found) return found;
      const why = left > 0 ? 'a user action has not succeeded' : findConvergenceError();
      if (why === undefined) {
        quietSince = Math.min(quietSince, clock.now());
        if (clock.now() - quietSince >= quietMs) break;
      } else {
        quietSince = Number.POSITIVE_INFINITY;
        if (clock.now() >= latest) return { invariant: convergence, why };
      }
    }
    const violation = await pass(begin + Math.max(0, ...faults.map(recoveryMs)));
    if (violation) return violation;
    const idleSince = clock.now();
    const found = await pass(idleSince + idleMs);
    if (found) return found;
    const { key, at } = lastChange;
    if (at > idleSince)
      return { invariant: noWritesAfterConvergence, why: `${key}, ${(at - idleSince) / 1000} s after` };
    const why = findConvergenceError();
    return why === undefined ? undefined : { invariant: convergence, why };
  };

  let begin = clock.now();
  let failure: Violation | undefined;
  try {
    failure = await runScenario();
  } catch (error) {
    if (!(error instanceof EndlessSimulationError)) throw error;
    failure = { invariant: termination, why: `${error.message}; the last write was to ${lastKey}` };
  }
  const last = view();
  world.end();
  return {
    seed,
    ...(failure ? { failure: { ...failure, atMs: clock.now() - begin } } : {}),
    faults,
    trace: trace.digest('hex'),
    simulatedMs: clock.now() - simulationStart,
    revisions,
    reached,
    ...(last ? { view: last } : {}),
  };
}

/**
 * Returns the companions of a simulation: those of its seed or, if the simulation is for one kind only, the companion
 * of that kind, if any.
 */
function companionsOf({ seed, only }: RunOptions): readonly Companion[] {
  return only ? companions.filter(({ kind }) => kind === only) : drawCompanions(seededRandom(`${seed} companions`));
}

function stepsOf(
  { seed, only }: RunOptions,
  drawnCompanions: readonly Companion[],
  durationMs: number,
): readonly Step[] {
  const random = seededRandom(`${seed} beside`);
  const drawn = drawnCompanions.flatMap((companion) => companion.draw(random, durationMs));
  const isAlone = only !== undefined && drawnCompanions.length > 0;
  const workload = isAlone ? drawnCompanions[0]?.beside : only;
  const usual = isAlone && !workload ? [] : drawSteps(seededRandom(`${seed} steps`), durationMs, workload);
  return [...usual, ...drawn].sort((a, b) => a.atMs - b.atMs);
}

/** Time until a node with an expired lease is NotReady, with some margin for detection. */
const nodeTimeoutMs = 75_000;

/** Maximum time until a process reconnects to an API server that was unreachable. */
const reconnectMs = 60_000;

/**
 * Returns when a fault has no effect any more. A lease that was renewed with a clock ahead of the others counts as
 * renewed again only by a later time, as in Kubernetes: such a node is NotReady for a while after its clock was
 * corrected.
 */
function recoveryMs(fault: Fault): number {
  const { kind, target, atMs, lastsMs } = fault;
  const isNodeAhead = kind === 'has a wrong clock' && target.startsWith('node-');
  return atMs + lastsMs + (isNodeAhead ? Math.max(0, clockErrorMs(fault)) + nodeTimeoutMs : reconnectMs);
}

/** A violated invariant and a description of the violation. */
type Violation = { readonly invariant: string; readonly why: string };

const user = { username: 'user', groups: ['system:masters', 'system:authenticated'] };

function clientOf(world: World): Client | undefined {
  const transport = world.observer(user);
  return transport && createClient(transport);
}

/** Injects a fault, and removes it after its duration. */
export function injectFault(world: World, machines: Machines, fault: Fault, onLine: (line: string) => void): void {
  const { kind, target, lastsMs } = fault;
  onLine(`-- ${describeFault(fault)}`);
  if (isRejection(fault)) {
    rejectWrites(world, fault, () => clientOf(world));
    return;
  }
  const conditions = networkConditionsOf(kind);
  if (conditions) {
    world.setNetworkConditions(target, conditions);
    const defaults = Object.fromEntries(
      Object.keys(conditions).map((name) => [name, noFaults[name as keyof typeof noFaults]]),
    );
    world.clock.setTimer(lastsMs, () => world.setNetworkConditions(target, defaults));
    return;
  }
  if (kind === 'has a wrong clock') {
    world.setClock(target, clockErrorMs(fault));
    world.clock.setTimer(lastsMs, () => world.setClock(target, 0));
    return;
  }
  world.crash(target, lastsMs);
  if (kind === 'loses power') void machines.powerOff(target);
}

/** Wait of a user between two attempts. */
const retryMs = 500;

/** Executes a step at its time, and retries until it succeeds. */
function act(world: World, { atMs, what, act: attempt }: Step, onLine: (line: string) => void): Promise<void> {
  return new Promise((resolve) => {
    const tryOnce = async () => {
      const client = clientOf(world);
      try {
        if (!client) throw new Error('the API server is down');
        await attempt(client);
      } catch (error) {
        // AlreadyExists and NotFound are final: the object is as the user wants, or the step has become impossible.
        if (!isAlreadyExists(error) && !isNotFound(error)) {
          onLine(`-- a user ${what}, which fails: ${error instanceof Error ? error.message : String(error)}`);
          world.clock.setTimer(retryMs, () => void tryOnce());
          return;
        }
      }
      onLine(`-- a user ${what}`);
      resolve();
    };
    world.clock.setTimer(atMs, () => void tryOnce());
  });
}

/** A simulation that is driven step by step: act, advance time, inspect the result. */
import { type Client, createClient } from '@kruise/client/client';
import { createMachines, type Machines } from './nodes.ts';
import { controlPlane, type ElectedComponent, type ProgramOptions, storageProgram } from './programs.ts';
import { type View, viewOf } from './view.ts';
import { createWorld, type World } from './world.ts';

export type Simulation = {
  readonly world: World;
  readonly machines: Machines;
  /** Returns a client with all permissions and no simulated network. */
  client(): Client;
  view(): View;
  /** Advances time. */
  advance(durationMs: number): Promise<void>;
  /** Advances time until a promise settles. */
  advanceUntilSettled<T>(work: Promise<T>): Promise<T>;
  /** Advances time until a condition holds; throws on timeout. */
  waitFor(what: string, holds: (view: View) => boolean, withinMs?: number): Promise<void>;
};

export type SimulationOptions = {
  readonly seed: string;
  readonly nodes: number;
  /** Called with the state of the cluster after every change. */
  readonly onChange?: (view: View) => void;
  readonly control?: ProgramOptions;
  /** Components with a standby replica. */
  readonly replicated?: readonly ElectedComponent[];
};

const user = { username: 'user', groups: ['system:masters', 'system:authenticated'] };

/** Starts a cluster whose machines have sufficient capacity. */
export async function startSimulation({
  seed,
  nodes,
  onChange,
  control,
  replicated,
}: SimulationOptions): Promise<Simulation> {
  let machines: Machines | undefined;
  const world = createWorld({
    seed,
    programs: (clock) => {
      machines = createMachines(clock, seed, nodes, {});
      return [...controlPlane(control, replicated), storageProgram(machines), ...machines.kubelets];
    },
    record: () => {},
  });
  let changes = 0;
  let shown = 0;
  world.onWrite(({ key }) => {
    if (!/^\/registry\/(?:leases|events)\//.test(key)) changes++;
  });
  await world.start();
  const { clock } = world;
  const view = () => viewOf(world.server()!.core, clock.now());

  /** Advances from timer to timer until a time, or until a condition holds that is checked after each change. */
  async function advanceUntil(waitFor: number, isOver: () => boolean): Promise<void> {
    while (clock.now() < waitFor && !isOver()) {
      const next = clock.nextTimer() ?? waitFor;
      await clock.advanceAsync(Math.min(Math.max(next, clock.now()), waitFor) - clock.now());
      if (shown === changes || !world.server()) continue;
      shown = changes;
      onChange?.(view());
    }
  }
  return {
    world,
    machines: machines!,
    view,
    client: () => createClient(world.observer(user)!),
    advance: (durationMs) => advanceUntil(clock.now() + durationMs, () => false),
    async advanceUntilSettled(work) {
      let isDone = false;
      const settle = () => {
        isDone = true;
      };
      work.then(settle, settle);
      await advanceUntil(Number.POSITIVE_INFINITY, () => isDone);
      return work;
    },
    async waitFor(what, holds, withinMs = 60_000) {
      let isSatisfied = false;
      let seen = -1;
      await advanceUntil(clock.now() + withinMs, () => {
        if (seen !== changes && world.server()) {
          seen = changes;
          isSatisfied = holds(view());
        }
        return isSatisfied;
      });
      if (!isSatisfied) throw new Error(`timed out waiting until ${what}`);
    },
  };
}

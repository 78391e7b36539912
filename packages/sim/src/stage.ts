/** A simulation that is driven step by step: act, advance time, inspect the result. */
import { type Client, createClient } from '@kruise/client/client';
import { createMachines, type Machines } from './nodes.ts';
import { controlPlane, type Leading, type ProgramOptions, storageProgram } from './programs.ts';
import { type View, viewOf } from './view.ts';
import { createWorld, type World } from './world.ts';

export type Stage = {
  readonly world: World;
  readonly machines: Machines;
  /** Returns a client with all permissions and no simulated network. */
  client(): Client;
  view(): View;
  /** Advances time. */
  pass(durationMs: number): Promise<void>;
  /** Advances time until a promise settles. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Advances time until a condition holds; throws on timeout. */
  until(what: string, holds: (view: View) => boolean, withinMs?: number): Promise<void>;
};

export type StageOptions = {
  readonly seed: string;
  readonly nodes: number;
  /** Called with the state of the cluster after every change. */
  readonly onChange?: (view: View) => void;
  readonly control?: ProgramOptions;
  /** Components with a standby replica. */
  readonly doubled?: readonly Leading[];
};

const user = { username: 'user', groups: ['system:masters', 'system:authenticated'] };

/** Starts a cluster whose machines have sufficient capacity. */
export async function openStage({ seed, nodes, onChange, control, doubled }: StageOptions): Promise<Stage> {
  let machines: Machines | undefined;
  const world = createWorld({
    seed,
    programs: (clock) => {
      machines = createMachines(clock, seed, nodes, {});
      return [...controlPlane(control, doubled), storageProgram(machines), ...machines.kubelets];
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
  async function move(until: number, isOver: () => boolean): Promise<void> {
    while (clock.now() < until && !isOver()) {
      const next = clock.nextTimer() ?? until;
      await clock.advanceAsync(Math.min(Math.max(next, clock.now()), until) - clock.now());
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
    pass: (durationMs) => move(clock.now() + durationMs, () => false),
    async during(work) {
      let isDone = false;
      const settle = () => {
        isDone = true;
      };
      work.then(settle, settle);
      await move(Number.POSITIVE_INFINITY, () => isDone);
      return work;
    },
    async until(what, holds, withinMs = 60_000) {
      let isSo = false;
      let seen = -1;
      await move(clock.now() + withinMs, () => {
        if (seen !== changes && world.server()) {
          seen = changes;
          isSo = holds(view());
        }
        return isSo;
      });
      if (!isSo) throw new Error(`timed out waiting until ${what}`);
    },
  };
}

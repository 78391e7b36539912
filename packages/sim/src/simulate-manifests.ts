/** Applies the manifests of a user to a simulated cluster, with a plan of faults, and reports every change. */
import { type Node, node } from '@kruise/api/core/node';
import { pathOf } from '@kruise/client/client';
import type { KubernetesObject } from '@kruise/client/object-key';
import type { Transport } from '@kruise/client/transport';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { isAlreadyExists, StatusError } from '@kruise/machinery/status';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { after } from '@kruise/values/clock';
import type { Plan, UserAction } from './plan.ts';
import { injectFault } from './run.ts';
import { startSimulation } from './simulation.ts';
import { createTimelineRecorder, type Sample } from './timeline.ts';
import type { World } from './world.ts';

export type TimelineOptions = {
  readonly manifests: readonly KubernetesObject[];
  /** Creates the plan for the processes of the simulation. */
  readonly plan: (names: readonly string[]) => Plan;
  readonly minutes: number;
  readonly seed: string;
  readonly nodes: number;
  /** Called for each line as it happens. */
  readonly onLine: (atMs: number, line: string) => void;
};

/** Result of a simulation, for rendering. */
export type Timeline = {
  readonly plan: Plan;
  readonly lengthMs: number;
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
};

const user = { username: 'user', groups: ['system:masters', 'system:authenticated'] };
/** Maximum time and interval of retries of a user action. */
const patienceMs = 60_000;
const retryMs = 500;

/** Runs a plan. The manifests are applied once every node is ready. */
export async function simulateManifests({
  manifests,
  minutes,
  seed,
  nodes,
  onLine,
  ...options
}: TimelineOptions): Promise<Timeline> {
  const recorder = createTimelineRecorder();
  let begin = Number.POSITIVE_INFINITY;
  const since = () => Math.max(0, world.clock.now() - begin);
  const stage = await startSimulation({
    seed,
    nodes,
    onChange(view) {
      for (const line of recorder.record(view, since())) onLine(since(), line);
    },
  });
  const { world, machines } = stage;
  const plan = options.plan(world.names());
  await stage.waitFor('all nodes are ready', (view) => view.list(node).filter(isReady).length === nodes);
  begin = world.clock.now();
  for (const manifest of manifests) {
    await stage.advanceUntilSettled(retryUntilDone(world, (transport) => create(world, transport, manifest)));
    onLine(since(), `a user creates ${manifest.kind} ${manifest.metadata.name}`);
  }
  for (const fault of plan.faults) {
    world.clock.setTimer(fault.atMs - since(), () => {
      onLine(since(), `${fault.target} ${fault.kind}, for ${(fault.lastsMs / 1000).toFixed(0)} s`);
      injectFault(world, machines, fault, () => {});
    });
    world.clock.setTimer(fault.atMs + fault.lastsMs - since(), () => onLine(since(), `${fault.target} recovers`));
  }
  for (const userAction of plan.userActions)
    world.clock.setTimer(userAction.atMs - since(), () => void perform(world, userAction, since, onLine));
  const lengthMs = minutes * 60_000;
  await stage.advance(lengthMs - since());
  return { plan, lengthMs, samples: recorder.samples };
}

const isReady = ({ status }: Node) => isConditionTrue(status?.conditions, 'Ready');

/** Retries until the attempt succeeds, fails permanently or times out. */
async function retryUntilDone(world: World, attempt: (transport: Transport) => Promise<void>): Promise<void> {
  const latest = world.clock.now() + patienceMs;
  for (;;) {
    try {
      const transport = world.observer(user);
      if (!transport) throw new Error('the API server is down');
      return await attempt(transport);
    } catch (error) {
      const isFinal = error instanceof StatusError && [400, 404, 422].includes(error.status.code ?? 0);
      if (isFinal || world.clock.now() >= latest) throw error;
      await after(world.clock, retryMs);
    }
  }
}

function kindOf(world: World, isIt: (kind: Kind) => boolean, name: string): Kind {
  const found = [...(world.server()?.core.resources.all() ?? [])].find(({ kind }) => isIt(kind));
  if (!found) throw new Error(`unknown kind ${name}`);
  return found.kind;
}

async function create(world: World, transport: Transport, manifest: KubernetesObject): Promise<void> {
  const { apiVersion, kind: name, metadata } = manifest;
  const kind = kindOf(
    world,
    (each) => each.kind === name && apiVersionOf(each) === apiVersion,
    `${apiVersion} ${name}`,
  );
  const { namespace = 'default' } = metadata;
  try {
    await transport.request({ method: 'POST', path: pathOf(kind, { namespace }), body: manifest });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function perform(
  world: World,
  userAction: UserAction,
  since: () => number,
  onLine: (atMs: number, line: string) => void,
): Promise<void> {
  const { namespace, kind: name, name: object } = userAction.target;
  const what = `${userAction.type === 'delete' ? 'deletes' : 'changes'} ${name} ${object}`;
  try {
    await retryUntilDone(world, async (transport) => {
      const kind = kindOf(world, (each) => each.kind === name, name);
      const path = pathOf(kind, { namespace, name: object });
      if (userAction.type === 'delete') await transport.request({ method: 'DELETE', path });
      else await change(transport, path, userAction.patch);
    });
    onLine(since(), `a user ${what}`);
  } catch (error) {
    onLine(since(), `a user ${what}, which fails: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Patches as kubectl does: strategic merge patch where the kind supports it, otherwise merge patch. */
async function change(transport: Transport, path: string, body: object): Promise<void> {
  const patch = (contentType: string) => transport.request({ method: 'PATCH', path, contentType, body });
  try {
    await patch('application/strategic-merge-patch+json');
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 415) throw error;
    await patch('application/merge-patch+json');
  }
}

/** User actions in a simulation: users create and change workloads, delete Pods, and sometimes delete a workload. */
import { deployment } from '@kruise/api/apps/deployment';
import { pod } from '@kruise/api/core/pod';
import { specifiedDeleteLabel } from '@kruise/api/kruise/well-known';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import type { Client, Reference } from '@kruise/client/client';
import { evict } from '@kruise/client/subresources';
import type { Kind } from '@kruise/schema/kind';
import { pick, type Random, randomInteger } from '@kruise/values/random';
import { workloads } from './workloads.ts';

/** A user action at a time. It is retried until it succeeds or has become impossible. */
export type Step = {
  readonly atMs: number;
  /** Description for the log. */
  readonly what: string;
  act(client: Client): Promise<void>;
};

const namespace = 'default';

/** Maximum number of changes to each workload. */
const maxChanges = 5;

/** Draws the user actions, for any workloads or for those of one kind. */
export function drawSteps(random: Random, durationMs: number, only?: Kind): readonly Step[] {
  const chosen = workloads.filter(({ kind }) => (only ? kind === only : randomInteger(random, 2) === 0));
  const steps = (chosen.length > 0 ? chosen : [pick(random, workloads)]).flatMap((workload): Step[] => {
    const { kind, name, supportsSpecifiedDelete = false } = workload;
    const { spec, changes } = workload.draw(random);
    const metadata = { name, namespace };
    const made: Step = {
      atMs: randomInteger(random, 5000),
      what: `creates ${kind.kind} ${name}`,
      act: async (client) => void (await client.create(kind, { metadata, spec } as never)),
    };
    const count = changes.length === 0 ? 0 : randomInteger(random, maxChanges + 1);
    const changed = Array.from({ length: count }, (): Step => {
      const { what, patch } = pick(random, changes)(random);
      return {
        atMs: 5000 + randomInteger(random, durationMs - 5000),
        what: `${what}: ${kind.kind} ${name}`,
        act: async (client) => void (await client.patch(kind, metadata, patch, { type: 'merge' })),
      };
    });
    const killed = Array.from({ length: randomInteger(random, 3) }, () => deletePodStep(random, name, durationMs));
    const marked = Array.from({ length: supportsSpecifiedDelete ? randomInteger(random, 3) : 0 }, () =>
      specifiedDeleteStep(random, name, durationMs),
    );
    const ended = randomInteger(random, 4) === 0 ? [deletion(random, kind, name, durationMs)] : [];
    const guarded = kind === deployment && randomInteger(random, 2) === 0 ? budgetSteps(random, name, durationMs) : [];
    return [made, ...changed, ...killed, ...marked, ...guarded, ...ended];
  });
  return steps.sort((a, b) => a.atMs - b.atMs);
}

function deletePodStep(random: Random, app: string, durationMs: number): Step {
  return stepOnOnePod(random, app, durationMs, {
    what: `deletes a Pod of ${app}`,
    act: async (client, found) => void (await client.delete(pod, found)),
  });
}

/** Marks a Pod with the specified-delete label, so that its workload deletes it. */
function specifiedDeleteStep(random: Random, app: string, durationMs: number): Step {
  const patch = { metadata: { labels: { [specifiedDeleteLabel]: 'true' } } };
  return stepOnOnePod(random, app, durationMs, {
    what: `marks a Pod of ${app} to be deleted`,
    act: async (client, found) => void (await client.patch(pod, found, patch, { type: 'merge' })),
  });
}

/** Returns a step on one of the Pods of a workload, if the workload has Pods. */
export function stepOnOnePod(
  random: Random,
  app: string,
  durationMs: number,
  { what, act }: { readonly what: string; act(client: Client, found: Reference): Promise<void> },
): Step {
  const which = random.next();
  return {
    atMs: 5000 + randomInteger(random, durationMs - 5000),
    what,
    async act(client) {
      const { items } = await client.list(pod, { namespace, labelSelector: `app=${app}` });
      const found = items[Math.floor(which * items.length)];
      if (found) await act(client, { namespace, name: found.metadata.name! });
    },
  };
}

/** Returns the steps of users who create a PodDisruptionBudget and later evict all Pods of the workload at once. */
function budgetSteps(random: Random, app: string, durationMs: number): readonly Step[] {
  const budget: Step = {
    atMs: randomInteger(random, 5000),
    what: `creates PodDisruptionBudget ${app}`,
    act: async (client) =>
      void (await client.create(podDisruptionBudget, {
        metadata: { name: app, namespace },
        spec: { selector: { matchLabels: { app } }, maxUnavailable: 1 },
      })),
  };
  const eviction: Step = {
    atMs: 10_000 + randomInteger(random, durationMs - 10_000),
    what: `evicts the Pods of ${app}`,
    async act(client) {
      const { items } = await client.list(pod, { namespace, labelSelector: `app=${app}` });
      const attempts = items.map(({ metadata }) => evict(client, { namespace, name: metadata.name! }));
      await Promise.allSettled(attempts);
    },
  };
  return [budget, eviction];
}

function deletion(random: Random, kind: Kind, name: string, durationMs: number): Step {
  const propagationPolicy = pick(random, ['Background', 'Foreground'] as const);
  return {
    atMs: Math.floor(durationMs / 2) + randomInteger(random, durationMs / 2),
    what: `deletes ${kind.kind} ${name} in the ${propagationPolicy.toLowerCase()}`,
    act: async (client) => void (await client.delete(kind, { namespace, name }, { propagationPolicy })),
  };
}

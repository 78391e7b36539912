import { type Action, parallel, type SequentialActions, type Step, sequence } from '@kruise/client/actions';
import { createClient } from '@kruise/client/client';
import type { Controller, Decision, Runnable } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Transport } from '@kruise/client/transport';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Parts } from '../run.ts';
import type { Program } from '../world.ts';

/** A part with an intentional defect, to prove that simulations detect it. */
export type Mutant = {
  /** Describes the defect. */
  readonly name: string;
  readonly parts: Parts;
  /** Kind of workload that shows the defect; any kind if undefined. */
  readonly about?: Kind;
  /** A seed whose simulation detects the defect with such workloads, found by search. */
  readonly seed: string;
  /** Name of the invariant that detects it. */
  readonly caughtBy: string;
};

/** Invariant that detects whatever prevents convergence. */
export const convergence = 'the cluster converges';

/** Drops some actions of a decision. */
export const without = (isLost: (action: Action) => boolean) => (decision: Decision) => ({
  ...decision,
  actions: withoutActions(decision.actions, isLost),
});

function withoutActions(steps: readonly Step[], isLost: (action: Action) => boolean): readonly Step[] {
  const reduced = (member: Action | SequentialActions) => {
    if (member.type === 'sequence') return sequence(member.actions.filter((action) => !isLost(action)));
    return isLost(member) ? [] : [member];
  };
  return steps.flatMap((step) => (step.type === 'parallel' ? parallel(step.actions.flatMap(reduced)) : reduced(step)));
}

/** Changes the decisions of the controllers of a kind. */
export function mutateDecision(kind: Kind, change: (decision: Decision, caches: Caches) => Decision): Parts {
  return mutateController(kind, (controller) => ({
    ...controller,
    evaluate(context, key) {
      const considered = controller.evaluate(context, key);
      if (considered === undefined) return undefined;
      const { caches } = context;
      if (considered instanceof Promise) {
        return considered.then(({ object, decision }) => ({ object, decision: change(decision, caches) }));
      }
      return { ...considered, decision: change(considered.decision, caches) };
    },
  }));
}

/** Distorts the objects of a kind for its own controllers. */
export function distortOwnObjects<K extends Kind>(kind: K, distort: (object: ObjectOf<K>) => ObjectOf<K>): Parts {
  return distortObjects(kind, kind, distort);
}

/** Distorts the objects of another kind for the controllers of a kind. */
export function distortObjects<K extends Kind>(
  kind: Kind,
  about: K,
  distort: (object: ObjectOf<K>) => ObjectOf<K>,
): Parts {
  return mutateController(kind, (controller) => ({
    ...controller,
    evaluate: (context, key) =>
      controller.evaluate({ ...context, caches: distorted(context.caches, about, distort) }, key),
  }));
}

function distorted<K extends Kind>(caches: Caches, kind: K, distort: (object: ObjectOf<K>) => ObjectOf<K>): Caches {
  const of = ((asked: Kind, ...convergence: []) => {
    const reader = caches.of(asked, ...convergence);
    if (asked !== kind) return reader;
    return new Proxy(reader, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        return (...given: readonly unknown[]) => {
          const found: unknown = Reflect.apply(value, target, given);
          if (found === undefined || typeof found !== 'object') return found;
          // A reader of a kind returns an object of the kind or a list of them.
          return Array.isArray(found) ? found.map((each) => distort(each)) : distort(found as ObjectOf<K>);
        };
      },
    });
  }) as Caches['of'];
  return { ...caches, of };
}

/** Replaces the controllers of a kind. */
export function mutateController(kind: Kind, adapt: (controller: Controller) => Controller): Parts {
  return {
    control: { adapt: (each) => ('for' in each && each.for === kind ? adapt(each) : each) },
  };
}

/** Replaces the transport of a runnable beside the controllers. */
export function mutateRunnableTransport(name: string, change: (transport: Transport) => Transport): Parts {
  const adapt = (each: Controller | Runnable): Controller | Runnable => {
    if (each.name !== name || !('run' in each)) return each;
    return {
      ...each,
      run: (context, signal) =>
        each.run({ ...context, client: createClient(change(context.client.transport)) }, signal),
    };
  };
  return { control: { adapt } };
}

/** Replaces the transport of programs. */
export function mutateTransport(
  isMeant: (program: Program) => boolean,
  change: (transport: Transport, context: Parameters<Program['run']>[0]) => Transport,
): Parts {
  return {
    programs: (usual) =>
      usual.map((program) => {
        if (!isMeant(program)) return program;
        return {
          ...program,
          run: (context) =>
            program.run({ ...context, transportOf: (user) => change(context.transportOf(user), context) }),
        };
      }),
  };
}

export const isKubelet = ({ name }: Program) => name.startsWith('node-');

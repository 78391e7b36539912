import type { Action } from '@kruise/client/actions';
import { createClient } from '@kruise/client/client';
import type { Controller, Decision, Runnable } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Transport } from '@kruise/client/transport';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Parts } from '../run.ts';
import type { Program } from '../world.ts';

/** A part that is broken on purpose, to show that worlds find out. */
export type Mutant = {
  /** What it does wrong. */
  readonly name: string;
  readonly parts: Parts;
  /** The kind of workload that shows it, where not any does. */
  readonly about?: Kind;
  /** A seed whose world with such workloads finds it out, found by search. */
  readonly seed: string;
  /** The invariant that does. */
  readonly caughtBy: string;
};

/** What finds out whatever keeps a cluster from what it is to be. */
export const rest = 'everything comes to rest';

/** A decision without some of what was to be done. */
export const without = (isLost: (action: Action) => boolean) => (decision: Decision) => ({
  ...decision,
  actions: decision.actions.filter((action) => !isLost(action)),
});

/** The controllers of a kind make something else of what they decided, and of what there is. */
export function deciding(kind: Kind, change: (decision: Decision, caches: Caches) => Decision): Parts {
  return adapting(kind, (controller) => ({
    ...controller,
    consider(context, key) {
      const considered = controller.consider(context, key);
      if (considered === undefined) return undefined;
      const { caches } = context;
      if (considered instanceof Promise) {
        return considered.then(({ object, decision }) => ({ object, decision: change(decision, caches) }));
      }
      return { ...considered, decision: change(considered.decision, caches) };
    },
  }));
}

/** The controllers of a kind see its objects as they are not. */
export function seeing<K extends Kind>(kind: K, distort: (object: ObjectOf<K>) => ObjectOf<K>): Parts {
  return misled(kind, kind, distort);
}

/** The controllers of a kind see objects of another as they are not. */
export function misled<K extends Kind>(kind: Kind, about: K, distort: (object: ObjectOf<K>) => ObjectOf<K>): Parts {
  return adapting(kind, (controller) => ({
    ...controller,
    consider: (context, key) =>
      controller.consider({ ...context, caches: distorted(context.caches, about, distort) }, key),
  }));
}

function distorted<K extends Kind>(caches: Caches, kind: K, distort: (object: ObjectOf<K>) => ObjectOf<K>): Caches {
  const of = ((asked: Kind, ...rest: []) => {
    const reader = caches.of(asked, ...rest);
    if (asked !== kind) return reader;
    return new Proxy(reader, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        return (...given: readonly unknown[]) => {
          const found: unknown = Reflect.apply(value, target, given);
          if (found === undefined || typeof found !== 'object') return found;
          // Whatever a reader of a kind returns is an object of it, or some.
          return Array.isArray(found) ? found.map((each) => distort(each)) : distort(found as ObjectOf<K>);
        };
      },
    });
  }) as Caches['of'];
  return { ...caches, of };
}

/** Other controllers in place of those of a kind. */
export function adapting(kind: Kind, adapt: (controller: Controller) => Controller): Parts {
  return {
    control: { adapt: (each) => ('for' in each && each.for === kind ? adapt(each) : each) },
  };
}

/** What runs beside controllers, with another way to the server. */
export function reaching(name: string, change: (transport: Transport) => Transport): Parts {
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

/** Programs with another way to the server. */
export function connecting(
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

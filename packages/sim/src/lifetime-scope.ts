/** Limits the interfaces of a process to its lifetime: operations that it started on others continue after its end. */
import type { Lifetime } from './process-lifetime.ts';

/** Called just before and just after each call of a process. Either is a point at which the process can crash. */
export type CallListener = { before(): void; after(): void };

const noListener: CallListener = { before() {}, after() {} };

/**
 * Wraps an object so that its results and events reach a process only while the process lives. A process that has ended
 * makes no more calls.
 */
export function scopeToLifetime<T extends object>(object: T, life: Lifetime, listener = noListener): T {
  return new Proxy(object, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value === 'object' && value !== null) return scopeToLifetime(value, life, listener);
      if (typeof value !== 'function') return value;
      return (...given: readonly unknown[]) => {
        listener.before();
        if (life.isOver()) return neverSettling;
        const result: unknown = Reflect.apply(value, target, given);
        listener.after();
        if (result instanceof Promise) return settleWhileAlive(result, life);
        if (isAsyncIterable(result)) return yieldWhileAlive(result, life);
        return result;
      };
    },
  });
}

/** Result for a process that has ended, as a promise or as an async iterable: it never settles. */
const neverSettling = Object.assign(new Promise<never>(() => {}), {
  [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }),
});

function settleWhileAlive<T>(promise: Promise<T>, life: Lifetime): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(
      (value) => life.clock.setTimer(0, () => resolve(value)),
      (error) => life.clock.setTimer(0, () => reject(error)),
    );
  });
}

async function* yieldWhileAlive(events: AsyncIterable<unknown>, life: Lifetime): AsyncGenerator<unknown> {
  for await (const event of events) {
    if (life.isOver()) return;
    yield event;
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** What a process speaks with, as long as it lives: whatever is asked of others goes on without it. */
import type { Life } from './life.ts';

/** Told of each call a process makes, just before it is made and just after. Either is a moment to die in. */
export type CallListener = { before(): void; after(): void };

const silence: CallListener = { before() {}, after() {} };

/** Something whose answers and events reach a process only while it lives, and which hears nothing of it after. */
export function heardOnlyAlive<T extends object>(object: T, life: Life, listener = silence): T {
  return new Proxy(object, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value === 'object' && value !== null) return heardOnlyAlive(value, life, listener);
      if (typeof value !== 'function') return value;
      return (...given: readonly unknown[]) => {
        listener.before();
        if (life.isOver()) return nothingEver;
        const result: unknown = Reflect.apply(value, target, given);
        listener.after();
        if (result instanceof Promise) return aliveAfter(result, life);
        if (isAsyncIterable(result)) return eachAlive(result, life);
        return result;
      };
    },
  });
}

/** What the dead are answered, whether they wait for one thing or for many. */
const nothingEver = Object.assign(new Promise<never>(() => {}), {
  [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }),
});

function aliveAfter<T>(promise: Promise<T>, life: Life): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(
      (value) => life.clock.setTimer(0, () => resolve(value)),
      (error) => life.clock.setTimer(0, () => reject(error)),
    );
  });
}

async function* eachAlive(events: AsyncIterable<unknown>, life: Life): AsyncGenerator<unknown> {
  for await (const event of events) {
    if (life.isOver()) return;
    yield event;
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

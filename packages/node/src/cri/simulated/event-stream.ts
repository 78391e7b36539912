import { GrpcError } from '@kruise/client/grpc/status';
import { createDeque } from '@kruise/values/scheduling/deque';
import type { ContainerEventResponse } from '../messages.ts';

/** Stream of container events to all listeners. */
export type EventStream = {
  readonly hasListeners: boolean;
  emit(event: ContainerEventResponse): void;
  subscribe(signal?: AbortSignal): AsyncIterable<ContainerEventResponse>;
};

/**
 * Limit of pending events per listener, above the container count of a node; a listener that falls further behind must
 * relist.
 */
const maxPending = 10_000;

export function createEventStream(): EventStream {
  type Listener = { push(event: ContainerEventResponse): void };
  const listeners = new Set<Listener>();
  return {
    get hasListeners() {
      return listeners.size > 0;
    },
    emit(event) {
      for (const listener of listeners) listener.push(event);
    },
    subscribe(signal) {
      const pending = createDeque<ContainerEventResponse>();
      let isLost = false;
      let wake: (() => void) | undefined;
      const listener: Listener = {
        push(event) {
          if (pending.size >= maxPending) isLost = true;
          else pending.push(event);
          wake?.();
        },
      };
      // The subscription starts with the call, not with the first read, so that events in between are delivered.
      listeners.add(listener);
      const onAbort = () => {
        listeners.delete(listener);
        wake?.();
      };
      if (signal?.aborted) onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      async function* read(): AsyncGenerator<ContainerEventResponse> {
        try {
          for (;;) {
            for (let event = pending.shift(); event; event = pending.shift()) yield event;
            if (signal?.aborted) return;
            if (isLost) {
              throw new GrpcError('RESOURCE_EXHAUSTED', 'events were lost: they were not read in time', {
                wasSent: true,
              });
            }
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
            wake = undefined;
          }
        } finally {
          listeners.delete(listener);
          signal?.removeEventListener('abort', onAbort);
        }
      }
      return read();
    },
  };
}

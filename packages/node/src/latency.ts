/** Latency injection for clients. */
import { type Client, createClient } from '@kruise/client/client';
import { after, type Clock } from '@kruise/values/clock';

/** Returns a client whose requests and watch events are delayed; the delay may change at any time. */
export function withLatency(client: Client, clock: Clock, delayMs: () => number): Client {
  const { transport } = client;
  return createClient({
    request(request) {
      const delay = delayMs();
      if (delay <= 0) return transport.request(request);
      return after(clock, delay, request.signal).then(() => transport.request(request));
    },
    async *watch(request) {
      for await (const event of transport.watch(request)) {
        const delay = delayMs();
        if (delay > 0) await after(clock, delay, request.signal);
        yield event;
      }
    },
  });
}

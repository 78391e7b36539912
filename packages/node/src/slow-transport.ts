/** A line that takes its time. */
import { type Client, createClient } from '@kruise/client/client';
import { after, type Clock } from '@kruise/values/clock';

/** A client all of whose requests take so much longer; how much may change at any time. */
export function slowed(client: Client, clock: Clock, delayMs: () => number): Client {
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

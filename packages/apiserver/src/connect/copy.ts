import type { Readable } from 'node:stream';
import type { Stream } from '../http/http-request.ts';

/**
 * Copies a response body with backpressure. A body that the backend does not complete is aborted, so that it does not
 * look complete.
 */
export async function copyTo(stream: Stream, body: Readable, signal: AbortSignal): Promise<void> {
  const gone = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (signal.aborted) return;
      if (!stream.write(chunk)) await Promise.race([stream.drained(), gone]);
    }
    stream.end();
  } catch {
    stream.abort();
  } finally {
    body.destroy();
  }
}

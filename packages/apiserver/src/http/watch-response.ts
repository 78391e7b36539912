import { partialObjectMetadata } from '@kruise/api/meta/partial-object-metadata';
import { status as statusSchema } from '@kruise/api/meta/status';
import { codecOf } from '@kruise/schema/codec';
import { apiVersionOf } from '@kruise/schema/kind';
import { encodeEnvelope, encodeWatchFrame } from '@kruise/schema/protobuf-envelope';
import type { Clock } from '@kruise/values/clock';
import { stringify } from '@kruise/values/go-json';
import { approximateBytes } from '../approximate-bytes.ts';
import type { WatchSink } from '../handlers/watch.ts';
import type { KubeObject } from '../object.ts';
import type { Found, Resource } from '../resource.ts';
import { type EncodeContext, metadataOf, table } from './encoding.ts';
import type { FanOut } from './fan-out.ts';
import type { FrameCache } from './frame-cache.ts';
import type { Stream } from './http-request.ts';
import { writable } from './object-message.ts';
import { foundBytes } from './object-text.ts';

/**
 * Initial limit of bytes written ahead of a client. The limit grows while the client keeps reading. How often a client
 * can be written to depends on the server's load.
 */
const minAheadBytes = 2 ** 18;
const maxAheadBytes = 2 ** 21;
/**
 * Maximum bytes that a client may lag behind before it is disconnected: the client can resume, and no other client
 * waits for it. Objects of pending events are counted, because pending events keep their objects alive. The initial
 * state of a watch does not count: those objects are in the cache anyway.
 */
const maxBehindBytes = 32 * 2 ** 20;
/** Time after which a client that reads nothing while events are pending is disconnected. */
const maxStallMs = 30_000;
/** Estimated size of an event besides its object, in bytes. */
const eventBytes = 256;
/** Maximum bytes per write. */
const batchBytes = 64 * 1024;

/** Pending event: the function that makes its frame, and its size while the client lags behind. */
type Waiting = { readonly makeFrame: () => Uint8Array; readonly bytes: number };

/** Writes watch events to a stream, as scheduled and as fast as the client reads. */
export function watchResponse(
  context: EncodeContext & {
    readonly frames: FrameCache;
    readonly fanOut: FanOut;
    /** Called for each event. */
    readonly counted: () => void;
    readonly clock: Clock;
  },
  resource: Resource,
  stream: Stream,
  close: () => void,
): WatchSink {
  const { media, fanOut, clock } = context;
  const { kind } = resource;
  let first = true;
  // Pending events; those before `next` have been written.
  let waiting: Waiting[] = [];
  let next = 0;
  let isServed = false;
  let hasEnded = false;
  let isBehind = false;
  let behindBytes = 0;
  let aheadBytes = minAheadBytes;

  function send(makeFrame: () => Uint8Array, object?: KubeObject): void {
    if (hasEnded) return;
    const bytes = isBehind ? eventBytes + (object ? approximateBytes(object) : 0) : 0;
    waiting.push({ makeFrame, bytes });
    behindBytes += bytes;
    if (behindBytes > maxBehindBytes) disconnect();
    else if (!isServed) {
      isServed = true;
      fanOut.schedule(serve);
    }
  }

  function disconnect(): void {
    hasEnded = true;
    waiting = [];
    next = 0;
    stream.abort();
    close();
  }

  function serve(): void {
    while (next < waiting.length && stream.pendingBytes < aheadBytes) stream.write(fanOut.join(nextFrames()));
    if (next < waiting.length) {
      isBehind = true;
      const cancelTimer = clock.setTimer(maxStallMs, disconnect);
      void stream.drained().then(() => {
        cancelTimer();
        aheadBytes = Math.min(2 * aheadBytes, maxAheadBytes);
        fanOut.schedule(serve);
      });
      return;
    }
    isServed = false;
    isBehind = false;
    behindBytes = 0;
    waiting = [];
    next = 0;
    aheadBytes = minAheadBytes;
    if (hasEnded) stream.end();
  }

  function nextFrames(): Uint8Array[] {
    const frames: Uint8Array[] = [];
    for (let size = 0; size < batchBytes && next < waiting.length; next++) {
      const { makeFrame, bytes } = waiting[next]!;
      const made = makeFrame();
      behindBytes -= bytes;
      frames.push(made);
      size += made.length;
    }
    return frames;
  }

  const protobufFrame = (type: string, object: Uint8Array) => encodeWatchFrame({ type, object });

  function frame(type: string, json: () => string, protobuf: () => Uint8Array): Uint8Array {
    if (media.format === 'protobuf') return protobufFrame(type, protobuf());
    return Buffer.from(`{"type":"${type}","object":${json()}}\n`);
  }

  const version = apiVersionOf(kind);

  function objectFrame(type: string, found: Found): Uint8Array {
    return context.frames.get(found.object, `${type} ${media.format} ${version}`, () =>
      media.format === 'protobuf'
        ? protobufFrame(type, encodeEnvelope(version, kind.kind, resource.serializer.protobuf!.encode(writable(found))))
        : foundBytes(resource, found, `{"type":"${type}","object":`, '}\n'),
    );
  }

  function eventFrame(type: string, found: Found): Uint8Array {
    switch (media.view) {
      case 'object':
        return objectFrame(type, found);
      case 'table': {
        const { resourceVersion } = found.object.metadata;
        const value = table(context, resource, [found], resourceVersion ? { resourceVersion } : {}, first);
        first = false;
        return Buffer.from(`{"type":"${type}","object":${stringify(value)}}\n`);
      }
      default: {
        const object = metadataOf(media, resource, found);
        return frame(
          type,
          () => stringify(object),
          () => encodeEnvelope(object.apiVersion, object.kind, codecOf(partialObjectMetadata).toProtobuf(object)),
        );
      }
    }
  }

  return {
    event(type, found, isOfState) {
      context.counted();
      send(() => eventFrame(type, found), isOfState ? undefined : found.object);
    },
    bookmark(revision, initialEventsEnd) {
      const object: KubeObject = {
        kind: kind.kind,
        apiVersion: apiVersionOf(kind),
        metadata: {
          resourceVersion: String(revision),
          creationTimestamp: null,
          ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
        },
      };
      const bare = resource.custom ? object : resource.serializer.canonical(object);
      const cached = { key: '', object: bare, managedFields: undefined, revision };
      send(() => eventFrame('BOOKMARK', { object: bare, cached }));
    },
    end(error) {
      if (error) {
        const { status } = error;
        send(() =>
          frame(
            'ERROR',
            () => stringify(status),
            () => encodeEnvelope('v1', 'Status', codecOf(statusSchema).toProtobuf(status)),
          ),
        );
      }
      hasEnded = true;
      if (!isServed) stream.end();
    },
  };
}

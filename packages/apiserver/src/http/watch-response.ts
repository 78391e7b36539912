import { partialObjectMetadata } from '@kruise/api/meta/partial-object-metadata';
import { status as statusSchema } from '@kruise/api/meta/status';
import { codecOf } from '@kruise/schema/codec';
import { apiVersionOf } from '@kruise/schema/kind';
import { encodeEnvelope, encodeWatchFrame } from '@kruise/schema/protobuf-envelope';
import { stringify } from '@kruise/values/go-json';
import type { WatchSink } from '../handlers/watch.ts';
import type { KubeObject } from '../object.ts';
import type { Found, Resource } from '../resource.ts';
import { type EncodeContext, metadataOf, table } from './encode.ts';
import type { Stream } from './exchange.ts';
import type { FanOut } from './fan-out.ts';
import type { FrameCache } from './frame-cache.ts';
import { writable } from './object-message.ts';
import { foundBytes } from './object-text.ts';

/**
 * As much as is written ahead of a client: little as long as it has not read that, and up to more and more while it goes
 * on reading. How often it can be written to depends on what else there is to do.
 */
const leastAheadBytes = 2 ** 18;
const mostAheadBytes = 2 ** 21;
/**
 * A client for which so many events wait, besides those of the state it began with, is cut off: it can resume, and
 * nobody else waits for it. What waits are objects which all watchers share, so that many slow ones cost little more
 * than one.
 */
const maxWaiting = 32_768;
/** As much as is written at once. */
const batchBytes = 64 * 1024;

/** Writes what a watch sees to a stream, when its turn comes and as fast as its client reads. */
export function watchResponse(
  context: EncodeContext & {
    readonly frames: FrameCache;
    readonly fanOut: FanOut;
    /** Told of each event. */
    readonly counted: () => void;
  },
  resource: Resource,
  stream: Stream,
  close: () => void,
): WatchSink {
  const { media, fanOut } = context;
  const { kind } = resource;
  let first = true;
  // What waits to be written, each as what makes its frame; those before `next` have been.
  let waiting: (() => Uint8Array)[] = [];
  let next = 0;
  let isServed = false;
  let isOver = false;
  let allowed = maxWaiting;
  let aheadBytes = leastAheadBytes;

  function send(makeFrame: () => Uint8Array): void {
    if (isOver) return;
    waiting.push(makeFrame);
    if (waiting.length - next > allowed) {
      isOver = true;
      waiting = [];
      next = 0;
      stream.abort();
      close();
    } else if (!isServed) {
      isServed = true;
      fanOut.wait(serve);
    }
  }

  function serve(): void {
    while (next < waiting.length && stream.pendingBytes < aheadBytes) stream.write(fanOut.join(nextFrames()));
    if (next < waiting.length) {
      void stream.drained().then(() => {
        aheadBytes = Math.min(2 * aheadBytes, mostAheadBytes);
        fanOut.wait(serve);
      });
      return;
    }
    isServed = false;
    waiting = [];
    next = 0;
    allowed = maxWaiting;
    aheadBytes = leastAheadBytes;
    if (isOver) stream.end();
  }

  function nextFrames(): Uint8Array[] {
    const frames: Uint8Array[] = [];
    for (let size = 0; size < batchBytes && next < waiting.length; next++) {
      const made = waiting[next]!();
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
      if (isOfState) allowed++;
      send(() => eventFrame(type, found));
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
      isOver = true;
      if (!isServed) stream.end();
    },
  };
}

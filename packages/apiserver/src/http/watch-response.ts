import { partialObjectMetadata } from '@kruise/api/meta/partial-object-metadata';
import { status as statusSchema } from '@kruise/api/meta/status';
import { codecOf } from '@kruise/schema/codec';
import { apiVersionOf } from '@kruise/schema/kind';
import { encodeEnvelope, encodeWatchFrame } from '@kruise/schema/protobuf-envelope';
import { stringify } from '@kruise/values/go-json';
import type { WatchSink } from '../handlers/watch.ts';
import type { KubeObject } from '../object.ts';
import type { Found, Resource } from '../resource.ts';
import { type EncodeContext, metadataOf, table, wholeOf } from './encode.ts';
import type { Stream } from './exchange.ts';
import type { FrameCache } from './frame-cache.ts';
import { writable } from './object-message.ts';
import { foundText } from './object-text.ts';

/** A client that leaves this much unread is cut off: it can resume, and nobody else waits for it. */
const maxPendingBytes = 16 * 1024 * 1024;

/** Writes what a watch sees to a stream. */
export function watchResponse(
  context: EncodeContext & {
    readonly frames: FrameCache;
    /** Told of each event. */
    readonly counted: () => void;
  },
  resource: Resource,
  stream: Stream,
  close: () => void,
): WatchSink {
  const { media } = context;
  const { kind } = resource;
  let first = true;

  function send(frame: Buffer | string): void {
    stream.write(frame);
    if (stream.pendingBytes > maxPendingBytes) {
      stream.end();
      close();
    }
  }

  function frame(type: string, json: () => string, protobuf: () => Uint8Array): Buffer | string {
    if (media.format === 'protobuf') return Buffer.from(encodeWatchFrame({ type, object: protobuf() }));
    return `{"type":"${type}","object":${json()}}\n`;
  }

  function objectFrame(type: string, found: Found): Buffer | string {
    return context.frames.get(found.object, `${type} ${media.format} ${apiVersionOf(kind)}`, () =>
      Buffer.from(
        frame(
          type,
          () => foundText(resource, found),
          () => encodeEnvelope(apiVersionOf(kind), kind.kind, resource.serializer.protobuf!.encode(writable(found))),
        ),
      ),
    );
  }

  function eventFrame(type: string, found: Found): Buffer | string {
    switch (media.view) {
      case 'object':
        return objectFrame(type, found);
      case 'table': {
        const { resourceVersion } = found.object.metadata;
        const value = table(context, resource, [found], resourceVersion ? { resourceVersion } : {}, first);
        return `{"type":"${type}","object":${stringify(value)}}\n`;
      }
      default: {
        const object = metadataOf(media, wholeOf(found));
        return frame(
          type,
          () => stringify(object),
          () => encodeEnvelope(object.apiVersion, object.kind, codecOf(partialObjectMetadata).toProtobuf(object)),
        );
      }
    }
  }

  return {
    event(type, found) {
      context.counted();
      send(eventFrame(type, found));
      first = false;
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
      send(
        eventFrame('BOOKMARK', { object: bare, cached: { key: '', object: bare, managedFields: undefined, revision } }),
      );
      first = false;
    },
    end(error) {
      if (error) {
        const { status } = error;
        send(
          frame(
            'ERROR',
            () => stringify(status),
            () => encodeEnvelope('v1', 'Status', codecOf(statusSchema).toProtobuf(status)),
          ),
        );
      }
      stream.end();
    },
  };
}

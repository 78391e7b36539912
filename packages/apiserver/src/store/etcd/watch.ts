import type { Channel } from '@kruise/client/grpc/channel';
import { methodOf } from '@kruise/client/grpc/method';
import { GrpcError } from '@kruise/client/grpc/status';
import { after, type Clock } from '@kruise/values/clock';
import { CompactedError, StoreError, type StoreEvent, type WatchBatch, type WatchRequest } from '../store.ts';
import { type Event, Event_EventType, Watch, type WatchResponse } from './generated/etcd_pb.ts';
import { entryOf, isMarker, keyOf, rangeWithMarker } from './keys.ts';

/** Watch with its own stream, which is reopened at the last position whenever it breaks. */
export interface EtcdWatch {
  readonly batches: AsyncIterable<WatchBatch>;
  /**
   * Ensures that the watch yields a batch at a revision that etcd has reached, even if no key with the prefix changes.
   */
  reach(revision: number): void;
}

/** Sources of progress notifications for a watch. */
export type ProgressSource = {
  /** Reports whether etcd orders progress notifications after the preceding events. */
  isOrdered(): Promise<boolean>;
  /** Writes the prefix's marker key, whose event is ordered in every etcd version. */
  writeMarker(prefix: string): Promise<void>;
};

const reconnectAfterMs = 250;
/** Interval of progress requests: etcd ignores them while the watch is catching up. */
const progressRetryMs = 200;
const watchMethod = methodOf(Watch.method.watch);

export function createEtcdWatch(
  channel: Channel,
  clock: Clock,
  progress: ProgressSource,
  { prefix, afterRevision, signal, withPrevious = false }: WatchRequest,
): EtcdWatch {
  let position = afterRevision;
  let wanted = 0;
  let isWritingMarker = false;
  let isWaiting = false;
  let requestProgress = () => {};
  let isRetryScheduled = false;

  async function pollProgress(): Promise<void> {
    if (await progress.isOrdered()) {
      requestProgress();
      scheduleProgressRetry();
    } else {
      await writeMarkers();
    }
  }

  /** Repeats the progress request until the revision is reached, unless the consumer is not reading. */
  function scheduleProgressRetry(): void {
    if (isRetryScheduled) return;
    isRetryScheduled = true;
    const retryProgress = () => {
      isRetryScheduled = false;
      if (position >= wanted) return;
      if (isWaiting) requestProgress();
      scheduleProgressRetry();
    };
    clock.setTimer(progressRetryMs, retryProgress, signal);
  }

  /**
   * Writes a marker, and another if a later revision was requested meanwhile: the marker's revision is only known after
   * the write.
   */
  async function writeMarkers(): Promise<void> {
    if (isWritingMarker) return;
    isWritingMarker = true;
    try {
      for (let marked = 0; marked < wanted && position < wanted; ) {
        marked = wanted;
        await progress.writeMarker(prefix);
      }
    } finally {
      isWritingMarker = false;
    }
  }

  async function* run(): AsyncGenerator<WatchBatch> {
    while (!signal.aborted) {
      try {
        yield* follow();
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof GrpcError)) throw error;
      }
      // Rejects when the signal is aborted, which ends the loop.
      await after(clock, reconnectAfterMs, signal).catch(() => {});
    }
  }

  async function* follow(): AsyncGenerator<WatchBatch> {
    // A member without a leader would stay silent; with this metadata it ends the stream, and the client connects to
    // another member.
    const call = channel.bidirectional(watchMethod, { signal, metadata: { hasleader: 'true' } });
    call.send({
      requestUnion: {
        case: 'createRequest',
        value: {
          ...rangeWithMarker(prefix),
          startRevision: BigInt(position + 1),
          progressNotify: true,
          prevKv: withPrevious,
          fragment: true,
        },
      },
    });
    requestProgress = () => call.send({ requestUnion: { case: 'progressRequest', value: {} } });
    let fragments: Event[] = [];
    isWaiting = true;
    for await (const response of call.responses) {
      if (response.canceled) throw cancellation(response);
      fragments.push(...response.events);
      if (response.fragment || response.created) continue;
      const batch = batchOf(fragments, Number(response.header?.revision ?? 0));
      fragments = [];
      if (batch.revision <= position) continue;
      position = batch.revision;
      isWaiting = false;
      yield batch;
      isWaiting = true;
    }
  }

  function batchOf(events: readonly Event[], headerRevision: number): WatchBatch {
    const last = events.at(-1)?.kv;
    return {
      events: events.filter(({ kv }) => kv && !isMarker(kv.key)).map(storeEventOf),
      // In a response with events, the header revision is that of the store, which can be ahead of this watch.
      revision: last ? Number(last.modRevision) : headerRevision,
    };
  }

  function cancellation({ compactRevision, cancelReason }: WatchResponse): Error {
    if (compactRevision > 0n) return new CompactedError(position + 1, Number(compactRevision));
    return new StoreError(`etcd ended the watch: ${cancelReason}`);
  }

  return {
    batches: { [Symbol.asyncIterator]: run },
    reach(revision) {
      wanted = Math.max(wanted, revision);
      // If etcd is unreachable, the watch is broken too: the waiting reader retries or times out.
      if (position < wanted) pollProgress().catch(() => {});
    },
  };
}

function storeEventOf({ type, kv, prevKv }: Event): StoreEvent {
  const key = keyOf(kv!);
  const revision = Number(kv!.modRevision);
  const previous = prevKv && { previous: entryOf(prevKv) };
  return type === Event_EventType.DELETE
    ? { type: 'delete', key, revision, ...previous }
    : { type: 'put', key, revision, createRevision: Number(kv!.createRevision), value: kv!.value, ...previous };
}

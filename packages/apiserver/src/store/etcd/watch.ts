import type { Channel } from '@kruise/client/grpc/channel';
import { methodOf } from '@kruise/client/grpc/method';
import { GrpcError } from '@kruise/client/grpc/status';
import { after, type Clock } from '@kruise/values/clock';
import { CompactedError, StoreError, type StoreEvent, type WatchBatch, type WatchRequest } from '../store.ts';
import { type Event, Event_EventType, Watch, type WatchResponse } from './generated/etcd_pb.ts';
import { entryOf, isMarker, keyOf, rangeWithMarker } from './keys.ts';

/** One watch, on a stream of its own that is opened again where it stopped whenever it breaks. */
export interface EtcdWatch {
  readonly batches: AsyncIterable<WatchBatch>;
  /** Sees to it that a batch comes that reaches a revision etcd is at, even if no key with the prefix changes. */
  reach(revision: number): void;
}

/** How a watch is brought to tell how far it has got. */
export type ProgressSource = {
  /** Whether etcd answers a request for progress only after the events before it. */
  isOrdered(): Promise<boolean>;
  /** Writes the prefix's marker, an event that comes in order whatever the version. */
  writeMarker(prefix: string): Promise<void>;
};

const reconnectAfterMs = 250;
/** etcd leaves a request for progress unanswered while it has events to catch up with. */
const askAgainAfterMs = 200;
const watchMethod = methodOf(Watch.method.watch);

export function createEtcdWatch(
  channel: Channel,
  clock: Clock,
  progress: ProgressSource,
  { prefix, afterRevision, signal, withPrevious = false }: WatchRequest,
): EtcdWatch {
  let position = afterRevision;
  let wanted = 0;
  let isMarking = false;
  let isWaiting = false;
  let requestProgress = () => {};
  let isReminding = false;

  async function ask(): Promise<void> {
    if (await progress.isOrdered()) {
      requestProgress();
      remind();
    } else {
      await mark();
    }
  }

  /** Asks again until what is wanted has come, unless nobody reads what comes. */
  function remind(): void {
    if (isReminding) return;
    isReminding = true;
    const askAgain = () => {
      isReminding = false;
      if (position >= wanted) return;
      if (isWaiting) requestProgress();
      remind();
    };
    clock.setTimer(askAgainAfterMs, askAgain, signal);
  }

  /** Writes a marker, and another if more was wanted meanwhile: how far it reaches is only known afterwards. */
  async function mark(): Promise<void> {
    if (isMarking) return;
    isMarking = true;
    try {
      for (let marked = 0; marked < wanted && position < wanted; ) {
        marked = wanted;
        await progress.writeMarker(prefix);
      }
    } finally {
      isMarking = false;
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
    // A member cut off from its cluster would stay silent; like this it ends the stream, and another may be found.
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
      // With events, the header tells of the store as a whole, which can be ahead of this watch.
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
      // If etcd is out of reach, the watch is broken too: whoever waits for it asks again, or gives up.
      if (position < wanted) ask().catch(() => {});
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

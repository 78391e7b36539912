/** NodeImage controller: pulls the images of NodeImages on their nodes, and reports the progress. */
import { type NodeImage, type NodeImageStatus, nodeImage } from '@kruise/api/kruise/nodeimage';
import { isBeingDeleted, type NewEvent } from '@kruise/client/actions';
import { type ControllerContext, type Runnable, watch, whenSynced } from '@kruise/client/controller';
import type { Informer } from '@kruise/client/informer';
import { isVersionAtLeast, referencedObject } from '@kruise/client/object-key';
import { exponentialBackoff, type TokenBucket, tokenBucket } from '@kruise/client/rate-limiter';
import type { Selection } from '@kruise/client/reflector';
import type { WorkQueue } from '@kruise/client/work-queue';
import { createNamedQueue, runWorkers } from '@kruise/client/workers';
import { isSame } from '@kruise/machinery/json-value';
import { isConflict } from '@kruise/machinery/status';
import type { NodeSecrets } from '@kruise/node/kubelet/credentials/node-credentials';
import { formatDuration, fromMilliseconds } from '@kruise/values/duration';
import { createSemaphore } from '@kruise/values/scheduling/semaphore';
import type { Instant } from '@kruise/values/time';
import type { DaemonNodes } from '../node.ts';
import { referenceTo } from './presence.ts';
import { createPuller, type Puller, type TaggedImage } from './puller.ts';
import { createSecretReader } from './secrets.ts';
import { statusFrom } from './status.ts';

export type ImagePullerOptions = {
  readonly nodes: DaemonNodes;
  readonly selection: Selection | undefined;
  readonly maxPulls: number | undefined;
  readonly nodeSecrets?: NodeSecrets;
  /** Records events with a node as their source host. */
  readonly recordFor: (nodeName: string) => (event: NewEvent) => void;
};

export type ImagePuller = {
  readonly runnable: Runnable;
  /** Enqueues a node. */
  enqueue(nodeName: string): void;
  /** Stops the pulls of a node. */
  removeNode(nodeName: string): void;
};

/** The last reported status, with its time and the UID and resourceVersion of the object. */
type ReportedStatus = {
  readonly status: NodeImageStatus;
  readonly at: Instant;
  readonly uid: string;
  readonly version: string;
};

/** State of a node. */
type Entry = {
  readonly puller: Puller;
  readonly writes: TokenBucket;
  reported?: ReportedStatus;
};

const workers = 10;
const bucket = { perSecond: 0.5, burst: 5 };
const backOff = { initialMs: 500, maxMs: 50_000 };
const hourMs = 3_600_000;
/** An unchanged status is reported again after this time. */
const reportIntervalMs = 12 * hourMs;

export function createImagePuller(options: ImagePullerOptions): ImagePuller {
  const { nodes, selection, maxPulls, nodeSecrets, recordFor } = options;
  const entries = new Map<string, Entry>();
  const watched = watch(nodeImage, () => [], selection ? { selection } : {});
  let queue: WorkQueue | undefined;

  async function run(context: ControllerContext, signal: AbortSignal): Promise<void> {
    const { clock, random, caches, client, log } = context;
    await whenSynced(runnable, caches, signal);
    if (signal.aborted) return;
    const informer = caches.informer(nodeImage, selection);
    const secretsFor = createSecretReader(client, clock, random, log);
    const ready = createNamedQueue(context, 'imagepuller', exponentialBackoff(backOff));
    queue = ready;
    const between = (from: number, to: number) => from + random.next() * (to - from);
    const reportDelaySeconds = () => between(3, 5);
    informer.handle(
      ({ type, object, previous }) => {
        const { name = '' } = object.metadata;
        const hasSpecChanged = type !== 'deleted' && !isBeingDeleted(object) && !isSame(previous?.spec, object.spec);
        if (hasSpecChanged && nodes.has(name)) ready.add(name);
      },
      { signal },
    );

    const entryOf = (name: string): Entry => {
      let entry = entries.get(name);
      if (!entry) entries.set(name, (entry = { puller: pullerFor(name), writes: tokenBucket(clock, bucket) }));
      return entry;
    };
    const pullerFor = (name: string): Puller => {
      const record: Record = (event) => recordFor(name)(event);
      return createPuller({
        // Pulls start only after the node was added.
        images: nodes.get(name)!.images,
        clock,
        withPermit: createSemaphore(maxPulls !== undefined && maxPulls > 0 ? maxPulls : Number.POSITIVE_INFINITY),
        secretsFor,
        ...(nodeSecrets ? { nodeSecrets } : {}),
        // Changes of many workers are batched into one status update.
        onChange: () => ready.addAfter(name, reportDelaySeconds() * 1000),
        succeeded: (image, elapsedMs) => recordSuccess(record, informer.get(name), image, elapsedMs),
        failed: (image, reason) => recordFailure(record, informer.get(name), image, reason),
      });
    };

    /** Reports the status of a node; returns false if the rate limit was exceeded. */
    async function reportStatus(entry: Entry, object: NodeImage): Promise<boolean> {
      const status = statusFrom(object, entry.puller.statusesOf);
      const { reported } = entry;
      const { uid = '' } = object.metadata;
      const isOld = reported?.uid !== uid || clock.now() - reported.at > reportIntervalMs + random.next() * hourMs;
      if (!isOld && isSame(reported.status, status)) return true;
      if (!entry.writes.tryTake()) return false;
      const written = await client.update(nodeImage, { ...object, status }, { subresource: 'status', signal });
      entry.reported = { status, at: clock.now(), uid, version: written.metadata.resourceVersion ?? '' };
      return true;
    }

    async function work(name: string): Promise<number | undefined> {
      const object = informer.get(name);
      if (!object || isBeingDeleted(object) || !nodes.has(name)) return undefined;
      const entry = entryOf(name);
      // The last reported status decides which pulls remain, and must be in the cache before it can be overwritten.
      if (entry.reported && !isCached(informer, object, entry.reported.version)) return staleRetrySeconds;
      await entry.puller.sync(object);
      return (await reportStatus(entry, object)) ? between(20 * 60, 30 * 60) : reportDelaySeconds();
    }

    const onError = (node: string, error: unknown) => {
      // On conflict, the other write will be in the cache at the next reconcile.
      if (!isConflict(error)) log.warn({ node, error }, 'NodeImage sync failed');
    };
    await runWorkers(ready, { workers, work, onError }, signal);
    for (const { puller } of entries.values()) puller.stop();
  }

  const runnable: Runnable = {
    name: 'imagepuller',
    component: 'kruise-daemon-imagepuller',
    watches: [watched],
    uses: [],
    run,
  };
  return {
    runnable,
    enqueue: (nodeName) => queue?.add(nodeName),
    removeNode(nodeName) {
      entries.get(nodeName)?.puller.stop();
      entries.delete(nodeName);
    },
  };
}

const staleRetrySeconds = 0.1;

function isCached(informer: Informer<NodeImage>, { metadata }: NodeImage, version: string): boolean {
  return informer.hasReached(version) || isVersionAtLeast(metadata.resourceVersion, version);
}

type Record = (event: NewEvent) => void;

function recordSuccess(
  record: Record,
  object: NodeImage | undefined,
  { name, spec }: TaggedImage,
  elapsedMs: number,
): void {
  const elapsed = formatDuration(fromMilliseconds(Math.floor(elapsedMs)));
  // The misspelling is OpenKruise's, and users search for it.
  const message = `Image ${referenceTo({ name, tag: spec.tag })}, ecalpsedTime ${elapsed}`;
  if (object) record({ about: object, type: 'Normal', reason: 'PullImageSucceed', message });
}

/** Records the failure as events of the node and of the jobs that requested the tag. */
function recordFailure(
  record: Record,
  object: NodeImage | undefined,
  { name, spec }: TaggedImage,
  reason: string,
): void {
  const about = [...(spec.ownerReferences ?? []).map(referencedObject), ...(object ? [object] : [])];
  const message = `Image ${referenceTo({ name, tag: spec.tag })} ${reason}`;
  for (const each of about) record({ about: each, type: 'Warning', reason: 'PullImageFailed', message });
}

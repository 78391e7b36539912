/** Pulls of a node: one worker for every tag that is wanted and not complete. */
import type { Secret } from '@kruise/api/core/secret';
import type { ImageSpec, ImageTagStatus, NodeImage, PullSecret } from '@kruise/api/kruise/nodeimage';
import { runWorker, type WorkerContext } from './worker.ts';

type Worker = { readonly version: number; readonly stop: AbortController };

/** The tags of one image. */
type Pool = { readonly workers: Map<string, Worker>; readonly statuses: Map<string, ImageTagStatus> };

export type Puller = {
  /** Starts the pulls that are wanted, and stops the others. */
  sync(nodeImage: NodeImage): Promise<void>;
  /** Returns the status of the tags of an image. */
  statusesOf(name: string): Iterable<ImageTagStatus>;
  /** Stops all pulls. */
  stop(): void;
};

export type PullerContext = Omit<WorkerContext, 'report' | 'succeeded' | 'failed'> & {
  readonly secretsFor: (references: readonly PullSecret[]) => Promise<readonly Secret[]>;
  /** Called whenever a status changes. */
  readonly onChange: () => void;
  readonly succeeded: (image: TaggedImage, elapsedMs: number) => void;
  readonly failed: (image: TaggedImage, reason: string) => void;
};

/** A tag of an image, and the jobs that requested it. */
export type TaggedImage = { readonly name: string; readonly spec: ImageSpec['tags'][number] };

export function createPuller(context: PullerContext): Puller {
  const pools = new Map<string, Pool>();
  let isStopped = false;

  async function syncPool(nodeImage: NodeImage, name: string, image: ImageSpec): Promise<void> {
    let pool = pools.get(name);
    if (!pool) pools.set(name, (pool = { workers: new Map(), statuses: new Map() }));
    const { workers, statuses } = pool;
    const active = new Map<string, TaggedImage['spec']>();
    for (const spec of image.tags) {
      const reported = nodeImage.status?.imageStatuses?.[name]?.tags.find(({ tag }) => tag === spec.tag);
      const isDone = reported?.completionTime != null && (reported.version ?? 0) === (spec.version ?? 0);
      if (isDone) statuses.set(spec.tag, reported);
      else active.set(spec.tag, spec);
    }
    for (const [tag, { version, stop }] of workers) {
      const wanted = active.get(tag);
      if (wanted && (wanted.version ?? 0) === version) continue;
      stop.abort();
      workers.delete(tag);
    }
    for (const tag of statuses.keys()) if (!image.tags.some((each) => each.tag === tag)) statuses.delete(tag);
    const missing = [...active.values()].filter(({ tag }) => !workers.has(tag));
    if (missing.length === 0) return;
    const secrets = await context.secretsFor(image.pullSecrets ?? []);
    if (isStopped) return;
    for (const spec of missing) start(pool, { name, spec }, secrets, image.sandboxConfig);
  }

  function start(
    { workers, statuses }: Pool,
    taggedImage: TaggedImage,
    secrets: readonly Secret[],
    sandboxConfig: ImageSpec['sandboxConfig'],
  ): void {
    const { name, spec } = taggedImage;
    const stop = new AbortController();
    workers.set(spec.tag, { version: spec.version ?? 0, stop });
    const worker: WorkerContext = {
      ...context,
      report(status) {
        // A report of a stopped worker is obsolete.
        if (stop.signal.aborted) return;
        statuses.set(spec.tag, status);
        context.onChange();
      },
      succeeded: (elapsedMs) => context.succeeded(taggedImage, elapsedMs),
      failed: (reason) => context.failed(taggedImage, reason),
    };
    void runWorker(worker, { name, spec, secrets, sandboxConfig }, stop.signal);
  }

  const stopPool = ({ workers }: Pool) => {
    for (const { stop } of workers.values()) stop.abort();
  };

  return {
    async sync(nodeImage) {
      const { images = {} } = nodeImage.spec;
      for (const [name, pool] of pools) {
        if (name in images) continue;
        stopPool(pool);
        pools.delete(name);
      }
      for (const [name, image] of Object.entries(images)) await syncPool(nodeImage, name, image);
    },
    statusesOf: (name) => pools.get(name)?.statuses.values() ?? [],
    stop() {
      isStopped = true;
      for (const pool of pools.values()) stopPool(pool);
      pools.clear();
    },
  };
}

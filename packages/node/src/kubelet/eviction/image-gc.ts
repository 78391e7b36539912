/** Image garbage collection: removes unused images when the image filesystem fills up. */
import type { Log } from '@kruise/client/log';
import { type Clock, every } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { Image } from '../../cri/messages.ts';
import type { ImageService } from '../../cri/runtime.ts';

/** An image with its usage record. */
export type ImageRecord = {
  readonly image: Image;
  readonly firstSeenAt: Instant;
  readonly lastUsedAt: Instant;
  readonly isUsed: boolean;
};

/** Image garbage collection policy. */
export type ImageGCPolicy = {
  /** Disk usage in percent at which garbage collection starts, and down to which it removes images. */
  readonly highPercent: number;
  readonly lowPercent: number;
  /** Minimum age of an unused image before it is garbage-collected. */
  readonly minimumAgeMs: number;
};

export const defaultImageGCPolicy: ImageGCPolicy = { highPercent: 85, lowPercent: 80, minimumAgeMs: 120_000 };

/** Returns the images to remove, least recently used first, until the usage is below the low threshold. */
export function imagesToRemove(
  images: readonly ImageRecord[],
  diskSpace: DiskSpace,
  limits: ImageGCPolicy,
  now: Instant,
): readonly Image[] {
  let excess = bytesToFree(diskSpace, limits);
  const removed: Image[] = [];
  const idle = images
    .filter(({ image, isUsed, firstSeenAt }) => !isUsed && !image.pinned && now - firstSeenAt >= limits.minimumAgeMs)
    .toSorted((a, b) => a.lastUsedAt - b.lastUsedAt || a.firstSeenAt - b.firstSeenAt);
  for (const { image } of idle) {
    if (excess <= 0) break;
    removed.push(image);
    excess -= image.size;
  }
  return removed;
}

type DiskSpace = { readonly usedBytes: number; readonly capacityBytes: number };

/** Returns the bytes to free to reach the low threshold; 0 while the usage is below the high threshold. */
function bytesToFree({ usedBytes, capacityBytes }: DiskSpace, { highPercent, lowPercent }: ImageGCPolicy): number {
  if (capacityBytes <= 0 || (usedBytes * 100) / capacityBytes < highPercent) return 0;
  return Math.ceil(usedBytes - (capacityBytes * lowPercent) / 100);
}

/** Dependencies of image garbage collection. */
export type ImageGCContext = {
  readonly images: ImageService;
  readonly clock: Clock;
  readonly log: Log;
  readonly capacityBytes: number;
  readonly limits: ImageGCPolicy;
  /** IDs and references of the images in use by containers. */
  readonly usedImages: () => ReadonlySet<string>;
  readonly recordNode: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
  readonly onChange: () => void;
};

const periodMs = 300_000;

/** Image garbage collector. */
export type ImageGC = {
  /** Removes all unused images, whatever the disk usage is. */
  removeUnused(): Promise<void>;
};

/** Garbage-collects images until the signal is aborted. */
export function startImageGC(context: ImageGCContext, signal: AbortSignal): ImageGC {
  const { images: service, clock, log, limits, capacityBytes } = context;
  const records = new Map<string, { readonly firstSeenAt: Instant; lastUsedAt: Instant }>();

  async function detectImages(): Promise<readonly ImageRecord[]> {
    const now = clock.now();
    const { images } = await service.listImages({}, { signal });
    const used = context.usedImages();
    const detected = images.map((image): ImageRecord => {
      const isUsed = [image.id, ...image.repoDigests, ...image.repoTags].some((name) => used.has(name));
      const record = records.get(image.id) ?? { firstSeenAt: now, lastUsedAt: 0 };
      if (isUsed) record.lastUsedAt = now;
      records.set(image.id, record);
      return { image, isUsed, ...record };
    });
    const presentIds = new Set(images.map(({ id }) => id));
    for (const id of records.keys()) if (!presentIds.has(id)) records.delete(id);
    return detected;
  }

  async function remove(images: readonly Image[]): Promise<void> {
    for (const { id } of images) await service.removeImage({ image: { image: id } }, { signal });
    if (images.length > 0) context.onChange();
  }

  async function garbageCollect(): Promise<void> {
    const detected = await detectImages();
    const { imageFilesystems } = await service.imageFsInfo({}, { signal });
    const usedBytes = imageFilesystems[0]?.usedBytes ?? 0;
    if (capacityBytes === 0) {
      const message = 'invalid capacity 0 on image filesystem';
      context.recordNode('Warning', 'InvalidDiskCapacity', message);
      throw new Error(message);
    }
    const removed = imagesToRemove(detected, { usedBytes, capacityBytes }, limits, clock.now());
    await remove(removed);
    const excess = bytesToFree({ usedBytes, capacityBytes }, limits);
    const freed = removed.reduce((sum, { size }) => sum + size, 0);
    if (freed >= excess) return;
    const message = `Failed to garbage collect required amount of images. Attempted to free ${excess} bytes, but only found ${freed} bytes eligible to free.`;
    context.recordNode('Warning', 'FreeDiskSpaceFailed', message);
    throw new Error(message);
  }

  let failures = 0;
  every(
    clock,
    periodMs,
    () => {
      garbageCollect().then(
        () => {
          failures = 0;
        },
        (error: unknown) => {
          if (signal.aborted) return;
          log.warn({ error }, 'image garbage collection failed');
          // The first failure may be transient, so only repeated failures record an event.
          if (++failures > 1) context.recordNode('Warning', 'ImageGCFailed', (error as Error).message);
        },
      );
    },
    signal,
  );
  return {
    removeUnused: async () =>
      remove((await detectImages()).filter(({ isUsed, image }) => !isUsed && !image.pinned).map(({ image }) => image)),
  };
}

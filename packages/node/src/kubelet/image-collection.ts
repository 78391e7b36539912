/** Removes images nobody uses when there is little room left for others (kubelet.md §9). */
import type { Log } from '@kruise/client/log';
import { type Clock, every } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { Image } from '../cri/messages.ts';
import type { ImageService } from '../cri/runtime.ts';

/** An image, and what is known of its use. */
export type KnownImage = {
  readonly image: Image;
  readonly firstSeenAt: Instant;
  readonly lastUsedAt: Instant;
  readonly isUsed: boolean;
};

/** When it is time, and how far it goes. */
export type CollectionLimits = {
  /** Percent in use at which images are removed, and down to which. */
  readonly highPercent: number;
  readonly lowPercent: number;
  /** Images that came less than so long ago stay. */
  readonly minimumAgeMs: number;
};

export const defaultLimits: CollectionLimits = { highPercent: 85, lowPercent: 80, minimumAgeMs: 120_000 };

/** The images to remove, least recently used first: as many as it takes to get down to the low mark. */
export function imagesToRemove(
  images: readonly KnownImage[],
  room: Room,
  limits: CollectionLimits,
  now: Instant,
): readonly Image[] {
  let excess = excessOf(room, limits);
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

type Room = { readonly usedBytes: number; readonly capacityBytes: number };

/** How much there is too much: what it takes to get down to the low mark, once the high one is reached. */
function excessOf({ usedBytes, capacityBytes }: Room, { highPercent, lowPercent }: CollectionLimits): number {
  if (capacityBytes <= 0 || (usedBytes * 100) / capacityBytes < highPercent) return 0;
  return Math.ceil(usedBytes - (capacityBytes * lowPercent) / 100);
}

/** What collection works with. */
export type CollectionContext = {
  readonly images: ImageService;
  readonly clock: Clock;
  readonly log: Log;
  readonly capacityBytes: number;
  readonly limits: CollectionLimits;
  /** IDs and references of the images that containers use. */
  readonly usedImages: () => ReadonlySet<string>;
  readonly recordNode: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
  readonly onChange: () => void;
};

const periodMs = 300_000;

/** What removes images. */
export type ImageCollection = {
  /** Removes all images that nobody uses, whatever room there is. */
  removeUnused(): Promise<void>;
};

/** Looks after the room images take until the signal is aborted. */
export function startImageCollection(context: CollectionContext, signal: AbortSignal): ImageCollection {
  const { images: service, clock, log, limits, capacityBytes } = context;
  const seen = new Map<string, { readonly firstSeenAt: Instant; lastUsedAt: Instant }>();

  async function look(): Promise<readonly KnownImage[]> {
    const now = clock.now();
    const { images } = await service.listImages({}, { signal });
    const used = context.usedImages();
    const known = images.map((image): KnownImage => {
      const isUsed = [image.id, ...image.repoDigests, ...image.repoTags].some((name) => used.has(name));
      const record = seen.get(image.id) ?? { firstSeenAt: now, lastUsedAt: 0 };
      if (isUsed) record.lastUsedAt = now;
      seen.set(image.id, record);
      return { image, isUsed, ...record };
    });
    const there = new Set(images.map(({ id }) => id));
    for (const id of seen.keys()) if (!there.has(id)) seen.delete(id);
    return known;
  }

  async function remove(images: readonly Image[]): Promise<void> {
    for (const { id } of images) await service.removeImage({ image: { image: id } }, { signal });
    if (images.length > 0) context.onChange();
  }

  async function collect(): Promise<void> {
    const known = await look();
    const { imageFilesystems } = await service.imageFsInfo({}, { signal });
    const usedBytes = imageFilesystems[0]?.usedBytes ?? 0;
    if (capacityBytes === 0) {
      const message = 'invalid capacity 0 on image filesystem';
      context.recordNode('Warning', 'InvalidDiskCapacity', message);
      throw new Error(message);
    }
    const removed = imagesToRemove(known, { usedBytes, capacityBytes }, limits, clock.now());
    await remove(removed);
    const excess = excessOf({ usedBytes, capacityBytes }, limits);
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
      collect().then(
        () => {
          failures = 0;
        },
        (error: unknown) => {
          if (signal.aborted) return;
          log.warn({ error }, 'images could not be removed');
          // The first time may be bad luck.
          if (++failures > 1) context.recordNode('Warning', 'ImageGCFailed', (error as Error).message);
        },
      );
    },
    signal,
  );
  return {
    removeUnused: async () =>
      remove((await look()).filter(({ isUsed, image }) => !isUsed && !image.pinned).map(({ image }) => image)),
  };
}

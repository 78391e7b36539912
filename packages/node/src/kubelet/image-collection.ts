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
  { usedBytes, capacityBytes }: { readonly usedBytes: number; readonly capacityBytes: number },
  { highPercent, lowPercent, minimumAgeMs }: CollectionLimits,
  now: Instant,
): readonly Image[] {
  if (capacityBytes <= 0 || (usedBytes * 100) / capacityBytes < highPercent) return [];
  let excess = usedBytes - (capacityBytes * lowPercent) / 100;
  const removed: Image[] = [];
  const idle = images
    .filter(({ image, isUsed, firstSeenAt }) => !isUsed && !image.pinned && now - firstSeenAt >= minimumAgeMs)
    .toSorted((a, b) => a.lastUsedAt - b.lastUsedAt || a.firstSeenAt - b.firstSeenAt);
  for (const { image } of idle) {
    if (excess <= 0) break;
    removed.push(image);
    excess -= image.size;
  }
  return removed;
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

/** Looks after the room images take until the signal is aborted. */
export function startImageCollection(context: CollectionContext, signal: AbortSignal): void {
  const { images: service, clock, log, limits, capacityBytes } = context;
  const seen = new Map<string, { readonly firstSeenAt: Instant; lastUsedAt: Instant }>();

  async function collect(): Promise<void> {
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
    const { imageFilesystems } = await service.imageFsInfo({}, { signal });
    const usedBytes = imageFilesystems[0]?.usedBytes ?? 0;
    const removed = imagesToRemove(known, { usedBytes, capacityBytes }, limits, now);
    for (const { id } of removed) await service.removeImage({ image: { image: id } }, { signal });
    if (removed.length > 0) context.onChange();
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
}

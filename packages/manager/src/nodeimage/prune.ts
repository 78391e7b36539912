import type { ImageSpec, ImageTagSpec, NodeImage } from '@kruise/api/kruise/nodeimage';
import { isSame } from '@kruise/machinery/json-value';
import { type Instant, parseTime } from '@kruise/values/time';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import type { Observed } from './decide.ts';
import { statusOfTag } from './tag-status.ts';

export type PruneResult = {
  /** The same object where nothing changes. */
  readonly nodeImage: NodeImage;
  /** Delay until the next tag expires. */
  readonly waitSeconds: number | undefined;
};

/** Removes expired tags, orphaned tags and missing secrets, and copies the labels of the node. */
export function prune(nodeImage: NodeImage, observed: Observed, now: Instant): PruneResult {
  const waits: number[] = [];
  const kept: [string, ImageSpec][] = [];
  for (const [name, image] of Object.entries(nodeImage.spec.images ?? {})) {
    const tags = image.tags.flatMap((tag) => {
      const remaining = tag.createdAt === undefined ? undefined : withOwners(tag, observed);
      if (!remaining) return [];
      const leftMs = remainingTtlMs(nodeImage, name, remaining, now);
      if (leftMs !== undefined && leftMs <= 0) return [];
      if (leftMs !== undefined) waits.push(leftMs / 1000);
      return [remaining];
    });
    if (tags.length > 0) kept.push([name, withSecrets({ ...image, tags }, observed)]);
  }
  const labels = observed.node ? (observed.node.metadata.labels ?? {}) : nodeImage.metadata.labels;
  const isUnchanged =
    isSame(Object.fromEntries(kept), nodeImage.spec.images ?? {}) &&
    isSame(labels ?? {}, nodeImage.metadata.labels ?? {});
  return {
    nodeImage: isUnchanged
      ? nodeImage
      : {
          ...nodeImage,
          metadata: { ...nodeImage.metadata, ...(labels ? { labels } : {}) },
          spec: kept.length > 0 ? { images: Object.fromEntries(kept) } : {},
        },
    waitSeconds: earliestRequeue(...waits).requeueAfterSeconds,
  };
}

/** Returns the tag with its existing owners; undefined where all owners are gone. */
function withOwners(tag: ImageTagSpec, { ownerExists }: Observed): ImageTagSpec | undefined {
  const { ownerReferences = [] } = tag;
  const owners = ownerReferences.filter(ownerExists);
  if (owners.length === ownerReferences.length) return tag;
  return owners.length === 0 ? undefined : { ...tag, ownerReferences: owners };
}

/** Returns the remaining TTL of a finished tag; undefined while the tag is unfinished or has no status. */
function remainingTtlMs(nodeImage: NodeImage, name: string, tag: ImageTagSpec, now: Instant): number | undefined {
  const ttlSeconds = tag.pullPolicy?.ttlSecondsAfterFinished;
  const completionTime = statusOfTag(nodeImage, name, tag)?.completionTime;
  if (ttlSeconds == null || completionTime == null) return undefined;
  return parseTime(completionTime) + ttlSeconds * 1000 - now;
}

/** Removes missing secrets. Shared copies are kept as long as the image. */
function withSecrets(image: ImageSpec, { hasSecret }: Observed): ImageSpec {
  const { pullSecrets = [] } = image;
  const kept = pullSecrets.filter((secret) => secret.mode === 'batch' || hasSecret(secret));
  return kept.length === pullSecrets.length ? image : { ...image, pullSecrets: kept };
}

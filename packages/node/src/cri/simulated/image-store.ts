/** Images present on one node. */
import { parseImageReference } from '@kruise/api/core/image-reference';
import { GrpcError } from '@kruise/client/grpc/status';
import type { Image } from '../messages.ts';
import { nameOf, type RegistryImage, type ResolvedImage } from './registry.ts';

export type StoredImage = {
  readonly image: RegistryImage;
  /** Sorted tags; the first one is shown in container statuses. */
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  readonly isPinned: boolean;
};

export type ImageStore = {
  add(resolved: ResolvedImage, options?: { readonly isPinned?: boolean }): StoredImage;
  /** Finds an image by tag, digest, ID or ID prefix. */
  find(name: string): StoredImage | undefined;
  /** Removes an image by ID, or one of its names; the image is removed with its last name. */
  remove(name: string): void;
  list(): readonly StoredImage[];
  usedBytes(): number;
};

const shortestPrefix = 4;

export function createImageStore(): ImageStore {
  const byId = new Map<string, StoredImage>();
  const idByName = new Map<string, string>();

  function put(stored: StoredImage): StoredImage {
    byId.set(stored.image.id, stored);
    for (const name of [...stored.tags, ...stored.digests]) idByName.set(name, stored.image.id);
    return stored;
  }

  function dropName(name: string): void {
    const stored = byId.get(idByName.get(name) ?? '');
    if (!stored) return;
    idByName.delete(name);
    const without = (names: readonly string[]) => names.filter((other) => other !== name);
    const rest = { ...stored, tags: without(stored.tags), digests: without(stored.digests) };
    if (rest.tags.length + rest.digests.length > 0) byId.set(stored.image.id, rest);
    else byId.delete(stored.image.id);
  }

  function idOf(name: string): string | undefined {
    const digits = name.startsWith('sha256:') ? name.slice('sha256:'.length) : name;
    if (/^[0-9a-f]+$/.test(digits) && digits.length >= shortestPrefix) {
      const ids = [...byId.keys()].filter((id) => id.startsWith(`sha256:${digits}`));
      if (ids.length > 1) throw new GrpcError('UNKNOWN', `ambiguous image id prefix ${name}`, { wasSent: true });
      if (ids.length === 1) return ids[0];
    }
    const reference = parseImageReference(name);
    return reference && idByName.get(nameOf(reference));
  }

  return {
    add({ reference, image }, { isPinned = false } = {}) {
      const digest = `${reference.repository}@${image.digest}`;
      const tag = reference.tag === undefined || reference.digest !== undefined ? undefined : nameOf(reference);
      // A moved tag no longer refers to its previous image.
      if (tag !== undefined && idByName.get(tag) !== image.id) dropName(tag);
      const before = byId.get(image.id);
      return put({
        image,
        tags: sorted([...(before?.tags ?? []), ...(tag === undefined ? [] : [tag])]),
        digests: sorted([...(before?.digests ?? []), digest]),
        isPinned: isPinned || (before?.isPinned ?? false),
      });
    },
    find: (name) => byId.get(idOf(name) ?? ''),
    remove(name) {
      const id = idOf(name);
      const stored = byId.get(id ?? '');
      if (!stored) return;
      const reference = parseImageReference(name);
      const fullName = reference && nameOf(reference);
      if (fullName !== undefined && idByName.get(fullName) === id) {
        dropName(fullName);
        // A digest alone does not keep an image.
        if ((byId.get(stored.image.id)?.tags.length ?? 0) > 0) return;
      }
      for (const each of [...stored.tags, ...stored.digests]) idByName.delete(each);
      byId.delete(stored.image.id);
    },
    list: () => [...byId.values()],
    usedBytes: () => [...byId.values()].reduce((sum, { image }) => sum + image.sizeBytes, 0),
  };
}

/** Returns the image as a CRI message. */
export function imageMessage({ image, tags, digests, isPinned }: StoredImage): Image {
  const { user } = image;
  return {
    id: image.id,
    repoTags: tags,
    repoDigests: digests,
    size: image.sizeBytes,
    ...(typeof user === 'number' && { uid: user }),
    username: typeof user === 'string' ? user : '',
    pinned: isPinned,
  };
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

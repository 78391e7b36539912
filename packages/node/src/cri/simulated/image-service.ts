/** CRI ImageService on simulated registries. */
import type { AuthConfig } from '../messages.ts';
import type { ImageService, PullImageOptions } from '../runtime.ts';
import { type ImageStore, imageMessage } from './image-store.ts';
import type { Registry } from './registry.ts';
import { runtimeError } from './runtime-error.ts';
import type { Script } from './script.ts';
import type { Scripting } from './scripting.ts';

export type ImageServiceOptions = {
  readonly images: ImageStore;
  readonly registry: Registry;
  readonly scripting: Scripting;
  readonly pullBytesPerSecond: number;
  timestamp(): bigint;
  /** Returns the bytes used by the files of the node and its containers. */
  fileBytes(): number;
};

/** Image mountpoint of containerd. */
export const imageMountpoint = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs';
const containerMountpoint = '/var/lib/containerd';
const progressSteps = 10;

export function createImageService(options: ImageServiceOptions): ImageService {
  const { images, registry, scripting, pullBytesPerSecond, timestamp, fileBytes } = options;

  async function pull(request: Pull, { signal, onProgress }: PullImageOptions): Promise<string> {
    const { image, auth, podUid, script } = request;
    const { pullError, pullFailures, pullLatencyMs } = script;
    if (scripting.fails(podUid, `pull ${image}`, { error: pullError, limit: pullFailures })) {
      await scripting.delay(pullLatencyMs ?? 0, signal);
      throw runtimeError('UNKNOWN', pullError ?? `failed to pull and unpack image "${image}": unexpected EOF`);
    }
    const resolved = registry.resolve(image, auth);
    const totalBytes = resolved.image.sizeBytes;
    const isThere = images.find(resolved.image.id) !== undefined;
    const durationMs = pullLatencyMs ?? (isThere ? 0 : (totalBytes / pullBytesPerSecond) * 1000);
    if (onProgress && durationMs > 0) {
      for (let step = 0; step < progressSteps; step++) {
        onProgress({ doneBytes: Math.floor((totalBytes * step) / progressSteps), totalBytes });
        await scripting.delay(durationMs / progressSteps, signal);
      }
    } else {
      await scripting.delay(durationMs, signal);
    }
    onProgress?.({ doneBytes: totalBytes, totalBytes });
    return images.add(resolved).image.id;
  }

  const filesystem = (mountpoint: string, usedBytes: number) => ({
    timestamp: timestamp(),
    fsId: { mountpoint },
    usedBytes,
    inodesUsed: 1000,
  });

  return {
    async listImages({ filter }) {
      const name = filter?.image?.image;
      const found = name ? [images.find(name)].filter((image) => image !== undefined) : images.list();
      return { images: found.map(imageMessage) };
    },
    async imageStatus({ image, verbose = false }) {
      const found = images.find(image.image);
      if (!found) return { info: {} };
      return { image: imageMessage(found), info: verbose ? { info: JSON.stringify(found.image) } : {} };
    },
    async pullImage({ image, auth, sandboxConfig }, callOptions = {}) {
      const script = scripting.read({ ...image.annotations, ...sandboxConfig?.annotations });
      const podUid = sandboxConfig?.metadata.uid ?? '';
      return { imageRef: await pull({ image: image.image, auth, podUid, script }, callOptions) };
    },
    async removeImage({ image }) {
      images.remove(image.image);
    },
    async imageFsInfo() {
      return {
        imageFilesystems: [filesystem(imageMountpoint, images.usedBytes())],
        containerFilesystems: [filesystem(containerMountpoint, fileBytes())],
      };
    },
  };
}

type Pull = {
  readonly image: string;
  readonly auth: AuthConfig | undefined;
  readonly podUid: string;
  readonly script: Script;
};

/** Image manager: makes images available on the node before containers start. */
import type { Container } from '@kruise/api/core/container';
import { parseImageReference } from '@kruise/api/core/image-reference';
import type { Pod } from '@kruise/api/core/pod';
import type { Secret } from '@kruise/api/core/secret';
import { type BucketOptions, tokenBucket } from '@kruise/client/rate-limiter';
import type { Clock } from '@kruise/values/clock';
import { formatDuration, fromMilliseconds } from '@kruise/values/duration';
import type { AuthConfig, Image, PodSandboxConfig } from '../../cri/messages.ts';
import type { ImageService } from '../../cri/runtime.ts';
import type { NodeSecrets } from '../credentials/node-credentials.ts';
import { rpcTextOf } from '../runtime/runtime-error.ts';
import type { BackOff } from './back-off.ts';
import { credentialsFor } from './pull-secrets.ts';

/** Error that keeps a container from starting; the reason is the waiting reason of its status. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Inputs of an image pull. */
export type PullContext = {
  readonly pod: Pod;
  readonly container: Container;
  readonly sandboxConfig: PodSandboxConfig;
  readonly secrets: readonly Secret[];
  readonly backOff: BackOff;
  /** Last pull error by image. */
  readonly lastErrors: Map<string, string>;
  readonly record: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
  readonly signal: AbortSignal;
};

/** An image that is on the node. */
export type LocalImage = { readonly ref: string; readonly image: Image | undefined };

/** Serialized image pulls of one node. */
export type ImageManager = {
  /** Ensures that the image of a container is present, according to its pull policy. Throws `StartError`. */
  ensureImageExists(context: PullContext): Promise<LocalImage>;
};

/** Options of the image manager. */
export type ImageOptions = {
  /** Called after an image was pulled. */
  readonly onChange: () => void;
  /** Registry credentials of the node, tried after those of the Pod. */
  readonly nodeSecrets: NodeSecrets;
  /** Rate limit of image pulls; unlimited if absent. */
  readonly limit?: BucketOptions;
};

/** Creates the image manager of a node. */
export function createImageManager(service: ImageService, clock: Clock, options: ImageOptions): ImageManager {
  const { onChange, nodeSecrets } = options;
  const bucket = options.limit && tokenBucket(clock, options.limit);
  let queue: Promise<unknown> = Promise.resolve();

  /** Serializes pulls: parallel pulls share the bandwidth, so all of them would finish late. */
  const serialize = <T>(work: () => Promise<T>): Promise<T> => {
    const current = queue.then(work, work);
    queue = current.catch(() => {});
    return current;
  };

  async function pull(
    spec: { readonly image: string },
    requestedImage: string,
    context: PullContext,
  ): Promise<LocalImage> {
    const { record, backOff, lastErrors, signal } = context;
    if (backOff.isWaitingSinceLast(requestedImage)) {
      const message = `Back-off pulling image ${JSON.stringify(requestedImage)}`;
      record('Normal', 'BackOff', message);
      const last = lastErrors.get(requestedImage);
      throw new StartError('ImagePullBackOff', last === undefined ? message : `${message}: ${last}`);
    }
    lastErrors.delete(requestedImage);
    record('Normal', 'Pulling', `Pulling image ${JSON.stringify(requestedImage)}`);
    const queuedAt = clock.now();
    let startedAt = queuedAt;
    try {
      // Before its turn: a slow credential provider delays no other pull.
      const all = await credentials(spec.image, context);
      const ref = await serialize(async () => {
        startedAt = clock.now();
        signal.throwIfAborted();
        if (bucket && !bucket.tryTake()) throw new Error('pull QPS exceeded');
        return pullWithCredentials(spec, all, context);
      });
      const { image } = await service.imageStatus({ image: { image: ref } });
      const pullDuration = durationText(clock.now() - startedAt);
      const totalDuration = durationText(clock.now() - queuedAt);
      record(
        'Normal',
        'Pulled',
        `Successfully pulled image ${JSON.stringify(requestedImage)} in ${pullDuration} (${totalDuration} including waiting). Image size: ${image?.size ?? 0} bytes.`,
      );
      onChange();
      return { ref, image };
    } catch (error) {
      signal.throwIfAborted();
      const text = rpcTextOf(error);
      record('Warning', 'Failed', `Failed to pull image ${JSON.stringify(requestedImage)}: ${text}`);
      backOff.advance(requestedImage, clock.now());
      const failure = pullFailure(requestedImage, text);
      lastErrors.set(requestedImage, `${failure.reason}: ${failure.message}`);
      throw failure;
    }
  }

  /** The Pod's credentials come before the node's. */
  async function credentials(image: string, { secrets }: PullContext): Promise<readonly AuthConfig[]> {
    return [...credentialsFor(image, secrets), ...credentialsFor(image, await nodeSecrets(image))];
  }

  /** Pulls with the first credentials that the registry accepts, or anonymously without credentials. */
  async function pullWithCredentials(
    spec: { readonly image: string },
    all: readonly AuthConfig[],
    { sandboxConfig, signal }: PullContext,
  ): Promise<string> {
    const errors: unknown[] = [];
    for (const auth of all.length === 0 ? [undefined] : all) {
      try {
        const request = { image: spec, sandboxConfig, ...(auth ? { auth } : {}) };
        const { imageRef } = await service.pullImage(request, { signal });
        return imageRef;
      } catch (error) {
        signal.throwIfAborted();
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    throw new Error(`[${errors.map(rpcTextOf).join(', ')}]`);
  }

  return {
    async ensureImageExists(context) {
      const { container, pod, record } = context;
      const { image: requestedImage = '', imagePullPolicy: policy = 'IfNotPresent' } = container;
      const reference = parseImageReference(requestedImage);
      if (!reference) {
        const message = `Failed to apply default image tag ${JSON.stringify(requestedImage)}: couldn't parse image name ${JSON.stringify(requestedImage)}: invalid reference format`;
        record('Warning', 'InspectFailed', message);
        throw new StartError('InvalidImageName', message);
      }
      const isTagged = reference.tag !== undefined || reference.digest !== undefined;
      const spec = {
        image: isTagged ? requestedImage : `${requestedImage}:latest`,
        annotations: pod.metadata.annotations ?? {},
      };
      if (policy !== 'Always') {
        const present = await inspect(spec, requestedImage, record);
        if (present) {
          record('Normal', 'Pulled', `Container image ${JSON.stringify(requestedImage)} already present on machine`);
          return { ref: present.id, image: present };
        }
        if (policy === 'Never') {
          const message = `Container image ${JSON.stringify(requestedImage)} is not present with pull policy of Never`;
          record('Warning', 'ErrImageNeverPull', message);
          throw new StartError('ErrImageNeverPull', message);
        }
      }
      return pull(spec, requestedImage, context);
    },
  };

  async function inspect(spec: { readonly image: string }, requestedImage: string, record: PullContext['record']) {
    try {
      return (await service.imageStatus({ image: spec })).image;
    } catch (error) {
      const message = `Failed to inspect image ${JSON.stringify(requestedImage)}: ${rpcTextOf(error)}`;
      record('Warning', 'InspectFailed', message);
      throw new StartError('ImageInspectError', message, { cause: error });
    }
  }
}

const knownFailures = {
  RegistryUnavailable: 'because the registry is unavailable',
  SignatureValidationFailed: 'because the signature validation failed',
};

function pullFailure(image: string, text: string): StartError {
  for (const [reason, explanation] of Object.entries(knownFailures)) {
    if (text.startsWith(reason)) {
      return new StartError(reason, `image pull failed for ${image} ${explanation}${text.slice(reason.length)}`);
    }
  }
  return new StartError('ErrImagePull', text);
}

function durationText(durationMs: number): string {
  return formatDuration(fromMilliseconds(Math.floor(durationMs)));
}

/** Image manager: makes images available on the node before containers start. */
import type { Container } from '@kruise/api/core/container';
import { parseImageReference } from '@kruise/api/core/image-reference';
import type { Pod } from '@kruise/api/core/pod';
import type { Secret } from '@kruise/api/core/secret';
import { type BucketOptions, tokenBucket } from '@kruise/client/rate-limiter';
import type { Clock } from '@kruise/values/clock';
import { formatDuration, fromMilliseconds } from '@kruise/values/duration';
import type { AuthConfig, Image, PodSandboxConfig } from '../cri/messages.ts';
import type { ImageService } from '../cri/runtime.ts';
import type { BackOff } from './back-off.ts';
import { credentialsFor } from './pull-secrets.ts';
import { rpcTextOf } from './runtime-error.ts';

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
export type PresentImage = { readonly ref: string; readonly image: Image | undefined };

/** Serialized image pulls of one node. */
export type Images = {
  /** Ensures that the image of a container is present, according to its pull policy. Throws `StartError`. */
  ensure(context: PullContext): Promise<PresentImage>;
};

/** Options of the image manager. */
export type ImageOptions = {
  /** Called after an image was pulled. */
  readonly onChange: () => void;
  /** Registry credentials of the node, tried after those of the Pod. */
  readonly nodeSecrets: () => Promise<readonly Secret[]>;
  /** Rate limit of image pulls; unlimited if absent. */
  readonly limit?: BucketOptions;
};

/** Creates the image manager of a node. */
export function createImages(service: ImageService, clock: Clock, options: ImageOptions): Images {
  const { onChange, nodeSecrets } = options;
  const bucket = options.limit && tokenBucket(clock, options.limit);
  let queue: Promise<unknown> = Promise.resolve();

  /** Serializes pulls: parallel pulls share the bandwidth, so all of them would finish late. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = queue.then(work, work);
    queue = turn.catch(() => {});
    return turn;
  };

  async function pull(spec: { readonly image: string }, asked: string, context: PullContext): Promise<PresentImage> {
    const { record, backOff, lastErrors, signal } = context;
    if (backOff.isWaitingSinceLast(asked)) {
      const message = `Back-off pulling image ${JSON.stringify(asked)}`;
      record('Normal', 'BackOff', message);
      const last = lastErrors.get(asked);
      throw new StartError('ImagePullBackOff', last === undefined ? message : `${message}: ${last}`);
    }
    lastErrors.delete(asked);
    record('Normal', 'Pulling', `Pulling image ${JSON.stringify(asked)}`);
    const queuedAt = clock.now();
    let begunAt = queuedAt;
    try {
      const ref = await inTurn(async () => {
        begunAt = clock.now();
        signal.throwIfAborted();
        if (bucket && !bucket.tryTake()) throw new Error('pull QPS exceeded');
        return pullWithAny(spec, await credentials(spec.image, context), context);
      });
      const { image } = await service.imageStatus({ image: { image: ref } });
      const took = durationText(clock.now() - begunAt);
      const waited = durationText(clock.now() - queuedAt);
      record(
        'Normal',
        'Pulled',
        `Successfully pulled image ${JSON.stringify(asked)} in ${took} (${waited} including waiting). Image size: ${image?.size ?? 0} bytes.`,
      );
      onChange();
      return { ref, image };
    } catch (error) {
      signal.throwIfAborted();
      const text = rpcTextOf(error);
      record('Warning', 'Failed', `Failed to pull image ${JSON.stringify(asked)}: ${text}`);
      backOff.advance(asked, clock.now());
      const failure = pullFailure(asked, text);
      lastErrors.set(asked, `${failure.reason}: ${failure.message}`);
      throw failure;
    }
  }

  /** The Pod's credentials come before the node's. */
  async function credentials(image: string, { secrets }: PullContext): Promise<readonly AuthConfig[]> {
    return [...credentialsFor(image, secrets), ...credentialsFor(image, await nodeSecrets())];
  }

  /** Pulls with the first credentials that the registry accepts, or anonymously without credentials. */
  async function pullWithAny(
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
    async ensure(context) {
      const { container, pod, record } = context;
      const { image: asked = '', imagePullPolicy: policy = 'IfNotPresent' } = container;
      const reference = parseImageReference(asked);
      if (!reference) {
        const message = `Failed to apply default image tag ${JSON.stringify(asked)}: couldn't parse image name ${JSON.stringify(asked)}: invalid reference format`;
        record('Warning', 'InspectFailed', message);
        throw new StartError('InvalidImageName', message);
      }
      const isTagged = reference.tag !== undefined || reference.digest !== undefined;
      const spec = { image: isTagged ? asked : `${asked}:latest`, annotations: pod.metadata.annotations ?? {} };
      if (policy !== 'Always') {
        const present = await inspect(spec, asked, record);
        if (present) {
          record('Normal', 'Pulled', `Container image ${JSON.stringify(asked)} already present on machine`);
          return { ref: present.id, image: present };
        }
        if (policy === 'Never') {
          const message = `Container image ${JSON.stringify(asked)} is not present with pull policy of Never`;
          record('Warning', 'ErrImageNeverPull', message);
          throw new StartError('ErrImageNeverPull', message);
        }
      }
      return pull(spec, asked, context);
    },
  };

  async function inspect(spec: { readonly image: string }, asked: string, record: PullContext['record']) {
    try {
      return (await service.imageStatus({ image: spec })).image;
    } catch (error) {
      const message = `Failed to inspect image ${JSON.stringify(asked)}: ${rpcTextOf(error)}`;
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
  for (const [reason, because] of Object.entries(knownFailures)) {
    if (text.startsWith(reason)) {
      return new StartError(reason, `image pull failed for ${image} ${because}${text.slice(reason.length)}`);
    }
  }
  return new StartError('ErrImagePull', text);
}

function durationText(durationMs: number): string {
  return formatDuration(fromMilliseconds(Math.floor(durationMs)));
}

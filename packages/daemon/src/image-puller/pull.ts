/** A single attempt to pull an image. */
import type { Secret } from '@kruise/api/core/secret';
import type { SandboxConfig } from '@kruise/api/kruise/image-pull';
import { pullingImageByAnnotation } from '@kruise/api/kruise/well-known';
import type { AuthConfig } from '@kruise/node/cri/messages';
import type { ImageService } from '@kruise/node/cri/runtime';
import { credentialsFor } from '@kruise/node/kubelet/containers/pull-secrets';
import type { NodeSecrets } from '@kruise/node/kubelet/credentials/node-credentials';
import { rpcTextOf } from '@kruise/node/kubelet/runtime/runtime-error';
import type { Clock } from '@kruise/values/clock';
import { findImage, referenceTo } from './presence.ts';

export type Pull = {
  readonly name: string;
  readonly tag: string;
  /** Accepts an image that is already present. */
  readonly isPresentEnough: boolean;
  readonly secrets: readonly Secret[];
  /** Credentials of the node, tried after those of Secrets. */
  readonly nodeSecrets?: NodeSecrets | undefined;
  readonly sandboxConfig: SandboxConfig | undefined;
};

/** Ensures that the image is on the node. Throws the reason if the pull fails; `signal` cancels it. */
export async function pullOnce(
  images: ImageService,
  clock: Clock,
  pull: Pull,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const reference = referenceTo(pull);
  if (pull.isPresentEnough && (await isPresent(images, pull))) return;
  const ended = new AbortController();
  const calling = AbortSignal.any([signal, ended.signal]);
  const cut = Promise.withResolvers<never>();
  const stop = () => cut.reject(new Error(`pulling image ${reference} is stopped`));
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const cancel = clock.setTimer(timeoutMs, () => cut.reject(new Error(`pulling image ${reference} is canceled`)));
  try {
    await Promise.race([pullWithAnyCredential(images, reference, pull, calling), cut.promise]);
  } finally {
    cancel();
    signal.removeEventListener('abort', stop);
    // A call that is no longer awaited is cancelled.
    ended.abort();
  }
}

async function isPresent(images: ImageService, pull: Pull): Promise<boolean> {
  // A runtime that cannot list images may still be able to pull.
  const listed = await images.listImages({}).catch(() => ({ images: [] }));
  return findImage(listed.images, pull) !== undefined;
}

/** Tries each matching credential until one works. Without credentials, pulls anonymously. */
async function pullWithAnyCredential(
  images: ImageService,
  reference: string,
  pull: Pull,
  signal: AbortSignal,
): Promise<void> {
  const { labels, annotations } = pull.sandboxConfig ?? {};
  const request = {
    image: { image: reference, annotations: {} },
    sandboxConfig: {
      metadata: { name: '', namespace: '', uid: '', attempt: 0 },
      ...(labels ? { labels } : {}),
      annotations: { ...annotations, [pullingImageByAnnotation]: 'kruise-daemon' },
    },
  };
  const credentials = [
    ...credentialsFor(reference, pull.secrets),
    ...credentialsFor(reference, (await pull.nodeSecrets?.(reference)) ?? []),
  ];
  signal.throwIfAborted();
  if (credentials.length === 0) {
    try {
      await images.pullImage(request, { signal });
      return;
    } catch (error) {
      throw new Error(`Failed to pull image reference "${reference}": ${rpcTextOf(error)}`, { cause: error });
    }
  }
  const failures: string[] = [];
  for (const { username = '', password = '' } of credentials) {
    const auth: AuthConfig = { username, password };
    try {
      await images.pullImage({ ...request, auth }, { signal });
      return;
    } catch (error) {
      signal.throwIfAborted();
      failures.push(rpcTextOf(error));
    }
  }
  throw new Error(failures.length === 1 ? failures[0] : `[${failures.join(', ')}]`);
}

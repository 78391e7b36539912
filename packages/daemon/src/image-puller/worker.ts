/** Pulls one tag on one node: retries until the image is present or the deadline has passed. */
import type { Secret } from '@kruise/api/core/secret';
import type { SandboxConfig } from '@kruise/api/kruise/image-pull';
import type { ImageTagSpec, ImageTagStatus } from '@kruise/api/kruise/nodeimage';
import type { ImageService } from '@kruise/node/cri/runtime';
import type { NodeSecrets } from '@kruise/node/kubelet/credentials/node-credentials';
import { after, type Clock } from '@kruise/values/clock';
import { formatTime } from '@kruise/values/time';
import { findImage } from './presence.ts';
import { pullOnce } from './pull.ts';

export type Task = {
  readonly name: string;
  readonly spec: ImageTagSpec;
  readonly secrets: readonly Secret[];
  readonly sandboxConfig: SandboxConfig | undefined;
};

export type WorkerContext = {
  readonly images: ImageService;
  readonly clock: Clock;
  /** Registry credentials of the node, tried after those of pull Secrets. */
  readonly nodeSecrets?: NodeSecrets;
  /** Runs the work when the node's semaphore permits it. Work whose signal is aborted meanwhile does not start. */
  readonly withPermit: (work: () => Promise<void>, signal: AbortSignal) => Promise<void>;
  readonly report: (status: ImageTagStatus) => void;
  /** Called with the elapsed time when the image is present. */
  readonly succeeded: (elapsedMs: number) => void;
  /** Called with the reason when the pull has failed. */
  readonly failed: (reason: string) => void;
};

const firstDelayMs = 1000;
const maxDelayMs = 30_000;

export async function runWorker(context: WorkerContext, task: Task, signal: AbortSignal): Promise<void> {
  const { version = 0, tag } = task.spec;
  context.report({ tag, phase: 'Waiting', version });
  await context.withPermit(() => run(context, task, signal), signal);
}

async function run(context: WorkerContext, task: Task, signal: AbortSignal): Promise<void> {
  const { images, clock, report } = context;
  const { name, spec } = task;
  const { version = 0, tag } = spec;
  const startedAt = clock.now();
  const status = { tag, version, startTime: formatTime(startedAt) };
  report({ ...status, phase: 'Pulling' });
  try {
    await pullWithRetries(context, task, startedAt, signal);
  } catch (error) {
    const { message } = error as Error;
    context.failed(message);
    if (signal.aborted) return;
    report({ ...status, phase: 'Failed', completionTime: formatTime(clock.now()), message });
    return;
  }
  const listed = await images.listImages({}).catch(() => ({ images: [] }));
  const id = findImage(listed.images, { name, tag })?.id;
  context.succeeded(clock.now() - startedAt);
  if (signal.aborted) return;
  report({
    ...status,
    phase: 'Succeeded',
    progress: 100,
    completionTime: formatTime(clock.now()),
    ...(id === undefined ? {} : { imageID: `${name}@${id}` }),
  });
}

/** Retries the pull. Throws the last error. */
async function pullWithRetries(
  { images, clock, nodeSecrets }: WorkerContext,
  { name, spec, secrets, sandboxConfig }: Task,
  startedAt: number,
  signal: AbortSignal,
): Promise<void> {
  const { timeoutSeconds, backoffLimit, activeDeadlineSeconds } = spec.pullPolicy ?? {};
  const timeoutMs = (timeoutSeconds ?? 600) * 1000;
  const retries = backoffLimit == null || backoffLimit < 0 ? 3 : backoffLimit;
  const deadline = activeDeadlineSeconds == null ? Number.POSITIVE_INFINITY : startedAt + activeDeadlineSeconds * 1000;
  const isPresentEnough = spec.imagePullPolicy === 'IfNotPresent';
  const pull = { name, tag: spec.tag, isPresentEnough, secrets, nodeSecrets, sandboxConfig };
  for (let attempt = 0; ; attempt++) {
    const leftMs = deadline - clock.now();
    if (leftMs <= 0) throw new Error('pulling exceeds the activeDeadlineSeconds');
    try {
      await pullOnce(images, clock, pull, Math.min(timeoutMs, leftMs), signal);
      return;
    } catch (error) {
      if (signal.aborted || attempt >= retries) throw error;
      await after(clock, Math.min(firstDelayMs * 2 ** attempt, maxDelayMs), signal).catch(() => {});
      if (signal.aborted) throw error;
    }
  }
}

/** Container logs for `kubectl logs`. */
import { Readable } from 'node:stream';
import type { ContainerStatus } from '@kruise/api/core/pod';
import { type Instant, parseTime } from '@kruise/values/time';
import type { LogEntry } from '../../cri/runtime.ts';
import { findContainer } from '../containers/containers.ts';
import { descriptionOf } from '../runtime/runtime-error.ts';
import { KubeletError, type KubeletView } from './view.ts';

type LogOptions = {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  readonly since?: Instant;
};

/**
 * Returns the log of a container. The first entry is read before the promise resolves, so that an error can still set
 * the status code.
 */
export async function readLog(
  view: KubeletView,
  [namespace = '', name = '', container = '']: readonly string[],
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<Readable> {
  const options = optionsOf(query, view.clock.now());
  const worker = view.find(namespace, name);
  if (!worker) throw new KubeletError(404, `pod ${JSON.stringify(name)} does not exist`);
  if (!findContainer(worker.pod(), container)) {
    throw new KubeletError(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}`);
  }
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = worker.status();
  const status = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find(
    (each) => each.name === container,
  );
  const containerId = idOf(status, { name, container, isPrevious: options.previous });
  const { tailLines, since, follow } = options;
  const entries = view.runtime.logs.read(
    {
      containerId,
      ...(tailLines === undefined ? {} : { tailLines }),
      ...(since === undefined ? {} : { since }),
      // A terminated container writes nothing more.
      follow: follow && !options.previous,
    },
    { signal },
  );
  const iterator = entries[Symbol.asyncIterator]();
  let first: IteratorResult<LogEntry>;
  if (follow) return Readable.from(textOf(iterator, options, signal), { objectMode: false });
  try {
    first = await iterator.next();
  } catch (error) {
    throw new KubeletError(400, descriptionOf(error));
  }
  return Readable.from(textOf(iterator, options, signal, first), { objectMode: false });
}

async function* textOf(
  iterator: AsyncIterator<LogEntry>,
  { timestamps, limitBytes }: LogOptions,
  signal: AbortSignal,
  first?: IteratorResult<LogEntry>,
): AsyncGenerator<Buffer> {
  let left = limitBytes ?? Number.POSITIVE_INFINITY;
  let isContinued = false;
  try {
    for (let next = first ?? (await iterator.next()); !next.done && left > 0; next = await iterator.next()) {
      const { timestamp, content, isPartial } = next.value;
      const stamp = timestamps && !isContinued ? `${timestamp} ` : '';
      isContinued = isPartial;
      const line = Buffer.concat([Buffer.from(stamp), content, Buffer.from(isPartial ? '' : '\n')]);
      const piece = line.subarray(0, left);
      left -= piece.length;
      yield piece;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await iterator.return?.();
  }
}

type LogTarget = { readonly name: string; readonly container: string; readonly isPrevious: boolean };

/** Returns the ID of the container to read: the running instance, otherwise the last one. */
function idOf(status: ContainerStatus | undefined, { name, container, isPrevious }: LogTarget): string {
  const subject = `container ${JSON.stringify(container)} in pod ${JSON.stringify(name)}`;
  if (!status) throw new KubeletError(400, `${subject} is not available`);
  const { waiting, running, terminated } = status.state ?? {};
  const last = status.lastState?.terminated?.containerID ?? '';
  if (isPrevious) {
    if (last === '') throw new KubeletError(400, `previous terminated ${subject} not found`);
    return stripScheme(last);
  }
  if (running) return stripScheme(status.containerID ?? '');
  if (terminated || status.lastState?.terminated) {
    const id = terminated?.containerID || last;
    if (id === '') throw new KubeletError(400, `${subject} is terminated`);
    return stripScheme(id);
  }
  if (!waiting) throw new KubeletError(400, `${subject} is waiting to start - no logs yet`);
  const cause =
    waiting.reason === 'ErrImagePull'
      ? "image can't be pulled"
      : waiting.reason === 'ImagePullBackOff'
        ? 'trying and failing to pull image'
        : waiting.reason;
  throw new KubeletError(400, `${subject} is waiting to start: ${cause}`);
}

/** Returns a container ID without the runtime scheme. */
function stripScheme(id: string): string {
  return id.slice(id.indexOf('://') + 3);
}

function optionsOf(query: URLSearchParams, now: Instant): LogOptions {
  const isSet = (name: string) => ['true', '1'].includes(query.get(name) ?? '');
  const undecodable = () => new KubeletError(400, '{"message": "Unable to decode query."}');
  const count = (name: string, minimum: number): number | undefined => {
    const text = query.get(name);
    if (text === null || text === '') return undefined;
    if (!/^-?\d{1,19}$/.test(text)) throw undecodable();
    if (Number(text) < minimum) throw new KubeletError(422, '{"message": "Invalid request."}');
    return Number(text);
  };
  const time = (text: string): Instant => {
    try {
      return parseTime(text);
    } catch {
      throw undecodable();
    }
  };
  const tail = query.get('tail');
  const tailLines = tail === 'all' ? undefined : tail ? count('tail', 0) : count('tailLines', 0);
  const limitBytes = count('limitBytes', 1);
  const sinceSeconds = count('sinceSeconds', 1);
  const sinceTime = query.get('sinceTime');
  const since = [
    ...(sinceSeconds === undefined ? [] : [now - sinceSeconds * 1000]),
    ...(sinceTime ? [time(sinceTime)] : []),
  ];
  return {
    follow: isSet('follow'),
    previous: isSet('previous'),
    timestamps: isSet('timestamps'),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(since.length === 0 ? {} : { since: Math.max(...since) }),
  };
}

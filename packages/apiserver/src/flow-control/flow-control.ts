import type { FlowSchema } from '@kruise/api/flowcontrol/flowschema';
import type { PriorityLevelConfiguration } from '@kruise/api/flowcontrol/prioritylevelconfiguration';
import type { Clock } from '@kruise/values/clock';
import type { RequestContext } from '../context.ts';
import { isLongRunning, type ServerMetrics } from '../metrics/server-metrics.ts';
import type { ResourceRegistry } from '../registry.ts';
import type { Resource } from '../resource.ts';
import { createFairQueue, type FairQueue, type QueueShape, RejectedError, waitTimeout } from './fair-queue.ts';
import { createMatcher, type SchemaMatcher } from './matching.ts';
import { createSeats, type SeatShare } from './seats.ts';

/** Admitted request: its FlowSchema, priority level and seats. */
export type Admitted = {
  readonly schemaUid: string;
  readonly levelUid: string;
  leave(): void;
};

/** Error: too many requests; the client should retry. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsError';
  readonly schemaUid: string;
  readonly levelUid: string;
  /** Retry-After in seconds. */
  readonly retryAfterSeconds = 1;

  constructor(schemaUid: string, levelUid: string) {
    super('Too many requests, please try again later.');
    this.schemaUid = schemaUid;
    this.levelUid = levelUid;
  }
}

export type FlowControl = {
  /** Admits a request, at once if a seat is free. */
  admit(context: RequestContext): Admitted | Promise<Admitted>;
};

/** Total concurrency limit: the sum of Kubernetes' defaults, 400 read-only and 200 mutating requests. */
const totalSeats = 600;
/** Maximum queue wait: a quarter of the request timeout. */
const maxWaitMs = 15_000;
const objectsPerSeat = 100;
const widestRequest = 10;
const nothing = (): void => {};

type Level = {
  readonly uid: string;
  readonly name: string;
  /** Queue of the level; absent for exempt levels. */
  readonly queue?: FairQueue;
};

type Configuration = {
  readonly schemasAt: number;
  readonly levelsAt: number;
  readonly match: SchemaMatcher;
  readonly levels: ReadonlyMap<string, Level>;
};

/**
 * API priority and fairness: FlowSchemas classify requests, and PriorityLevelConfigurations limit their concurrency.
 * Both are read from the caches, and recompiled only after a change.
 */
export function createFlowControl(
  resources: Pick<ResourceRegistry, 'find'>,
  clock: Clock,
  metrics: Pick<ServerMetrics, 'rejected' | 'waited' | 'allotted'>,
): FlowControl {
  const group = 'flowcontrol.apiserver.k8s.io';
  const schemaResource = resources.find(group, 'v1', 'flowschemas')!;
  const levelResource = resources.find(group, 'v1', 'prioritylevelconfigurations')!;
  const seats = createSeats(totalSeats);
  const queues = new Map<string, FairQueue>();
  let known: Configuration | undefined;

  function configuration(): Configuration {
    const schemasAt = schemaResource.storage.cache.changedAt;
    const levelsAt = levelResource.storage.cache.changedAt;
    if (known?.schemasAt !== schemasAt || known.levelsAt !== levelsAt) {
      const levels = levelsOf(objectsOf<PriorityLevelConfiguration>(levelResource));
      const schemas = objectsOf<FlowSchema>(schemaResource).filter((schema) => levels.has(levelNameOf(schema)));
      known = { schemasAt, levelsAt, match: createMatcher(schemas), levels };
    }
    return known;
  }

  function levelsOf(objects: readonly PriorityLevelConfiguration[]): ReadonlyMap<string, Level> {
    const shares = seatShares(objects, totalSeats);
    metrics.allotted(new Map([...shares].map(([name, { nominal }]) => [name, nominal])));
    const levels = new Map<string, Level>();
    for (const { metadata, spec } of objects) {
      const { name = '', uid = '' } = metadata;
      const share = shares.get(name)!;
      if (spec?.type === 'Exempt') {
        seats.setShare(name, share);
        levels.set(name, { name, uid });
        continue;
      }
      const shape = shapeOf(spec?.limited?.limitResponse?.queuing);
      const levelSeats = seats.setShare(name, share);
      const queue = queues.get(name) ?? createFairQueue(levelSeats, () => clock.now(), shape);
      queue.reshape(shape);
      queues.set(name, queue);
      levels.set(name, { name, uid, queue });
    }
    return levels;
  }

  return {
    admit(context) {
      const { info, user } = context;
      const { match, levels } = configuration();
      const schema = match(user, info) ?? match(anonymousUser, info);
      const level = schema && levels.get(levelNameOf(schema));
      if (!schema || !level) return { schemaUid: '', levelUid: '', leave: nothing };
      const schemaUid = schema.metadata.uid ?? '';
      const levelUid = level.uid;
      const { queue } = level;
      // A long-running request would hold a seat as long as the client is connected.
      if (!queue || (isLongRunning(info) && info.verb !== 'watch')) return { schemaUid, levelUid, leave: nothing };

      const rejectRequest = (error: unknown): never => {
        if (!(error instanceof RejectedError)) throw error;
        metrics.rejected(level.name, schema.metadata.name ?? '', error.reason);
        throw new TooManyRequestsError(schemaUid, levelUid);
      };
      let cancel = nothing;
      const startedAt = clock.now();
      const waitSignal = () => {
        const over = new AbortController();
        cancel = clock.setTimer(maxWaitMs, () => over.abort(waitTimeout));
        return AbortSignal.any([over.signal, context.signal]);
      };
      try {
        const acquired = queue.acquire(flowOf(schema, context), widthOf(context, resources), waitSignal);
        if (!(acquired instanceof Promise)) return { schemaUid, levelUid, leave: acquired.leave };
        const assigned = acquired.then(({ leave }) => {
          metrics.waited(level.name, schema.metadata.name ?? '', (clock.now() - startedAt) / 1000);
          return { schemaUid, levelUid, leave };
        }, rejectRequest);
        return assigned.finally(() => cancel());
      } catch (error) {
        return rejectRequest(error);
      }
    },
  };
}

/** User for requests that match no FlowSchema. */
const anonymousUser = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

function objectsOf<T>({ storage }: Resource): readonly T[] {
  return storage.cache.list({ keyPrefix: storage.prefix }).map(({ object }) => object as T);
}

export function levelNameOf({ spec }: FlowSchema): string {
  return spec?.priorityLevelConfiguration?.name ?? '';
}

/** Returns the flow of a request: its FlowSchema and the distinguisher, which is the user or the namespace. */
function flowOf({ metadata, spec }: FlowSchema, { user, info }: RequestContext): string {
  const by = spec?.distinguisherMethod?.type;
  const distinguisher = by === 'ByUser' ? user.username : by === 'ByNamespace' ? info.namespace : '';
  return `${metadata.name}\0${distinguisher}`;
}

/** Returns the number of seats of a request: long lists cost more than other requests. */
function widthOf({ info, query }: RequestContext, resources: Pick<ResourceRegistry, 'find'>): number {
  if (info.verb !== 'list') return 1;
  const size = resources.find(info.group, info.version, info.plural)?.storage.cache.size ?? 0;
  const limit = Number(query.get('limit') ?? 0);
  const objects = limit > 0 ? Math.min(limit, size) : size;
  return Math.min(widestRequest, Math.max(1, Math.ceil(objects / objectsPerSeat)));
}

type Queuing = { readonly queues?: number; readonly handSize?: number; readonly queueLengthLimit?: number };

function shapeOf(queuing: Queuing | undefined): QueueShape | undefined {
  if (!queuing) return undefined;
  const { queues = 64, handSize = 8, queueLengthLimit = 50 } = queuing;
  return { queues, handSize, lengthLimit: queueLengthLimit };
}

/**
 * Returns the seats of each level: its share of the total, the minimum after lending, and the maximum with borrowing.
 */
export function seatShares(
  levels: readonly PriorityLevelConfiguration[],
  total: number,
): ReadonlyMap<string, SeatShare & { readonly nominal: number }> {
  const settings = levels.map(({ metadata, spec }) => {
    const limits = spec?.type === 'Exempt' ? spec.exempt : spec?.limited;
    const borrowing = spec?.type === 'Exempt' ? undefined : spec?.limited?.borrowingLimitPercent;
    const usual = spec?.type === 'Exempt' ? 0 : 30;
    return {
      name: metadata.name ?? '',
      shares: limits?.nominalConcurrencyShares ?? usual,
      lendable: limits?.lendablePercent ?? 0,
      borrowing: borrowing ?? undefined,
    };
  });
  const sum = settings.reduce((all, { shares }) => all + shares, 0);
  return new Map(
    settings.map(({ name, shares, lendable, borrowing }) => {
      const nominal = sum === 0 ? 0 : Math.ceil((total * shares) / sum);
      const minimum = nominal - Math.round((nominal * lendable) / 100);
      const maximum = borrowing === undefined ? total : nominal + Math.round((nominal * borrowing) / 100);
      return [name, { nominal, minimum, maximum }];
    }),
  );
}

import { stringify } from '@kruise/values/go-json';
import type { RequestContext } from '../context.ts';
import type { User } from '../user.ts';
import { type AuditPolicy, type AuditScope, type AuditStage, scopeOf } from './policy.ts';

/** Where records go: one line each, of JSON. */
export type AuditSink = (line: string) => void;

/** What is being recorded of a request. */
export type AuditRecord = {
  /** What was sent, as a value, if that is recorded. */
  request(value: () => unknown): void;
  /** What is answered, if that is recorded. */
  response(value: () => unknown): void;
  /** An answer that goes on has begun. */
  started(code: number): void;
  complete(code: number): void;
};

/** Where a request came from. */
export type AuditOrigin = {
  /** Tells it from all others. */
  readonly auditId: string;
  /** Its path and query. */
  readonly uri: string;
  /** The addresses it came by; none if it came from the same process. */
  readonly sourceIps: readonly string[];
};

export type AuditLog = {
  begin(request: {
    readonly context: RequestContext;
    readonly sender: User;
    readonly origin: () => AuditOrigin;
  }): AuditRecord | undefined;
  /** Records a request that is refused because nobody knows who sent it. `why` says how they tried to be known. */
  unknown(request: {
    readonly context: RequestContext;
    readonly origin: () => AuditOrigin;
    readonly why: string;
  }): void;
};

/** Records requests as a policy says: who did what to what, when, and what came of it. */
export function createAuditLog(policy: AuditPolicy, write: AuditSink): AuditLog {
  const recorderOf: (request: Request) => Recorder | undefined = ({ context, sender, origin }) => {
    // Rules apply to the user who sent the request: impersonation must not bypass them.
    const scope = scopeOf(policy, sender === undefined ? context : { ...context, user: sender });
    if (scope.level === 'None') return undefined;
    const { info, user, clock } = context;
    const received = microTime(clock.now());
    const { auditId, uri, sourceIps } = origin();
    const common = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: scope.level,
      auditID: auditId,
    };
    const about = {
      requestURI: uri,
      verb: info.verb,
      user: sender ?? {},
      ...(sender === undefined || sender === user ? {} : { impersonatedUser: user }),
      ...(sourceIps.length === 0 ? {} : { sourceIPs: sourceIps }),
      ...(context.userAgent === '' ? {} : { userAgent: context.userAgent }),
      ...(info.isResource ? { objectRef: referenceOf(context) } : {}),
    };
    const record = (stage: AuditStage, more: object): void => {
      if (scope.omitStages.has(stage)) return;
      const annotations = Object.fromEntries(context.auditAnnotations);
      write(
        stringify({
          ...common,
          stage,
          ...about,
          ...more,
          requestReceivedTimestamp: received,
          stageTimestamp: microTime(clock.now()),
          ...(context.auditAnnotations.size === 0 ? {} : { annotations }),
        }),
      );
    };
    return { scope, record };
  };
  return {
    begin(request) {
      const recorder = recorderOf(request);
      return recorder && follow(recorder);
    },
    unknown(request) {
      const responseStatus = { metadata: {}, message: request.why, code: 401 };
      recorderOf(request)?.record('ResponseStarted', { responseStatus });
    },
  };
}

/** A request, and who sent it if that is known. */
type Request = {
  readonly context: RequestContext;
  readonly sender?: User;
  readonly origin: () => AuditOrigin;
};

type Recorder = {
  readonly scope: AuditScope;
  readonly record: (stage: AuditStage, more: object) => void;
};

function follow({ scope, record }: Recorder): AuditRecord {
  const objects: { requestObject?: unknown; responseObject?: unknown } = {};
  const shown = (value: unknown) => (scope.omitManagedFields ? withoutManagedFields(value) : value);
  record('RequestReceived', {});
  return {
    request(value) {
      if (scope.level !== 'Metadata') objects.requestObject = shown(value());
    },
    response(value) {
      if (scope.level === 'RequestResponse') objects.responseObject = shown(value());
    },
    started: (code) => record('ResponseStarted', { responseStatus: { metadata: {}, code } }),
    complete(code) {
      record('ResponseComplete', { responseStatus: { metadata: {}, code }, ...objects });
    },
  };
}

function referenceOf({ info }: RequestContext): object {
  const { plural, namespace, name, group, version, subresource } = info;
  return {
    resource: plural,
    ...(namespace === '' ? {} : { namespace }),
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { apiGroup: group }),
    apiVersion: version,
    ...(subresource === '' ? {} : { subresource }),
  };
}

function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}

function withoutManagedFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { metadata, items, ...rest } = value as { metadata?: { managedFields?: unknown }; items?: readonly unknown[] };
  const { managedFields: _, ...kept } = metadata ?? {};
  return {
    ...rest,
    ...(metadata ? { metadata: kept } : {}),
    ...(Array.isArray(items) ? { items: items.map(withoutManagedFields) } : {}),
  };
}

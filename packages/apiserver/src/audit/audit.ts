import { stringify } from '@kruise/values/go-json';
import type { RequestContext } from '../context.ts';
import type { User } from '../user.ts';
import { type AuditPolicy, type AuditScope, type AuditStage, scopeOf } from './policy.ts';

/** Audit sink: receives one line of JSON per audit event. */
export type AuditSink = (line: string) => void;

/** Audit event of a request in progress. */
export type AuditRecord = {
  /** Sets the impersonated user. */
  impersonated(user: User): void;
  /** Sets the request object, if the level records it. */
  request(value: () => unknown): void;
  /** Sets the response object, if the level records it. */
  response(value: () => unknown): void;
  /** Records the ResponseStarted stage of a long-running request. */
  started(code: number): void;
  complete(code: number): void;
};

/** Origin of a request. */
export type AuditOrigin = {
  /** Unique audit ID of the request. */
  readonly auditId: string;
  /** Path and query of the request. */
  readonly uri: string;
  /** Client and proxy addresses; empty for in-process requests. */
  readonly sourceIps: readonly string[];
};

export type AuditLog = {
  /** Begins the audit event of a request; the user of the context is the sender. */
  begin(request: Request): AuditRecord | undefined;
  /** Records a request that failed authentication. `why` names the authentication method that failed. */
  unknown(request: Request & { readonly why: string }): void;
};

/** Creates an audit log that records requests as the policy requires. */
export function createAuditLog(policy: AuditPolicy, write: AuditSink): AuditLog {
  const recorderOf = ({ context, origin }: Request, sender: User | undefined): Recorder | undefined => {
    // Rules apply to the user who sent the request: impersonation must not bypass them.
    const scope = scopeOf(policy, context);
    if (scope.level === 'None') return undefined;
    const { info, clock } = context;
    const received = microTime(clock.now());
    const { auditId, uri, sourceIps } = origin();
    const common = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: scope.level,
      auditID: auditId,
    };
    const sent = { requestURI: uri, verb: info.verb, user: sender ?? {} };
    const more = {
      ...(sourceIps.length === 0 ? {} : { sourceIPs: sourceIps }),
      ...(context.userAgent === '' ? {} : { userAgent: context.userAgent }),
      ...(info.isResource ? { objectRef: referenceOf(context) } : {}),
    };
    let impersonatedUser: User | undefined;
    const record = (stage: AuditStage, outcome: object): void => {
      if (scope.omitStages.has(stage)) return;
      const annotations = Object.fromEntries(context.auditAnnotations);
      write(
        stringify({
          ...common,
          stage,
          ...sent,
          ...(impersonatedUser === undefined ? {} : { impersonatedUser }),
          ...more,
          ...outcome,
          requestReceivedTimestamp: received,
          stageTimestamp: microTime(clock.now()),
          ...(context.auditAnnotations.size === 0 ? {} : { annotations }),
        }),
      );
    };
    return { scope, record, impersonated: (user) => (impersonatedUser = user) };
  };
  return {
    begin(request) {
      const recorder = recorderOf(request, request.context.user);
      return recorder && follow(recorder);
    },
    unknown(request) {
      const responseStatus = { metadata: {}, message: request.why, code: 401 };
      recorderOf(request, undefined)?.record('ResponseStarted', { responseStatus });
    },
  };
}

type Request = {
  readonly context: RequestContext;
  /** Returns the origin; called only if the request is audited. */
  readonly origin: () => AuditOrigin;
};

type Recorder = {
  readonly scope: AuditScope;
  readonly record: (stage: AuditStage, outcome: object) => void;
  readonly impersonated: (user: User) => void;
};

function follow({ scope, record, impersonated }: Recorder): AuditRecord {
  const objects: { requestObject?: unknown; responseObject?: unknown } = {};
  const shown = (value: unknown) => (scope.omitManagedFields ? withoutManagedFields(value) : value);
  record('RequestReceived', {});
  return {
    impersonated,
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

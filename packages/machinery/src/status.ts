import type { Status, StatusCause, StatusDetails } from '@kruise/api/meta/status';
import { type Cause, summary } from '@kruise/schema/field-error';

/** How an API says no: the error that every refused request ends in, on the server and at the client alike. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: Status;

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? status.reason ?? 'unknown failure', options);
    this.status = status;
  }

  get code(): number {
    return this.status.code ?? 500;
  }

  get reason(): string {
    return this.status.reason ?? '';
  }
}

/** `pods`, or `deployments.apps`: a resource as messages name it, from which a Status tells group and name apart. */
export type ResourceName = { readonly group: string; readonly plural: string };

function printed({ group, plural }: ResourceName): string {
  return group === '' ? plural : `${plural}.${group}`;
}

type Failure = {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: StatusDetails;
};

/** A failure Status, in the order of fields that Kubernetes writes. */
export function failure({ code, reason, message, details }: Failure): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    ...(message === '' ? {} : { message }),
    ...(reason ? { reason } : {}),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** The Status of what was removed: which object, of which resource. */
export function success(details?: StatusDetails): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...(details ? { details } : {}) };
}

function about(resource: ResourceName, name: string): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
  };
}

/** 404: there is no such object. */
export function notFound(resource: ResourceName, name: string): StatusError {
  return new StatusError(
    failure({
      code: 404,
      reason: 'NotFound',
      message: `${printed(resource)} ${JSON.stringify(name)} not found`,
      details: about(resource, name),
    }),
  );
}

/** 409: the name is taken. */
export function alreadyExists(resource: ResourceName, name: string): StatusError {
  return new StatusError(
    failure({
      code: 409,
      reason: 'AlreadyExists',
      message: `${printed(resource)} ${JSON.stringify(name)} already exists`,
      details: about(resource, name),
    }),
  );
}

/** 409: the name was made up by the server, and still taken; worth another try. */
export function generatedNameTaken(resource: ResourceName, name: string): StatusError {
  return new StatusError(
    failure({
      code: 409,
      reason: 'AlreadyExists',
      message: `${printed(resource)} ${JSON.stringify(name)} already exists, the server was not able to generate a unique name for the object`,
      details: { ...about(resource, name), retryAfterSeconds: 1 },
    }),
  );
}

/** 409: the object is not what the writer thought it was. */
export function conflict(resource: ResourceName, name: string, why: string): StatusError {
  return new StatusError(
    failure({
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ${printed(resource)} ${JSON.stringify(name)}: ${why}`,
      details: about(resource, name),
    }),
  );
}

/** What a conflict says when someone else wrote first. */
export const modifiedMeanwhile =
  'the object has been modified; please apply your changes to the latest version and try again';

/** 422: the object has faults, all of them listed. */
export function invalid(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  causes: readonly Cause[],
): StatusError {
  const named = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return new StatusError(
    failure({
      code: 422,
      reason: 'Invalid',
      message: `${named} ${JSON.stringify(name)} is invalid: ${summary(causes)}`,
      details: {
        ...(name === '' ? {} : { name }),
        ...(kind.group === '' ? {} : { group: kind.group }),
        ...(kind.kind === '' ? {} : { kind: kind.kind }),
        causes,
      },
    }),
  );
}

/** 400: the request makes no sense. */
export function badRequest(message: string): StatusError {
  return new StatusError(failure({ code: 400, reason: 'BadRequest', message }));
}

/** 401: nobody knows who is asking. */
export function unauthorized(message = 'Unauthorized'): StatusError {
  return new StatusError(failure({ code: 401, reason: 'Unauthorized', message }));
}

/** 403: the asker may not, or a rule of the cluster forbids it. */
export function forbidden(
  resource: ResourceName,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): StatusError {
  const what =
    resource.plural === ''
      ? ''
      : name === ''
        ? `${printed(resource)} is `
        : `${printed(resource)} ${JSON.stringify(name)} is `;
  return new StatusError(
    failure({
      code: 403,
      reason: 'Forbidden',
      message: `${what}forbidden: ${why}`,
      details: resource.plural === '' ? {} : { ...about(resource, name), ...(causes ? { causes } : {}) },
    }),
  );
}

/** 405: the resource cannot do this. */
export function methodNotSupported(resource: ResourceName, action: string): StatusError {
  return new StatusError(
    failure({
      code: 405,
      reason: 'MethodNotAllowed',
      message: `${action} is not supported on resources of kind ${JSON.stringify(printed(resource))}`,
      details: about(resource, ''),
    }),
  );
}

/** 406: the answer cannot be had in any of the forms asked for. */
export function notAcceptable(message: string): StatusError {
  return new StatusError(failure({ code: 406, reason: 'NotAcceptable', message }));
}

/** 410: what was asked for is too long ago. */
export function expired(message: string): StatusError {
  return new StatusError(failure({ code: 410, reason: 'Expired', message }));
}

/** 413: too much was sent. */
export function tooLarge(message: string): StatusError {
  return new StatusError(
    failure({ code: 413, reason: 'RequestEntityTooLarge', message: `Request entity too large: ${message}` }),
  );
}

/** 415: the body is in a form nobody reads here. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return new StatusError(
    failure({
      code: 415,
      reason: 'UnsupportedMediaType',
      message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    }),
  );
}

/** 429: later, please. */
export function tooManyRequests(
  message: string,
  retryAfterSeconds: number,
  causes?: readonly StatusCause[],
): StatusError {
  return new StatusError(
    failure({
      code: 429,
      reason: 'TooManyRequests',
      message,
      details: {
        ...(causes ? { causes } : {}),
        ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
      },
    }),
  );
}

/** 500: something of the server's failed. */
export function internalError(why: string, options?: ErrorOptions): StatusError {
  return new StatusError(
    failure({
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: ${why}`,
      details: { causes: [{ message: why }] },
    }),
    options,
  );
}

/** 500 without a reason, which is what Kubernetes makes of an error it does not know. */
export function unclassified(message: string): StatusError {
  return new StatusError(failure({ code: 500, message }));
}

/** 503: not now. */
export function serviceUnavailable(message: string): StatusError {
  return new StatusError(failure({ code: 503, reason: 'ServiceUnavailable', message }));
}

/** 504: it took too long. */
export function timeout(message: string, retryAfterSeconds = 0, causes?: readonly StatusCause[]): StatusError {
  return new StatusError(
    failure({
      code: 504,
      reason: 'Timeout',
      message: `Timeout: ${message}`,
      details: { ...(causes ? { causes } : {}), ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}) },
    }),
  );
}

/** 504: the reader asked for a revision that this server has not seen yet. */
export function tooLargeResourceVersion(requested: number, current: number): StatusError {
  return timeout(`Too large resource version: ${requested}, current: ${current}`, 1, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ]);
}

function hasReason(error: unknown, reason: string): boolean {
  return error instanceof StatusError && error.reason === reason;
}

/** Whether the object does not exist. */
export const isNotFound = (error: unknown): boolean => hasReason(error, 'NotFound');
/** Whether the name was taken. */
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, 'AlreadyExists');
/** Whether someone else wrote first. */
export const isConflict = (error: unknown): boolean => hasReason(error, 'Conflict');
/** Whether the object had faults. */
export const isInvalid = (error: unknown): boolean => hasReason(error, 'Invalid');
/** Whether the request made no sense. */
export const isBadRequest = (error: unknown): boolean => hasReason(error, 'BadRequest');
/** Whether the asker may not. */
export const isForbidden = (error: unknown): boolean => hasReason(error, 'Forbidden');
/** Whether the resource cannot do what was asked. */
export const isMethodNotAllowed = (error: unknown): boolean => hasReason(error, 'MethodNotAllowed');
/** Whether what was asked for is too long ago. */
export const isExpired = (error: unknown): boolean => hasReason(error, 'Expired') || hasReason(error, 'Gone');

import type { Status, StatusCause, StatusDetails } from '@kruise/api/meta/status';
import { type Cause, summary } from '@kruise/schema/field-error';

/**
 * Error of the API: the Status of a failed request, on the server and in the client.
 *
 * ```ts
 * if (!isNotFound(error)) throw error;
 * ```
 */
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

/** Resource name in messages: `pods` or `deployments.apps`. A Status contains group and name separately. */
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

/** Returns a failure Status with the field order of Kubernetes. */
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

/** Returns a success Status, for example of a deletion with the details of the object. */
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

/** 404 NotFound: the object does not exist. */
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

/** 409 AlreadyExists: an object with this name exists. */
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

/** 409 AlreadyExists for a generated name; the client should retry. */
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

/** 409 Conflict: a precondition such as the resourceVersion failed. */
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

/** Message of a resourceVersion conflict. */
export const objectModifiedMessage =
  'the object has been modified; please apply your changes to the latest version and try again';

/** 422 Invalid: the object has validation errors, which are all listed. */
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

/** 400 BadRequest: the request is malformed. */
export function badRequest(message: string): StatusError {
  return new StatusError(failure({ code: 400, reason: 'BadRequest', message }));
}

/** 401 Unauthorized: the client is not authenticated. */
export function unauthorized(message = 'Unauthorized'): StatusError {
  return new StatusError(failure({ code: 401, reason: 'Unauthorized', message }));
}

/** 403 Forbidden: the user lacks the permission, or admission denied the request. */
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

/** 405 MethodNotAllowed: the resource does not support this verb. */
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

/** 406 NotAcceptable: none of the accepted content types is supported. */
export function notAcceptable(message: string): StatusError {
  return new StatusError(failure({ code: 406, reason: 'NotAcceptable', message }));
}

/** 410 Expired: the resourceVersion or continue token is too old. */
export function expired(message: string): StatusError {
  return new StatusError(failure({ code: 410, reason: 'Expired', message }));
}

/** 413 RequestEntityTooLarge: the request body is too large. */
export function tooLarge(message: string): StatusError {
  return new StatusError(
    failure({ code: 413, reason: 'RequestEntityTooLarge', message: `Request entity too large: ${message}` }),
  );
}

/** 415 UnsupportedMediaType: the content type of the request is not supported. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  return new StatusError(
    failure({
      code: 415,
      reason: 'UnsupportedMediaType',
      message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    }),
  );
}

/** 429 TooManyRequests: the client should retry later. */
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

/** 500 InternalError: the server failed. */
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

/** 500 without a reason, as Kubernetes returns for an unclassified error. */
export function unclassified(message: string): StatusError {
  return new StatusError(failure({ code: 500, message }));
}

/** 503 ServiceUnavailable. */
export function serviceUnavailable(message: string): StatusError {
  return new StatusError(failure({ code: 503, reason: 'ServiceUnavailable', message }));
}

/** 504 Timeout. */
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

/** 504 Timeout: the requested resourceVersion is newer than that of this server. */
export function tooLargeResourceVersion(requested: number, current: number): StatusError {
  return timeout(`Too large resource version: ${requested}, current: ${current}`, 1, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ]);
}

function hasReason(error: unknown, reason: string): boolean {
  return error instanceof StatusError && error.reason === reason;
}

/** Reports whether an object does not exist (404). */
export const isNotFound = (error: unknown): boolean => hasReason(error, 'NotFound');
/** Reports whether the name exists already (409). */
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, 'AlreadyExists');
/** Reports whether a write failed with a conflict (409). */
export const isConflict = (error: unknown): boolean => hasReason(error, 'Conflict');
/** Reports whether the request must be retried later (429): for example an eviction that budgets do not permit now. */
export const isTooManyRequests = (error: unknown): boolean => hasReason(error, 'TooManyRequests');
/** Reports whether validation failed (422). */
export const isInvalid = (error: unknown): boolean => hasReason(error, 'Invalid');
/** Reports whether the request was malformed (400). */
export const isBadRequest = (error: unknown): boolean => hasReason(error, 'BadRequest');
/** Reports whether the request was forbidden (403). */
export const isForbidden = (error: unknown): boolean => hasReason(error, 'Forbidden');
/** Reports whether the resource does not support the verb (405). */
export const isMethodNotAllowed = (error: unknown): boolean => hasReason(error, 'MethodNotAllowed');
/** Reports whether the resourceVersion or continue token has expired (410). */
export const isExpired = (error: unknown): boolean => hasReason(error, 'Expired') || hasReason(error, 'Gone');

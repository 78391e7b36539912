import { failure, StatusError } from '@kruise/machinery/status';

/** Error with a plain-text body rather than a Status, such as for unknown paths. */
export class PlainTextError extends Error {
  override readonly name = 'PlainRefusal';
  readonly code: number;

  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}

/** 404 for an unknown path. */
export function unknownPath(): PlainTextError {
  return new PlainTextError(404, '404 page not found');
}

const notAllowed = {
  code: 405,
  reason: 'MethodNotAllowed',
  message: 'the server does not allow this method on the requested resource',
  details: {},
};

/** Status error with additional headers. */
export class StatusErrorWithHeaders extends StatusError {
  readonly headers: { readonly [name: string]: string };

  constructor(failed: Parameters<typeof failure>[0], headers: { readonly [name: string]: string } = {}) {
    super(failure(failed));
    this.headers = headers;
  }
}

/** 404 for an unknown resource in a known group. */
export function unknownResource(): StatusError {
  return new StatusError(
    failure({
      code: 404,
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
      details: {},
    }),
  );
}

/** 406 for a path that supports none of the accepted media types. */
export function unsupportedMediaType(available: readonly string[]): StatusError {
  return new StatusError(
    failure({
      code: 406,
      reason: 'NotAcceptable',
      message: `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`,
      details: {},
    }),
  );
}

/** 405 for a path that does not support the method. */
export function unsupportedMethod(allowed: readonly string[]): StatusError {
  return new StatusErrorWithHeaders(notAllowed, { allow: allowed.join(', ') });
}

/** 405 for a resource that does not support the operation. */
export function methodNotAllowed(): StatusError {
  return new StatusError(failure(notAllowed));
}

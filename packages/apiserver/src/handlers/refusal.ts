import { failure, StatusError } from '@kruise/machinery/status';

/** A refusal that is plain text rather than a Status, as for paths that lead nowhere. */
export class PlainRefusal extends Error {
  override readonly name = 'PlainRefusal';
  readonly code: number;

  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}

/** 404: nothing is served here. */
export function noSuchPath(): PlainRefusal {
  return new PlainRefusal(404, '404 page not found');
}

const notAllowed = {
  code: 405,
  reason: 'MethodNotAllowed',
  message: 'the server does not allow this method on the requested resource',
  details: {},
};

/** A Status that comes with headers of its own. */
export class HeadedRefusal extends StatusError {
  readonly headers: { readonly [name: string]: string };

  constructor(failed: Parameters<typeof failure>[0], headers: { readonly [name: string]: string } = {}) {
    super(failure(failed));
    this.headers = headers;
  }
}

/** 404: the group is here, but nothing at this path. */
export function noSuchResource(): StatusError {
  return new StatusError(
    failure({
      code: 404,
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
      details: {},
    }),
  );
}

/** 406: nothing at this path comes in any of the forms asked for, whatever is made of it. */
export function noSuchForm(available: readonly string[]): StatusError {
  return new StatusError(
    failure({
      code: 406,
      reason: 'NotAcceptable',
      message: `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`,
      details: {},
    }),
  );
}

/** 405: the path is here, but not for this method. */
export function wrongMethod(allowed: readonly string[]): StatusError {
  return new HeadedRefusal(notAllowed, { allow: allowed.join(', ') });
}

/** 405: the resource is here, but not this way. */
export function methodNotAllowed(): StatusError {
  return new StatusError(failure(notAllowed));
}

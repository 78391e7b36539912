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

/** 405: the resource is here, but not this way. */
export function methodNotAllowed(): StatusError {
  return new StatusError(
    failure({
      code: 405,
      reason: 'MethodNotAllowed',
      message: 'the server does not allow this method on the requested resource',
      details: {},
    }),
  );
}

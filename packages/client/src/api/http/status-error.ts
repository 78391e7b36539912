import type { Status } from '@kruise/api/meta/status';
import { failure, StatusError } from '@kruise/machinery/status';

/** An HTTP response that is not successful. */
export type ErrorResponse = { readonly code: number; readonly body: string; readonly retryAfterSeconds?: number };

/** Maximum length of the body in an error message. */
const maxBodyLength = 2048;

const reasons: { readonly [code: number]: { readonly reason: string; readonly message: string } } = {
  400: { reason: 'BadRequest', message: 'the server rejected our request for an unknown reason' },
  401: { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' },
  403: { reason: 'Forbidden', message: 'the server does not allow access to the requested resource' },
  404: { reason: 'NotFound', message: 'the server could not find the requested resource' },
  405: { reason: 'MethodNotAllowed', message: 'the server does not allow this method on the requested resource' },
  406: {
    reason: 'NotAcceptable',
    message: 'the server was unable to respond with a content type that the client supports',
  },
  409: { reason: 'Conflict', message: 'the server reported a conflict' },
  413: { reason: 'RequestEntityTooLarge', message: 'the request is too large' },
  415: { reason: 'UnsupportedMediaType', message: 'the server could not read the content type of the request' },
  422: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
  429: {
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again later',
  },
  500: { reason: 'InternalError', message: 'the server failed to answer because of an error of its own' },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
  504: { reason: 'Timeout', message: 'the server was unable to return a response in the time allotted' },
};

/**
 * Returns the error of an unsuccessful response: the Status of the server, or one derived from the HTTP status.
 *
 * ```ts
 * throw statusErrorOf(response);
 * ```
 */
export function statusErrorOf(response: ErrorResponse): StatusError {
  return new StatusError(parseStatus(response) ?? createStatus(response));
}

function parseStatus({ code, body }: ErrorResponse): Status | undefined {
  if (!body.startsWith('{')) return undefined;
  let value: Partial<Status>;
  try {
    value = JSON.parse(body);
  } catch {
    // The body is an HTML page of a proxy or is truncated; the HTTP status has to suffice.
    return undefined;
  }
  if (value.kind !== 'Status' || value.status === 'Success') return undefined;
  return { ...(value as Status), code: value.code || code };
}

function createStatus({ code, body, retryAfterSeconds }: ErrorResponse): Status {
  const known = reasons[code];
  const text = body.trim();
  const shown = text.length > maxBodyLength ? `${text.slice(0, maxBodyLength)}…` : text;
  const message = known?.message ?? `the server responded with the status code ${code}`;
  return failure({
    code,
    reason: known?.reason ?? (code >= 500 ? 'InternalError' : 'Unknown'),
    message: shown === '' ? message : `${message} (${shown})`,
    details: {
      ...(shown === '' ? {} : { causes: [{ reason: 'UnexpectedServerResponse', message: shown }] }),
      ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
    },
  });
}

/** Returns the texts of `Warning` headers; several headers are joined by commas. */
export function parseWarnings(header: string | readonly string[] | undefined): readonly string[] {
  if (header === undefined) return [];
  // Node decodes headers as Latin-1, but Kubernetes sends UTF-8.
  const text = Buffer.from([header].flat().join(', '), 'latin1').toString();
  return [...text.matchAll(/\b(\d{3}) \S+ "((?:[^"\\]|\\.)*)"/g)]
    .filter(([, code]) => code === '299')
    .map(([, , quoted]) => quoted!.replace(/\\(.)/g, '$1'));
}

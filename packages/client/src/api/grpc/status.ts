/** gRPC status codes, indexed by number. */
export const statusCodes = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

/** Status code of a call. */
export type StatusCode = (typeof statusCodes)[number];

/** A failed gRPC call: the status of the server, or a connection error. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly code: StatusCode;
  /** Message of the server without the code. */
  readonly description: string;
  /** Reports whether the server may have received the request. If not, every call can be retried. */
  readonly wasSent: boolean;

  constructor(code: StatusCode, message: string, options: { readonly wasSent: boolean; readonly cause?: unknown }) {
    super(`${code}: ${message}`, { cause: options.cause });
    this.code = code;
    this.description = message;
    this.wasSent = options.wasSent;
  }
}

/**
 * Formats an error as Go's gRPC does, because Kubernetes shows this text to users: `rpc error: code = NotFound desc =
 * …`.
 *
 * ```ts
 * if (error instanceof GrpcError) log.warn({ error: goErrorText(error) }, 'call failed');
 * ```
 */
export function goErrorText({ code, description }: GrpcError): string {
  // Only Go spells this code with one l.
  const name = code === 'CANCELLED' ? 'Canceled' : code === 'OK' ? 'OK' : camelCase(code);
  return `rpc error: code = ${name} desc = ${description}`;
}

function camelCase(code: string): string {
  return code.replace(/([A-Z])([A-Z]*)_?/g, (_, first: string, rest: string) => first + rest.toLowerCase());
}

/** Returns the code of a `grpc-status` header. */
export function codeOfHeader(header: string): StatusCode {
  return statusCodes[Number(header)] ?? 'UNKNOWN';
}

/** Maps the HTTP status of a proxy to a gRPC code. */
export function codeOfHttpStatus(status: number): StatusCode {
  switch (status) {
    case 400:
      return 'INTERNAL';
    case 401:
      return 'UNAUTHENTICATED';
    case 403:
      return 'PERMISSION_DENIED';
    case 404:
      return 'UNIMPLEMENTED';
    case 429:
    case 502:
    case 503:
    case 504:
      return 'UNAVAILABLE';
    default:
      return 'UNKNOWN';
  }
}

/** Maps the HTTP/2 error code of a stream reset to a gRPC code. */
export function codeOfReset(resetCode: number): StatusCode {
  switch (resetCode) {
    case 7: // REFUSED_STREAM
      return 'UNAVAILABLE';
    case 8: // CANCEL
      return 'CANCELLED';
    case 11: // ENHANCE_YOUR_CALM
      return 'RESOURCE_EXHAUSTED';
    case 12: // INADEQUATE_SECURITY
      return 'PERMISSION_DENIED';
    default:
      return 'INTERNAL';
  }
}

/** Decodes a `grpc-message` header: percent-encoded UTF-8, which may be malformed. */
export function messageOfHeader(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}

/** gRPC's status codes, by number. */
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

/** The outcome of a call. */
export type StatusCode = (typeof statusCodes)[number];

/** A call that did not end well: what the server said, or what kept it from saying anything. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly code: StatusCode;
  /** What the server said, without the code. */
  readonly description: string;
  /** Whether the server may have seen the request; if not, any call can be tried again. */
  readonly wasSent: boolean;

  constructor(code: StatusCode, message: string, options: { readonly wasSent: boolean; readonly cause?: unknown }) {
    super(`${code}: ${message}`, { cause: options.cause });
    this.code = code;
    this.description = message;
    this.wasSent = options.wasSent;
  }
}

/** The error as Go's gRPC prints it, which Kubernetes passes on to its users: `rpc error: code = NotFound desc = …`. */
export function goErrorText({ code, description }: GrpcError): string {
  // Go alone spells the word with one l.
  const name = code === 'CANCELLED' ? 'Canceled' : code === 'OK' ? 'OK' : camelCase(code);
  return `rpc error: code = ${name} desc = ${description}`;
}

function camelCase(code: string): string {
  return code.replace(/([A-Z])([A-Z]*)_?/g, (_, first: string, rest: string) => first + rest.toLowerCase());
}

/** The code a `grpc-status` header stands for. */
export function codeOfHeader(header: string): StatusCode {
  return statusCodes[Number(header)] ?? 'UNKNOWN';
}

/** What a proxy's plain HTTP answer means for a call. */
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

/** What the reset of an HTTP/2 stream means for the call it carried, by HTTP/2 error code. */
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

/** A `grpc-message` header in plain text: it is percent-encoded UTF-8, and may be broken. */
export function messageOfHeader(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}

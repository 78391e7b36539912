/** The server is unreachable, or the connection was lost before the response was complete. */
export class TransportError extends Error {
  override readonly name: string = 'TransportError';
  /** Reports whether the server may have received the request. If not, every request can be retried. */
  readonly wasSent: boolean;

  constructor(message: string, { wasSent, ...options }: ErrorOptions & { readonly wasSent: boolean }) {
    super(message, options);
    this.wasSent = wasSent;
  }
}

/** The connection to the server failed, so the server has not received the request. */
export class ConnectError extends TransportError {
  override readonly name = 'ConnectError';

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, { ...options, wasSent: false });
  }
}

/** Returns the message of an error, or of all errors of an aggregate. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error
    ? error.message || ((error as NodeJS.ErrnoException).code ?? error.name)
    : String(error);
}

/** The server could not be reached, or the connection broke before its answer was whole. */
export class TransportError extends Error {
  override readonly name: string = 'TransportError';
  /** Whether the server may have seen the request: if not, it can be sent again without harm. */
  readonly wasSent: boolean;

  constructor(message: string, { wasSent, ...options }: ErrorOptions & { readonly wasSent: boolean }) {
    super(message, options);
    this.wasSent = wasSent;
  }
}

/** There is no connection to the server, and so it has seen nothing. */
export class ConnectError extends TransportError {
  override readonly name = 'ConnectError';

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, { ...options, wasSent: false });
  }
}

/** What went wrong, in a few words. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error
    ? error.message || ((error as NodeJS.ErrnoException).code ?? error.name)
    : String(error);
}

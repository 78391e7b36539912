/**
 * Transport of a client: over HTTP to any cluster, or as a function call to a server in the same process. Both return
 * the same responses to the same requests.
 *
 * ```ts
 * const { code, object } = await transport.request({ method: 'GET', path: '/version' });
 * ```
 */
export interface Transport {
  /** Sends a request. An error response is thrown as a StatusError; an aborted signal as its reason. */
  request(request: ApiRequest): Promise<ApiResponse>;
  /**
   * Watches. The iteration ends without an error when the server ends the watch or the signal is aborted, and throws if
   * the connection is lost.
   */
  watch(request: ApiRequest): AsyncIterable<WatchEvent>;
}

/** An API request, independent of the transport. */
export type ApiRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: { readonly [name: string]: string | number | boolean | readonly string[] | undefined };
  /** Request body as a value. */
  readonly body?: unknown;
  /** Content type of a PATCH. */
  readonly contentType?: string;
  /** Accept header, if it is not plain JSON. Ignored in process, where nothing is encoded. */
  readonly accept?: string;
  /** Marks background work: a server in the same process handles other requests first. */
  readonly isBackground?: boolean;
  readonly signal?: AbortSignal;
};

/** An API response. */
export type ApiResponse = {
  readonly code: number;
  readonly object: unknown;
  /** Warnings of the server. */
  readonly warnings: readonly string[];
};

/** A watch event: a change, a bookmark, or the error that ends the watch. */
export type WatchEvent<T = unknown> = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
};

/**
 * How a client reaches a server: over HTTP to any cluster, or by a call to one in the same process. Both give the same
 * answers to the same requests, so nothing above can tell them apart.
 */
export interface Transport {
  /** One request and its answer. A refusal is thrown as a StatusError; an aborted signal as its reason. */
  request(request: ApiRequest): Promise<ApiAnswer>;
  /**
   * A watch: its events one after the other until the server ends it or the signal is aborted, which is no error. A
   * connection that breaks is one.
   */
  watch(request: ApiRequest): AsyncIterable<WatchEvent>;
}

/** A request, whichever way it goes. */
export type ApiRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: { readonly [name: string]: string | number | boolean | readonly string[] | undefined };
  /** What is sent, as a value. */
  readonly body?: unknown;
  /** Of a PATCH: which kind of patch. */
  readonly contentType?: string;
  /** The form an answer is wanted in, where it is not plain JSON. In one process, where nothing is encoded, it is not heeded. */
  readonly accept?: string;
  /** Nobody waits for what comes of it: a server in the same process lets others go first. */
  readonly isBackground?: boolean;
  readonly signal?: AbortSignal;
};

/** What came of a request. */
export type ApiAnswer = {
  readonly code: number;
  readonly object: unknown;
  /** What the server warns of. */
  readonly warnings: readonly string[];
};

/** What a watch tells: a change, how far it has got, or why it ends. */
export type WatchEvent<T = unknown> = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
};

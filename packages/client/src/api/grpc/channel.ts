import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Clock } from '@kruise/values/clock';
import { type ConnectionOptions, createConnection } from './connection.ts';
import { createDeframer, frame } from './framing.ts';
import type { Method } from './method.ts';
import { codeOfHeader, codeOfHttpStatus, codeOfReset, GrpcError, messageOfHeader, type StatusCode } from './status.ts';

/** Deadline, cancellation and metadata of a call. */
export type CallOptions = {
  /** Fails the call with DEADLINE_EXCEEDED after this time. The deadline is also sent to the server. */
  readonly timeoutMs?: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  readonly metadata?: Readonly<Record<string, string>>;
};

/** A bidirectional streaming call. */
export interface BidirectionalCall<Request, Response> {
  /** Sends a message as soon as the connection is established. */
  send(request: Request): void;
  /** Closes the sending side of the call. */
  end(): void;
  /**
   * Messages from the server, readable once. Iteration throws if the call fails, and cancels the call if the loop is
   * left early.
   */
  readonly responses: AsyncIterable<Response>;
}

/**
 * gRPC calls to one server over one connection, which is kept alive and re-established when it is lost. A failed call
 * is not retried: only the caller knows whether the call is idempotent.
 */
export interface Channel {
  /** Unary call: one request, one response. */
  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options?: CallOptions,
  ): Promise<Response>;
  /** Server streaming call: one request, any number of responses. Leaving the loop early cancels the call. */
  serverStream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options?: CallOptions,
  ): AsyncIterable<Response>;
  /** Bidirectional streaming call. */
  bidirectional<Request, Response>(
    method: Method<Request, Response>,
    options?: CallOptions,
  ): BidirectionalCall<Request, Response>;
  /** Accepts no more calls; the connection is closed when the calls in flight have ended. */
  close(): void;
}

/** Options of a channel. */
export type ChannelOptions = ConnectionOptions & {
  /** Maximum size of a message from the server; a larger one fails its call. */
  readonly maxMessageBytes?: number;
};

/**
 * Creates a {@link Channel}. The connection is established by the first call.
 *
 * ```ts
 * const channel = createChannel({ clock, targets: [{ socketPath: '/run/containerd/containerd.sock' }] });
 * const version = await channel.unary(methodOf(RuntimeService.method.version), {}, { timeoutMs: 1000 });
 * ```
 */
export function createChannel(options: ChannelOptions): Channel {
  const { clock, maxMessageBytes = 16 * 2 ** 20 } = options;
  const connection = createConnection(options);

  async function start(path: string, { timeoutMs, signal, metadata }: CallOptions): Promise<Call> {
    if (signal?.aborted) throw new GrpcError('CANCELLED', 'the call was cancelled', { wasSent: false });
    const startedMs = clock.now();
    const opening = connection.open({
      ...metadata,
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': 'kruise',
      ...(timeoutMs !== undefined && { 'grpc-timeout': timeoutHeader(timeoutMs) }),
    });
    const stream = await withDeadline(opening, clock, { timeoutMs, signal });
    const remainingMs = timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - (clock.now() - startedMs));
    return trackCall(stream, clock, { timeoutMs: remainingMs, signal });
  }

  async function unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    callOptions: CallOptions = {},
  ): Promise<Response> {
    const message = frame(method.encode(request));
    const { stream, ended, stop } = await start(method.path, callOptions);
    const deframer = createDeframer(maxMessageBytes);
    const received: Uint8Array[] = [];
    stream.on('data', (chunk: Buffer) => {
      try {
        received.push(...deframer.push(chunk));
      } catch (error) {
        stop('INTERNAL', (error as Error).message);
      }
    });
    stream.end(message);
    await ended;
    const [response] = received;
    if (!response || received.length > 1) {
      throw new GrpcError('INTERNAL', `expected one response message, received ${received.length}`, { wasSent: true });
    }
    return method.decode(response);
  }

  async function* readAll<Response>(call: Call, decode: (bytes: Uint8Array) => Response): AsyncGenerator<Response> {
    const deframer = createDeframer(maxMessageBytes);
    try {
      for await (const chunk of call.stream) {
        for (const message of deframer.push(chunk as Buffer)) yield decode(message);
      }
    } catch (error) {
      // If the stream failed, its error is already the status of the call and is more specific.
      call.stop('INTERNAL', (error as Error).message);
    } finally {
      call.stream.close(constants.NGHTTP2_CANCEL);
    }
    await call.ended;
    if (deframer.hasPartialMessage())
      throw new GrpcError('INTERNAL', 'the last message is incomplete', { wasSent: true });
  }

  return {
    unary,
    async *serverStream(method, request, callOptions = {}) {
      const call = await start(method.path, callOptions);
      call.stream.end(frame(method.encode(request)));
      yield* readAll(call, method.decode);
    },
    bidirectional(method, callOptions = {}) {
      const starting = start(method.path, callOptions);
      // Failures are reported by `responses`; sending on a failed call has no effect.
      const whenStarted = (act: (stream: ClientHttp2Stream) => void) =>
        void starting.then(
          ({ stream }) => stream.writable && act(stream),
          () => {},
        );
      return {
        send: (request) => whenStarted((stream) => stream.write(frame(method.encode(request)))),
        end: () => whenStarted((stream) => stream.end()),
        responses: {
          async *[Symbol.asyncIterator]() {
            yield* readAll(await starting, method.decode);
          },
        },
      };
    },
    close: () => connection.close(),
  };
}

type Call = {
  readonly stream: ClientHttp2Stream;
  /** Settles when the call has ended; rejects unless its status is OK. */
  readonly ended: Promise<void>;
  /** Ends the call with a status of the client, unless it already has a status. */
  stop(code: StatusCode, message: string): void;
};

type Limits = { readonly timeoutMs: number | undefined; readonly signal: AbortSignal | undefined };

function trackCall(stream: ClientHttp2Stream, clock: Clock, { timeoutMs, signal }: Limits): Call {
  let status: GrpcError | 'OK' | undefined;
  let streamError: Error | undefined;
  // A closed stream has no reference to its session.
  const { session } = stream;
  const setStatus = (code: StatusCode, message: string) => {
    const wasSent = stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM;
    status ??= code === 'OK' ? 'OK' : new GrpcError(code, message, { wasSent, cause: streamError });
  };
  const stop = (code: StatusCode, message: string) => {
    setStatus(code, message);
    stream.close(constants.NGHTTP2_CANCEL);
  };
  const readStatus = (headers: IncomingHttpHeaders) => {
    const header = headers['grpc-status'];
    if (typeof header !== 'string') return;
    const message = headers['grpc-message'];
    setStatus(codeOfHeader(header), typeof message === 'string' ? messageOfHeader(message) : '');
  };

  const cancelTimeout =
    timeoutMs === undefined
      ? () => {}
      : clock.setTimer(timeoutMs, () => stop('DEADLINE_EXCEEDED', 'the deadline is exceeded'));
  const onAbort = () => stop('CANCELLED', 'the call was cancelled');
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort);

  stream.on('response', (headers) => {
    readStatus(headers);
    const httpStatus = headers[':status'];
    if (httpStatus !== 200) stop(codeOfHttpStatus(httpStatus ?? 0), `the response has HTTP status ${httpStatus}`);
  });
  stream.on('trailers', readStatus);
  stream.on('error', (error) => {
    streamError = error;
  });
  const ended = new Promise<void>((resolve, reject) => {
    stream.once('close', () => {
      cancelTimeout();
      signal?.removeEventListener('abort', onAbort);
      const code = session?.destroyed ? 'UNAVAILABLE' : codeOfReset(stream.rstCode);
      setStatus(code, streamError?.message ?? 'the stream ended without a status');
      if (status === 'OK') resolve();
      else reject(status);
    });
  });
  // The reader of the stream awaits this promise, but possibly after it has rejected.
  ended.catch(() => {});
  return { stream, ended, stop };
}

/** Waits for a stream to open, at most until the deadline of the call. */
async function withDeadline(
  opening: Promise<ClientHttp2Stream>,
  clock: Clock,
  { timeoutMs, signal }: Limits,
): Promise<ClientHttp2Stream> {
  if (timeoutMs === undefined && !signal) return opening;
  const giveUp = Promise.withResolvers<never>();
  const fail = (code: StatusCode, message: string) => giveUp.reject(new GrpcError(code, message, { wasSent: false }));
  const cancelTimeout =
    timeoutMs === undefined
      ? () => {}
      : clock.setTimer(timeoutMs, () => fail('DEADLINE_EXCEEDED', 'the deadline is exceeded'));
  const onAbort = () => fail('CANCELLED', 'the call was cancelled');
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([opening, giveUp.promise]);
  } catch (error) {
    opening.then(
      (stream) => stream.close(constants.NGHTTP2_CANCEL),
      () => {},
    );
    throw error;
  } finally {
    cancelTimeout();
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Formats the `grpc-timeout` header: at most eight digits and a unit. */
function timeoutHeader(timeoutMs: number): string {
  return timeoutMs < 1e8 ? `${Math.ceil(timeoutMs)}m` : `${Math.min(99_999_999, Math.ceil(timeoutMs / 1000))}S`;
}

import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Clock } from '@kruise/values/clock';
import { type ConnectionOptions, createConnection } from './connection.ts';
import { createDeframer, frame } from './framing.ts';
import type { Method } from './method.ts';
import { codeOfHeader, codeOfHttpStatus, codeOfReset, GrpcError, messageOfHeader, type StatusCode } from './status.ts';

/** What a call may be given beside its request. */
export type CallOptions = {
  /** Fails the call with DEADLINE_EXCEEDED after this long; the server is told. */
  readonly timeoutMs?: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  readonly metadata?: Readonly<Record<string, string>>;
};

/** A call in which both sides send as they please. */
export interface BidirectionalCall<Request, Response> {
  /** Sends a message, once there is a connection. */
  send(request: Request): void;
  /** Says that no more will be sent. */
  end(): void;
  /** What the server sends, to be read once; throws if the call fails. Leaving the loop cancels the call. */
  readonly responses: AsyncIterable<Response>;
}

/**
 * Calls to one server, over one connection that is kept alive and made anew when lost. A call that fails is not tried
 * again: only the caller knows whether it may be.
 */
export interface Channel {
  /** One message each way. */
  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options?: CallOptions,
  ): Promise<Response>;
  /** One message there, any number back. Leaving the loop cancels the call. */
  serverStream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options?: CallOptions,
  ): AsyncIterable<Response>;
  /** Any number of messages each way. */
  bidirectional<Request, Response>(
    method: Method<Request, Response>,
    options?: CallOptions,
  ): BidirectionalCall<Request, Response>;
  /** Takes no more calls; the connection ends when those under way are over. */
  close(): void;
}

/** How a channel is set up. */
export type ChannelOptions = ConnectionOptions & {
  /** A longer message from the server fails its call. */
  readonly maxMessageBytes?: number;
};

/**
 * Makes a {@link Channel}; nothing is connected before the first call.
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
    const stream = await withinTime(opening, clock, { timeoutMs, signal });
    const remainingMs = timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - (clock.now() - startedMs));
    return followCall(stream, clock, { timeoutMs: remainingMs, signal });
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
      throw new GrpcError('INTERNAL', `one message was to come, ${received.length} came`, { wasSent: true });
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
      // If the stream broke, that has settled how the call ended, and says more.
      call.stop('INTERNAL', (error as Error).message);
    } finally {
      call.stream.close(constants.NGHTTP2_CANCEL);
    }
    await call.ended;
    if (deframer.hasRest()) throw new GrpcError('INTERNAL', 'the last message is cut off', { wasSent: true });
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
      // Whoever reads the responses is told of a failure; to send into a failed call does nothing.
      const onceStarted = (act: (stream: ClientHttp2Stream) => void) =>
        void starting.then(
          ({ stream }) => stream.writable && act(stream),
          () => {},
        );
      return {
        send: (request) => onceStarted((stream) => stream.write(frame(method.encode(request)))),
        end: () => onceStarted((stream) => stream.end()),
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
  /** Settles when the call is over; rejects unless it ended with OK. */
  readonly ended: Promise<void>;
  /** Ends the call with an outcome of our own, unless it has one. */
  stop(code: StatusCode, message: string): void;
};

type Limits = { readonly timeoutMs: number | undefined; readonly signal: AbortSignal | undefined };

function followCall(stream: ClientHttp2Stream, clock: Clock, { timeoutMs, signal }: Limits): Call {
  let status: GrpcError | 'OK' | undefined;
  let breakage: Error | undefined;
  // A closed stream no longer knows its session.
  const { session } = stream;
  const settle = (code: StatusCode, message: string) => {
    const wasSent = stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM;
    status ??= code === 'OK' ? 'OK' : new GrpcError(code, message, { wasSent, cause: breakage });
  };
  const stop = (code: StatusCode, message: string) => {
    settle(code, message);
    stream.close(constants.NGHTTP2_CANCEL);
  };
  const readStatus = (headers: IncomingHttpHeaders) => {
    const header = headers['grpc-status'];
    if (typeof header !== 'string') return;
    const message = headers['grpc-message'];
    settle(codeOfHeader(header), typeof message === 'string' ? messageOfHeader(message) : '');
  };

  const cancelTimeout =
    timeoutMs === undefined ? () => {} : clock.setTimer(timeoutMs, () => stop('DEADLINE_EXCEEDED', 'the time is up'));
  const onAbort = () => stop('CANCELLED', 'the call was cancelled');
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort);

  stream.on('response', (headers) => {
    readStatus(headers);
    const httpStatus = headers[':status'];
    if (httpStatus !== 200) stop(codeOfHttpStatus(httpStatus ?? 0), `the answer has HTTP status ${httpStatus}`);
  });
  stream.on('trailers', readStatus);
  stream.on('error', (error) => {
    breakage = error;
  });
  const ended = new Promise<void>((resolve, reject) => {
    stream.once('close', () => {
      cancelTimeout();
      signal?.removeEventListener('abort', onAbort);
      const code = session?.destroyed ? 'UNAVAILABLE' : codeOfReset(stream.rstCode);
      settle(code, breakage?.message ?? 'the stream ended without a status');
      if (status === 'OK') resolve();
      else reject(status);
    });
  });
  // The one who reads the stream awaits it, but perhaps not before it rejects.
  ended.catch(() => {});
  return { stream, ended, stop };
}

/** Waits for a stream to open, but no longer than the call may take. */
async function withinTime(
  opening: Promise<ClientHttp2Stream>,
  clock: Clock,
  { timeoutMs, signal }: Limits,
): Promise<ClientHttp2Stream> {
  if (timeoutMs === undefined && !signal) return opening;
  const giveUp = Promise.withResolvers<never>();
  const fail = (code: StatusCode, message: string) => giveUp.reject(new GrpcError(code, message, { wasSent: false }));
  const cancelTimeout =
    timeoutMs === undefined ? () => {} : clock.setTimer(timeoutMs, () => fail('DEADLINE_EXCEEDED', 'the time is up'));
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

/** At most eight digits and a unit. */
function timeoutHeader(timeoutMs: number): string {
  return timeoutMs < 1e8 ? `${Math.ceil(timeoutMs)}m` : `${Math.min(99_999_999, Math.ceil(timeoutMs / 1000))}S`;
}

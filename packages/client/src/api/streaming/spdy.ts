import { Duplex } from 'node:stream';
import type { Clock } from '@kruise/values/clock';
import {
  createFrameReader,
  dataHead,
  type Frame,
  goAwayFrame,
  goAwayStatus,
  initialWindowSize,
  pingFrame,
  resetFrame,
  resetStatus,
  SpdyProtocolError,
  settingsFrame,
  synReplyFrame,
  synStreamFrame,
  windowUpdateFrame,
} from './spdy-frames.ts';
import { createHeaderDecoder, createHeaderEncoder, type SpdyHeaders } from './spdy-headers.ts';

/** A stream of a connection. Ending `data` half-closes the stream; destroying it resets the stream. */
export type SpdyStream = {
  readonly id: number;
  /** Headers of the SYN_STREAM frame. */
  readonly headers: SpdyHeaders;
  readonly data: Duplex;
};

/** SPDY connection: many streams over one socket. */
export type SpdyConnection = {
  /** Opens a stream; resolves when the peer has accepted it. */
  open(headers: SpdyHeaders): Promise<SpdyStream>;
  /** Sends a PING; resolves on the response. */
  ping(): Promise<void>;
  /** Sends GOAWAY and closes the connection after all pending writes. */
  close(): void;
  /** Closes the connection immediately. */
  destroy(error?: Error): void;
  /** Resolves when the connection is closed, with its error if there is one. */
  readonly closed: Promise<Error | undefined>;
};

/** Options of a connection. */
export type SpdyOptions = {
  readonly role: 'client' | 'server';
  readonly clock: Clock;
  /** Bytes that were read from the socket before the upgrade. */
  readonly head?: Buffer;
  /** Decides about each stream that the peer opens; false rejects the stream. All are rejected by default. */
  readonly accept?: (stream: SpdyStream) => boolean;
};

/** Receive window of a stream. */
const windowBytes = 256 * 1024;
/**
 * High-water mark of a reader. It and the write buffer together must be less than the window, or both sides would wait.
 */
const readAheadBytes = 128 * 1024;
const updateFromBytes = 64 * 1024;
/** Default windows of SPDY/3.1 for streams and the connection. */
const defaultWindowBytes = 64 * 1024;
/** The window of the connection is effectively unlimited; the windows of its streams limit it. */
const connectionWindowBytes = 16 * 1024 * 1024;
const maxFrameBytes = 32 * 1024;
const maxStreams = 1000;
/** Limit of received bytes that wait for the frames before them. */
const maxReceivedBytes = 64 * 1024;
/** Limit of unsent responses to control frames, for a peer that sends control frames but does not read. */
const maxUnsentBytes = 1024 * 1024;
/** Time that the peer has to close the connection after GOAWAY. */
const lingerMs = 10_000;

type StreamState = {
  readonly stream: SpdyStream;
  localEnd: boolean;
  remoteEnd: boolean;
  replied: boolean;
  /** Send window; negative with peers that ignore flow control. */
  sendWindow: number;
  receivedBytes: number;
  acknowledgedBytes: number;
  /** Set while the connection waits for the reader of this stream. */
  resume: (() => void) | undefined;
  readonly opened: { resolve(stream: SpdyStream): void; reject(error: Error): void } | undefined;
};

/**
 * Runs SPDY/3.1 over a socket. The Go implementation, which all Kubernetes components use, has no flow control: it
 * sends no window updates and ignores windows. Windows are therefore used only with a peer that announces them (such as
 * this implementation). With other peers a slow reader blocks the whole connection, and TCP slows the sender down.
 *
 * ```ts
 * const connection = createSpdyConnection(one, spdyOptions);
 * ```
 */
export function createSpdyConnection(socket: Duplex, options: SpdyOptions): SpdyConnection {
  const { role, clock, accept = () => false } = options;
  const streams = new Map<number, StreamState>();
  const encodeHeaders = createHeaderEncoder();
  const headerDecoder = createHeaderDecoder();
  const pings = new Map<number, () => void>();
  const waiters = new Set<() => void>();
  const closed = Promise.withResolvers<Error | undefined>();
  let nextStreamId = role === 'client' ? 1 : 2;
  let nextPingId = role === 'client' ? 1 : 2;
  let lastRemoteId = 0;
  let peerPaces = false;
  let peerInitialWindow = defaultWindowBytes;
  let sendWindow = defaultWindowBytes;
  let unacknowledgedBytes = 0;
  /** Set after either side has sent GOAWAY. */
  let isGoingAway = false;
  let ending = false;
  let isClosed = false;
  /** Received bytes that are not decoded yet; a socket that fails drops its own buffer. */
  const receiveBuffer: Buffer[] = [];
  let receivedBytes = 0;
  let arrived = (): void => {};
  let ended: { readonly error: Error | undefined } | undefined;
  /** Set while a slow reader blocks the connection. */
  let isBlockedByReader = false;

  function wake(): void {
    for (const resolve of waiters) resolve();
    waiters.clear();
  }

  /** Resolves when the state changes in a way that a writer may wait for. */
  function changed(): Promise<void> {
    return new Promise((resolve) => waiters.add(resolve));
  }

  function control(frame: Buffer): void {
    if (isClosed || !socket.writable) return;
    if (socket.writableLength > maxUnsentBytes) finish(new Error('the peer sends control frames but does not read'));
    else socket.write(frame);
  }

  function startStream(id: number, headers: SpdyHeaders, opened: StreamState['opened']): StreamState {
    const data = new Duplex({
      readableHighWaterMark: readAheadBytes,
      writableHighWaterMark: 2 * maxFrameBytes,
      read() {
        state.resume?.();
        state.resume = undefined;
        if (peerPaces) acknowledge(state);
      },
      write(chunk: Buffer, _encoding, callback) {
        send(state, chunk).then(() => callback(), callback);
      },
      final(callback) {
        if (!state.localEnd && !isClosed) {
          state.localEnd = true;
          control(dataHead(id, 0, true));
          forgetIfDone(state);
        }
        callback();
      },
      destroy(error, callback) {
        state.resume?.();
        state.resume = undefined;
        if (!(state.localEnd && state.remoteEnd) && streams.delete(id)) {
          state.localEnd = true;
          state.remoteEnd = true;
          control(resetFrame(id, resetStatus.cancel));
          wake();
        }
        callback(error);
      },
    });
    // The owner of the stream may listen for errors; an error without a listener must not end the process.
    data.on('error', () => {});
    const state: StreamState = {
      stream: { id, headers, data },
      localEnd: false,
      remoteEnd: false,
      replied: opened === undefined,
      sendWindow: peerInitialWindow,
      receivedBytes: 0,
      acknowledgedBytes: 0,
      resume: undefined,
      opened,
    };
    streams.set(id, state);
    return state;
  }

  async function send(state: StreamState, chunk: Buffer): Promise<void> {
    let rest = chunk;
    while (rest.length > 0) {
      if (isClosed || state.localEnd) throw new Error('stream closed');
      const room = peerPaces ? Math.min(state.sendWindow, sendWindow) : maxFrameBytes;
      if (room <= 0 || socket.writableNeedDrain) {
        await changed();
        continue;
      }
      const piece = rest.subarray(0, Math.min(room, maxFrameBytes));
      rest = rest.subarray(piece.length);
      state.sendWindow -= piece.length;
      sendWindow -= piece.length;
      socket.cork();
      socket.write(dataHead(state.stream.id, piece.length, false));
      socket.write(piece);
      socket.uncork();
    }
  }

  function acknowledge(state: StreamState): void {
    if (state.remoteEnd) return;
    const taken = state.receivedBytes - state.stream.data.readableLength - state.acknowledgedBytes;
    if (taken < updateFromBytes) return;
    state.acknowledgedBytes += taken;
    control(windowUpdateFrame(state.stream.id, taken));
  }

  function forgetIfDone({ stream, localEnd, remoteEnd }: StreamState): void {
    if (localEnd && remoteEnd) streams.delete(stream.id);
  }

  function endRemote(state: StreamState): void {
    if (state.remoteEnd) return;
    state.remoteEnd = true;
    state.stream.data.push(null);
    forgetIfDone(state);
  }

  /** Ends a stream because of the peer. */
  function fail(state: StreamState, error: Error): void {
    streams.delete(state.stream.id);
    state.localEnd = true;
    state.remoteEnd = true;
    state.opened?.reject(error);
    state.stream.data.destroy(error);
    wake();
  }

  async function receiveData(frame: Extract<Frame, { type: 'data' }>): Promise<void> {
    const { streamId, data, last } = frame;
    unacknowledgedBytes += data.length;
    if (peerPaces && unacknowledgedBytes > connectionWindowBytes / 2) {
      control(windowUpdateFrame(0, unacknowledgedBytes));
      unacknowledgedBytes = 0;
    }
    const state = streams.get(streamId);
    if (!state) {
      // Data for a stream that was just reset may still arrive; data for a stream that was never opened is a protocol
      // error.
      const known = isRemote(streamId) ? streamId <= lastRemoteId : streamId < nextStreamId;
      if (!known) control(resetFrame(streamId, resetStatus.invalidStream));
      return;
    }
    if (state.remoteEnd) {
      control(resetFrame(streamId, resetStatus.streamAlreadyClosed));
      return;
    }
    state.receivedBytes += data.length;
    if (peerPaces && state.receivedBytes - state.acknowledgedBytes > windowBytes) {
      control(resetFrame(streamId, resetStatus.flowControlError));
      fail(state, new SpdyProtocolError('the peer exceeded the flow control window'));
      return;
    }
    if (data.length > 0 && !state.stream.data.push(data) && !peerPaces) {
      isBlockedByReader = true;
      await new Promise<void>((resolve) => {
        state.resume = resolve;
      });
      isBlockedByReader = false;
    }
    if (last) endRemote(state);
  }

  function isRemote(id: number): boolean {
    return (id % 2 === 1) === (role === 'server');
  }

  async function receive(frame: Frame): Promise<void> {
    switch (frame.type) {
      case 'data':
        return receiveData(frame);
      case 'synStream': {
        const headers = await headerDecoder.decode(frame.block);
        const { streamId } = frame;
        if (!isRemote(streamId) || streamId <= lastRemoteId)
          throw new SpdyProtocolError('the peer opened a stream twice');
        lastRemoteId = streamId;
        if (isGoingAway || streams.size >= maxStreams) {
          control(resetFrame(streamId, resetStatus.refusedStream));
          return;
        }
        const state = startStream(streamId, headers, undefined);
        if (frame.unidirectional) state.localEnd = true;
        if (!accept(state.stream)) {
          state.localEnd = true;
          state.remoteEnd = true;
          streams.delete(streamId);
          control(resetFrame(streamId, resetStatus.refusedStream));
          state.stream.data.destroy();
          return;
        }
        if (!frame.unidirectional && streams.has(streamId)) control(synReplyFrame(streamId, encodeHeaders({})));
        if (frame.last) endRemote(state);
        return;
      }
      case 'synReply':
      case 'headers': {
        await headerDecoder.decode(frame.block);
        const state = streams.get(frame.streamId);
        if (!state) return;
        if (frame.type === 'synReply') {
          if (state.replied) {
            control(resetFrame(frame.streamId, resetStatus.streamInUse));
            fail(state, new SpdyProtocolError('the peer accepted a stream twice'));
            return;
          }
          state.replied = true;
          state.opened?.resolve(state.stream);
        }
        if (frame.last) endRemote(state);
        return;
      }
      case 'reset': {
        const state = streams.get(frame.streamId);
        if (!state) return;
        state.opened?.reject(new Error(`the peer rejected the stream (${frame.status})`));
        // Go resets all streams when it closes a connection, even completed ones: received data stays readable.
        state.localEnd = true;
        endRemote(state);
        wake();
        return;
      }
      case 'settings': {
        const size = frame.settings.get(initialWindowSize);
        if (size === undefined) return;
        if (size > 0x7fffffff) throw new SpdyProtocolError('flow control window overflow');
        for (const state of streams.values()) state.sendWindow += size - peerInitialWindow;
        peerInitialWindow = size;
        peerPaces = true;
        wake();
        return;
      }
      case 'windowUpdate': {
        if (frame.streamId === 0) sendWindow += frame.delta;
        else {
          const state = streams.get(frame.streamId);
          if (state) state.sendWindow += frame.delta;
        }
        wake();
        return;
      }
      case 'ping':
        if (isRemote(frame.id)) control(pingFrame(frame.id));
        else {
          pings.get(frame.id)?.();
          pings.delete(frame.id);
        }
        return;
      case 'goAway':
        isGoingAway = true;
        for (const state of streams.values()) {
          const { id } = state.stream;
          if (!isRemote(id) && id > frame.lastStreamId && !state.replied) {
            fail(state, new Error('the peer is going away'));
          }
        }
        return;
    }
  }

  async function run(): Promise<void> {
    const frames = createFrameReader();
    if (options.head && options.head.length > 0) {
      for (const frame of frames(options.head)) await receive(frame);
    }
    while (!isClosed) {
      for (let chunk = receiveBuffer.shift(); chunk; chunk = receiveBuffer.shift()) {
        receivedBytes -= chunk.length;
        for (const frame of frames(chunk)) {
          await receive(frame);
          if (isClosed) return;
        }
      }
      if (ended) return connectionLost(ended.error);
      socket.resume();
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
  }

  function take(chunk: Buffer): void {
    if (isClosed) return;
    receiveBuffer.push(chunk);
    receivedBytes += chunk.length;
    if (receivedBytes >= maxReceivedBytes) socket.pause();
    arrived();
  }

  /** The socket has ended. Received bytes are decoded first, unless a slow reader blocks the connection. */
  function end(error?: Error): void {
    if (ended) return;
    ended = { error };
    if (error && isBlockedByReader) connectionLost(error);
    arrived();
  }

  /** After GOAWAY the way in which the socket ends does not matter. */
  function connectionLost(error = new Error('connection lost')): void {
    finish(isGoingAway ? undefined : error);
  }

  function finish(error?: Error): void {
    if (isClosed) return;
    isClosed = true;
    headerDecoder.close();
    const refusal = error ?? new Error('connection closed');
    for (const state of [...streams.values()]) {
      state.opened?.reject(refusal);
      state.resume?.();
      // A peer that closes the socket with unread data resets the connection, and its last data may be lost. Streams
      // then end as after GOAWAY; `closed` has the difference.
      if (error instanceof SpdyProtocolError) fail(state, error);
      else {
        state.localEnd = true;
        endRemote(state);
      }
    }
    streams.clear();
    pings.clear();
    wake();
    const farewell = error instanceof SpdyProtocolError ? goAwayFrame(lastRemoteId, goAwayStatus.protocolError) : '';
    if (!socket.writable || (error && farewell === '')) socket.destroy();
    else {
      socket.resume();
      socket.end(farewell, () => socket.destroy());
      // A peer that does not close the connection is not waited for.
      clock.setTimer(lingerMs, () => socket.destroy());
    }
    closed.resolve(error);
  }

  socket.on('drain', wake);
  socket.on('data', take);
  socket.once('end', () => end());
  socket.on('error', end);
  socket.once('close', () => end(new Error('connection lost')));
  socket.write(
    Buffer.concat([settingsFrame(windowBytes), windowUpdateFrame(0, connectionWindowBytes - defaultWindowBytes)]),
  );
  run().catch((error: Error) => finish(error));

  return {
    open(headers) {
      if (isClosed || isGoingAway) return Promise.reject(new Error('connection closed'));
      const id = nextStreamId;
      nextStreamId += 2;
      return new Promise((resolve, reject) => {
        startStream(id, headers, { resolve, reject });
        control(synStreamFrame(id, encodeHeaders(headers), false));
      });
    },
    ping() {
      const id = nextPingId;
      nextPingId += 2;
      return new Promise((resolve, reject) => {
        if (isClosed) reject(new Error('connection closed'));
        pings.set(id, resolve);
        closed.promise.then((error) => reject(error ?? new Error('connection closed')));
        control(pingFrame(id));
      });
    },
    close() {
      if (isClosed || ending) return;
      isGoingAway = true;
      ending = true;
      control(goAwayFrame(lastRemoteId, goAwayStatus.ok));
      socket.end();
      // Closing a socket with unread data may discard what was just sent, so the peer closes first.
      const cancel = clock.setTimer(lingerMs, () => finish());
      closed.promise.then(cancel);
    },
    destroy: finish,
    closed: closed.promise,
  };
}

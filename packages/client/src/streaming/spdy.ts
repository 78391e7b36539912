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

/** One stream of a connection. Ending `data` closes this side's half; destroying it resets the stream. */
export type SpdyStream = {
  readonly id: number;
  /** What the stream was opened with. */
  readonly headers: SpdyHeaders;
  readonly data: Duplex;
};

/** Many streams over one socket. */
export type SpdyConnection = {
  /** Opens a stream; resolves once the other side has accepted it. */
  open(headers: SpdyHeaders): Promise<SpdyStream>;
  /** Resolves when the other side has shown that it is there. */
  ping(): Promise<void>;
  /** Says goodbye, after all that was written. */
  close(): void;
  /** Ends everything at once. */
  destroy(error?: Error): void;
  /** Resolves when it is over: with the error, if it ended by one. */
  readonly closed: Promise<Error | undefined>;
};

/** How a connection is run. */
export type SpdyOptions = {
  readonly role: 'client' | 'server';
  readonly clock: Clock;
  /** What was read from the socket before it was known to be SPDY. */
  readonly head?: Buffer;
  /** Asked about each stream that the other side opens; false refuses it. By default all are refused. */
  readonly accept?: (stream: SpdyStream) => boolean;
};

/** What may be on its way to this side on one stream before its reader has taken it. */
const windowBytes = 256 * 1024;
/** From here on a reader is said not to keep up. Together with the next less than the window, or both sides wait. */
const readAheadBytes = 128 * 1024;
const updateFromBytes = 64 * 1024;
/** Both windows of SPDY/3.1 before anyone has spoken of them. */
const defaultWindowBytes = 64 * 1024;
/** The window of the whole connection is no limit: those of its streams are. */
const connectionWindowBytes = 16 * 1024 * 1024;
const maxFrameBytes = 32 * 1024;
const maxStreams = 1000;
/** What is taken off the socket while frames before it are looked at. */
const maxInboxBytes = 64 * 1024;
/** What answers to control frames may pile up before the one who sends them and reads nothing is hung up on. */
const maxUnsentBytes = 1024 * 1024;
/** How long the other side has to hang up after a goodbye. */
const lingerMs = 10_000;

type StreamState = {
  readonly stream: SpdyStream;
  localEnd: boolean;
  remoteEnd: boolean;
  replied: boolean;
  /** What may still be sent; below zero with peers that do not care. */
  sendWindow: number;
  receivedBytes: number;
  acknowledgedBytes: number;
  /** Set while the connection waits for this reader. */
  resume: (() => void) | undefined;
  readonly opened: { resolve(stream: SpdyStream): void; reject(error: Error): void } | undefined;
};

/**
 * Runs SPDY/3.1 over a socket. Go's implementation, which is what all of Kubernetes has, knows no flow control: it
 * never asks for more, and sends without being asked. So windows are kept only with a peer that speaks of them (ours
 * does); with others a reader that does not keep up stops the whole connection, and TCP slows the sender down.
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
  /** Either side has said goodbye. */
  let leaving = false;
  let ending = false;
  let over = false;
  /** What came and was not looked at yet; a socket that fails forgets what it holds itself. */
  const inbox: Buffer[] = [];
  let inboxBytes = 0;
  let arrived = (): void => {};
  let ended: { readonly error: Error | undefined } | undefined;
  /** A reader does not keep up, and everything waits for it. */
  let isHeldUp = false;

  function wake(): void {
    for (const resolve of waiters) resolve();
    waiters.clear();
  }

  /** Resolves when something changed that a writer may have waited for. */
  function changed(): Promise<void> {
    return new Promise((resolve) => waiters.add(resolve));
  }

  function control(frame: Buffer): void {
    if (over || !socket.writable) return;
    if (socket.writableLength > maxUnsentBytes) finish(new Error('the peer asks but does not read'));
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
        if (!state.localEnd && !over) {
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
    // Whoever holds the stream may listen; that nobody does must not end the process.
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
      if (over || state.localEnd) throw new Error('the stream is closed');
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

  /** Ends a stream because of the other side. */
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
      // Data on a stream just reset may still be on its way; on one never opened there is no excuse.
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
      fail(state, new SpdyProtocolError('more was sent than asked for'));
      return;
    }
    if (data.length > 0 && !state.stream.data.push(data) && !peerPaces) {
      isHeldUp = true;
      await new Promise<void>((resolve) => {
        state.resume = resolve;
      });
      isHeldUp = false;
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
        if (!isRemote(streamId) || streamId <= lastRemoteId) throw new SpdyProtocolError('a stream is opened twice');
        lastRemoteId = streamId;
        if (leaving || streams.size >= maxStreams) {
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
            fail(state, new SpdyProtocolError('a stream is accepted twice'));
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
        state.opened?.reject(new Error(`the peer has refused the stream (${frame.status})`));
        // Go resets all streams as it closes a connection, whole as they may be: what was read before stays.
        state.localEnd = true;
        endRemote(state);
        wake();
        return;
      }
      case 'settings': {
        const size = frame.settings.get(initialWindowSize);
        if (size === undefined) return;
        if (size > 0x7fffffff) throw new SpdyProtocolError('the window is too large');
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
        leaving = true;
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
    while (!over) {
      for (let chunk = inbox.shift(); chunk; chunk = inbox.shift()) {
        inboxBytes -= chunk.length;
        for (const frame of frames(chunk)) {
          await receive(frame);
          if (over) return;
        }
      }
      if (ended) return lost(ended.error);
      socket.resume();
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
  }

  function take(chunk: Buffer): void {
    if (over) return;
    inbox.push(chunk);
    inboxBytes += chunk.length;
    if (inboxBytes >= maxInboxBytes) socket.pause();
    arrived();
  }

  /** The socket is over. What came before is looked at first, unless that would have to wait for a reader. */
  function end(error?: Error): void {
    if (ended) return;
    ended = { error };
    if (error && isHeldUp) lost(error);
    arrived();
  }

  /** After a goodbye it does not matter how the socket ends. */
  function lost(error = new Error('the connection was lost')): void {
    finish(leaving ? undefined : error);
  }

  function finish(error?: Error): void {
    if (over) return;
    over = true;
    headerDecoder.close();
    const refusal = error ?? new Error('the connection is closed');
    for (const state of [...streams.values()]) {
      state.opened?.reject(refusal);
      state.resume?.();
      // A peer that hangs up with something unread resets the connection, and its last words may be lost with it.
      // Streams end then as they do after a goodbye; `closed` tells the difference.
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
      // Whoever does not take it is not waited for.
      clock.setTimer(lingerMs, () => socket.destroy());
    }
    closed.resolve(error);
  }

  socket.on('drain', wake);
  socket.on('data', take);
  socket.once('end', () => end());
  socket.on('error', end);
  socket.once('close', () => end(new Error('the connection was lost')));
  socket.write(
    Buffer.concat([settingsFrame(windowBytes), windowUpdateFrame(0, connectionWindowBytes - defaultWindowBytes)]),
  );
  run().catch((error: Error) => finish(error));

  return {
    open(headers) {
      if (over || leaving) return Promise.reject(new Error('the connection is closed'));
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
        if (over) reject(new Error('the connection is closed'));
        pings.set(id, resolve);
        closed.promise.then((error) => reject(error ?? new Error('the connection is closed')));
        control(pingFrame(id));
      });
    },
    close() {
      if (over || ending) return;
      leaving = true;
      ending = true;
      control(goAwayFrame(lastRemoteId, goAwayStatus.ok));
      socket.end();
      // Closing a socket that has not been read to its end may undo what was just sent, so the other side goes first.
      const cancel = clock.setTimer(lingerMs, () => finish());
      closed.promise.then(cancel);
    },
    destroy: finish,
    closed: closed.promise,
  };
}

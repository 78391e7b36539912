/** SPDY/3.1 connection: handles the frames of the peer, opens streams, and closes. */
import type { Duplex } from 'node:stream';
import type { Clock } from '@kruise/values/clock';
import { connectionWindowBytes, createFlowControl, defaultWindowBytes } from './spdy-flow.ts';
import {
  createFrameReader,
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
import { readSocket } from './spdy-input.ts';
import { createSpdyStreams, type SpdyStream, windowBytes } from './spdy-streams.ts';

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

const maxStreams = 1000;
/** Limit of unsent responses to control frames, for a peer that sends control frames but does not read. */
const maxUnsentBytes = 1024 * 1024;
/** Time that the peer has to close the connection after GOAWAY. */
const lingerMs = 10_000;

type FrameOf<T extends Frame['type']> = Extract<Frame, { readonly type: T }>;

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
  const encodeHeaders = createHeaderEncoder();
  const headerDecoder = createHeaderDecoder();
  const pings = new Map<number, () => void>();
  const closed = Promise.withResolvers<Error | undefined>();
  let nextStreamId = role === 'client' ? 1 : 2;
  let nextPingId = role === 'client' ? 1 : 2;
  let lastRemoteId = 0;
  /** Set after either side has sent GOAWAY. */
  let isGoingAway = false;
  let isEnding = false;
  let isClosed = false;
  /** Set while a slow reader blocks the connection. */
  let isBlockedByReader = false;

  const flow = createFlowControl();
  const streams = createSpdyStreams({ socket, flow, control, isClosed: () => isClosed });

  function control(frame: Buffer): void {
    if (isClosed || !socket.writable) return;
    if (socket.writableLength > maxUnsentBytes) finish(new Error('the peer sends control frames but does not read'));
    else socket.write(frame);
  }

  function isRemote(id: number): boolean {
    return (id % 2 === 1) === (role === 'server');
  }

  async function receive(frame: Frame): Promise<void> {
    switch (frame.type) {
      case 'data':
        return receiveData(frame);
      case 'synStream':
        return receiveStream(frame, await headerDecoder.decode(frame.block));
      case 'synReply':
      case 'headers':
        await headerDecoder.decode(frame.block);
        return receiveReply(frame);
      case 'reset':
        return receiveReset(frame);
      case 'settings':
        return receiveSettings(frame);
      case 'windowUpdate':
        return receiveWindowUpdate(frame);
      case 'ping':
        return receivePing(frame);
      case 'goAway':
        return receiveGoAway(frame);
    }
  }

  async function receiveData({ streamId, data, last }: FrameOf<'data'>): Promise<void> {
    const acknowledgedBytes = flow.recordReceived(data.length);
    if (acknowledgedBytes > 0) control(windowUpdateFrame(0, acknowledgedBytes));
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
    if (!streams.receive(state, data)) {
      isBlockedByReader = true;
      await streams.drained(state);
      isBlockedByReader = false;
    }
    if (last) streams.endRemote(state);
  }

  function receiveStream({ streamId, unidirectional, last }: FrameOf<'synStream'>, headers: SpdyHeaders): void {
    if (!isRemote(streamId) || streamId <= lastRemoteId) throw new SpdyProtocolError('the peer opened a stream twice');
    lastRemoteId = streamId;
    if (isGoingAway || streams.count() >= maxStreams) {
      control(resetFrame(streamId, resetStatus.refusedStream));
      return;
    }
    const state = streams.start(streamId, headers, undefined);
    if (unidirectional) streams.endLocal(state);
    if (!accept(state.stream)) {
      streams.refuse(state);
      return;
    }
    if (!unidirectional && streams.get(streamId)) control(synReplyFrame(streamId, encodeHeaders({})));
    if (last) streams.endRemote(state);
  }

  function receiveReply({ type, streamId, last }: FrameOf<'synReply' | 'headers'>): void {
    const state = streams.get(streamId);
    if (!state) return;
    if (type === 'synReply') {
      if (!streams.recordReply(state)) {
        control(resetFrame(streamId, resetStatus.streamInUse));
        streams.fail(state, new SpdyProtocolError('the peer accepted a stream twice'));
        return;
      }
      state.opened?.resolve(state.stream);
    }
    if (last) streams.endRemote(state);
  }

  function receiveReset({ streamId, status }: FrameOf<'reset'>): void {
    const state = streams.get(streamId);
    if (!state) return;
    state.opened?.reject(new Error(`the peer rejected the stream (${status})`));
    // Go resets all streams when it closes a connection, even completed ones: received data stays readable.
    streams.endLocal(state);
    streams.endRemote(state);
    flow.wake();
  }

  function receiveSettings({ settings }: FrameOf<'settings'>): void {
    const size = settings.get(initialWindowSize);
    if (size === undefined) return;
    const change = flow.setInitialWindow(size);
    for (const state of streams.all()) streams.grow(state, change);
    flow.wake();
  }

  function receiveWindowUpdate({ streamId, delta }: FrameOf<'windowUpdate'>): void {
    const state = streams.get(streamId);
    if (streamId === 0) flow.grow(delta);
    else if (state) streams.grow(state, delta);
    flow.wake();
  }

  function receivePing({ id }: FrameOf<'ping'>): void {
    if (isRemote(id)) control(pingFrame(id));
    else {
      pings.get(id)?.();
      pings.delete(id);
    }
  }

  function receiveGoAway({ lastStreamId }: FrameOf<'goAway'>): void {
    isGoingAway = true;
    for (const state of streams.all()) {
      const { id } = state.stream;
      if (!isRemote(id) && id > lastStreamId && !state.replied) {
        streams.fail(state, new Error('the peer is going away'));
      }
    }
  }

  async function run(): Promise<void> {
    const frames = createFrameReader();
    if (options.head && options.head.length > 0) {
      for (const frame of frames(options.head)) await receive(frame);
    }
    while (!isClosed) {
      for (let chunk = input.take(); chunk; chunk = input.take()) {
        for (const frame of frames(chunk)) {
          await receive(frame);
          if (isClosed) return;
        }
      }
      const ended = input.ended();
      if (ended) return connectionLost(ended.error);
      await input.arrival();
    }
  }

  /** After GOAWAY the way in which the socket ends does not matter. */
  function connectionLost(error = new Error('connection lost')): void {
    finish(isGoingAway ? undefined : error);
  }

  function finish(error?: Error): void {
    if (isClosed) return;
    isClosed = true;
    headerDecoder.close();
    streams.close(error);
    pings.clear();
    flow.wake();
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

  socket.on('drain', flow.wake);
  const input = readSocket(socket, {
    isClosed: () => isClosed,
    // Received bytes are decoded before the connection ends, unless a slow reader blocks them.
    onFailed(error) {
      if (isBlockedByReader) connectionLost(error);
    },
  });
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
        streams.start(id, headers, { resolve, reject });
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
      if (isClosed || isEnding) return;
      isGoingAway = true;
      isEnding = true;
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

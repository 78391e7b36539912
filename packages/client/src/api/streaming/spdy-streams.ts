/** Streams of a SPDY connection: their data as `Duplex`, their windows, and their end on both sides. */
import { Duplex } from 'node:stream';
import { type FlowControl, maxFrameBytes } from './spdy-flow.ts';
import { dataHead, resetFrame, resetStatus, SpdyProtocolError, windowUpdateFrame } from './spdy-frames.ts';
import type { SpdyHeaders } from './spdy-headers.ts';

/** A stream of a connection. Ending `data` half-closes the stream; destroying it resets the stream. */
export type SpdyStream = {
  readonly id: number;
  /** Headers of the SYN_STREAM frame. */
  readonly headers: SpdyHeaders;
  readonly data: Duplex;
};

/** Caller that waits until the peer has accepted its stream. */
export type StreamOpener = { resolve(stream: SpdyStream): void; reject(error: Error): void };

type State = {
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
  readonly opened: StreamOpener | undefined;
};

/** State of a stream, which only the functions of this file change. */
export type StreamState = Readonly<State>;

/** Streams of a connection. */
export type SpdyStreams = {
  get(id: number): StreamState | undefined;
  all(): readonly StreamState[];
  count(): number;
  /** Starts a stream; `opened` is the caller that waits for it, if this side opens it. */
  start(id: number, headers: SpdyHeaders, opened: StreamOpener | undefined): StreamState;
  /** Records that the peer has accepted a stream; returns false if it had before. */
  recordReply(state: StreamState): boolean;
  /** Passes data of the peer to the reader; returns false if the reader must drain it before more data is received. */
  receive(state: StreamState, data: Buffer): boolean;
  /** Resolves when the reader has drained the data. */
  drained(state: StreamState): Promise<void>;
  /** Adds to the send window of a stream. */
  grow(state: StreamState, bytes: number): void;
  /** Ends the sending side of a stream without a frame. */
  endLocal(state: StreamState): void;
  /** Ends the receiving side of a stream. */
  endRemote(state: StreamState): void;
  /** Removes a stream that was not accepted. */
  refuse(state: StreamState): void;
  /** Ends a stream because of the peer. */
  fail(state: StreamState, error: Error): void;
  /** Ends all streams with the connection. */
  close(error: Error | undefined): void;
};

/** Dependencies of streams. */
export type StreamsContext = {
  readonly socket: Duplex;
  readonly flow: FlowControl;
  /** Sends a control frame. */
  readonly control: (frame: Buffer) => void;
  /** Reports whether the connection is closed. */
  readonly isClosed: () => boolean;
};

/** Receive window of a stream. */
export const windowBytes = 256 * 1024;
/**
 * High-water mark of a reader. It and the write buffer together must be less than the window, or both sides would wait.
 */
const readAheadBytes = 128 * 1024;
const updateFromBytes = 64 * 1024;

/** Creates the streams of a new connection. */
export function createSpdyStreams({ socket, flow, control, isClosed }: StreamsContext): SpdyStreams {
  const streams = new Map<number, State>();

  function start(id: number, headers: SpdyHeaders, opened: StreamOpener | undefined): State {
    const data = new Duplex({
      readableHighWaterMark: readAheadBytes,
      writableHighWaterMark: 2 * maxFrameBytes,
      read() {
        resumeReceiving(state);
        if (flow.isEnabled()) acknowledge(state);
      },
      write(chunk: Buffer, _encoding, callback) {
        send(state, chunk).then(() => callback(), callback);
      },
      final(callback) {
        if (!state.localEnd && !isClosed()) {
          state.localEnd = true;
          control(dataHead(id, 0, true));
          removeIfDone(state);
        }
        callback();
      },
      destroy(error, callback) {
        resumeReceiving(state);
        if (!(state.localEnd && state.remoteEnd) && streams.delete(id)) {
          state.localEnd = true;
          state.remoteEnd = true;
          control(resetFrame(id, resetStatus.cancel));
          flow.wake();
        }
        callback(error);
      },
    });
    // The owner of the stream may listen for errors; an error without a listener must not end the process.
    data.on('error', () => {});
    const state: State = {
      stream: { id, headers, data },
      localEnd: false,
      remoteEnd: false,
      replied: opened === undefined,
      sendWindow: flow.initialWindow(),
      receivedBytes: 0,
      acknowledgedBytes: 0,
      resume: undefined,
      opened,
    };
    streams.set(id, state);
    return state;
  }

  async function send(state: State, chunk: Buffer): Promise<void> {
    let rest = chunk;
    while (rest.length > 0) {
      if (isClosed() || state.localEnd) throw new Error('stream closed');
      const room = flow.roomFor(state.sendWindow);
      if (room <= 0 || socket.writableNeedDrain) {
        await flow.changed();
        continue;
      }
      const piece = rest.subarray(0, Math.min(room, maxFrameBytes));
      rest = rest.subarray(piece.length);
      state.sendWindow -= piece.length;
      flow.recordSent(piece.length);
      socket.cork();
      socket.write(dataHead(state.stream.id, piece.length, false));
      socket.write(piece);
      socket.uncork();
    }
  }

  function acknowledge(state: State): void {
    if (state.remoteEnd) return;
    const taken = state.receivedBytes - state.stream.data.readableLength - state.acknowledgedBytes;
    if (taken < updateFromBytes) return;
    state.acknowledgedBytes += taken;
    control(windowUpdateFrame(state.stream.id, taken));
  }

  function removeIfDone({ stream, localEnd, remoteEnd }: State): void {
    if (localEnd && remoteEnd) streams.delete(stream.id);
  }

  function receive(state: State, data: Buffer): boolean {
    const { id, data: reader } = state.stream;
    state.receivedBytes += data.length;
    if (flow.isEnabled() && state.receivedBytes - state.acknowledgedBytes > windowBytes) {
      control(resetFrame(id, resetStatus.flowControlError));
      fail(state, new SpdyProtocolError('the peer exceeded the flow control window'));
      return true;
    }
    return data.length === 0 || reader.push(data) || flow.isEnabled();
  }

  function endRemote(state: State): void {
    if (state.remoteEnd) return;
    state.remoteEnd = true;
    state.stream.data.push(null);
    removeIfDone(state);
  }

  function refuse(state: State): void {
    const { id, data } = state.stream;
    state.localEnd = true;
    state.remoteEnd = true;
    streams.delete(id);
    control(resetFrame(id, resetStatus.refusedStream));
    data.destroy();
  }

  function fail(state: State, error: Error): void {
    streams.delete(state.stream.id);
    state.localEnd = true;
    state.remoteEnd = true;
    state.opened?.reject(error);
    state.stream.data.destroy(error);
    flow.wake();
  }

  function close(error: Error | undefined): void {
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
  }

  return {
    get: (id) => streams.get(id),
    all: () => [...streams.values()],
    count: () => streams.size,
    start,
    recordReply,
    receive,
    drained,
    grow,
    endLocal,
    endRemote,
    refuse,
    fail,
    close,
  };
}

function resumeReceiving(state: State): void {
  state.resume?.();
  state.resume = undefined;
}

function recordReply(state: State): boolean {
  if (state.replied) return false;
  state.replied = true;
  return true;
}

function drained(state: State): Promise<void> {
  return new Promise((resolve) => {
    state.resume = resolve;
  });
}

function grow(state: State, bytes: number): void {
  state.sendWindow += bytes;
}

function endLocal(state: State): void {
  state.localEnd = true;
}

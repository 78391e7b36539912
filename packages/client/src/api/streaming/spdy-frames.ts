/** SPDY/3.1 frames: encoding and decoding. */

/** A decoded frame. DATA is delivered in the chunks that arrive, so that no frame is buffered. */
export type Frame =
  | { readonly type: 'data'; readonly streamId: number; readonly data: Buffer; readonly last: boolean }
  | {
      readonly type: 'synStream';
      readonly streamId: number;
      readonly last: boolean;
      readonly unidirectional: boolean;
      readonly block: Buffer;
    }
  | { readonly type: 'synReply' | 'headers'; readonly streamId: number; readonly last: boolean; readonly block: Buffer }
  | { readonly type: 'reset'; readonly streamId: number; readonly status: number }
  | { readonly type: 'settings'; readonly settings: ReadonlyMap<number, number> }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'goAway'; readonly lastStreamId: number; readonly status: number }
  | { readonly type: 'windowUpdate'; readonly streamId: number; readonly delta: number };

/** Status codes of RST_STREAM. */
export const resetStatus = {
  protocolError: 1,
  invalidStream: 2,
  refusedStream: 3,
  cancel: 5,
  internalError: 6,
  flowControlError: 7,
  streamInUse: 8,
  streamAlreadyClosed: 9,
} as const;

/** Status codes of GOAWAY. */
export const goAwayStatus = { ok: 0, protocolError: 1, internalError: 2 } as const;

/** Id of the setting for the initial window size of streams. */
export const initialWindowSize = 7;

/** The peer does not speak SPDY or violates the protocol. */
export class SpdyProtocolError extends Error {
  override readonly name = 'SpdyProtocolError';
}

const version = 3;
const types = { synStream: 1, synReply: 2, reset: 3, settings: 4, ping: 6, goAway: 7, headers: 8, windowUpdate: 9 };
const flagLast = 1;
const flagUnidirectional = 2;
/** Limit of control frames, which are buffered until they are complete. */
const maxControlBytes = 64 * 1024;

function control(type: number, flags: number, body: Buffer): Buffer {
  const head = Buffer.allocUnsafe(8);
  head.writeUInt16BE(0x8000 | version, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(((flags << 24) | body.length) >>> 0, 4);
  return Buffer.concat([head, body]);
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * index);
  return bytes;
}

/** Encodes the header of a DATA frame; the data follows. */
export function dataHead(streamId: number, length: number, last: boolean): Buffer {
  return words(streamId, ((last ? flagLast << 24 : 0) | length) >>> 0);
}

/** Encodes SYN_STREAM, which opens a stream. */
export function synStreamFrame(streamId: number, block: Buffer, last: boolean): Buffer {
  const head = Buffer.concat([words(streamId, 0), Buffer.alloc(2)]);
  return control(types.synStream, last ? flagLast : 0, Buffer.concat([head, block]));
}

/** Encodes SYN_REPLY, which accepts a stream. */
export function synReplyFrame(streamId: number, block: Buffer): Buffer {
  return control(types.synReply, 0, Buffer.concat([words(streamId), block]));
}

/** Encodes RST_STREAM, which ends a stream in both directions. */
export function resetFrame(streamId: number, status: number): Buffer {
  return control(types.reset, 0, words(streamId, status));
}

/** Encodes SETTINGS with the initial window size of streams. */
export function settingsFrame(windowBytes: number): Buffer {
  return control(types.settings, 0, words(1, initialWindowSize, windowBytes));
}

/** Encodes PING, as request or response. */
export function pingFrame(id: number): Buffer {
  return control(types.ping, 0, words(id));
}

/** Encodes GOAWAY: streams after this one were not and will not be processed. */
export function goAwayFrame(lastStreamId: number, status: number): Buffer {
  return control(types.goAway, 0, words(lastStreamId, status));
}

/** Encodes WINDOW_UPDATE for a stream, or with id 0 for the connection. */
export function windowUpdateFrame(streamId: number, delta: number): Buffer {
  return control(types.windowUpdate, 0, words(streamId, delta));
}

/** Creates a decoder that splits the bytes of a socket into frames. Throws on invalid frames. */
export function createFrameReader(): (chunk: Buffer) => Generator<Frame> {
  let pending: Buffer = Buffer.alloc(0);
  let open: { readonly streamId: number; readonly last: boolean; remaining: number } | undefined;

  return function* (chunk) {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    while (true) {
      if (open) {
        const data = pending.subarray(0, open.remaining);
        if (data.length === 0 && open.remaining > 0) return;
        pending = pending.subarray(data.length);
        open.remaining -= data.length;
        const { streamId, remaining } = open;
        const last: boolean = remaining === 0 && open.last;
        if (remaining === 0) open = undefined;
        yield { type: 'data', streamId, data, last };
        continue;
      }
      if (pending.length < 8) return;
      const first = pending.readUInt32BE(0);
      const second = pending.readUInt32BE(4);
      const length = second & 0xffffff;
      const flags = second >>> 24;
      if (first >>> 31 === 0) {
        pending = pending.subarray(8);
        open = { streamId: first, last: (flags & flagLast) !== 0, remaining: length };
        continue;
      }
      if (((first >>> 16) & 0x7fff) !== version) throw new SpdyProtocolError('not a SPDY/3 frame');
      if (length > maxControlBytes) throw new SpdyProtocolError('control frame too long');
      if (pending.length < 8 + length) return;
      const frame = parseControl(first & 0xffff, flags, pending.subarray(8, 8 + length));
      pending = pending.subarray(8 + length);
      // Unknown frame types are ignored.
      if (frame) yield frame;
    }
  };
}

function parseControl(type: number, flags: number, body: Buffer): Frame | undefined {
  const word = (index: number): number => {
    if (body.length < 4 * index + 4) throw new SpdyProtocolError('frame too short');
    return body.readUInt32BE(4 * index);
  };
  const id = (index: number): number => word(index) & 0x7fffffff;
  const last = (flags & flagLast) !== 0;
  switch (type) {
    case types.synStream: {
      if (body.length < 10) throw new SpdyProtocolError('frame too short');
      const unidirectional = (flags & flagUnidirectional) !== 0;
      return { type: 'synStream', streamId: id(0), last, unidirectional, block: body.subarray(10) };
    }
    case types.synReply:
      return { type: 'synReply', streamId: id(0), last, block: body.subarray(4) };
    case types.headers:
      return { type: 'headers', streamId: id(0), last, block: body.subarray(4) };
    case types.reset:
      return { type: 'reset', streamId: id(0), status: word(1) };
    case types.settings: {
      const settings = new Map<number, number>();
      const count = word(0);
      if (body.length !== 4 + 8 * count) throw new SpdyProtocolError('SETTINGS frame has an inconsistent length');
      for (let index = 0; index < count; index++) settings.set(word(1 + 2 * index) & 0xffffff, word(2 + 2 * index));
      return { type: 'settings', settings };
    }
    case types.ping:
      return { type: 'ping', id: word(0) };
    case types.goAway:
      return { type: 'goAway', lastStreamId: id(0), status: body.length >= 8 ? word(1) : 0 };
    case types.windowUpdate:
      return { type: 'windowUpdate', streamId: id(0), delta: id(1) };
    default:
      return undefined;
  }
}

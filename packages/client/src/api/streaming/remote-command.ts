import type { Duplex, Readable, Writable } from 'node:stream';
import type { Status } from '@kruise/api/meta/status';
import type { Clock } from '@kruise/values/clock';
import { createSpdyConnection } from './spdy.ts';
import type { SpdyStream } from './spdy-streams.ts';
import { acceptSpdy } from './spdy-upgrade.ts';
import { isWebSocket, type Upgrade } from './upgrade.ts';
import { acceptWebSocket, createChannels } from './websocket.ts';

/** Terminal size in characters. */
export type TerminalSize = { readonly width: number; readonly height: number };

/** Streams of a command. With a TTY there is no separate stderr. */
export type CommandStreams = {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
};

/**
 * A command that a client runs or attaches to, from the view of the side that runs it. Streams that were not requested
 * are undefined.
 */
export type RemoteCommand = {
  readonly protocol: string;
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Calls back on each terminal resize, and immediately with the last known size. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Sends the exit status and closes the connection after all pending writes. */
  end(status: Status): void;
};

/** Protocols over SPDY in order of preference. */
export const spdyCommandProtocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'];
/** WebSocket protocol that supports closing a single stream; the API server translates it. */
export const closableCommandProtocol = 'v5.channel.k8s.io';
const webSocketProtocols = [
  '',
  'channel.k8s.io',
  'base64.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
];
const streamCreationMs = 30_000;

/** WebSocket channels by number. */
const channelNames = ['stdin', 'stdout', 'stderr', 'error', 'resize'] as const;

/**
 * Accepts an exec or attach request over SPDY or WebSocket. Rejects if the upgrade fails.
 *
 * ```ts
 * const command = await acceptRemoteCommand(upgrade, clock, { stdin: false, stdout: true, stderr: true, tty: false });
 * ```
 */
export async function acceptRemoteCommand(
  upgrade: Upgrade,
  clock: Clock,
  streams: CommandStreams,
  protocols: readonly string[] = webSocketProtocols,
): Promise<RemoteCommand> {
  return isWebSocket(upgrade.headers)
    ? acceptOverWebSocket(upgrade, streams, protocols)
    : acceptOverSpdy(upgrade, clock, streams);
}

async function acceptOverWebSocket(
  upgrade: Upgrade,
  wanted: CommandStreams,
  protocols: readonly string[],
): Promise<RemoteCommand> {
  const { socket, protocol } = await acceptWebSocket(upgrade, protocols);
  const { channels, close, closed } = createChannels(socket, {
    count: channelNames.length,
    encoding: protocol.includes('base64') ? 'base64' : 'binary',
    closable: protocol === closableCommandProtocol,
  });
  const [stdin, stdout, stderr, error, resize] = channels as [Duplex, Duplex, Duplex, Duplex, Duplex];
  // Streams that were not requested are discarded, so that they do not block the others.
  if (!wanted.stdin) stdin.resume();
  for (const output of [stdout, stderr, error]) output.resume();
  // Clients take the first message as the sign that the command has started.
  (wanted.stdout ? stdout : wanted.stderr ? stderr : error).write(Buffer.alloc(0));
  const gone = new AbortController();
  closed.then(() => gone.abort());
  return {
    protocol,
    stdin: wanted.stdin ? stdin : undefined,
    stdout: wanted.stdout ? stdout : undefined,
    stderr: wanted.stderr ? stderr : undefined,
    onResize: resizeListener(resize),
    signal: gone.signal,
    end(status) {
      // Messages of one channel are ordered, but not across channels: the status must be sent last.
      const outputs = [wanted.stdout ? stdout : undefined, wanted.stderr ? stderr : undefined];
      void Promise.all(outputs.map(ended)).then(() => {
        const text = statusText(protocol, status);
        if (text === '') close();
        else error.write(text, close);
      });
    },
  };
}

async function acceptOverSpdy(upgrade: Upgrade, clock: Clock, wanted: CommandStreams): Promise<RemoteCommand> {
  const protocol = acceptSpdy(upgrade, spdyCommandProtocols);
  const resizes = wanted.tty && (protocol.startsWith('v3.') || protocol.startsWith('v4.'));
  const expected = new Set(['error']);
  for (const name of ['stdin', 'stdout', 'stderr'] as const) if (wanted[name]) expected.add(name);
  if (resizes) expected.add('resize');

  const streams = new Map<string, SpdyStream>();
  const complete = Promise.withResolvers<void>();
  const connection = createSpdyConnection(upgrade.socket, {
    role: 'server',
    clock,
    head: upgrade.head,
    accept(stream) {
      const type = String(stream.headers.streamtype ?? '');
      if (!expected.has(type) || streams.has(type)) return false;
      streams.set(type, stream);
      if (streams.size === expected.size) complete.resolve();
      return true;
    },
  });
  const late = () => complete.reject(new Error('timed out waiting for client to create streams'));
  const cancel = clock.setTimer(streamCreationMs, late);
  const gone = new AbortController();
  connection.closed.then(() => {
    gone.abort();
    complete.reject(new Error('the client went away'));
  });
  try {
    await complete.promise;
  } catch (error) {
    connection.destroy();
    throw error;
  } finally {
    cancel();
  }

  const data = (name: string): Duplex | undefined => streams.get(name)?.data;
  const resize = data('resize');
  return {
    protocol,
    stdin: data('stdin'),
    stdout: data('stdout'),
    stderr: data('stderr'),
    onResize: resize ? resizeListener(resize) : () => {},
    signal: gone.signal,
    end(status) {
      const outputs = [data('stdout'), data('stderr')];
      void Promise.all(outputs.map(ended)).then(() => {
        data('error')!.end(statusText(protocol, status), () => connection.close());
      });
    },
  };
}

/** Ends a stream; resolves when all pending writes are flushed or have failed. */
function ended(stream: Writable | undefined): Promise<void> {
  if (!stream || stream.destroyed || stream.writableFinished) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('finish', resolve);
    stream.once('close', resolve);
    stream.end();
  });
}

/** Protocols before v4 send a text on the error stream, empty on success; later ones send a Status. */
function statusText(protocol: string, status: Status): string {
  if (protocol.startsWith('v4.') || protocol.startsWith('v5.')) return JSON.stringify(status);
  return status.status === 'Success' ? '' : (status.message ?? '');
}

/** Parses the resize stream: a sequence of JSON objects. */
function resizeListener(stream: Readable): RemoteCommand['onResize'] {
  let listener: ((size: TerminalSize) => void) | undefined;
  let last: TerminalSize | undefined;
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (let end = text.indexOf('}'); end >= 0; end = text.indexOf('}')) {
      const size = sizeOf(text.slice(0, end + 1));
      text = text.slice(end + 1);
      if (!size) continue;
      last = size;
      listener?.(size);
    }
    // A terminal size is shorter; invalid input is dropped.
    if (text.length > 1024) text = '';
  });
  stream.on('error', () => {});
  return (each) => {
    listener = each;
    if (last) each(last);
  };
}

function sizeOf(text: string): TerminalSize | undefined {
  try {
    const { Width, Height } = JSON.parse(text) as { Width?: unknown; Height?: unknown };
    const width = Width ?? 0;
    const height = Height ?? 0;
    return isSize(width) && isSize(height) ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffff;
}

/** Encodes a size for the resize stream. */
export function sizeText({ width, height }: TerminalSize): string {
  return `${JSON.stringify({ Width: width, Height: height })}\n`;
}

/** A remote command, from the view of the client. */
export type RunningCommand = {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  resize(size: TerminalSize): void;
  /** Exit status, available after all output has been read. Rejects if the server did not send one. */
  readonly status: Promise<Status>;
  /** Closes the connection. */
  close(): void;
};

/** Opens the streams of a remote command over SPDY, on a socket that was upgraded to `protocol`. */
export async function openRemoteCommand(
  socket: Duplex,
  clock: Clock,
  { protocol, head, streams }: { readonly protocol: string; readonly head: Buffer; readonly streams: CommandStreams },
): Promise<RunningCommand> {
  const connection = createSpdyConnection(socket, { role: 'client', clock, head });
  const open = async (streamtype: string) => (await connection.open({ streamtype })).data;
  try {
    // The order is that of the Kubernetes clients; version 1 of the protocol depends on it.
    const error = await open('error');
    const stdin = streams.stdin ? await open('stdin') : undefined;
    const stdout = streams.stdout ? await open('stdout') : undefined;
    const stderr = streams.stderr && !streams.tty ? await open('stderr') : undefined;
    const resizes = streams.tty && (protocol.startsWith('v3.') || protocol.startsWith('v4.'));
    const resize = resizes ? await open('resize') : undefined;
    // Streams that are only read are not closed by the client: the server may have closed the connection already, and a
    // late frame would cause a TCP reset that discards its last data.
    resize?.resume();
    stdin?.resume();
    return {
      stdin,
      stdout,
      stderr,
      resize: (size) => void (resize?.writable && resize.write(sizeText(size))),
      status: readStatus(error, protocol).then(async (status) => {
        if (status) return status;
        // If the server ends without reading all of its input, TCP resets the connection and the status may be lost: as
        // in Kubernetes, that counts as success. Without stdin this cannot happen. Before v4, no status means success
        // anyway.
        const lost = streams.stdin || !protocol.startsWith('v4.') ? undefined : await connection.closed;
        if (lost) throw lost;
        return { metadata: {}, status: 'Success' };
      }),
      close: () => connection.close(),
    };
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** Maximum length of a Status on the error stream. The sender is not trusted to end it. */
const maxStatusBytes = 64 * 1024;

/** Reads the Status of the error stream, if there is one. */
async function readStatus(stream: Readable, protocol: string): Promise<Status | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxStatusBytes) throw new Error(`error stream protocol error: more than ${maxStatusBytes} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  if (text === '') return undefined;
  if (!protocol.startsWith('v4.')) {
    return { metadata: {}, status: 'Failure', message: `error executing remote command: ${text}` };
  }
  try {
    return JSON.parse(text) as Status;
  } catch (cause) {
    throw new Error(`error stream protocol error: ${(cause as Error).message} in ${JSON.stringify(text)}`, { cause });
  }
}

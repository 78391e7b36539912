import type { Duplex, Readable, Writable } from 'node:stream';
import type { Status } from '@kruise/api/meta/status';
import type { Clock } from '@kruise/values/clock';
import { createSpdyConnection, type SpdyStream } from './spdy.ts';
import { acceptSpdy } from './spdy-upgrade.ts';
import { isWebSocket, type Upgrade } from './upgrade.ts';
import { acceptWebSocket, createChannels } from './websocket.ts';

/** The size of a terminal, in characters. */
export type TerminalSize = { readonly width: number; readonly height: number };

/** Which streams a command has. With a terminal there is no stderr of its own. */
export type CommandStreams = {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
};

/** A command someone else runs or attaches to, seen from where it runs. Streams not asked for are absent. */
export type RemoteCommand = {
  readonly protocol: string;
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Called with each size the terminal takes; the last one known is told at once. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborted when whoever asked for the command is gone. */
  readonly signal: AbortSignal;
  /** Says how the command ended, and hangs up after all that was written. */
  end(status: Status): void;
};

/** The protocols over SPDY, best first. */
export const spdyCommandProtocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'];
/** The protocol over WebSocket that can close one stream, which the API server translates. */
export const closableCommandProtocol = 'v5.channel.k8s.io';
const webSocketProtocols = [
  '',
  'channel.k8s.io',
  'base64.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
];
const streamCreationMs = 30_000;

/** Channels of a WebSocket, by number. */
const channelNames = ['stdin', 'stdout', 'stderr', 'error', 'resize'] as const;

/** Answers a request to run or attach to a command, over SPDY or WebSocket. Rejects if it cannot be. */
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
  // What nobody asked for is thrown away, so that it cannot hold up the rest.
  if (!wanted.stdin) stdin.resume();
  for (const output of [stdout, stderr, error]) output.resume();
  // Clients take the first message as the sign that the command has begun.
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
      // A channel is written to in order, but channels are not among each other: the status comes last.
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

/** Ends a stream; resolves when all that was written has gone out, or cannot any more. */
function ended(stream: Writable | undefined): Promise<void> {
  if (!stream || stream.destroyed || stream.writableFinished) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('finish', resolve);
    stream.once('close', resolve);
    stream.end();
  });
}

/** Versions before the fourth have a text on the error stream, empty for success; the others a Status. */
function statusText(protocol: string, status: Status): string {
  if (protocol.startsWith('v4.') || protocol.startsWith('v5.')) return JSON.stringify(status);
  return status.status === 'Success' ? '' : (status.message ?? '');
}

/** Reads the sizes a terminal takes: JSON objects, one after another. */
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
    // No size is this long: whatever it is will not become one.
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

/** How a size is written on the resize stream. */
export function sizeText({ width, height }: TerminalSize): string {
  return `${JSON.stringify({ Width: width, Height: height })}\n`;
}

/** A command that runs elsewhere, seen from where it was asked for. */
export type RunningCommand = {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  resize(size: TerminalSize): void;
  /** How it ended: known after all output has been read. Rejects if that was never said. */
  readonly status: Promise<Status>;
  /** Hangs up. */
  close(): void;
};

/** Speaks SPDY with whoever runs a command, over a socket that has been switched to `protocol`. */
export async function openRemoteCommand(
  socket: Duplex,
  clock: Clock,
  { protocol, head, streams }: { readonly protocol: string; readonly head: Buffer; readonly streams: CommandStreams },
): Promise<RunningCommand> {
  const connection = createSpdyConnection(socket, { role: 'client', clock, head });
  const open = async (streamtype: string) => (await connection.open({ streamtype })).data;
  try {
    // The order is that of Kubernetes' own clients; the first version of the protocol depended on it.
    const error = await open('error');
    const stdin = streams.stdin ? await open('stdin') : undefined;
    const stdout = streams.stdout ? await open('stdout') : undefined;
    const stderr = streams.stderr && !streams.tty ? await open('stderr') : undefined;
    const resizes = streams.tty && (protocol.startsWith('v3.') || protocol.startsWith('v4.'));
    const resize = resizes ? await open('resize') : undefined;
    // What is only read is not closed from this side: whoever runs the command may have hung up by then, and a word
    // too late undoes what it has said before.
    resize?.resume();
    stdin?.resume();
    return {
      stdin,
      stdout,
      stderr,
      resize: (size) => void (resize?.writable && resize.write(sizeText(size))),
      status: readStatus(error, protocol).then(async (status) => {
        if (status) return status;
        // Whoever ends without reading all its input has TCP reset the connection, and the status may be lost with
        // it: as in Kubernetes that counts as success. Without input there is no such excuse. Before v4 nothing said is
        // success anyway.
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

/** What the error stream says, if anything. */
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

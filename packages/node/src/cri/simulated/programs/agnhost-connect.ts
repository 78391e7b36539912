/** `agnhost connect`: tries one connection and prints the kind of the failure. */
import type { Duplex } from 'node:stream';
import { hostAddress } from '../commands/fetch-url.ts';
import { ConnectError } from '../network.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { durationMs, flag } from './agnhost-flags.ts';

/** The longest wait of a client without `--timeout`. */
const maxWaitMs = 127_000;

class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout';
}

export const connectCommand: Program = async (context) => {
  const failure = await attempt(context);
  if (failure === undefined) return 0;
  await writeText(context.stderr, `${failure}\n`);
  return 1;
};

/** Returns the message of the failure; undefined if the connection succeeded. */
async function attempt(context: ProgramContext): Promise<string | undefined> {
  const { network } = context.container;
  const destination = context.argv.slice(1).find((argument) => !argument.startsWith('-')) ?? '';
  const protocol = (flag(context, 'protocol') ?? 'tcp').toLowerCase();
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]*)\]|([^:]*)):(\d+)$/.exec(destination) ?? [];
  const name = bracketed ?? plain;
  if (name === undefined) return `UNKNOWN: address ${destination}: missing port in address`;
  const host = hostAddress(context, name);
  if (host === undefined) return `DNS: lookup ${name}: no such host`;
  const target = { host, port: Number(port) };
  const limitMs = durationMs(flag(context, 'timeout') ?? null) || maxWaitMs;
  try {
    switch (protocol) {
      case 'tcp':
      case 'sctp':
        (await dial(context, target, protocol === 'tcp' ? 'TCP' : 'SCTP', limitMs)).destroy();
        return undefined;
      case 'udp': {
        const answer = network.ask(target, `${flag(context, 'udp-data') ?? 'hostname'}\n`);
        if (answer !== undefined) return undefined;
        await context.process.sleep(limitMs);
        return 'TIMEOUT: i/o timeout';
      }
      default:
        return 'Unsupported protocol';
    }
  } catch (error) {
    if (error instanceof ConnectTimeout) return 'TIMEOUT';
    if (!(error instanceof ConnectError)) throw error;
    if (error.code === 'ETIMEDOUT') return 'TIMEOUT';
    return error.code === 'ECONNREFUSED' ? 'REFUSED' : `OTHER: ${error.message}`;
  }
}

function dial(
  { container: { clock, network }, process }: ProgramContext,
  target: { readonly host: string; readonly port: number },
  transport: 'TCP' | 'SCTP',
  limitMs: number,
): Promise<Duplex> {
  const abort = new AbortController();
  return process.wait<Duplex>((resolve, reject) => {
    const cancelTimer = clock.setTimer(limitMs, () => abort.abort(new ConnectTimeout('timed out')));
    network.connect(target, { transport, signal: abort.signal }).then(resolve, reject).finally(cancelTimer);
    return () => abort.abort();
  });
}

/** Network commands. */

import type { Duplex } from 'node:stream';
import { readAll } from '../byte-streams.ts';
import { ConnectError } from '../network.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { parseArguments, ToolError, tool } from './arguments.ts';
import { fullNames, hostAddress } from './fetch-url.ts';

export const networkCommands: Readonly<Record<string, Program>> = {
  nc: tool(async (context) => {
    const { flags, values, operands } = parseArguments(context.argv.slice(1), 'wp');
    if (flags.has('l')) return listen(context, Number(values.get('p') ?? operands.at(-1)));
    const [name = '', port = ''] = operands;
    const host = hostAddress(context, name) ?? name;
    try {
      if (flags.has('u')) {
        const message = flags.has('z') ? '' : (await readAll(context.stdin, context.process)).toString();
        const answer = context.container.network.ask({ host, port: Number(port) }, message);
        if (answer !== undefined) await writeText(context.stdout, answer);
        return answer === undefined && !flags.has('z') ? 1 : 0;
      }
      const connection = await context.container.network.connect({ host, port: Number(port) });
      if (flags.has('z')) {
        connection.destroy();
        return 0;
      }
      connection.end(await readAll(context.stdin, context.process));
      await printAll(connection, context);
      return 0;
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      throw new ToolError(
        error.code === 'ENOTFOUND' ? `bad address '${name}'` : `${name} (${host}:${port}): Connection refused`,
      );
    }
  }),
  ip: tool(async (context) => {
    const { network, privileges } = context.container;
    const [object = '', verb = 'show'] = parseArguments(context.argv.slice(1)).operands;
    if (verb !== 'show' && verb !== 'list') {
      if (!privileges.isPrivileged) throw new ToolError('RTNETLINK answers: Operation not permitted', 2);
      return 0;
    }
    if (!'address'.startsWith(object)) throw new ToolError(`${object} is not known here`);
    await writeText(
      context.stdout,
      `1: lo\n    inet 127.0.0.1/8 scope host lo\n2: eth0\n    inet ${network.address}\n`,
    );
    return 0;
  }),
  dig: tool(async (context) => {
    const words = context.argv.slice(1);
    const options = new Set(words.filter((word) => word.startsWith('+')));
    const [name = '', type = 'A'] = words.filter((word) => !/^[+@-]/.test(word));
    for (const candidate of options.has('+search') ? fullNames(context, name) : [name]) {
      const found = context.container.network.records(candidate, type);
      if (found.length === 0) continue;
      const owner = candidate.endsWith('.') ? candidate : `${candidate}.`;
      const lines = found.map((value) => (options.has('+short') ? value : `${owner}\t30\tIN\t${type}\t${value}`));
      await writeText(context.stdout, `${lines.join('\n')}\n`);
      break;
    }
    return 0;
  }),
  netstat: tool(async (context) => {
    const { network } = context.container;
    const line = (protocol: string, port: number, state: string) =>
      `${protocol.padEnd(5)}      0      0 ${`0.0.0.0:${port}`.padEnd(23)} ${'0.0.0.0:*'.padEnd(23)} ${state}\n`;
    const lines = [
      ...network.listening('TCP').map((port) => line('tcp', port, 'LISTEN')),
      ...network.listening('UDP').map((port) => line('udp', port, '')),
    ];
    const head = 'Proto Recv-Q Send-Q Local Address           Foreign Address         State\n';
    await writeText(context.stdout, `Active Internet connections (servers and established)\n${head}${lines.join('')}`);
    return 0;
  }),
  getent: tool(async (context) => {
    const [, database, name = ''] = context.argv;
    if (database !== 'hosts') throw new ToolError(`Unknown database: ${database}`);
    const address = name === 'localhost' ? '127.0.0.1' : hostAddress(context, name);
    if (address === undefined) return 2;
    await writeText(context.stdout, `${address.padEnd(15)} ${name}\n`);
    return 0;
  }),
  nslookup: tool(async (context) => {
    const [, name = ''] = context.argv;
    const address = hostAddress(context, name);
    if (address === undefined) throw new ToolError(`can't resolve '${name}': Name does not resolve`);
    await writeText(context.stdout, `Name:\t${name}\nAddress: ${address}\n`);
    return 0;
  }),
};

/** Prints all data until the connection ends or breaks. */
async function printAll(connection: Duplex, { stdout }: ProgramContext): Promise<void> {
  try {
    for await (const chunk of connection) await stdout.write(chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** Listens for one connection and sends standard input to it. */
async function listen(context: ProgramContext, port: number): Promise<number> {
  const connection = await accept(context, port);
  connection.end(await readAll(context.stdin, context.process));
  await printAll(connection, context);
  return 0;
}

/** Accepts the first connection on a port, and refuses others. */
export function accept({ container, process }: ProgramContext, port: number): Promise<Duplex> {
  return process.wait<Duplex>((resolve) => {
    const release = container.listen(port, {
      connection(accepted) {
        release();
        resolve(accepted);
      },
    });
    return release;
  });
}

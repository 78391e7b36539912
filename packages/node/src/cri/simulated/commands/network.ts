/** Commands that ask others over the network. */

import type { Duplex } from 'node:stream';
import type { HttpAnswer } from '../../runtime.ts';
import { readAll } from '../byte-streams.ts';
import { ConnectError } from '../network.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { parseArguments, ToolError, tool } from './arguments.ts';
import { baseName, filesOf, pathOf } from './files.ts';

/** Long options of curl that take a value. */
const curlNames: ReadonlySet<string> = new Set(['connect-timeout', 'interface', 'max-time', 'retry']);

export const networkCommands: Readonly<Record<string, Program>> = {
  wget: tool(async (context) => {
    const { flags, values, operands } = parseArguments(context.argv.slice(1), 'OTt');
    const url = urlOf(operands[0]);
    let answer: HttpAnswer;
    try {
      answer = await fetchUrl(context, url, waitMs(values.get('T') ?? values.get('timeout')), {
        data: values.get('post-data'),
      });
    } catch (error) {
      throw failed(error, url, (reason) => `can't connect to remote host (${url.hostname}): ${reason}`);
    }
    if (answer.status >= 400) throw new ToolError(`server returned error: HTTP/1.1 ${answer.status}`);
    if (flags.has('spider')) return 0;
    await deliver(
      context,
      values.get('O') ?? (baseName(url.pathname) === '/' ? 'index.html' : baseName(url.pathname)),
      answer.body,
    );
    return 0;
  }),
  curl: tool(async (context) => {
    const { flags, values, operands } = parseArguments(context.argv.slice(1), 'oXHdmwu', curlNames);
    const url = urlOf(operands[0]);
    let answer: HttpAnswer;
    try {
      const limit = values.get('m') ?? values.get('max-time') ?? values.get('connect-timeout');
      answer = await fetchUrl(context, url, waitMs(limit), {
        method: values.get('X'),
        header: values.get('H'),
        data: values.get('d'),
      });
    } catch (error) {
      if (flags.has('s') && !flags.has('S')) return 7;
      const port = url.port || (url.protocol === 'https:' ? 443 : 80);
      throw failed(error, url, () => `(7) Failed to connect to ${url.hostname} port ${port}: Connection refused`, 7);
    }
    if (answer.status >= 400 && (flags.has('f') || flags.has('fail'))) {
      throw new ToolError(`(22) The requested URL returned error: ${answer.status}`, 22);
    }
    if (flags.has('i') || flags.has('I') || flags.has('head')) {
      const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      await writeText(context.stdout, `HTTP/1.1 ${answer.status}\r\n${headers.join('')}\r\n`);
    }
    if (!flags.has('I') && !flags.has('head')) await deliver(context, values.get('o') ?? '-', answer.body);
    const written = values.get('w');
    if (written !== undefined) {
      await writeText(context.stdout, written.replace('%{http_code}', String(answer.status)).replaceAll('\\n', '\n'));
    }
    return 0;
  }),
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
    for (const candidate of options.has('+search') ? candidates(context, name) : [name]) {
      const found = context.container.network.records(candidate, type);
      if (found.length === 0) continue;
      const owner = candidate.endsWith('.') ? candidate : `${candidate}.`;
      const lines = found.map((value) => (options.has('+short') ? value : `${owner}\t30\tIN\t${type}\t${value}`));
      await writeText(context.stdout, `${lines.join('\n')}\n`);
      break;
    }
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

function urlOf(text: string | undefined): URL {
  if (text === undefined) throw new ToolError('missing URL');
  try {
    return new URL(/^[a-z]+:\/\//.test(text) ? text : `http://${text}`);
  } catch {
    throw new ToolError(`bad address '${text}'`);
  }
}

function waitMs(seconds: string | undefined): number {
  return Number(seconds ?? 60) * 1000;
}

type Extras = {
  readonly method?: string | undefined;
  readonly header?: string | undefined;
  readonly data?: string | undefined;
};

async function fetchUrl(
  context: ProgramContext,
  url: URL,
  limitMs: number,
  { data, method = data === undefined ? 'GET' : 'POST', header }: Extras = {},
): Promise<HttpAnswer> {
  const { container, process } = context;
  const host = hostAddress(context, url.hostname.replace(/^\[|\]$/g, '')) ?? url.hostname;
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(header ?? '') ?? [];
  const timeout = new AbortController();
  const cancel = container.clock.setTimer(limitMs, () => timeout.abort(new ToolError('download timed out')));
  const request = container.network.request(
    {
      host,
      port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
      method,
      path: `${url.pathname}${url.search}`,
      headers: name === undefined || value === undefined ? [] : [[name, value]],
      maxBodyBytes: 1024 * 1024,
      ...(data !== undefined && { body: Buffer.from(data) }),
    },
    { signal: timeout.signal },
  );
  return process
    .wait<HttpAnswer>((resolve, reject) => {
      request.then(resolve, reject);
      return cancel;
    })
    .finally(cancel);
}

/** The address a name has, in the hosts file or else among the cluster's names. */
export function hostAddress(context: ProgramContext, name: string): string | undefined {
  const { network, hostname } = context.container;
  if (/^[\d.]+$|:/.test(name) || name === 'localhost') return name;
  if (name === hostname) return network.address;
  for (const line of linesOfFile(context, '/etc/hosts')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (names.includes(name)) return address;
  }
  for (const candidate of candidates(context, name)) {
    const [address] = network.resolve(candidate);
    if (address !== undefined) return address;
  }
  return undefined;
}

/** The full names a short one may stand for, by the resolver's search list. */
function candidates(context: ProgramContext, name: string): readonly string[] {
  const search = linesOfFile(context, '/etc/resolv.conf').find((line) => line.startsWith('search '));
  const domains = search?.split(/\s+/).slice(1) ?? [];
  return name.endsWith('.') ? [name] : [...domains.map((domain) => `${name}.${domain}`), name];
}

function linesOfFile(context: ProgramContext, path: string): readonly string[] {
  const files = filesOf(context);
  return files.exists(path) ? Buffer.from(files.read(path)).toString().split('\n') : [];
}

function failed(error: unknown, url: URL, message: (reason: string) => string, exitCode = 1): unknown {
  if (!(error instanceof ConnectError)) return error;
  if (error.code === 'ENOTFOUND') return new ToolError(`bad address '${url.hostname}'`, exitCode === 1 ? 1 : 6);
  return new ToolError(message(error.code === 'ECONNREFUSED' ? 'Connection refused' : 'No route to host'), exitCode);
}

async function deliver(context: ProgramContext, target: string, body: Uint8Array): Promise<void> {
  if (target === '-') await context.stdout.write(body);
  else filesOf(context).write(pathOf(context, target), body);
}

/** Prints what comes until the other side has had enough, be it in good order or not. */
async function printAll(connection: Duplex, { stdout }: ProgramContext): Promise<void> {
  try {
    for await (const chunk of connection) await stdout.write(chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** Listens until someone has come and gone, who is sent what there is to read. */
async function listen(context: ProgramContext, port: number): Promise<number> {
  const { container, process, stdin } = context;
  const connection = await process.wait<Duplex>((resolve) => {
    const release = container.network.listen(port, {
      connection(accepted) {
        release();
        resolve(accepted);
      },
    });
    return release;
  });
  connection.end(await readAll(stdin, process));
  await printAll(connection, context);
  return 0;
}

/** `wget` and `curl`. */
import { STATUS_CODES } from 'node:http';
import type { HttpResponse } from '../../runtime.ts';
import { ExchangeError } from '../http-exchange.ts';
import { ConnectError } from '../network.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { type Arguments, parseArguments, ToolError, tool } from './arguments.ts';
import { FetchTimeout, fetchUrl } from './fetch-url.ts';
import { baseName, filesOf, pathOf } from './files.ts';

type Header = readonly [name: string, value: string];

/** Long options with a value, and their one-letter aliases. */
const wgetNames = {
  header: 'header',
  'output-document': 'O',
  'post-data': 'post-data',
  timeout: 'T',
  tries: 't',
  'user-agent': 'U',
};
const curlNames = {
  cacert: 'cacert',
  'connect-timeout': 'connect-timeout',
  data: 'd',
  'data-binary': 'd',
  'data-raw': 'd',
  header: 'H',
  interface: 'interface',
  'max-time': 'm',
  output: 'o',
  request: 'X',
  retry: 'retry',
  user: 'u',
  'user-agent': 'A',
  'write-out': 'w',
};

export const webCommands: Readonly<Record<string, Program>> = {
  wget: tool(async (context) => {
    const given = parseArguments(context.argv.slice(1), 'OTtU', wgetNames);
    const { flags, values, operands } = given;
    const url = urlOf(operands[0]);
    if (url.protocol === 'https:' && !flags.has('no-check-certificate')) {
      await writeText(context.stderr, 'wget: note: TLS certificate validation not implemented\n');
    }
    const posted = values.get('post-data');
    const answer = await fetchUrl(context, url, {
      ...limitOf(values.get('T')),
      headers: headersOf(given, 'header'),
      ...(posted !== undefined && { method: 'POST', body: Buffer.from(posted) }),
    }).catch((error) => {
      throw wgetFailure(error, url);
    });
    if (answer.status >= 400) throw new ToolError(`server returned error: HTTP/1.1 ${statusLine(answer.status)}`);
    if (flags.has('spider')) return 0;
    const name = baseName(url.pathname);
    await deliver(context, values.get('O') ?? (name === '/' ? 'index.html' : name), answer.body);
    return 0;
  }),
  curl: tool(async (context) => {
    const given = parseArguments(context.argv.slice(1), 'oXHdmwuA', curlNames);
    const { flags, values, operands } = given;
    const has = (letter: string, name: string) => flags.has(letter) || flags.has(name);
    const url = urlOf(operands[0]);
    const isHead = has('I', 'head');
    let answer: HttpResponse;
    try {
      const authorities = values.get('cacert');
      const body = bodyOf(context, given);
      answer = await fetchUrl(context, url, {
        ...limitOf(values.get('m') ?? values.get('connect-timeout')),
        method: values.get('X') ?? (isHead ? 'HEAD' : body ? 'POST' : 'GET'),
        headers: [...basicHeader(values.get('u')), ...headersOf(given, 'H')],
        ...(body && { body }),
        ...(!has('k', 'insecure') && {
          trust: authorities === undefined ? {} : { authorities: textOf(context, authorities) },
        }),
      });
    } catch (error) {
      const failure = curlFailure(error, url);
      if (failure instanceof ToolError && has('s', 'silent') && !has('S', 'show-error')) return failure.exitCode;
      throw failure;
    }
    if (answer.status >= 400 && has('f', 'fail')) {
      throw new ToolError(`(22) The requested URL returned error: ${answer.status}`, 22);
    }
    if (isHead || has('i', 'include')) {
      const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      await writeText(context.stdout, `HTTP/1.1 ${statusLine(answer.status)}\r\n${headers.join('')}\r\n`);
    }
    if (!isHead) await deliver(context, values.get('o') ?? '-', answer.body);
    const written = values.get('w');
    if (written !== undefined) {
      await writeText(context.stdout, written.replace('%{http_code}', String(answer.status)).replaceAll('\\n', '\n'));
    }
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

function limitOf(seconds: string | undefined): { readonly limitMs?: number } {
  return seconds === undefined ? {} : { limitMs: Number(seconds) * 1000 };
}

function headersOf({ lists }: Arguments, name: string): readonly Header[] {
  return (lists.get(name) ?? []).flatMap((text): Header[] => {
    const colon = text.indexOf(':');
    return colon <= 0 ? [] : [[text.slice(0, colon), text.slice(colon + 1).trimStart()]];
  });
}

function basicHeader(user: string | undefined): readonly Header[] {
  return user === undefined ? [] : [['authorization', `Basic ${Buffer.from(user).toString('base64')}`]];
}

/** Returns the request body of curl: the given text, or the contents of a file. */
function bodyOf(context: ProgramContext, { lists }: Arguments): Uint8Array | undefined {
  const data = lists.get('d');
  return (
    data && Buffer.from(data.map((each) => (each.startsWith('@') ? textOf(context, each.slice(1)) : each)).join('&'))
  );
}

function textOf(context: ProgramContext, path: string): string {
  return Buffer.from(filesOf(context).read(pathOf(context, path))).toString();
}

function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
}

/** Converts an error to wget's message; other errors are returned unchanged. */
function wgetFailure(error: unknown, url: URL): unknown {
  if (error instanceof FetchTimeout) return new ToolError('download timed out');
  if (error instanceof ExchangeError) return new ToolError(`error getting response: ${error.message}`);
  if (!(error instanceof ConnectError)) return error;
  if (error.code === 'ENOTFOUND') return new ToolError(`bad address '${url.hostname}'`);
  const reason = error.code === 'ECONNREFUSED' ? 'Connection refused' : 'No route to host';
  return new ToolError(`can't connect to remote host (${url.hostname}): ${reason}`);
}

function curlFailure(error: unknown, url: URL): unknown {
  if (error instanceof FetchTimeout) return new ToolError('(28) Operation timed out', 28);
  if (error instanceof ExchangeError) {
    return error.reason === 'certificate'
      ? new ToolError(`(60) SSL certificate problem: ${error.message}`, 60)
      : new ToolError(`(52) Empty reply from server`, 52);
  }
  if (!(error instanceof ConnectError)) return error;
  if (error.code === 'ENOTFOUND') return new ToolError(`(6) Could not resolve host: ${url.hostname}`, 6);
  const port = url.port || (url.protocol === 'https:' ? 443 : 80);
  return new ToolError(`(7) Failed to connect to ${url.hostname} port ${port}: Connection refused`, 7);
}

async function deliver(context: ProgramContext, target: string, body: Uint8Array): Promise<void> {
  if (target === '-') await context.stdout.write(body);
  else filesOf(context).write(pathOf(context, target), body);
}

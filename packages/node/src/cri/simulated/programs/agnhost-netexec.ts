/** `agnhost netexec`: serves requests, dials other servers, and runs commands, over HTTP and UDP. */
import type { HttpResponse } from '../../runtime.ts';
import { collectingOutput, emptyInput } from '../byte-streams.ts';
import { type ServedRequest, textResponse } from '../network.ts';
import { ProcessKilled } from '../process.ts';
import { type ProgramContext, writeText } from '../program.ts';
import { durationMs, flag, portOf } from './agnhost-flags.ts';

export async function netexec(context: ProgramContext): Promise<number> {
  const { process, container, stdout } = context;
  const log = (text: string) => writeText(stdout, `${text}\n`);
  let isStopping = false;
  const override = flag(context, 'http-override');
  return process.wait<number>((resolve) => {
    const exitSoon = (exitCode: number, delayMs: number) => {
      if (delayMs <= 0) resolve(exitCode);
      // A process that is killed during the sleep needs no result.
      else void process.sleep(delayMs).then(() => resolve(exitCode), ignoreKilled);
    };
    process.handle('SIGTERM', () => {
      isStopping = true;
      exitSoon(0, 1000 * Number(flag(context, 'delay-shutdown') ?? 0));
    });
    process.handle('SIGINT', () => resolve(2));
    const answer = async (request: ServedRequest): Promise<HttpResponse> => {
      const { path, query } = request;
      await log(`GET ${path}${query.size === 0 ? '' : `?${query}`}`);
      switch (path) {
        case '/clientip':
          return textResponse(200, `${request.clientAddress}:40000`);
        case '/dial':
          return dial(context, query);
        case '/echo':
          return textResponse(Number(query.get('code') || 200), query.get('msg') ?? '');
        case '/exit':
          exitSoon(Number(query.get('code') || 0), durationMs(query.get('wait')));
          return textResponse(200, '');
        case '/shutdown':
          exitSoon(0, 0);
          return textResponse(200, '');
        case '/header':
          return textResponse(200, request.headers[(query.get('key') ?? '').toLowerCase()] ?? '');
        case '/healthz':
          return textResponse(200, '');
        case '/readyz':
          return isStopping ? textResponse(503, '') : textResponse(200, '');
        case '/hostname':
        case '/hostName':
          return textResponse(200, container.hostname);
        case '/redirect':
          return textResponse(Number(query.get('code') || 302), '', { location: query.get('location') ?? '/' });
        case '/shell':
          return textResponse(200, await shellAnswer(context, query.get('shellCommand') ?? query.get('cmd') ?? ''));
        default:
          return textResponse(200, `NOW: ${new Date(container.clock.now()).toISOString()}`);
      }
    };
    const port = portOf(context, 'http-port', 8080);
    container.listen(port, {
      http: (request) => answer(override === undefined ? request : overridden(request, override)),
    });
    const udpPort = portOf(context, 'udp-port', 8081);
    if (udpPort > 0)
      container.listen(udpPort, { datagram: (message, client) => replyToDatagram(context, message, client) });
    void log(`Started HTTP server on port ${port}`);
    return undefined;
  });
}

/** Returns the reply of netexec to a datagram. */
function replyToDatagram({ container }: ProgramContext, message: string, clientAddress: string): string | undefined {
  const text = message.trim();
  if (text.toLowerCase() === 'hostname') return container.hostname;
  if (text.toLowerCase() === 'clientip') return `${clientAddress}:40000`;
  return /^echo (.*)$/is.exec(text)?.[1];
}

/** Dials another server the requested number of times and returns the responses. */
async function dial({ container: { network } }: ProgramContext, query: URLSearchParams): Promise<HttpResponse> {
  const request = query.get('request') ?? '';
  if (request === '') return textResponse(400, 'request parameter not specified. <nil>\n');
  const target = { host: query.get('host') ?? '', port: Number(query.get('port')) };
  const ask = async () => {
    if (query.get('protocol')?.toLowerCase() === 'udp') {
      const answer = network.ask(target, request);
      if (answer === undefined) throw new Error("reading from udp connection failed. err:'i/o timeout'");
      return answer;
    }
    return Buffer.from((await network.request({ ...target, path: `/${request}` })).body).toString();
  };
  const responses: string[] = [];
  const errors: string[] = [];
  for (let tries = Number(query.get('tries') || 1); tries > 0; tries--) {
    try {
      responses.push(await ask());
    } catch (error) {
      errors.push((error as Error).message);
    }
  }
  return textResponse(
    200,
    JSON.stringify({ ...(responses.length > 0 && { responses }), ...(errors.length > 0 && { errors }) }),
  );
}

function ignoreKilled(error: unknown): void {
  if (!(error instanceof ProcessKilled)) throw error;
}

function overridden(request: ServedRequest, path: string): ServedRequest {
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  return { ...request, method: 'GET', path: pathname, query: searchParams };
}

async function shellAnswer(context: ProgramContext, command: string): Promise<string> {
  const { container, environment, directory } = context;
  const shell = container.findProgram('/bin/sh', environment, directory);
  if (!shell) return JSON.stringify({ error: 'exec: "/bin/sh": no such file or directory' });
  const output = collectingOutput(64 * 1024);
  const { exited } = container.spawn(async (process) =>
    shell({ ...context, argv: ['/bin/sh', '-c', command], stdin: emptyInput, stdout: output, stderr: output, process }),
  );
  const exitCode = await exited;
  const text = Buffer.from(output.bytes()).toString();
  return JSON.stringify(exitCode === 0 ? { output: text } : { output: text, error: `exit status ${exitCode}` });
}

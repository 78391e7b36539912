/**
 * `agnhost guestbook`: a store with replicas, and a frontend that writes to the primary and reads from the replicas.
 */
import type { HttpResponse } from '../../runtime.ts';
import { hostAddress } from '../commands/fetch-url.ts';
import { type ServedRequest, textResponse } from '../network.ts';
import { ProcessKilled } from '../process.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';
import { serverProgram } from './servers.ts';

export type GuestbookOptions = {
  readonly httpPort: number;
  /** Port of the backends. */
  readonly backendPort: number;
  /** Primary that it replicates; empty for none. */
  readonly replicaOf: string;
};

const retryMs = 1000;

export function guestbook({ httpPort, backendPort, replicaOf }: GuestbookOptions): Program {
  return (context) => {
    let words: Readonly<Record<string, string>> = {};
    const replicas: string[] = [];

    const ask = async (host: string, path: string): Promise<string> => {
      const address = hostAddress(context, host) ?? host;
      const { body } = await context.container.network.request({ host: address, port: backendPort, path });
      return Buffer.from(body).toString();
    };

    async function answer({ path, query }: ServedRequest): Promise<HttpResponse> {
      const key = query.get('key') ?? '';
      switch (path) {
        case '/register':
          replicas.push(query.get('host') ?? '');
          return jsonAnswer({ data: words });
        case '/get':
          return jsonAnswer({ data: key === '' ? words : (words[key] ?? '') });
        case '/set':
          if (key === '') return textResponse(400, 'cannot set with empty key.\n');
          words = { ...words, [key]: query.get('value') ?? '' };
          for (const replica of replicas) await ask(replica, `/set?${query}`);
          return jsonAnswer({ message: 'Updated' });
        case '/guestbook': {
          const command = (query.get('cmd') ?? '').toLowerCase();
          if (command !== 'get' && command !== 'set') return textResponse(400, `unsupported cmd: '${command}'\n`);
          return textResponse(
            200,
            await ask(command === 'get' ? 'agnhost-replica' : 'agnhost-primary', `/${command}?${query}`),
          );
        }
        default:
          return textResponse(404, '404 page not found\n');
      }
    }

    async function register(): Promise<void> {
      for (;;) {
        try {
          words = JSON.parse(await ask(replicaOf, `/register?host=${context.container.network.address}`)).data;
          return;
        } catch (error) {
          await writeText(
            context.stderr,
            `encountered error while registering to primary: ${(error as Error).message}\n`,
          );
        }
        await context.process.sleep(retryMs);
      }
    }

    if (replicaOf !== '') void register().catch(ignoreKilled);
    return serverProgram({
      ports: [httpPort],
      stops: { SIGTERM: 2, SIGINT: 2 },
      listener: () => ({ http: (request) => answer(request).catch((error: Error) => failed(error, context)) }),
    })(context);
  };
}

function failed(error: Error, { stderr }: ProgramContext): HttpResponse {
  void writeText(stderr, `${error.message}\n`);
  return textResponse(417, `encountered error: ${error.message}\n`);
}

function ignoreKilled(error: unknown): void {
  if (!(error instanceof ProcessKilled)) throw error;
}

function jsonAnswer(value: unknown): HttpResponse {
  return textResponse(200, JSON.stringify(value));
}

/** Programs that stay up and answer: web servers, databases, and whatever an unknown image runs. */
import type { FileTree } from '../file-tree.ts';
import { type Listener, textAnswer } from '../network.ts';
import type { SignalName } from '../process.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';

export type ServerOptions = {
  /** 0 for every port nobody else listens on. */
  readonly ports: readonly number[];
  readonly listener?: (context: ProgramContext) => Listener;
  /** Exit codes by the signals that end it; by default each of the usual ones ends it well. */
  readonly stops?: Readonly<Partial<Record<SignalName, number>>>;
  readonly greeting?: string;
};

const gracefulStops: Partial<Record<SignalName, number>> = { SIGTERM: 0, SIGINT: 0, SIGQUIT: 0 };

/** A program that listens until a signal ends it. */
export function serverProgram({
  ports,
  listener = answersAll,
  stops = gracefulStops,
  greeting,
}: ServerOptions): Program {
  // Not an async function: what it was started with need not be kept for as long as it runs.
  return (context) => {
    const { process, container } = context;
    if (greeting !== undefined) void writeText(context.stdout, `${greeting}\n`);
    const listens = listener(context);
    for (const port of new Set([...ports, ...container.declaredPorts])) container.listen(port, listens);
    return process.waitForSignal(stops);
  };
}

const well = textAnswer(200, 'ok');
const welcoming: Listener = { http: () => well, health: () => 'SERVING' };

/** Whoever comes is told that all is well, by HTTP or gRPC. */
function answersAll(): Listener {
  return welcoming;
}

/** Takes connections, and says nothing. */
const silent: Listener = {
  connection: (connection) => {
    connection.resume();
    connection.once('end', () => connection.end());
  },
};

/** A server that speaks a protocol of its own: probes can connect, and no more. */
export function databaseProgram(ports: readonly number[], greeting: string): Program {
  return serverProgram({ ports, listener: () => silent, greeting });
}

export type WebServerOptions = {
  readonly root: string;
  readonly serverName: string;
  readonly stops: Readonly<Partial<Record<SignalName, number>>>;
};

/** Serves the files of the container, so that whoever changes them changes what is served. */
export function webServerProgram(ports: readonly number[], { root, serverName, stops }: WebServerOptions): Program {
  return serverProgram({
    ports,
    stops,
    listener: ({ container, stdout }) => ({
      http({ method, path, clientAddress, headers }) {
        const file = servedFile(container.files, `${root}${path}`);
        const status = file === undefined ? 404 : 200;
        const body = file ?? Buffer.from(`<html><body><h1>404 Not Found</h1></body></html>\n`);
        const time = new Date(container.clock.now()).toISOString();
        const agent = headers['user-agent'] ?? '-';
        void writeText(
          stdout,
          `${clientAddress} - - [${time}] "${method} ${path} HTTP/1.1" ${status} ${body.length} "-" "${agent}"\n`,
        );
        return { status, headers: { server: serverName, 'content-type': 'text/html' }, body };
      },
    }),
  });
}

/** What a path of a URL stands for: a file, or the index of a folder. */
export function servedFile(files: FileTree, path: string): Uint8Array | undefined {
  if (!files.exists(path)) return undefined;
  if (files.stat(path).type !== 'directory') return files.read(path);
  const index = `${path}/index.html`;
  return files.exists(index) ? files.read(index) : undefined;
}

/** Server programs: web servers, databases, and the programs of unknown images. */
import type { FileTree } from '../file-tree.ts';
import { type Listener, textResponse } from '../network.ts';
import type { SignalName } from '../process.ts';
import { type Program, type ProgramContext, writeText } from '../program.ts';

export type ServerOptions = {
  /** Ports; 0 for every port without another listener. */
  readonly ports: readonly number[];
  readonly listener?: (context: ProgramContext) => Listener;
  /** Exit codes by signal; by default 0 for the usual ones. */
  readonly stops?: Readonly<Partial<Record<SignalName, number>>>;
  readonly greeting?: string;
};

const gracefulStops: Partial<Record<SignalName, number>> = { SIGTERM: 0, SIGINT: 0, SIGQUIT: 0 };

/** Returns a program that listens until a signal stops it. */
export function serverProgram({
  ports,
  listener = acceptAllListener,
  stops = gracefulStops,
  greeting,
}: ServerOptions): Program {
  // Not an async function, so that the running program does not retain its context.
  return (context) => {
    const { process, container } = context;
    if (greeting !== undefined) void writeText(context.stdout, `${greeting}\n`);
    const listens = listener(context);
    for (const port of new Set([...ports, ...container.declaredPorts])) container.listen(port, listens);
    return process.waitForSignal(stops);
  };
}

const well = textResponse(200, 'ok');
const welcoming: Listener = { http: () => well, health: () => 'SERVING' };

/** Responds to every HTTP and gRPC request with success. */
function acceptAllListener(): Listener {
  return welcoming;
}

/** Accepts connections without sending anything. */
const silentListener: Listener = {
  connection: (connection) => {
    connection.resume();
    connection.once('end', () => connection.end());
  },
};

/** Returns a server with its own protocol: probes can only connect. */
export function databaseProgram(ports: readonly number[], greeting: string): Program {
  return serverProgram({ ports, listener: () => silentListener, greeting });
}

export type WebServerOptions = {
  readonly root: string;
  readonly serverName: string;
  readonly stops: Readonly<Partial<Record<SignalName, number>>>;
};

/** Returns a web server of the container's files; changes of the files are served at once. */
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

/** Returns the file of a URL path, or the index of a directory. */
export function servedFile(files: FileTree, path: string): Uint8Array | undefined {
  if (!files.exists(path)) return undefined;
  if (files.stat(path).type !== 'directory') return files.read(path);
  const index = `${path}/index.html`;
  return files.exists(index) ? files.read(index) : undefined;
}

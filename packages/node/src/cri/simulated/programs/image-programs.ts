/** Programs of the well-known images. */
import type { Program } from '../program.ts';
import { writeText } from '../program.ts';
import type { ImageDefinition } from '../well-known-images.ts';
import { agnhost } from './agnhost.ts';
import { sampleApiServer } from './sample-apiserver.ts';
import { databaseProgram, serverProgram, type WebServerOptions, webServerProgram } from './servers.ts';

const webServers: Readonly<Record<string, WebServerOptions>> = {
  nginx: { root: '/usr/share/nginx/html', serverName: 'nginx/1.29.1', stops: { SIGTERM: 0, SIGINT: 0, SIGQUIT: 0 } },
  'httpd-foreground': {
    root: '/usr/local/apache2/htdocs',
    serverName: 'Apache/2.4.65 (Unix)',
    stops: { SIGTERM: 0, SIGWINCH: 0 },
  },
};

const programs: Readonly<Record<string, Program>> = {
  '/pause': serverProgram({ ports: [], stops: { SIGTERM: 0, SIGINT: 0 } }),
  '/agnhost': agnhost,
  '/agnhost-2': agnhost,
  agnhost,
  '/sample-apiserver': sampleApiServer,
  // A setuid program owned by root.
  nnp: async ({ container: { privileges, user }, stdout }) => {
    await writeText(stdout, `Effective uid: ${privileges.mayEscalate ? 0 : user.uid}\n`);
    return 0;
  },
  '/hello': async ({ stdout }) => {
    await writeText(
      stdout,
      '\nHello from Docker!\nThis message shows that your installation appears to be working correctly.\n',
    );
    return 0;
  },
  'docker-entrypoint.sh': runRest,
  '/docker-entrypoint.sh': runRest,
};

/** Runs the rest of its arguments as a program, like an entrypoint script. */
async function runRest(context: Parameters<Program>[0]): Promise<number> {
  const [, ...argv] = context.argv;
  const program =
    argv[0] === undefined ? undefined : context.container.findProgram(argv[0], context.environment, context.directory);
  if (!program) {
    await writeText(context.stderr, `/docker-entrypoint.sh: exec: line 47: ${argv[0] ?? ''}: not found\n`);
    return 127;
  }
  return program({ ...context, argv });
}

/** Returns a program of an image; undefined if the image does not have it. */
export function imageProgram(definition: ImageDefinition, name: string): Program | undefined {
  const baseName = baseNameOf(name);
  if (definition.clients?.includes(baseName)) return baseName.endsWith('-cli') ? pong : () => 0;
  if (definition.interpreters?.includes(baseName)) return interpreter;
  if (definition.programs?.includes(name)) return programs[name];
  const own = [definition.entrypoint?.[0], definition.command?.[0]];
  if (!own.some((path) => path !== undefined && baseNameOf(path) === baseName)) return undefined;
  const ports = definition.ports ?? [];
  const webServer = webServers[baseName];
  if (webServer) return controllable(webServerProgram(ports, webServer));
  const known = programs[name] ?? programs[baseName];
  if (known) return known;
  if (baseName === 'sh' || baseName === 'bash') return undefined;
  const isHttp = ports.some((port) => httpPorts.has(port));
  return isHttp || ports.length === 0
    ? serverProgram({ ports: ports.length === 0 ? [0] : ports })
    : databaseProgram(ports, `${baseName}: ready to accept connections`);
}

const httpPorts: ReadonlySet<number> = new Set([80, 2368, 5000, 5601, 8080, 8086, 8200, 8500, 9200]);

function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Reply that Redis probes expect. */
const pong: Program = async ({ stdout }) => {
  await writeText(stdout, 'PONG\n');
  return 0;
};

/** Runs a program given on the command line and exits; with a file it is simulated as a server. */
const interpreter: Program = (context) => {
  const isBrief = context.argv
    .slice(1)
    .some((word) => /^(-[a-z]*[ce]|-V|-v|--version|--eval|-version|--help)$/.test(word));
  return isBrief ? 0 : serverProgram({ ports: [0] })(context);
};

/** Returns a web server that can be signalled by running it again with `-s`. */
function controllable(server: Program): Program {
  return (context) => {
    const { argv, container } = context;
    if (argv.includes('-t') || argv.includes('-v') || argv.includes('-V')) return 0;
    const at = argv.indexOf('-s');
    if (at < 0) return server(context);
    const order = argv[at + 1];
    if (order === 'quit' || order === 'stop') container.signal(1, order === 'quit' ? 'SIGQUIT' : 'SIGTERM');
    return 0;
  };
}

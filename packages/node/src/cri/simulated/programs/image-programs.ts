/** The programs well-known images start with. */
import type { Program } from '../program.ts';
import { writeText } from '../program.ts';
import type { ImageDefinition } from '../well-known-images.ts';
import { agnhost } from './agnhost.ts';
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
  agnhost,
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

/** Does its preparations, then becomes the program it is told. */
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

/** The program of an image behind a name; undefined if the image has none of that name. */
export function imageProgram(definition: ImageDefinition, name: string): Program | undefined {
  const baseName = name.slice(name.lastIndexOf('/') + 1);
  const own = [definition.entrypoint?.[0], definition.command?.[0]];
  const isOwn = own.some(
    (path) => path !== undefined && (path === name || path.slice(path.lastIndexOf('/') + 1) === baseName),
  );
  if (!isOwn) return undefined;
  const ports = definition.ports ?? [];
  const webServer = webServers[baseName];
  if (webServer) return webServerProgram(ports, webServer);
  const known = programs[name] ?? programs[baseName];
  if (known) return known;
  if (baseName === 'sh' || baseName === 'bash') return undefined;
  const isHttp = ports.some((port) => port === 80 || port === 8080 || port === 9200 || port === 5000);
  return isHttp || ports.length === 0
    ? serverProgram({ ports: ports.length === 0 ? [0] : ports })
    : databaseProgram(ports, `${baseName}: ready to accept connections`);
}

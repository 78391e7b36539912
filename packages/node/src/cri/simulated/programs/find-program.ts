import { commands, distributionOnly } from '../commands/commands.ts';
import { absolutePath } from '../file-tree.ts';
import type { ContainerWorld, Program } from '../program.ts';
import { runScriptFile } from '../shell/shell.ts';
import type { ImageDefinition } from '../well-known-images.ts';
import { imageProgram } from './image-programs.ts';
import { serverProgram } from './servers.ts';

export type ProgramQuery = {
  readonly name: string;
  readonly environment: ReadonlyMap<string, string>;
  readonly directory: string;
};

/** Directories of the tools of an image. */
const toolFolders: ReadonlySet<string> = new Set(['/bin', '/sbin', '/usr/bin', '/usr/sbin', '/usr/local/bin']);

/** Finds a program in a container: of its image, of its tools, or among its files. */
export function findProgram(
  definition: ImageDefinition | undefined,
  world: ContainerWorld,
  query: ProgramQuery,
): Program | undefined {
  // Files come last: most containers start without one, and looking at the files creates the tree.
  return (
    (definition && imageProgram(definition, query.name)) ??
    toolOf(definition, query.name) ??
    fileProgram(world, query) ??
    // In an unknown image every program that is not a tool is simulated as a server.
    (definition ? undefined : serverProgram({ ports: [0] }))
  );
}

function toolOf(definition: ImageDefinition | undefined, name: string): Program | undefined {
  const slash = name.lastIndexOf('/');
  const baseName = name.slice(slash + 1);
  if (slash >= 0 && !toolFolders.has(name.slice(0, slash))) return undefined;
  if (definition?.tools === 'none') return undefined;
  if (definition?.tools === 'busybox' && distributionOnly.has(baseName)) return undefined;
  return Object.hasOwn(commands, baseName) ? commands[baseName] : undefined;
}

/** Finds a script among the container's files or mounts. */
function fileProgram(world: ContainerWorld, { name, environment, directory }: ProgramQuery): Program | undefined {
  const places = name.includes('/')
    ? [absolutePath(name, directory)]
    : (environment.get('PATH') ?? '').split(':').map((folder) => `${folder}/${name}`);
  for (const path of places) {
    if (!world.mayHaveProgram(path) || !world.files.exists(path)) continue;
    const stat = world.files.stat(path);
    if (stat.type === 'file' && (stat.mode & 0o111) !== 0) return runScriptFile(path);
  }
  return undefined;
}

/** Returns runc's message for a missing program. */
export function missingProgram(world: ContainerWorld, name: string, directory: string): string {
  const quoted = `exec: ${JSON.stringify(name)}`;
  if (!name.includes('/')) return `${quoted}: executable file not found in $PATH`;
  return world.files.exists(absolutePath(name, directory))
    ? `${quoted}: permission denied`
    : `${quoted}: stat ${name}: no such file or directory`;
}

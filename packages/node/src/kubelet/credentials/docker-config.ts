/** Registry credentials from the Docker configuration of the node. */
import type { Secret } from '@kruise/api/core/secret';
import type { HostFiles } from '../../cri/runtime.ts';
import { dockerConfigSecret } from './credential-providers.ts';
import { fieldsOf } from './provider-config.ts';

/** Directories that may contain a Docker configuration. Absent ones are not searched. */
export type DockerConfigPlaces = {
  readonly rootDirectory?: string;
  readonly workingDirectory?: string;
  readonly home?: string;
  /** Searches `/` as well: on machines, not on simulated nodes. */
  readonly searchesFileSystemRoot?: boolean;
};

/** Returns the directories of a machine. */
export function machineDockerConfig(workingDirectory: string, environment: NodeJS.ProcessEnv): DockerConfigPlaces {
  return { workingDirectory, home: environment['HOME'] ?? '', searchesFileSystemRoot: true };
}

type Candidate = { readonly file: string; readonly format: 'dockercfg' | 'dockerconfigjson' };

/** Maximum size of a configuration; one credential takes a few kilobytes. */
const maxBytes = 1024 * 1024;

/** Returns the files in the search order of Kubernetes: every `config.json` before every `.dockercfg`. */
export function dockerConfigFiles(places: DockerConfigPlaces): readonly Candidate[] {
  const { rootDirectory, workingDirectory, home, searchesFileSystemRoot = false } = places;
  const last = searchesFileSystemRoot ? '/' : undefined;
  const below = (directory: string | undefined, file: string) =>
    directory === undefined || directory === '' ? [] : [`${directory.replace(/\/$/, '')}/${file}`];
  const json = [
    ...below(rootDirectory, 'config.json'),
    ...below(workingDirectory, 'config.json'),
    ...below(home, '.docker/config.json'),
    ...below(last, '.docker/config.json'),
  ];
  const legacy = [rootDirectory, workingDirectory, home, last].flatMap((each) => below(each, '.dockercfg'));
  return [
    ...json.map((file) => ({ file, format: 'dockerconfigjson' }) as const),
    ...legacy.map((file) => ({ file, format: 'dockercfg' }) as const),
  ];
}

/** Returns the first valid configuration. `onError` is called for files that cannot be used. */
export async function findDockerConfig(
  files: HostFiles,
  places: DockerConfigPlaces,
  onError: (file: string, reason: string) => void,
): Promise<readonly Secret[]> {
  for (const { file, format } of dockerConfigFiles(places)) {
    const content = await read(files, file, onError);
    if (content === undefined) continue;
    if (isObject(content)) return [dockerConfigSecret(content, format)];
    onError(file, 'the file does not contain a JSON object');
  }
  return [];
}

async function read(
  files: HostFiles,
  file: string,
  onError: (file: string, reason: string) => void,
): Promise<Uint8Array | undefined> {
  try {
    if (!(await files.stat(file))) return undefined;
    const content = await files.readFile(file, { followsLinks: true, tailBytes: maxBytes + 1 });
    if (content.length <= maxBytes) return content;
    onError(file, `the file exceeds ${maxBytes} bytes`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The file, or the target of a link, does not exist.
    if (code !== 'ENOENT' && code !== 'ENOTDIR') onError(file, code ?? (error as Error).message);
  }
  return undefined;
}

function isObject(content: Uint8Array): boolean {
  try {
    return fieldsOf(JSON.parse(Buffer.from(content).toString())) !== undefined;
  } catch {
    // The error of the parser quotes the content, so the caller reports the file only.
    return false;
  }
}

/** Credentials for registries out of Secrets of the types that `kubectl create secret docker-registry` makes. */
import { parseImageReference } from '@kruise/api/core/image-reference';
import type { Secret } from '@kruise/api/core/secret';
import type { AuthConfig } from '../cri/messages.ts';
import type { HostFiles } from '../cri/runtime.ts';

type Entry = { readonly place: string; readonly auth: AuthConfig };

/** The credentials for an image, those for the narrowest place first. */
export function credentialsFor(image: string, secrets: readonly Secret[]): readonly AuthConfig[] {
  const repository = parseImageReference(image)?.repository;
  if (repository === undefined) return [];
  return secrets
    .flatMap(entriesOf)
    .sort((a, b) => (a.place < b.place ? 1 : a.place > b.place ? -1 : 0))
    .filter(({ place }) => covers(place, repository))
    .map(({ auth }) => auth);
}

/** What a node's own `config.json` gives credentials for, which is as a Secret for pulling has it. */
export async function nodeSecretsOf(files: HostFiles, directory: string): Promise<readonly Secret[]> {
  const file = `${directory}/config.json`;
  if (!(await files.stat(file))) return [];
  const data = { '.dockerconfigjson': Buffer.from(await files.readFile(file)).toString('base64') };
  return [{ apiVersion: 'v1', kind: 'Secret', metadata: {}, type: 'kubernetes.io/dockerconfigjson', data }];
}

function entriesOf({ type, data }: Secret): Entry[] {
  if (type === 'kubernetes.io/dockerconfigjson') {
    const config = decoded(data?.['.dockerconfigjson']) as { auths?: Auths } | undefined;
    return entriesIn(config?.auths);
  }
  if (type === 'kubernetes.io/dockercfg') return entriesIn(decoded(data?.['.dockercfg']) as Auths | undefined);
  return [];
}

type Auths = {
  readonly [place: string]: {
    readonly username?: string;
    readonly password?: string;
    readonly auth?: string;
    readonly identitytoken?: string;
  };
};

function decoded(base64: string | undefined): unknown {
  if (base64 === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(base64, 'base64').toString());
  } catch {
    // A Secret that makes no sense gives no credentials, as in Kubernetes.
    return undefined;
  }
}

function entriesIn(auths: Auths | undefined): Entry[] {
  return Object.entries(auths ?? {}).map(([place, { username, password, auth, identitytoken }]) => {
    const [user, ...rest] = auth ? Buffer.from(auth, 'base64').toString().split(':') : [];
    return {
      place: place.replace(/^https?:\/\//, '').replace(/\/(v1|v2)?\/?$/, ''),
      auth: {
        username: user ?? username ?? '',
        password: user === undefined ? (password ?? '') : rest.join(':'),
        ...(identitytoken ? { identityToken: identitytoken } : {}),
      },
    };
  });
}

/** Whether a place, such as `*.example.com:5000/team`, covers a repository: host by parts, with stars, path by prefix. */
function covers(place: string, repository: string): boolean {
  const [host = '', ...path] = place.split('/');
  const [wantedHost = '', ...wantedPath] = repository.split('/');
  const isHub = (name: string) => name === 'docker.io' || name === 'index.docker.io';
  const [name = '', port = ''] = host.split(':');
  const [wantedName = '', wantedPort = ''] = wantedHost.split(':');
  if (port !== wantedPort) return false;
  const parts = name.split('.');
  const wanted = wantedName.split('.');
  const isSameHost =
    (isHub(name) && isHub(wantedName)) ||
    (parts.length === wanted.length && parts.every((part, index) => matches(part, wanted[index]!)));
  return isSameHost && wantedPath.join('/').startsWith(path.join('/'));
}

function matches(pattern: string, text: string): boolean {
  if (!pattern.includes('*')) return pattern === text;
  const source = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${source}$`).test(text);
}

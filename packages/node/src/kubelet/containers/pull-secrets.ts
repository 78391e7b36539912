/** Registry credentials from Secrets of the types that `kubectl create secret docker-registry` creates. */
import { parseImageReference } from '@kruise/api/core/image-reference';
import type { Secret } from '@kruise/api/core/secret';
import type { AuthConfig } from '../../cri/messages.ts';
import type { HostFiles } from '../../cri/runtime.ts';
import { globMatches } from './glob.ts';

type Entry = { readonly place: string; readonly auth: AuthConfig };

/** Returns the credentials for an image, the most specific registry path first. */
export function credentialsFor(image: string, secrets: readonly Secret[]): readonly AuthConfig[] {
  const repository = parseImageReference(image)?.repository;
  if (repository === undefined) return [];
  return secrets
    .flatMap(entriesOf)
    .sort((a, b) => (a.place < b.place ? 1 : a.place > b.place ? -1 : 0))
    .filter(({ place }) => matchesRepository(place, repository))
    .map(({ auth }) => auth);
}

/** Returns the node's own `config.json` as an image pull secret. */
export async function nodeSecretsOf(files: HostFiles, directory: string): Promise<readonly Secret[]> {
  const file = `${directory}/config.json`;
  if (!(await files.stat(file))) return [];
  const data = {
    '.dockerconfigjson': Buffer.from(await files.readFile(file, { followsLinks: true })).toString('base64'),
  };
  return [{ apiVersion: 'v1', kind: 'Secret', metadata: {}, type: 'kubernetes.io/dockerconfigjson', data }];
}

function entriesOf({ type, data }: Secret): Entry[] {
  if (type === 'kubernetes.io/dockerconfigjson')
    return entriesOfAuths(fieldsOf(decodeJson(data?.['.dockerconfigjson'])).auths);
  if (type === 'kubernetes.io/dockercfg') return entriesOfAuths(decodeJson(data?.['.dockercfg']));
  return [];
}

function decodeJson(base64: string | undefined): unknown {
  if (base64 === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(base64, 'base64').toString());
  } catch {
    // As in Kubernetes, a malformed Secret provides no credentials.
    return undefined;
  }
}

/** Returns the fields of an object. The JSON is tenant input and may contain any type. */
function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [name: string]: unknown })
    : {};
}

function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function entriesOfAuths(auths: unknown): Entry[] {
  return Object.entries(fieldsOf(auths)).map(([place, entry]) => {
    const { username, password, auth, identitytoken } = fieldsOf(entry);
    const pair = nonEmptyString(auth);
    const identityToken = nonEmptyString(identitytoken);
    const [user, ...rest] = pair === undefined ? [] : Buffer.from(pair, 'base64').toString().split(':');
    return {
      place: place.replace(/^https?:\/\//, '').replace(/\/(v1|v2)?\/?$/, ''),
      auth: {
        username: user ?? nonEmptyString(username) ?? '',
        password: user === undefined ? (nonEmptyString(password) ?? '') : rest.join(':'),
        ...(identityToken === undefined ? {} : { identityToken }),
      },
    };
  });
}

/**
 * Reports whether a registry pattern such as `*.example.com:5000/team` matches a repository: the host by labels with
 * globs, the path by prefix.
 */
function matchesRepository(place: string, repository: string): boolean {
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
    (parts.length === wanted.length && parts.every((part, index) => globMatches(part, wanted[index]!)));
  return isSameHost && wantedPath.join('/').startsWith(path.join('/'));
}

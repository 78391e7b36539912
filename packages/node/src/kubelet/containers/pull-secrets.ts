/** Registry credentials from Secrets of the types that `kubectl create secret docker-registry` creates. */
import { parseImageReference } from '@kruise/api/core/image-reference';
import type { Secret } from '@kruise/api/core/secret';
import type { AuthConfig } from '../../cri/messages.ts';
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

/** Reports whether the place of a credential matches a repository. Both names of Docker Hub are the same registry. */
function matchesRepository(place: string, repository: string): boolean {
  return (
    matchesRegistryPattern(place, repository) || matchesRegistryPattern(withHubName(place), withHubName(repository))
  );
}

function withHubName(place: string): string {
  return place.replace(/^index\.docker\.io(?=[:/]|$)/, 'docker.io');
}

/**
 * Reports whether a registry pattern such as `*.example.com:5000/team` matches a repository: the host by labels with
 * globs, the port exactly, the path by prefix.
 */
export function matchesRegistryPattern(pattern: string, repository: string): boolean {
  const [host = '', ...path] = pattern.split('/');
  const [wantedHost = '', ...wantedPath] = repository.split('/');
  const { name, port } = hostAndPort(host);
  const { name: wantedName, port: wantedPort } = hostAndPort(wantedHost);
  if (port !== wantedPort || !wantedPath.join('/').startsWith(path.join('/'))) return false;
  if (isAddress(name)) return name === wantedName;
  const parts = name.split('.');
  const wanted = wantedName.split('.');
  return parts.length === wanted.length && parts.every((part, index) => globMatches(part, wanted[index]!));
}

function hostAndPort(host: string): { readonly name: string; readonly port: string } {
  const end = host.indexOf(':', isAddress(host) ? host.indexOf(']') : 0);
  return end < 0 ? { name: host, port: '' } : { name: host.slice(0, end), port: host.slice(end + 1) };
}

/** Reports whether a host is an IPv6 address in brackets, and not a character class such as `[a-z]*`. */
function isAddress(host: string): boolean {
  const [address] = /^\[[0-9a-fA-F:]+\]/.exec(host) ?? [];
  return address?.includes(':') ?? false;
}

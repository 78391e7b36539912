/** Registry credentials from plugins, cached as their responses permit. */
import { parseImageReference } from '@kruise/api/core/image-reference';
import type { Secret } from '@kruise/api/core/secret';
import type { Clock } from '@kruise/values/clock';
import { createSemaphore } from '@kruise/values/scheduling/semaphore';
import { matchesRegistryPattern } from '../containers/pull-secrets.ts';
import { type CredentialProvider, durationOf, fieldsOf } from './provider-config.ts';

/** Returns the credentials of an image as pull Secrets. A plugin that fails provides none. */
export type CredentialProviders = (image: string) => Promise<readonly Secret[]>;

/** Dependencies of the plugins. */
export type ProviderContext = {
  readonly clock: Clock;
  /** Passes a request to a plugin and returns its output. */
  readonly call: (provider: CredentialProvider, request: string) => Promise<string>;
  readonly onError: (provider: string, error: unknown) => void;
  readonly signal: AbortSignal;
};

/** Concurrent processes of one plugin. A node pulls a few images at once; more would only compete. */
const maxCalls = 8;
/** Cached responses of one plugin. A node has some hundred images; the oldest response is dropped first. */
const maxCached = 256;

type Cached = { readonly secrets: readonly Secret[]; readonly until: number };

/** Credentials of a response, and where they are cached. */
type Response = { readonly secrets: readonly Secret[]; readonly cacheKey: string; readonly cacheMs: number };

/** Creates the credential providers of a node. Plugins that match an image are called at the same time. */
export function createCredentialProviders(
  providers: readonly CredentialProvider[],
  context: ProviderContext,
): CredentialProviders {
  const all = providers.map((provider) => ({ provider, provide: cachedProvider(provider, context) }));
  return async (image) => {
    const repository = parseImageReference(image)?.repository;
    if (repository === undefined) return [];
    const matching = all.filter(({ provider }) =>
      provider.matchImages.some((pattern) => matchesRegistryPattern(pattern, repository)),
    );
    return (await Promise.all(matching.map(({ provide }) => provide(repository)))).flat();
  };
}

function cachedProvider(provider: CredentialProvider, { clock, call, onError, signal }: ProviderContext) {
  const cache = new Map<string, Cached>();
  const calls = new Map<string, Promise<readonly Secret[]>>();
  const withPermit = createSemaphore(maxCalls);

  const findCached = (repository: string): readonly Secret[] | undefined => {
    const now = clock.elapsedMs();
    for (const key of [imageKey(repository), registryKey(repository), globalKey]) {
      const entry = cache.get(key);
      if (entry && now < entry.until) return entry.secrets;
    }
    return undefined;
  };

  const store = ({ cacheKey, cacheMs, secrets }: Response) => {
    if (cacheMs <= 0) return;
    const now = clock.elapsedMs();
    for (const [key, { until }] of cache) if (until <= now) cache.delete(key);
    cache.delete(cacheKey);
    for (const key of cache.keys()) {
      if (cache.size < maxCached) break;
      cache.delete(key);
    }
    cache.set(cacheKey, { secrets, until: now + cacheMs });
  };

  async function request(repository: string): Promise<readonly Secret[]> {
    let secrets: readonly Secret[] = [];
    try {
      await withPermit(async () => {
        // A response for the whole registry may have arrived while this call waited.
        const found = findCached(repository);
        const response = found
          ? undefined
          : parseResponse(await call(provider, requestFor(provider, repository)), provider, repository);
        if (response) store(response);
        secrets = found ?? response?.secrets ?? [];
      }, signal);
    } catch (error) {
      if (!signal.aborted) onError(provider.name, error);
    }
    return secrets;
  }

  return (repository: string): Promise<readonly Secret[]> => {
    const found = findCached(repository);
    if (found) return Promise.resolve(found);
    let current = calls.get(repository);
    if (!current) {
      current = request(repository).finally(() => calls.delete(repository));
      calls.set(repository, current);
    }
    return current;
  };
}

const globalKey = 'global';
const imageKey = (repository: string) => `image ${repository}`;
const registryKey = (repository: string) => `registry ${repository.split('/')[0]}`;

function requestFor({ apiVersion }: CredentialProvider, image: string): string {
  return JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, image });
}

/** Parses the output of a plugin. No error quotes it. */
function parseResponse(output: string, provider: CredentialProvider, repository: string): Response {
  let response: ReturnType<typeof fieldsOf>;
  try {
    response = fieldsOf(JSON.parse(output));
  } catch {
    // The error of the parser quotes the output.
    throw new Error('the response is not valid JSON');
  }
  if (response?.['kind'] !== 'CredentialProviderResponse') {
    throw new Error('the response is not a CredentialProviderResponse');
  }
  if (response['apiVersion'] !== provider.apiVersion) {
    throw new Error(`apiVersion of the response did not match expected apiVersion ${provider.apiVersion}`);
  }
  const { cacheKeyType, cacheDuration, auth } = response;
  const cacheKey = cacheKeyOf(cacheKeyType, repository);
  if (cacheKey === undefined) throw new Error('the response has no valid cacheKeyType: Image, Registry or Global');
  const cacheMs = cacheDuration == null ? provider.defaultCacheMs : durationOf(cacheDuration);
  if (cacheMs === undefined) throw new Error('the cacheDuration of the response is not a duration such as 12h');
  if (auth != null && !isAuth(auth)) throw new Error('the auth of the response has no username and password');
  return { secrets: auth == null ? [] : [secretOf(auth)], cacheKey, cacheMs };
}

function cacheKeyOf(type: unknown, repository: string): string | undefined {
  if (type === 'Image') return imageKey(repository);
  if (type === 'Registry') return registryKey(repository);
  return type === 'Global' ? globalKey : undefined;
}

function isAuth(auth: unknown): boolean {
  const isText = (value: unknown) => value == null || typeof value === 'string';
  const entries = fieldsOf(auth);
  if (!entries) return false;
  return Object.values(entries).every((entry) => {
    const fields = fieldsOf(entry);
    return fields !== undefined && isText(fields['username']) && isText(fields['password']);
  });
}

function secretOf(auth: unknown): Secret {
  // Only a user name and a password: a field `auth` would override them.
  const auths = Object.entries(fieldsOf(auth) ?? {}).map(([place, entry]) => {
    const { username, password } = fieldsOf(entry) ?? {};
    return [place, { username, password }];
  });
  return dockerConfigSecret(JSON.stringify(Object.fromEntries(auths)), 'dockercfg');
}

/** Returns a Docker configuration as a pull Secret. */
export function dockerConfigSecret(content: string | Uint8Array, format: 'dockercfg' | 'dockerconfigjson'): Secret {
  const data = { [`.${format}`]: Buffer.from(content).toString('base64') };
  return { apiVersion: 'v1', kind: 'Secret', metadata: {}, type: `kubernetes.io/${format}`, data };
}

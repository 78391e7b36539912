/** Simulated image registries: which images exist, and how pulls fail. */
import { createHash } from 'node:crypto';
import { type ImageReference, parseImageReference } from '@kruise/api/core/image-reference';
import { GrpcError, type StatusCode } from '@kruise/client/grpc/status';
import type { AuthConfig } from '../messages.ts';
import { type ImageDefinition, wellKnownImages } from './well-known-images.ts';

/** An image in a registry. */
export type RegistryImage = {
  /** Manifest digest, as in `name@digest`. */
  readonly digest: string;
  /** Configuration digest, the image ID on a node. */
  readonly id: string;
  readonly sizeBytes: number;
  /** User of the image, by number or name; root if absent. */
  readonly user: number | string | undefined;
  /** Undefined for unknown images, whose command is simulated as a server. */
  readonly definition: ImageDefinition | undefined;
};

export type Registry = {
  /** Throws a `GrpcError` with containerd's text if the image does not exist or access is denied. */
  resolve(image: string, auth?: AuthConfig): ResolvedImage;
};

export type ResolvedImage = { readonly reference: ImageReference; readonly image: RegistryImage };

export type RegistryOptions = {
  /** Additional registry hosts that serve every requested image; `*` for all. */
  readonly hosts?: readonly string[];
  /** Additional images, which take precedence over the well-known ones. */
  readonly images?: readonly ImageDefinition[];
};

const hosts = [
  'docker.io',
  'registry.k8s.io',
  'k8s.gcr.io',
  'gcr.io',
  'quay.io',
  'ghcr.io',
  'mcr.microsoft.com',
  'public.ecr.aws',
  'registry.gitlab.com',
];
const hostSuffixes = ['.gcr.io', '.pkg.dev', '.aliyuncs.com', '.amazonaws.com', '.azurecr.io'];
/** Hosts of private networks are assumed to have every image. */
const privateHost = /^localhost(:\d+)?$|\.(local|internal|lan)(:\d+)?$/;
/** Repositories that need credentials in Kubernetes' own tests. */
const privateRepositories = /^gcr\.io\/(authenticated-image-pulling|k8s-authenticated-test)\//;
/** Image names that are chosen to be missing. */
const missing = /(non?-?exist|not-?(exist|found)|no-?such|does-?not|missing|invalid|^404$)/i;
const genericMegabytes = 50;
/** Not root, so that Pods with `runAsNonRoot` can use unknown images. */
const genericUser = 65532;

export function createRegistry({ hosts: moreHosts = [], images = [] }: RegistryOptions = {}): Registry {
  const definitions = new Map<string, ImageDefinition>();
  for (const definition of [...wellKnownImages, ...images]) {
    for (const repository of definition.repositories) definitions.set(repository, definition);
  }

  function resolve(image: string, auth?: AuthConfig): ResolvedImage {
    const parsed = parseImageReference(image);
    if (!parsed)
      throw pullError('UNKNOWN', `failed to parse image reference ${JSON.stringify(image)}: invalid reference format`);
    const reference = parsed.tag === undefined && parsed.digest === undefined ? { ...parsed, tag: 'latest' } : parsed;
    const name = nameOf(reference);
    const fail = (code: StatusCode, reason: string) =>
      pullError(code, `failed to pull and unpack image "${name}": failed to resolve reference "${name}": ${reason}`);
    const { repository, tag } = reference;
    const [host, path] = splitHost(repository);
    if (!isKnownHost(host, moreHosts)) {
      const target = reference.digest ?? tag;
      throw fail(
        'UNKNOWN',
        `failed to do request: Head "https://${host}/v2/${path}/manifests/${target}": dial tcp: lookup ${host}: no such host`,
      );
    }
    const definition = definitions.get(repository);
    const isOfficial = repository.startsWith('docker.io/library/');
    if ((isOfficial && !definition) || missing.test(path)) {
      throw fail(
        'UNKNOWN',
        'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
      );
    }
    if (privateRepositories.test(repository) && !hasCredentials(auth)) {
      throw fail('UNKNOWN', 'failed to authorize: failed to fetch anonymous token: unexpected status: 403 Forbidden');
    }
    if (tag !== undefined && missing.test(tag)) throw fail('NOT_FOUND', `${name}: not found`);
    return { reference, image: imageOf(reference, definition) };
  }

  return { resolve };
}

/** Returns the full name of a reference, under which it is stored on a node. */
export function nameOf({ repository, tag, digest }: ImageReference): string {
  return digest === undefined ? `${repository}:${tag ?? 'latest'}` : `${repository}@${digest}`;
}

function imageOf({ repository, tag, digest }: ImageReference, definition: ImageDefinition | undefined): RegistryImage {
  // Tags of the same image share the name of the first one; the same image in two repositories shares its digest.
  const tagName =
    tag === undefined ? undefined : (definition?.sameTags?.find((tags) => tags.includes(tag))?.[0] ?? tag);
  const ownDigest = digest ?? sha256(`manifest of ${definition?.repositories[0] ?? repository}:${tagName}`);
  const base = (definition?.megabytes ?? genericMegabytes) * 1e6;
  // Image sizes vary slightly between versions.
  const variation = Number.parseInt(ownDigest.slice(-4), 16) / 0xffff;
  return {
    digest: ownDigest,
    id: sha256(`configuration of ${ownDigest}`),
    sizeBytes: Math.round(base * (0.95 + variation / 10)),
    user: definition === undefined ? genericUser : definition.user,
    definition,
  };
}

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

function splitHost(repository: string): [host: string, path: string] {
  const slash = repository.indexOf('/');
  return [repository.slice(0, slash), repository.slice(slash + 1)];
}

function isKnownHost(host: string, more: readonly string[]): boolean {
  if (host.startsWith('invalid.') || host.endsWith('.invalid')) return false;
  return (
    more.includes('*') ||
    more.includes(host) ||
    hosts.includes(host) ||
    privateHost.test(host) ||
    hostSuffixes.some((suffix) => host.endsWith(suffix))
  );
}

function hasCredentials(auth: AuthConfig | undefined): boolean {
  return Boolean(auth?.password || auth?.auth || auth?.identityToken || auth?.registryToken);
}

function pullError(code: StatusCode, message: string): GrpcError {
  return new GrpcError(code, message, { wasSent: true });
}

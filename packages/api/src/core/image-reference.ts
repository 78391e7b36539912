/** The parts of an image reference: `registry.example.com/team/app:1.2@sha256:…`. */
export type ImageReference = {
  /**
   * The repository with its registry and, for official images of Docker Hub, the `library` folder:
   * `docker.io/library/nginx`.
   */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
};

const hub = 'docker.io';
const maxRepositoryLength = 255;
// The longest repository, tag and digest together are shorter than this.
const maxLength = 1024;

const domainLabel = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const domain = `(?:${domainLabel}(?:\\.${domainLabel})*|\\[(?:[a-fA-F0-9:]+)\\])(?::[0-9]+)?`;
const pathPart = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const whole = new RegExp(
  `^(${domain}/${pathPart}(?:/${pathPart})*)(?::(\\w[\\w.-]{0,127}))?(?:@([A-Za-z0-9_+.-]+:[0-9a-f]{32,}))?$`,
);
const identifier = /^[a-f0-9]{64}$/;
const digestLengths: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
]);

/** Parses an image reference as container runtimes do; undefined if it is invalid. */
export function parseImageReference(image: string): ImageReference | undefined {
  if (image.length > maxLength || identifier.test(image)) return undefined;
  const [, repository, tag, digest] = whole.exec(withRegistry(image)) ?? [];
  if (repository === undefined || repository.length > maxRepositoryLength) return undefined;
  if (digest !== undefined && !isDigest(digest)) return undefined;
  return { repository, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}

/** Returns the tag of an image: `latest` if it has neither tag nor digest, undefined if it has only a digest. */
export function tagOf(image: string): string | undefined {
  const reference = parseImageReference(image);
  return reference && reference.tag === undefined && reference.digest === undefined ? 'latest' : reference?.tag;
}

/**
 * Returns the name and the digest, or else the tag, under which an image is listed. The repository is in the familiar
 * form, which is without the registry for Docker Hub. Undefined if the reference is invalid.
 */
export function nameAndTagOf(image: string): { readonly name: string; readonly tag: string } | undefined {
  const reference = parseImageReference(image);
  if (!reference) return undefined;
  const { repository, tag = 'latest', digest } = reference;
  const name = repository.replace(/^docker\.io\/(?:library\/(?=[^/]+$))?/, '');
  return { name, tag: digest ?? tag };
}

/** Returns the error of an image reference in the words of container tools; undefined if it is valid. */
export function imageReferenceFault(image: string): string | undefined {
  if (parseImageReference(image)) return undefined;
  if (identifier.test(image)) {
    return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`;
  }
  const [path = ''] = remoteNameOf(image).split(':');
  if (path !== path.toLowerCase()) return 'invalid reference format: repository name must be lowercase';
  const [, repository = '', , digest] = whole.exec(withRegistry(image)) ?? [];
  if (repository.length > maxRepositoryLength) {
    return `repository name must not be more than ${maxRepositoryLength} characters`;
  }
  if (digest === undefined) return 'invalid reference format';
  const isKnown = digestLengths.has(digest.slice(0, digest.indexOf(':')));
  return isKnown ? 'invalid checksum digest length' : 'unsupported digest algorithm';
}

/** Returns the part after the registry, if there is one. */
function remoteNameOf(image: string): string {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  return /[.:]/.test(first) || first === 'localhost' ? image.slice(slash + 1) : image;
}

function withRegistry(image: string): string {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  const isRegistry = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  if (slash < 0 || !isRegistry) return `${hub}/${slash < 0 ? 'library/' : ''}${image}`;
  if (first !== hub && first !== `index.${hub}`) return image;
  const rest = image.slice(slash + 1);
  return `${hub}/${rest.includes('/') ? '' : 'library/'}${rest}`;
}

function isDigest(digest: string): boolean {
  const colon = digest.indexOf(':');
  return digestLengths.get(digest.slice(0, colon)) === digest.length - colon - 1;
}

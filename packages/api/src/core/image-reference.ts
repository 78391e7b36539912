/** The parts of an image's name: `registry.example.com/team/app:1.2@sha256:…`. */
export type ImageReference = {
  /** With its registry and, for Docker Hub's own images, their folder: `docker.io/library/nginx`. */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
};

const hub = 'docker.io';
const maxRepositoryLength = 255;
// Beyond the longest repository, tag and digest together no text is a name.
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

/** Reads the name of an image as container runtimes do; undefined where it is none. */
export function parseImageReference(image: string): ImageReference | undefined {
  if (image.length > maxLength || identifier.test(image)) return undefined;
  const [, repository, tag, digest] = whole.exec(withRegistry(image)) ?? [];
  if (repository === undefined || repository.length > maxRepositoryLength) return undefined;
  if (digest !== undefined && !isDigest(digest)) return undefined;
  return { repository, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}

/** The tag an image is pulled by: `latest` where its name has neither tag nor digest, none where it has no tag. */
export function tagOf(image: string): string | undefined {
  const reference = parseImageReference(image);
  return reference && reference.tag === undefined && reference.digest === undefined ? 'latest' : reference?.tag;
}

/**
 * What an image is listed under: its repository as people write it, Docker Hub's without the registry, and its digest, or
 * else its tag. Undefined where it is no name of an image.
 */
export function nameAndTagOf(image: string): { readonly name: string; readonly tag: string } | undefined {
  const reference = parseImageReference(image);
  if (!reference) return undefined;
  const { repository, tag = 'latest', digest } = reference;
  const name = repository.replace(/^docker\.io\/(?:library\/(?=[^/]+$))?/, '');
  return { name, tag: digest ?? tag };
}

/** What is wrong with the name of an image, as container tools say it; nothing where it is one. */
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

/** What comes after the registry, if there is one. */
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

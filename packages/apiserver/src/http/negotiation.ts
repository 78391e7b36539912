import { notAcceptable } from '@kruise/machinery/status';
import { memoize } from '@kruise/values/memoize';
import { unsupportedMediaType } from '../handlers/http-errors.ts';

export type Format = 'json' | 'yaml' | 'protobuf';

/** Negotiated media type of a response. */
export type Media = {
  readonly format: Format;
  /** View: the object itself, or a Table or metadata made from it. */
  readonly view: 'object' | 'table' | 'metadata' | 'metadataList';
  /** Version of the `meta.k8s.io` kinds of the view. */
  readonly viewVersion: 'v1' | 'v1beta1';
  readonly pretty: boolean;
};

export const mediaTypes: { readonly [F in Format]: string } = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

/** Clause of an Accept header. */
type Clause = { readonly type: string; readonly parameters: ReadonlyMap<string, string>; readonly quality: number };

/**
 * Parses an Accept header; clauses are sorted by quality. The result is memoized, because clients send the same few
 * headers.
 */
export const parseAccept = memoize(clausesOf, { maxLength: 512 });

function clausesOf(header: string): readonly Clause[] {
  const clauses = header.split(',').flatMap((text) => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim());
    if (type === '') return [];
    const parameters = new Map(
      rest.map((part) => {
        const [name = '', value = ''] = part.split('=').map((side) => side.trim());
        return [name.toLowerCase(), value.replace(/^"|"$/g, '')] as const;
      }),
    );
    const quality = parameters.has('q') ? Number(parameters.get('q')) : 1;
    return [{ type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 0 : quality }];
  });
  return clauses.sort((a, b) => b.quality - a.quality);
}

const views = { Table: 'table', PartialObjectMetadata: 'metadata', PartialObjectMetadataList: 'metadataList' } as const;

/** Supported media types and views of an endpoint. */
export type Offer = {
  readonly formats: readonly Format[];
  /** Supported views. */
  readonly views: readonly Media['view'][];
};

export const builtinOffer: Offer = {
  formats: ['json', 'yaml', 'protobuf'],
  views: ['object', 'table', 'metadata', 'metadataList'],
};

/**
 * Rejects a request that accepts no available media type. Routes of built-in resources check this before the full
 * negotiation, and do not support `application/*`.
 */
export function checkForm(accept: string | undefined, available: readonly string[]): void {
  if (accept === undefined || accept === '') return;
  for (const clause of accept.split(',')) {
    const end = clause.indexOf(';');
    const type = (end < 0 ? clause : clause.slice(0, end)).trim();
    if (type === '*/*' || available.includes(type)) return;
  }
  throw unsupportedMediaType(available);
}

const watchTypes = [`${mediaTypes.json};stream=watch`, `${mediaTypes.protobuf};stream=watch`];

/** Rejects a watch in a format that cannot be streamed. */
export function checkStream({ format }: Media): void {
  if (format !== 'yaml') return;
  throw notAcceptable(`only the following media types are accepted: ${watchTypes.join(', ')}`);
}

/** Media types of the routes of built-in resources. */
export const routeTypes: readonly string[] = Object.values(mediaTypes);
/** Media types of routes that also support watches. */
export const listRouteTypes: readonly string[] = [...routeTypes, ...watchTypes];

/** Negotiates the response media type from the Accept header. */
export function negotiate(accept: string, offer: Offer, pretty: boolean): Media {
  const clauses =
    accept.trim() === '' ? [{ type: '*/*', parameters: new Map<string, string>(), quality: 1 }] : parseAccept(accept);
  for (const clause of clauses) {
    const media = selectMedia(clause, offer, pretty);
    if (media) return media;
  }
  throw notAcceptable(
    `only the following media types are accepted: ${offer.formats.map((format) => mediaTypes[format]).join(', ')}`,
  );
}

function selectMedia({ type, parameters }: Clause, offer: Offer, pretty: boolean): Media | undefined {
  const as = parameters.get('as');
  let view: Media['view'] = 'object';
  let viewVersion: Media['viewVersion'] = 'v1';
  if (as !== undefined) {
    const known = Object.hasOwn(views, as) ? views[as as keyof typeof views] : undefined;
    if (!known || parameters.get('g') !== 'meta.k8s.io' || !offer.views.includes(known)) return undefined;
    const version = parameters.get('v');
    if (version !== 'v1' && version !== 'v1beta1') return undefined;
    view = known;
    viewVersion = version;
  }
  const format = formatOf(type, offer, view);
  if (!format) return undefined;
  const asked = parameters.get('pretty');
  return { format, view, viewVersion, pretty: asked === undefined ? pretty : asked === '1' || asked === 'true' };
}

function formatOf(type: string, offer: Offer, view: Media['view']): Format | undefined {
  const allowed = offer.formats.filter((format) => format !== 'protobuf' || view !== 'table');
  if (type === '*/*' || type === 'application/*') return allowed[0];
  return allowed.find((format) => mediaTypes[format] === type);
}

/** Returns the media type of an error: a plain object, in JSON if nothing else is accepted. */
export function errorMedia(accept: string | undefined, pretty: boolean): Media {
  for (const clause of parseAccept(accept ?? '')) {
    const media = clause.parameters.has('as') ? undefined : selectMedia(clause, builtinOffer, pretty);
    if (media) return media;
  }
  return { format: 'json', view: 'object', viewVersion: 'v1', pretty };
}

/** Reports whether to indent the response: on request, or for interactive clients such as curl and browsers. */
export function wantsPretty(query: URLSearchParams, userAgent: string): boolean {
  const asked = query.get('pretty');
  if (asked !== null) return asked !== 'false' && asked !== '0';
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}

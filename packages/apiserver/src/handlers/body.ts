import { badRequest, unsupportedMediaType } from '@kruise/machinery/status';
import { type Codec, DecodeError } from '@kruise/schema/codec';
import { JsonSyntaxError } from '@kruise/schema/json-text';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { decodeEnvelope, ProtobufError } from '@kruise/schema/protobuf-envelope';
import { parseYaml, parseYamlText, YamlError } from '@kruise/schema/yaml-text';
import type { RequestContext } from '../context.ts';
import type { Decoded, Serializer } from '../resource.ts';
import type { FieldValidation } from './write-options.ts';

/** What a request carries: bytes from a socket, or a value from a caller in the same process. */
export type Body =
  | { readonly type: 'bytes'; readonly contentType: string; readonly bytes: Uint8Array }
  | { readonly type: 'value'; readonly value: unknown; readonly contentType?: string };

/** The media type of a Content-Type header, without its parameters; JSON where nothing is said. */
export function mediaType(contentType: string): string {
  return contentType.split(';')[0]!.trim().toLowerCase() || 'application/json';
}

/** The kind an endpoint takes, and how it is read. */
export type Expected = {
  readonly kind: Pick<Kind, 'group' | 'version' | 'kind'>;
  readonly serializer: Serializer;
};

/** The object of a body; a fresh one each time it is called. */
export function decodeBody(
  context: RequestContext,
  expected: Expected,
  body: Body,
  validation: FieldValidation,
): Decoded['draft'] {
  const decoded = reading(expected, () => decode(expected, body));
  settleStrictErrors(context, expected, decoded, validation);
  return decoded.draft;
}

function decode({ kind, serializer }: Expected, body: Body): Decoded {
  if (body.type === 'value') return checked(kind, serializer.decodeValue(body.value));
  switch (mediaType(body.contentType)) {
    case 'application/json':
      return checked(kind, serializer.decodeText(body.bytes));
    case 'application/yaml': {
      const { value, duplicates } = parseYamlText(body.bytes);
      const { draft, strictErrors } = checked(kind, serializer.decodeValue(value));
      return { draft, strictErrors: [...duplicates, ...strictErrors] };
    }
    case 'application/vnd.kubernetes.protobuf': {
      if (!serializer.protobuf) break;
      const { apiVersion, kind: named, raw } = decodeEnvelope(body.bytes);
      checkKind(kind, apiVersion, named);
      return checked(kind, { draft: serializer.protobuf.decode(raw), strictErrors: [] });
    }
  }
  throw unsupportedMediaType([
    'application/json',
    'application/yaml',
    ...(serializer.protobuf ? ['application/vnd.kubernetes.protobuf'] : []),
  ]);
}

/** The options in the body of a DELETE; nothing if the body is empty. */
export function decodeOptions(body: Body, codec: Codec): unknown {
  if (body.type === 'value') return body.value;
  if (body.bytes.length === 0) return undefined;
  return reading({ kind: { group: '', version: 'v1', kind: 'DeleteOptions' } }, () => {
    switch (mediaType(body.contentType)) {
      case 'application/vnd.kubernetes.protobuf':
        return codec.fromProtobuf(decodeEnvelope(body.bytes).raw);
      case 'application/yaml':
        return codec.fromJson(parseYaml(body.bytes));
      default:
        return codec.decode(body.bytes).object;
    }
  });
}

function checked(kind: Expected['kind'], decoded: Decoded): Decoded {
  const { draft } = decoded;
  checkKind(kind, draft.apiVersion ?? '', draft.kind ?? '');
  draft.apiVersion = apiVersionOf(kind);
  draft.kind = kind.kind;
  return decoded;
}

/** A body may leave out what kind it is, but not be of another. */
function checkKind(expected: Expected['kind'], apiVersion: string, kind: string): void {
  const wanted = apiVersionOf(expected);
  if (kind !== '' && kind !== expected.kind) {
    const version = apiVersion === '' ? wanted : apiVersion;
    throw badRequest(
      `${kind} in version ${JSON.stringify(version.split('/').at(-1))} cannot be handled as a ${expected.kind}: converting (${kind}) to (${expected.kind}): unknown conversion`,
    );
  }
  if (apiVersion !== '' && apiVersion !== wanted) {
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`);
  }
}

function reading<T>({ kind }: Pick<Expected, 'kind'>, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (
      error instanceof DecodeError ||
      error instanceof JsonSyntaxError ||
      error instanceof YamlError ||
      error instanceof ProtobufError
    ) {
      throw badRequest(handledAs(kind, error.message));
    }
    throw error;
  }
}

function handledAs({ kind, version }: Expected['kind'], why: string): string {
  return `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${why}`;
}

function settleStrictErrors(
  context: RequestContext,
  { kind }: Expected,
  { strictErrors }: Decoded,
  validation: FieldValidation,
): void {
  if (strictErrors.length === 0 || validation === 'Ignore') return;
  if (validation === 'Strict') {
    throw badRequest(handledAs(kind, `strict decoding error: ${strictErrors.join(', ')}`));
  }
  for (const error of strictErrors) context.warnings.add(error);
}

import { builtinKinds } from '@kruise/api/builtin';
import { badRequest, unclassified, unsupportedMediaType } from '@kruise/machinery/status';
import { type Codec, DecodeError } from '@kruise/schema/codec';
import { JsonSyntaxError } from '@kruise/schema/json-text';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { decodeEnvelope, ProtobufError } from '@kruise/schema/protobuf-envelope';
import { parseYaml, parseYamlText, YamlError } from '@kruise/schema/yaml-text';
import type { RequestContext } from '../context.ts';
import type { Decoded, Serializer } from '../resource.ts';
import type { FieldValidation } from './write-options.ts';

/** Request body: bytes from a socket, or a value from an in-process caller. */
export type Body =
  | { readonly type: 'bytes'; readonly contentType: string; readonly bytes: Uint8Array }
  | { readonly type: 'value'; readonly value: unknown; readonly contentType?: string };

/** Returns the media type of a Content-Type header without parameters; JSON if the header is empty. */
export function mediaType(contentType: string): string {
  return contentType.split(';')[0]!.trim().toLowerCase() || 'application/json';
}

/** Kind that an endpoint accepts, and its serializer. */
export type Expected = {
  readonly kind: Pick<Kind, 'group' | 'version' | 'kind'>;
  readonly serializer: Serializer;
};

/** Decodes the object of a body; every call returns a new object. */
export function decodeBody(
  context: RequestContext,
  expected: Expected,
  body: Body,
  validation: FieldValidation,
): Decoded['draft'] {
  const decoded = rejectUnreadable(expected, body, () => decode(expected, body));
  settleStrictErrors(context, expected, decoded, validation);
  return decoded.draft;
}

function decode(expected: Expected, body: Body): Decoded {
  const { serializer } = expected;
  if (body.type === 'value') return checked(expected, serializer.decodeValue(body.value));
  switch (mediaType(body.contentType)) {
    case 'application/json':
      return checked(expected, serializer.decodeText(body.bytes));
    case 'application/yaml': {
      const { value, duplicates } = parseYamlText(body.bytes);
      const { draft, strictErrors } = checked(expected, serializer.decodeValue(value));
      return { draft, strictErrors: [...duplicates, ...strictErrors] };
    }
    case 'application/vnd.kubernetes.protobuf': {
      if (!serializer.protobuf) break;
      const { apiVersion, kind: named, raw } = decodeEnvelope(body.bytes);
      checkKind(expected, apiVersion, named);
      return checked(expected, { draft: serializer.protobuf.decode(raw), strictErrors: [] });
    }
  }
  throw unsupportedMediaType([
    'application/json',
    'application/yaml',
    ...(serializer.protobuf ? ['application/vnd.kubernetes.protobuf'] : []),
  ]);
}

/** Decodes the DeleteOptions in the body of a DELETE; undefined if the body is empty. */
export function decodeOptions(body: Body, codec: Codec): unknown {
  if (body.type === 'value') return body.value;
  if (body.bytes.length === 0) return undefined;
  try {
    const options = readOptions(body, codec) as { readonly apiVersion?: string; readonly kind?: string };
    const { apiVersion = 'v1', kind = 'DeleteOptions' } = options;
    // DeleteOptions exist in every group; unknown groups are accepted as well.
    if (kind !== 'DeleteOptions') throw unclassified(notRegistered(apiVersion, kind));
    return options;
  } catch (error) {
    const why = unrecognizedReason(error);
    if (why !== undefined) throw unclassified(why);
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}

function readOptions({ contentType, bytes }: Extract<Body, { type: 'bytes' }>, codec: Codec): unknown {
  switch (mediaType(contentType)) {
    case 'application/vnd.kubernetes.protobuf':
      return codec.fromProtobuf(decodeEnvelope(bytes).raw);
    case 'application/yaml':
      return codec.fromJson(parseYaml(bytes));
    default:
      return codec.decode(bytes).object;
  }
}

function checked(expected: Expected, decoded: Decoded): Decoded {
  const { draft } = decoded;
  const { kind } = expected;
  checkKind(expected, draft.apiVersion ?? '', draft.kind ?? '');
  draft.apiVersion = apiVersionOf(kind);
  draft.kind = kind.kind;
  return decoded;
}

/** Validates the kind of a body: it may be absent, but must not differ. */
function checkKind({ kind: expected, serializer }: Expected, apiVersion: string, kind: string): void {
  const wanted = apiVersionOf(expected);
  const [named, version] = [kind === '' ? expected.kind : kind, apiVersion === '' ? wanted : apiVersion];
  if (named === expected.kind && version === wanted) return;
  if (serializer.protobuf) {
    if (version.split('/').length > 2) throw new Unrecognized(`unexpected GroupVersion string: ${version}`);
    const last = JSON.stringify(version.split('/').at(-1));
    const why = isBuiltin(version, named)
      ? `converting (${goType(version, named)}) to (${internalType(expected)}): unknown conversion`
      : notRegistered(version, named);
    throw badRequest(`${named} in version ${last} cannot be handled as a ${expected.kind}: ${why}`);
  }
  if (named !== expected.kind) {
    const last = JSON.stringify(version.split('/').at(-1));
    throw badRequest(
      `${named} in version ${last} cannot be handled as a ${expected.kind}: converting (${named}) to (${expected.kind}): unknown conversion`,
    );
  }
  throw badRequest(`the API version in the data (${version}) does not match the expected API version (${wanted})`);
}

/** Returns Kubernetes' error for an unregistered kind, including the source location. */
function notRegistered(apiVersion: string, kind: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:110"`;
}

const builtin: ReadonlySet<string> = new Set(
  builtinKinds.flatMap((each) => [each.kind, each.listKind].map((kind) => `${apiVersionOf(each)} ${kind}`)),
);

/** Kinds of requests and responses that exist in every version. */
const messageKinds: ReadonlySet<string> = new Set([
  'Status',
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
]);

function isBuiltin(apiVersion: string, kind: string): boolean {
  return builtin.has(`${apiVersion} ${kind}`) || (apiVersion === 'v1' && messageKinds.has(kind));
}

function goType(apiVersion: string, kind: string): string {
  return `${apiVersion.split('/').at(-1)}.${kind}`;
}

function internalType({ group, kind }: Expected['kind']): string {
  return `${group === '' ? 'core' : group.split('.')[0]}.${kind}`;
}

/** Error: a body does not name its kind. */
class Unrecognized extends Error {
  override readonly name = 'Unrecognized';
}

const typeMeta =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
/** Matches the error of a text that is not an object. */
const wrongRoot = /^json: cannot unmarshal (\w+) into Go value of type \S+$/;

/** Matches the error of an object whose apiVersion or kind is not a string. */
const wrongTypeMeta = /^(json: cannot unmarshal \w+ into Go struct field) \w+\.(apiVersion|kind) of type string$/;

/** Returns the error if the kind of a body cannot be read. */
function unrecognizedReason(error: unknown): string | undefined {
  if (error instanceof Unrecognized || error instanceof YamlError || error instanceof ProtobufError) {
    return error.message;
  }
  const found = "couldn't get version/kind; json parse error";
  if (error instanceof JsonSyntaxError) return `${found}: ${error.message}`;
  if (!(error instanceof DecodeError)) return undefined;
  const [, what, field] = wrongTypeMeta.exec(error.message) ?? [];
  if (field !== undefined) return `${found}: ${what} .${field} of type string`;
  const [, type] = wrongRoot.exec(error.message) ?? [];
  return type === undefined ? undefined : `${found}: json: cannot unmarshal ${type} into Go value of type ${typeMeta}`;
}

const shownBytes = 30;

/** Returns the beginning of a body: as text if it looks like JSON, else in hexadecimal. */
function summaryOf(body: Body): string {
  if (body.type === 'value') return '<value>';
  const { bytes } = body;
  if (bytes.length === 0) return '<empty>';
  const shown = Buffer.from(bytes.subarray(0, shownBytes)).toString(bytes[0] === 0x7b ? 'utf8' : 'hex');
  return bytes.length > shownBytes ? `${shown} ...` : shown;
}

function rejectUnreadable<T>({ kind, serializer }: Expected, body: Body, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const why = serializer.protobuf && unrecognizedReason(error);
    if (why !== undefined) {
      throw badRequest(
        `the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${summaryOf(body)})`,
      );
    }
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

import { codecOf, type Known } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Kind } from '@kruise/schema/kind';
import type { KubeObject } from '../object.ts';
import type { Serializer } from '../resource.ts';
import type { Rules } from './rules.ts';

/** Creates the serializer of a built-in kind from its schema, with defaulting. */
export function serializerOf(kind: Kind, rules: Rules): Serializer {
  const codec = codecOf(kind.root);
  const decoded = (object: unknown, strictErrors: readonly string[], known?: Known) => {
    const draft = object as Draft<KubeObject>;
    draft.metadata ??= {};
    // Stored parts already have their defaults, and must not be mutated.
    const { spec, status } = draft;
    const isKept = (part: unknown) => part !== undefined && known?.has(part);
    if (isKept(spec)) draft['spec'] = undefined;
    if (isKept(status)) draft['status'] = undefined;
    rules.default?.(draft);
    if (isKept(spec)) draft['spec'] = spec;
    if (isKept(status)) draft['status'] = status;
    return { draft, strictErrors };
  };
  const decodeValue: Serializer['decodeValue'] = (value, kept) => {
    const known = rules.defaultsWhole ? undefined : kept;
    const strictErrors: string[] = [];
    const object = codec.fromJson(value, {
      onUnknown: (path) => strictErrors.push(`unknown field ${JSON.stringify(path)}`),
      known,
    });
    return decoded(object, strictErrors, known);
  };
  return {
    decodeText(text) {
      const { object, strictErrors } = codec.decode(text);
      return decoded(object, strictErrors);
    },
    decodeValue,
    decodeMutated: (value) => decodeValue(value).draft,
    canonical: (object, known) => codec.stored(object, known) as KubeObject,
    toJson: (object) => codec.toJson(object),
    protobuf: {
      decode(bytes) {
        const object = codec.fromProtobuf(bytes) as Draft<KubeObject>;
        return decoded(object, []).draft;
      },
      encode: (object) => codec.toProtobuf(object),
    },
  };
}

import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Kind } from '@kruise/schema/kind';
import type { KubeObject } from '../object.ts';
import type { Serializer } from '../resource.ts';
import type { Rules } from './rules.ts';

/** Reads and writes objects of a built-in kind by its schema, with its defaults. */
export function serializerOf(kind: Kind, rules: Rules): Serializer {
  const codec = codecOf(kind.root);
  const decoded = (object: unknown, strictErrors: readonly string[]) => {
    const draft = object as Draft<KubeObject>;
    draft.metadata ??= {};
    rules.default?.(draft);
    return { draft, strictErrors };
  };
  const decodeValue: Serializer['decodeValue'] = (value) => {
    const strictErrors: string[] = [];
    const object = codec.fromJson(value, {
      onUnknown: (path) => strictErrors.push(`unknown field ${JSON.stringify(path)}`),
    });
    return decoded(object, strictErrors);
  };
  return {
    decodeText(text) {
      const { object, strictErrors } = codec.decode(text);
      return decoded(object, strictErrors);
    },
    decodeValue,
    decodeMutated: (value) => decodeValue(value).draft,
    canonical: (object) => codec.stored(object) as KubeObject,
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

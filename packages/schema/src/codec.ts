/**
 * What turns the bytes of a built-in kind into its object and back, as Kubernetes' Go types do. A codec is compiled
 * from the kind's schema, piece by piece as the pieces are first met.
 */
import { ParseError } from '@kruise/values/parse-error';
import { type Canonicalize, canonicalizerOf, type Known, mismatch, type Walk } from './codec/canonical.ts';
import { type Decoded, decodeAsGo, strictErrorText } from './codec/go-decoder.ts';
import { writeJson } from './codec/json-writer.ts';
import { messageCodecOf } from './codec/protobuf.ts';
import { ProtobufReader } from './codec/protobuf-reader.ts';
import { ProtobufWriter } from './codec/protobuf-writer.ts';
import { readJsonDocument } from './json-document.ts';
import { countMembers, scanJson } from './json-text.ts';
import type { ObjectNode, Typed } from './language.ts';

export type { Known } from './codec/canonical.ts';
export { WrittenList } from './codec/protobuf.ts';

/** The value cannot be decoded into the kind. The message is the one Go gives. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** What decoding a text gives: the object, and what strict decoding holds against the text, in its order. */
export type DecodedText<T> = {
  readonly object: T;
  /** `unknown field "spec.foo"`, `duplicate field "spec.bar"`. */
  readonly strictErrors: readonly string[];
};

/** Reads and writes the objects of one schema. */
export type Codec<T = unknown> = {
  /**
   * Decodes JSON text. Unlike `fromJson` it sees what a parsed value has lost: repeated keys, and `1.0` where an
   * integer belongs. Throws `JsonSyntaxError` or `DecodeError`.
   */
  decode(text: Uint8Array | string): DecodedText<T>;
  /**
   * The canonical object of a parsed JSON value, in objects and lists of its own, which the caller may change, except
   * for those known to be canonical. Unknown fields are dropped, and reported by path. Throws `DecodeError`.
   */
  fromJson(
    value: unknown,
    options?: { readonly onUnknown?: (path: string) => void; readonly known?: Known | undefined },
  ): T;
  /** The canonical form of an object that code has made or changed: the object itself if it is canonical. */
  canonical(object: T): T;
  /** The same of an object that has been stored: an empty list that is always written has become null. */
  stored(object: T, known?: Known): T;
  /** The JSON text of a canonical object, to the byte as Go writes it. */
  toJson(object: T): string;
  /** The protobuf message of a canonical object, to the byte as Go writes it; without an envelope. */
  toProtobuf(object: T): Uint8Array;
  /**
   * The bytes of one list in the message of its object. Those of its parts, one after the other, are those of the
   * whole; wrapped as a `WrittenList` they may stand in place of the list.
   */
  listToProtobuf(field: string, list: readonly unknown[]): Uint8Array;
  /** The canonical object of a protobuf message without an envelope. Throws `ProtobufError`. */
  fromProtobuf(bytes: Uint8Array): T;
};

// Writing never pauses, so one buffer serves all.
const writer = new ProtobufWriter();

const codecs = new WeakMap<ObjectNode, Codec>();

/** The codec of an object's schema; the same one each time. */
export function codecOf<T>(node: ObjectNode & Typed<T>): Codec<T> {
  let codec = codecs.get(node);
  if (!codec) {
    codec = makeCodec(node);
    codecs.set(node, codec);
  }
  // The schema carries the static type of its objects.
  return codec as Codec<T>;
}

function makeCodec(node: ObjectNode): Codec {
  const canonicalize = canonicalizerOf(node);
  const message = messageCodecOf(node);

  return {
    decode(text) {
      const { bytes, value, survey } = scanJson(text);
      // A fraction may be a misspelt integer, or a quantity, whose spelling counts.
      const isPlain = !survey.hasFraction && !survey.hasLongNumber && !survey.hasSurrogate;
      const walk: Walk = { isFresh: false, sawUnknown: false };
      if (isPlain && countMembers(value) === survey.memberCount) {
        const object = attempt(canonicalize, value, walk);
        if (object !== undefined && !walk.sawUnknown) return { object, strictErrors: [] };
      }
      const exact = decodeAsGo(node, readJsonDocument(bytes));
      return { object: settle(exact), strictErrors: exact.strictErrors.map(strictErrorText) };
    },

    fromJson(value, { onUnknown, known } = {}) {
      const walk: Walk = { isFresh: true, known, sawUnknown: false };
      const object = attempt(canonicalize, value, walk) ?? settle(decodeAsGo(node, value));
      if (walk.sawUnknown && onUnknown) {
        for (const { path } of decodeAsGo(node, value).strictErrors) onUnknown(path);
      }
      return object;
    },

    canonical(object) {
      return canonicalize(object, { isFresh: false, sawUnknown: false });
    },

    stored(object, known) {
      return canonicalize(object, { isFresh: false, isStored: true, known, sawUnknown: false });
    },

    toJson(object) {
      return writeJson(node, object);
    },

    toProtobuf(object) {
      writer.reset();
      message.write(writer, object);
      return writer.take();
    },

    listToProtobuf(field, list) {
      writer.reset();
      message.writeField(writer, field, list);
      return writer.take();
    },

    fromProtobuf(bytes) {
      const reader = new ProtobufReader(bytes);
      const object = message.read(reader, bytes.length);
      return reader.sawUnsortedMap ? canonicalize(object, { isFresh: false, sawUnknown: false }) : object;
    },
  };

  function settle({ value, error }: Decoded): unknown {
    if (error !== undefined) throw new DecodeError(error);
    return canonicalize(value ?? {}, { isFresh: false, sawUnknown: false });
  }
}

/** The canonical object, or undefined where a value is not what it must be. */
function attempt(canonicalize: Canonicalize, value: unknown, walk: Walk): unknown {
  try {
    return canonicalize(value, walk);
  } catch (error) {
    if (error === mismatch || error instanceof ParseError) return undefined;
    throw error;
  }
}

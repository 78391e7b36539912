/**
 * Codecs of built-in kinds: convert bytes to objects and back, as Kubernetes' Go types do. A codec is compiled from the
 * schema of the kind; each part is compiled on first use.
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

/** Thrown if a value cannot be decoded into the kind. The message is Go's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** Result of decoding a text: the object, and the errors of strict decoding in the order of the text. */
export type DecodedText<T> = {
  readonly object: T;
  /** `unknown field "spec.foo"`, `duplicate field "spec.bar"`. */
  readonly strictErrors: readonly string[];
};

/** Codec of the objects of one schema. */
export type Codec<T = unknown> = {
  /**
   * Decodes JSON text. Unlike `fromJson` it sees what a parsed value has lost: duplicate keys, and `1.0` in place of an
   * integer. Throws `JsonSyntaxError` or `DecodeError`.
   */
  decode(text: Uint8Array | string): DecodedText<T>;
  /**
   * Returns the canonical object of a parsed JSON value. Its objects and lists are new and may be mutated, except for
   * those in `known`. Unknown fields are dropped and reported by path. Throws `DecodeError`.
   */
  fromJson(
    value: unknown,
    options?: { readonly onUnknown?: (path: string) => void; readonly known?: Known | undefined },
  ): T;
  /** Returns the canonical form of an object that code has created or changed: the object itself if it is canonical. */
  canonical(object: T): T;
  /** Returns the canonical form of a stored object: an empty list that is always written has become null. */
  stored(object: T, known?: Known): T;
  /** Returns the JSON text of a canonical object, byte for byte as Go writes it. */
  toJson(object: T): string;
  /** Returns the protobuf message of a canonical object, byte for byte as Go writes it, without an envelope. */
  toProtobuf(object: T): Uint8Array;
  /**
   * Returns the bytes of one list in the message of its object. The concatenated bytes of its parts equal those of the
   * whole list; wrapped as a `WrittenList` they can replace the list.
   */
  listToProtobuf(field: string, list: readonly unknown[]): Uint8Array;
  /** Returns the canonical object of a protobuf message without an envelope. Throws `ProtobufError`. */
  fromProtobuf(bytes: Uint8Array): T;
};

// Writing is synchronous, so all codecs share one buffer.
const writer = new ProtobufWriter();

const codecs = new WeakMap<ObjectNode, Codec>();

/**
 * Returns the codec of an object's schema. Memoized.
 *
 * ```ts
 * const pods = codecOf<Pod>(pod.root);
 * const { object } = pods.decode('{"metadata":{"name":"web-0"}}');
 * ```
 */
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
      const { bytes, value, scan } = scanJson(text);
      // A fraction may be a misspelled integer, or a quantity, whose spelling matters.
      const isPlain = !scan.hasFraction && !scan.hasLongNumber && !scan.hasSurrogate;
      const walk: Walk = { isFresh: false, sawUnknown: false };
      if (isPlain && countMembers(value) === scan.memberCount) {
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

/** Returns the canonical object, or undefined if a value does not match the schema. */
function attempt(canonicalize: Canonicalize, value: unknown, walk: Walk): unknown {
  try {
    return canonicalize(value, walk);
  } catch (error) {
    if (error === mismatch || error instanceof ParseError) return undefined;
    throw error;
  }
}

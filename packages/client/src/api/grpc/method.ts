import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';

/** A gRPC method: its path and the encoding of its messages. */
export type Method<Request, Response> = {
  readonly path: string;
  encode(request: Request): Uint8Array;
  decode(bytes: Uint8Array): Response;
};

/**
 * Returns the method of a generated service descriptor. Requests may be plain objects; omitted fields are unset.
 *
 * ```ts
 * const version = await channel.unary(methodOf(RuntimeService.method.version), {}, { timeoutMs: 1000 });
 * ```
 */
export function methodOf<Input extends DescMessage, Output extends DescMessage>(
  description: DescMethod & { readonly input: Input; readonly output: Output },
): Method<MessageInitShape<Input>, MessageShape<Output>> {
  const { input, output, parent, name } = description;
  return {
    path: `/${parent.typeName}/${name}`,
    encode: (request) => toBinary(input, create(input, request)),
    // Unknown fields of newer servers are dropped to save memory.
    decode: (bytes) => fromBinary(output, bytes, { readUnknownFields: false }),
  };
}

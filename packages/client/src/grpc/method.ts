import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';

/** One method of a service: where it is called, and how its messages become bytes. */
export type Method<Request, Response> = {
  readonly path: string;
  encode(request: Request): Uint8Array;
  decode(bytes: Uint8Array): Response;
};

/** The method a generated service description describes. Requests may be plain objects; fields left out are unset. */
export function methodOf<Input extends DescMessage, Output extends DescMessage>(
  description: DescMethod & { readonly input: Input; readonly output: Output },
): Method<MessageInitShape<Input>, MessageShape<Output>> {
  const { input, output, parent, name } = description;
  return {
    path: `/${parent.typeName}/${name}`,
    encode: (request) => toBinary(input, create(input, request)),
    // Fields of newer servers are of no use, and keeping them costs memory.
    decode: (bytes) => fromBinary(output, bytes, { readUnknownFields: false }),
  };
}

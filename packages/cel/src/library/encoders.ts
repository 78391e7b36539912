/** Base64 functions. Kubernetes does not include them. */
import { overload } from '../functions.ts';
import type { Library } from '../library.ts';
import { bytesType, stringType } from '../types.ts';
import { EvaluationError } from '../values.ts';

/** Padding may be omitted, but must be correct if present. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** The base64 library. */
export const encodersLibrary: Library = {
  functions: [
    {
      name: 'base64.decode',
      overloads: [
        overload('base64_decode_string', [stringType], bytesType, (text) =>
          base64.test(text as string)
            ? Uint8Array.from(Buffer.from(text as string, 'base64'))
            : new EvaluationError('illegal base64 data'),
        ),
      ],
    },
    {
      name: 'base64.encode',
      overloads: [
        overload('base64_encode_bytes', [bytesType], stringType, (bytes) =>
          Buffer.from(bytes as Uint8Array).toString('base64'),
        ),
      ],
    },
  ],
};

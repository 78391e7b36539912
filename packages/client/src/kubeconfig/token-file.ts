import { readFileSync } from 'node:fs';
import type { Clock } from '@kruise/values/clock';
import { bearer, type Credentials } from '../credentials.ts';
import type { ClientCertificate } from '../http/dial.ts';

/** A file is looked at again after this time: tokens are renewed well before they expire. */
const rereadMs = 60_000;

/** A token in a file that someone else keeps fresh, as a kubelet does for each Pod. */
export function tokenFile(
  path: string,
  clock: Clock,
  options: { readonly certificate?: ClientCertificate; readonly fallback?: string | undefined } = {},
): Credentials {
  const shown = options.certificate ? { certificate: options.certificate } : {};
  let token = options.fallback;
  let readAt = Number.NEGATIVE_INFINITY;

  function read(): string {
    try {
      const found = readFileSync(path, 'utf8').trim();
      if (found === '') throw new Error(`${path} is empty`);
      token = found;
    } catch (error) {
      // A file that cannot be read for once, as while it is being replaced, does not make a good token bad.
      if (token === undefined) throw new Error(`there is no token in ${path}`, { cause: error });
    }
    readAt = clock.now();
    return token;
  }

  return {
    current() {
      const fresh = token !== undefined && clock.now() - readAt < rereadMs;
      return { ...shown, authorization: bearer(fresh ? token! : read()) };
    },
    refused({ authorization }) {
      return bearer(read()) !== authorization;
    },
  };
}

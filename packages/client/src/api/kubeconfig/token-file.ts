import { readFileSync } from 'node:fs';
import type { Clock } from '@kruise/values/clock';
import { bearerAuthorization, type Credentials } from '../credentials.ts';
import type { ClientCertificate } from '../http/dial.ts';

/** Interval at which the file is read again: tokens are rotated well before they expire. */
const rereadMs = 60_000;

/** Returns credentials from a token file that is rotated externally, for example by the kubelet. */
export function tokenFile(
  path: string,
  clock: Clock,
  options: { readonly certificate?: ClientCertificate; readonly fallback?: string | undefined } = {},
): Credentials {
  const certificate = options.certificate ? { certificate: options.certificate } : {};
  let token = options.fallback;
  let readAt = Number.NEGATIVE_INFINITY;

  function read(): string {
    try {
      const found = readFileSync(path, 'utf8').trim();
      if (found === '') throw new Error(`${path} is empty`);
      token = found;
    } catch (error) {
      // A read error, for example while the file is being replaced, does not invalidate the current token.
      if (token === undefined) throw new Error(`failed to read a token from ${path}`, { cause: error });
    }
    readAt = clock.now();
    return token;
  }

  return {
    current() {
      const fresh = token !== undefined && clock.now() - readAt < rereadMs;
      return { ...certificate, authorization: bearerAuthorization(fresh ? token! : read()) };
    },
    rejected({ authorization }) {
      return bearerAuthorization(read()) !== authorization;
    },
  };
}

import { badRequest } from '@kruise/machinery/status';
import { JsonSyntaxError, parseJson } from '@kruise/schema/json-text';

/** Continue token of a paginated list: the start key, and the revision of all pages. */
export type ContinueToken = {
  /** Revision; -1 means the newest, for clients that accept inconsistent pages. */
  readonly revision: number;
  /** First key of the next page, relative to the prefix of the list. */
  readonly start: string;
};

const tokenVersion = 'meta.k8s.io/v1';

export function encodeContinueToken({ revision, start }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv: revision, start })).toString('base64url');
}

export function decodeContinueToken(text: string): ContinueToken {
  const refuse = (why: string) => badRequest(`invalid continue token: continue key is not valid: ${why}`);
  const illegal = text.search(/[^A-Za-z0-9_-]/);
  if (illegal >= 0) throw refuse(`illegal base64 data at input byte ${illegal}`);
  if (text.length % 4 === 1) throw refuse(`illegal base64 data at input byte ${text.length - 1}`);
  let token: { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown } | null;
  try {
    token = parseJson(Buffer.from(text, 'base64url')) as typeof token;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw refuse(error.message);
    throw error;
  }
  if (token?.v !== tokenVersion) throw refuse('server does not recognize this encoded version');
  const { rv, start } = token;
  if (typeof rv !== 'number' || rv === 0) {
    throw refuse('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') throw refuse('encoded start key empty (version meta.k8s.io/v1)');
  // A token that leaves the prefix of its list could expose objects that the client may not read.
  if (start.split('/').some((segment) => segment === '..' || segment === '.')) throw refuse(start);
  return { revision: rv, start };
}

import type { Authentication } from '../authentication/authentication.ts';
import { jsonWebKeys } from '../authentication/jwt.ts';
import type { Headers, HttpRequest } from './http-request.ts';
import { checkForm } from './negotiation.ts';

type OpenIdHandler = (httpRequest: HttpRequest, context: unknown, headers: Headers) => Promise<void>;

const hour = { 'cache-control': 'public, max-age=3600' };

/**
 * Creates the OpenID Connect discovery endpoints (OpenID Connect Discovery 1.0), by path: other parties use them to
 * verify service account tokens.
 */
export function openIdEndpoints(
  { issuerUrl, keys }: Pick<Authentication, 'issuerUrl' | 'keys'>,
  address: () => string,
): ReadonlyMap<string, OpenIdHandler> {
  const endpoint =
    (type: string, contentOf: () => Promise<object>): OpenIdHandler =>
    async (httpRequest, _context, headers) => {
      checkForm(httpRequest.headers.accept, [type]);
      await httpRequest.send(200, { ...headers, ...hour, 'content-type': type }, JSON.stringify(await contentOf()));
    };
  const configuration = async () => ({
    issuer: issuerUrl,
    jwks_uri: `https://${address()}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set((await keys()).map(({ algorithm }) => algorithm))],
  });
  return new Map([
    ['/.well-known/openid-configuration', endpoint('application/json', configuration)],
    ['/openid/v1/jwks', endpoint('application/jwk-set+json', async () => jsonWebKeys(await keys()))],
  ]);
}

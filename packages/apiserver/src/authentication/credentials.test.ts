import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { User } from '../user.ts';
import { anonymousUsers, authenticators, type Credentials } from './authenticator.ts';
import { bearerTokens } from './bearer-tokens.ts';
import { clientCertificates } from './client-certificate.ts';
import { frontProxies } from './front-proxy.ts';
import { impersonate } from './impersonation.ts';
import { staticTokens } from './static-tokens.ts';
import { InvalidToken, tokenAuthenticators } from './token.ts';

type Header = readonly [name: string, value: string];

/** Creates the credentials of a request: headers and, optionally, a verified client certificate. */
function makeCredentials(headers: readonly Header[], certificate?: string, path = '/api'): Credentials {
  const joined: { [name: string]: string } = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    joined[key] = joined[key] === undefined ? value : `${joined[key]}, ${value}`;
  }
  const known = certificate === undefined ? undefined : new X509Certificate(certificate);
  const socket = {
    authorized: known !== undefined,
    getPeerX509Certificate: () => known,
    getPeerCertificate: () => known?.toLegacyObject(),
  };
  return {
    rawPath: path,
    headers: joined as IncomingHttpHeaders,
    rawHeaders: headers.flat(),
    // Authenticators only read the certificate of a socket.
    socket: socket as unknown as Credentials['socket'],
  };
}

const now = Date.parse('2026-01-01T00:00:00Z');
const users = createCertificateAuthority('users', now);
const proxies = createCertificateAuthority('proxies', now);
const issued = (authority: typeof users, commonName: string, ...organizations: readonly string[]) =>
  authority.issue({ subject: { commonName, organizations }, usages: ['client auth'], nowMs: now }).certificate;

const everyone = authenticators([
  frontProxies({ authority: proxies.certificate, allowedNames: ['front-proxy-client'] }),
  clientCertificates(users.certificate),
  bearerTokens(tokenAuthenticators([staticTokens('good,ann,u1,"team"')]), []),
  anonymousUsers(),
]);

const nameOf = async (credentials: Credentials) => (await everyone.authenticate(credentials))?.username;

test('a client certificate yields the user and the groups', async () => {
  const user = await everyone.authenticate(makeCredentials([], issued(users, 'bob', 'team-a', 'team-b')));
  assert.equal(user?.username, 'bob');
  assert.deepEqual(user?.groups.toSorted(), ['system:authenticated', 'team-a', 'team-b']);
  assert.match(user?.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^X509SHA256=[0-9a-f]{64}$/);
});

test('a bearer token yields the user', async () => {
  const user = await everyone.authenticate(makeCredentials([['Authorization', 'Bearer good']]));
  assert.deepEqual(user, { username: 'ann', uid: 'u1', groups: ['team', 'system:authenticated'] });
});

test('a bearer token may be a WebSocket subprotocol, next to another subprotocol', async () => {
  const named = `base64url.bearer.authorization.k8s.io.${Buffer.from('good').toString('base64url')}`;
  const offering = (protocols: string) =>
    makeCredentials([
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Protocol', protocols],
    ]);
  assert.equal(await nameOf(offering(`v5.channel.k8s.io, ${named}`)), 'ann');
  assert.equal(await nameOf(offering(named)), 'system:anonymous');
});

test('an invalid token fails the request instead of falling back to anonymous', async () => {
  await assert.rejects(nameOf(makeCredentials([['Authorization', 'Bearer wrong']])), {
    message: 'Unauthorized',
    code: 401,
  });
});

test('a valid certificate authenticates a request with an invalid token', async () => {
  assert.equal(await nameOf(makeCredentials([['Authorization', 'Bearer wrong']], issued(users, 'bob'))), 'bob');
});

test('a request without credentials is anonymous, and not in system:authenticated', async () => {
  assert.deepEqual(await everyone.authenticate(makeCredentials([])), {
    username: 'system:anonymous',
    groups: ['system:unauthenticated'],
  });
});

test('anonymous requests may be limited to some paths', () => {
  const some = anonymousUsers(['/healthz']);
  assert.ok(some.authenticate(makeCredentials([], undefined, '/healthz')));
  assert.equal(some.authenticate(makeCredentials([], undefined, '/api')), undefined);
});

const remote: readonly Header[] = [
  ['X-Remote-User', 'carl'],
  ['X-Remote-Group', 'one, two'],
  ['X-Remote-Group', 'three'],
  ['X-Remote-Extra-Acme.com%2Fproject', 'p'],
];

test('a front proxy names the user and each group in headers', async () => {
  assert.deepEqual(await everyone.authenticate(makeCredentials(remote, issued(proxies, 'front-proxy-client'))), {
    username: 'carl',
    groups: ['one, two', 'three', 'system:authenticated'],
    extra: { 'acme.com/project': ['p'] },
  });
});

test('identity headers of other clients are ignored', async () => {
  assert.equal(await nameOf(makeCredentials(remote, issued(users, 'bob'))), 'bob');
  assert.equal(await nameOf(makeCredentials(remote, issued(proxies, 'someone'))), 'system:anonymous');
  assert.equal(await nameOf(makeCredentials(remote)), 'system:anonymous');
});

test('a certificate of the front-proxy CA authenticates no user', async () => {
  assert.equal(
    await nameOf(makeCredentials([], issued(proxies, 'system:admin', 'system:masters'))),
    'system:anonymous',
  );
});

test('token errors are only reported if no authenticator accepts the token', async () => {
  const refuses = {
    authenticate() {
      throw new InvalidToken('expired');
    },
  };
  const first = tokenAuthenticators([refuses, staticTokens('good,ann,u1')]);
  assert.equal((await first.authenticate('good', []))?.user.username, 'ann');
  await assert.rejects(Promise.resolve(first.authenticate('other', [])), { message: 'expired' });
});

const root: User = { username: 'root', groups: [] };
/** Lets `root` impersonate the listed users, groups and extras. */
const impersonationAuthorizer = (...allowed: readonly string[]): Authorizer => ({
  authorize(attributes) {
    assert.equal(attributes.verb, 'impersonate');
    if (!attributes.resource) throw new Error('only resources are impersonated');
    const { group, plural, subresource, namespace, name } = attributes;
    const what = [`${plural}${group && `.${group}`}${subresource && `/${subresource}`}`, namespace, name];
    const isAllowed = allowed.includes(what.filter(Boolean).join(' '));
    return { verdict: isAllowed ? 'allow' : 'no-opinion', reason: '' };
  },
});

test('a request without impersonation headers keeps its user', async () => {
  assert.equal(await impersonate(impersonationAuthorizer(), root, makeCredentials([['Accept', '*/*']])), root);
});

test('a user may impersonate another user, with groups, a uid and extras', async () => {
  const authorizer = impersonationAuthorizer(
    'users ann',
    'groups team',
    'uids.authentication.k8s.io u1',
    'userextras.authentication.k8s.io/scopes view',
  );
  const headers: readonly Header[] = [
    ['Impersonate-User', 'ann'],
    ['Impersonate-Group', 'team'],
    ['Impersonate-Uid', 'u1'],
    ['Impersonate-Extra-Scopes', 'view'],
  ];
  assert.deepEqual(await impersonate(authorizer, root, makeCredentials(headers)), {
    username: 'ann',
    uid: 'u1',
    groups: ['team', 'system:authenticated'],
    extra: { scopes: ['view'] },
  });
});

test('every impersonated attribute requires permission', async () => {
  const headers: readonly Header[] = [
    ['Impersonate-User', 'ann'],
    ['Impersonate-Group', 'system:masters'],
  ];
  await assert.rejects(impersonate(impersonationAuthorizer('users ann'), root, makeCredentials(headers)), {
    message:
      'groups "system:masters" is forbidden: User "root" cannot impersonate resource "groups" in API group "" at the cluster scope',
  });
});

test('an impersonated ServiceAccount gets its groups', async () => {
  const authorizer = impersonationAuthorizer('serviceaccounts apps robot');
  const { groups } = await impersonate(
    authorizer,
    root,
    makeCredentials([['Impersonate-User', 'system:serviceaccount:apps:robot']]),
  );
  assert.deepEqual(groups, ['system:serviceaccounts', 'system:serviceaccounts:apps', 'system:authenticated']);
});

test('the impersonated anonymous user is not in system:authenticated', async () => {
  const authorizer = impersonationAuthorizer('users system:anonymous');
  const { groups } = await impersonate(authorizer, root, makeCredentials([['Impersonate-User', 'system:anonymous']]));
  assert.deepEqual(groups, ['system:unauthenticated']);
});

test('impersonated groups without a user are rejected', async () => {
  await assert.rejects(
    impersonate(impersonationAuthorizer('groups team'), root, makeCredentials([['Impersonate-Group', 'team']])),
    {
      code: 500,
      message: /without impersonating a user$/,
    },
  );
});
